//! `kurz links edit`: change what is named, leave the rest.

use clap::ArgGroup;
use serde_json::{Map, Value, json};

use crate::cli::Failure;
use crate::cli::arguments::{WhichLink, time};
use crate::cli::client::Client;
use crate::cli::runtime::block_on;
use crate::cli::shorten::print_link;

const EXAMPLES: &str = "\
Examples:
  kurz links edit promo --workspace acme --target https://example.com/new
  kurz links edit promo --title 'Spring sale' --tag ads --tag spring
  kurz links edit promo --no-tags --never-expires --default-hit-limit";

/// Edit a link; its code stays the same
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = EXAMPLES, group = ArgGroup::new("change").required(true).multiple(true))]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
    /// The new target
    #[arg(long, value_name = "URL", group = "change")]
    target: Option<String>,
    /// A title
    #[arg(long, value_name = "T", group = "change")]
    title: Option<String>,
    /// Remove the title
    #[arg(long, group = "change", conflicts_with = "title")]
    no_title: bool,
    /// A tag, replacing the current ones; may be given several times
    #[arg(long = "tag", value_name = "T", group = "change")]
    tags: Vec<String>,
    /// Remove all tags
    #[arg(long, group = "change", conflicts_with = "tags")]
    no_tags: bool,
    /// When it expires, such as 2026-12-31T23:59:59Z
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
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let link = block_on(client.patch(&args.link.path(), args.body()))?;
    print_link(&link, args.json)
}

impl Args {
    /// What is named; null takes a value away.
    fn body(&self) -> Value {
        let has_tags = !self.tags.is_empty() || self.no_tags;
        let fields = [
            ("original_url", self.target.as_ref().map(|target| json!(target))),
            ("title", given(self.title.as_ref(), self.no_title)),
            ("tags", has_tags.then(|| json!(self.tags))),
            ("expires_at", given(self.expires_at.as_ref(), self.never_expires)),
            ("hit_limit", given(self.hit_limit, self.default_hit_limit)),
            ("redirect_status", self.redirect_status.map(|status| json!(status))),
        ];
        let named = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(named.collect::<Map<_, _>>())
    }
}

/// A new value, null to take the old one away, or nothing.
fn given<T: serde::Serialize>(value: Option<T>, take_away: bool) -> Option<Value> {
    value.map(|value| json!(value)).or(take_away.then_some(Value::Null))
}
