//! The fields of a link on the command line: the options that set them on a new link and change them on
//! an existing one, and how they are shown.

use serde_json::{Map, Value, json};

use crate::cli::arguments::time;

/// What `kurz links show` prints, in this order.
pub(super) const SHOWN: &[&str] = &[
    "short_url",
    "original_url",
    "normalized_url",
    "workspace",
    "short_code",
    "strategy",
    "status",
    "restorable_until",
    "title",
    "note",
    "tags",
    "aliases",
    "archived_at",
    "created_at",
    "updated_at",
    "expires_at",
    "redirect_status",
    "redirect_count",
    "last_redirect_at",
    "avg_redirect_ms",
    "hits_this_month",
    "hit_limit",
    "has_password",
    "valid_from",
    "click_limit",
    "expired_url",
    "pending_url",
    "fallback_url",
    "query",
    "robots",
    "destination_status",
    "destination_http_status",
    "last_checked_at",
];

/// Options that set fields of a new link.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct NewFields {
    /// A title
    #[arg(long, value_name = "T")]
    title: Option<String>,
    /// A note, which visitors never see
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// When it expires: 7d (from now), 2026-12-31 (its end, UTC) or 2026-12-31T23:59:59Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_at: Option<String>,
    /// Maximum number of hits per month; 0: no limit
    #[arg(long, value_name = "N")]
    hit_limit: Option<u32>,
    /// Redirect status: 301, 302, 307 or 308 [default: 302]
    #[arg(long, value_name = "STATUS")]
    redirect_status: Option<u16>,
}

impl NewFields {
    /// The fields that are named, as the API takes them.
    pub(in crate::cli) fn body(&self) -> Map<String, Value> {
        named([
            ("title", given(self.title.as_ref(), false)),
            ("note", given(self.note.as_ref(), false)),
            ("tags", Some(json!(self.tags))),
            ("expires_at", given(self.expires_at.as_ref(), false)),
            ("hit_limit", given(self.hit_limit, false)),
            ("redirect_status", given(self.redirect_status, false)),
        ])
    }
}

/// Options that change fields of a link. Each belongs to the group `change`, of which one is required.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ChangedFields {
    /// A title
    #[arg(long, value_name = "T", group = "change")]
    title: Option<String>,
    /// Remove the title
    #[arg(long, group = "change", conflicts_with = "title")]
    no_title: bool,
    /// A note, which visitors never see
    #[arg(long, value_name = "TEXT", group = "change")]
    note: Option<String>,
    /// Remove the note
    #[arg(long, group = "change", conflicts_with = "note")]
    no_note: bool,
    /// Leave it out of lists; it redirects all the same
    #[arg(long, group = "change")]
    archive: bool,
    /// Put it back into lists
    #[arg(long, group = "change", conflicts_with = "archive")]
    unarchive: bool,
    /// A tag, replacing the current ones; may be given several times
    #[arg(long = "tag", value_name = "T", group = "change")]
    tags: Vec<String>,
    /// Remove all tags
    #[arg(long, group = "change", conflicts_with = "tags")]
    no_tags: bool,
    /// When it expires: 7d (from now), 2026-12-31 (its end, UTC) or 2026-12-31T23:59:59Z
    #[arg(long, value_name = "TIME", value_parser = time, group = "change")]
    expires_at: Option<String>,
    /// Never expire
    #[arg(long, group = "change", conflicts_with = "expires_at")]
    never_expires: bool,
    /// Maximum number of hits per month; 0: no limit
    #[arg(long, value_name = "N", group = "change")]
    hit_limit: Option<u32>,
    /// Use the workspace's limit
    #[arg(long, group = "change", conflicts_with = "hit_limit")]
    default_hit_limit: bool,
    /// Redirect status: 301, 302, 307 or 308
    #[arg(long, value_name = "STATUS", group = "change")]
    redirect_status: Option<u16>,
}

impl ChangedFields {
    /// The fields that are named, as the API takes them; null takes a value away.
    pub(super) fn body(&self) -> Map<String, Value> {
        let has_tags = !self.tags.is_empty() || self.no_tags;
        named([
            ("title", given(self.title.as_ref(), self.no_title)),
            ("note", given(self.note.as_ref(), self.no_note)),
            ("archived", (self.archive || self.unarchive).then(|| json!(self.archive))),
            ("tags", has_tags.then(|| json!(self.tags))),
            ("expires_at", given(self.expires_at.as_ref(), self.never_expires)),
            ("hit_limit", given(self.hit_limit, self.default_hit_limit)),
            ("redirect_status", given(self.redirect_status, false)),
        ])
    }
}

/// Those that have a value.
fn named<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A new value, null to take the old one away, or nothing.
fn given<T: serde::Serialize>(value: Option<T>, take_away: bool) -> Option<Value> {
    value.map(|value| json!(value)).or(take_away.then_some(Value::Null))
}
