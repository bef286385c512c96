//! `/app/w/{workspace}/l/{code}`: everything about one link.

use askama::Template;
use axum::response::Response;

use crate::app::{Action, AuditEntry, Granularity, LinkAnalytics, ShownLink};
use crate::web::admin::audit::who;
use crate::web::errors::PageError;
use crate::web::i18n::{Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::links::chart::Chart;
use crate::web::links::disable;
use crate::web::links::plan_card::PlanCard;
use crate::web::links::qr::read_look;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::PageCall;
use kurz_core::code::{Canonical, canonicalise};
use kurz_core::link::qr::Look;
use kurz_core::link::{Link, Month, Reason, Strategy};
use kurz_core::time::Timestamp;

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage {
    page: Layout,
    place: WorkspaceView,
    base: String,
    heading: String,
    code: String,
    short_url: String,
    target: String,
    canonical: String,
    strategy: &'static str,
    status: &'static str,
    /// Whether the target's host may be taken for another.
    is_lookalike: bool,
    /// Why it does not redirect, and what was said about it.
    withheld: Option<&'static str>,
    disabled_since: Option<String>,
    disabled_note: Option<String>,
    /// From where it was made, for administrators.
    made_from: Option<String>,
    /// Reasons that an administrator can choose: name and words.
    reasons: Vec<(&'static str, &'static str)>,
    note: Option<String>,
    tags: Vec<(String, String)>,
    aliases: Vec<String>,
    archived: Option<String>,
    created: String,
    changed: String,
    expires: Option<String>,
    redirect_status: u16,
    restorable_until: Option<String>,
    health: String,
    clicks: String,
    last_click: Option<String>,
    latency: String,
    hits: String,
    hits_number: i64,
    limit: i64,
    limit_text: String,
    limit_high: i64,
    left: String,
    resets: String,
    chart: Chart,
    look: LookFields,
    history: Vec<HistoryLine>,
    plan: PlanCard,
}

/// The form of a QR code's look.
struct LookFields {
    size: u32,
    dark: String,
    light: String,
    query: String,
}

/// A line of the link's audit log.
struct HistoryLine {
    at: String,
    who: String,
    what: String,
    old_target: Option<String>,
}

/// `GET /app/w/{workspace}/l/{code}`
pub(in crate::web) async fn show(
    PageCall { app, visitor, query, path: (workspace, code) }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let words = visitor.words();
    let span = Granularity::parse(query.text("by")).unwrap_or(Granularity::Day);
    let traffic = app.link_analytics(&visitor.caller, &place.workspace, &code, span).await?;
    let LinkAnalytics { shown, periods, .. } = traffic;
    let entries = app.link_audit(&visitor.caller, &place.workspace, &code).await?;
    let chart = Chart::draw(span, &periods, words.link.clicks);
    let history = entries.into_iter().map(|entry| line(entry, words)).collect();
    let look = look(&read_look(&query).unwrap_or_default());
    let note = note(words, query.text("note"), &shown);
    let plan = PlanCard::read(&app, &visitor, &place, &shown).await;
    let page = Layout::new(&app, &visitor).noting(note);
    let drawn = Drawn { chart, look, history, plan };
    Ok(page::show(&link_page(page, place, shown, app.now(), drawn)))
}

/// What is made from more than the link.
struct Drawn {
    chart: Chart,
    look: LookFields,
    history: Vec<HistoryLine>,
    plan: PlanCard,
}

fn link_page(
    page: Layout,
    place: WorkspaceView,
    shown: ShownLink,
    now: Timestamp,
    drawn: Drawn,
) -> LinkPage {
    let words = page.words;
    let shown_until = shown.restorable_until.map(page::unbroken_time);
    let (target, is_lookalike) = (shown.visible_target(), shown.is_lookalike);
    let ShownLink {
        link,
        short_url,
        status,
        withheld,
        hit_limit: limit,
        hits_this_month: hits,
        ..
    } = shown;
    let named = |reason: Reason| (reason.as_str(), disable::reason(words, reason));
    let canonical = canonicalise(&link.target);
    LinkPage {
        base: place.link(link.code.as_str()),
        heading: link.fields.title.clone().unwrap_or_else(|| link.code.to_string()),
        code: link.code.to_string(),
        short_url,
        canonical: canonical.map_or_else(|_| link.target.clone(), Canonical::into_string),
        strategy: made_by(words, link.strategy),
        status: status.as_str(),
        tags: link.fields.tags.iter().map(|tag| (tag.clone(), place.tagged(tag))).collect(),
        note: link.fields.note.clone(),
        aliases: link.aliases.iter().map(ToString::to_string).collect(),
        archived: link.fields.archived_at.0.map(page::time),
        created: page::time(link.created_at),
        changed: page::time(link.updated_at),
        expires: link.fields.expires_at.map(page::time),
        redirect_status: link.fields.redirect_status,
        restorable_until: shown_until.map(|until| fill(words.links.restorable_until, until)),
        health: health(words, &link),
        clicks: page::number(link.redirect_count),
        last_click: link.last_redirect_at.map(page::time),
        latency: page::milliseconds(link.avg_redirect_ms),
        hits: page::number(hits),
        hits_number: hits,
        limit,
        limit_text: page::number(limit),
        limit_high: limit.saturating_mul(9) / 10,
        left: fill(words.link.quota_left, page::number((limit - hits).max(0))),
        resets: page::unbroken_time(Month::of(now).end()),
        withheld: withheld.map(|reason| disable::reason(words, reason)),
        disabled_since: link.disabled.as_ref().map(|disabled| page::time(disabled.at)),
        disabled_note: link.disabled.and_then(|disabled| disabled.note),
        made_from: link.made.client.filter(|_| page.is_admin()),
        reasons: Reason::CHOICES.map(named).to_vec(),
        target,
        is_lookalike,
        chart: drawn.chart,
        look: drawn.look,
        history: drawn.history,
        plan: drawn.plan,
        page,
        place,
    }
}

/// What just happened, by its name in the address.
fn note(words: &Words, name: &str, shown: &ShownLink) -> Option<Note> {
    let text = match name {
        "made" => words.links.made.to_owned(),
        "existed" => words.links.existed.to_owned(),
        "saved" => words.site.saved.to_owned(),
        "rules" => words.rules.saved.to_owned(),
        "options" => words.options.saved.to_owned(),
        "restored" => fill(words.links.was_restored, &shown.link.code),
        _ => return None,
    };
    Some(Note::plain(text))
}

const fn made_by(words: &Words, strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Deterministic => words.link.deterministic,
        Strategy::Counter => words.link.counter,
        Strategy::Random => words.link.random,
        Strategy::Custom => words.link.custom,
    }
}

fn health(words: &Words, link: &Link) -> String {
    match (&link.destination_status, link.last_checked_at) {
        (Some(word), Some(at)) => {
            let http = link.destination_http_status.map(|status| format!(" (HTTP {status})"));
            let (http, checked) = (http.unwrap_or_default(), words.link.checked);
            format!("{word}{http}, {checked} {}", page::time(at))
        }
        _ => words.link.health_unknown.to_owned(),
    }
}

fn look(look: &Look) -> LookFields {
    let hex = |[red, green, blue]: [u8; 3]| format!("{red:02x}{green:02x}{blue:02x}");
    let (dark, light) = (hex(look.dark.0), hex(look.light.0));
    LookFields {
        size: look.size,
        query: format!("size={}&dark={dark}&light={light}", look.size),
        dark: format!("#{dark}"),
        light: format!("#{light}"),
    }
}

fn line(entry: AuditEntry, words: &Words) -> HistoryLine {
    let link = &words.link;
    let done = match Action::parse(&entry.action) {
        Some(Action::Edited) => link.edited,
        Some(Action::Deleted) => link.deleted,
        Some(Action::Restored) => link.restored,
        Some(Action::Claimed) => link.claimed,
        Some(Action::Disabled) => link.disabled,
        Some(Action::Enabled) => link.enabled,
        Some(Action::AliasAdded) => link.alias_added,
        Some(Action::AliasRemoved) => link.alias_removed,
        _ => &entry.action,
    };
    let fields = entry.detail.fields.iter().map(|field| match field.as_str() {
        "original_url" => link.field_original_url,
        "short_code" => link.field_short_code,
        "title" => link.field_title,
        "note" => link.field_note,
        "archived_at" => link.field_archived_at,
        "tags" => link.field_tags,
        "expires_at" => link.field_expires_at,
        "hit_limit" => link.field_hit_limit,
        "redirect_status" => link.field_redirect_status,
        other => plan_field(words, other).unwrap_or(other),
    });
    let fields = fields.chain(entry.detail.alias.as_deref());
    let fields: Vec<String> = fields.map(|field| named_rule(words, field)).collect();
    let fields = fields.join(", ");
    let what = if fields.is_empty() { done.to_owned() } else { format!("{done}: {fields}") };
    let (at, who) = (page::time(entry.at), who(&entry, words));
    HistoryLine { at, who, what, old_target: entry.detail.old_target }
}

/// The name of a field of the plan.
const fn plan_field(words: &Words, name: &str) -> Option<&'static str> {
    let options = &words.options;
    Some(match name.as_bytes() {
        b"split" => words.rules.split,
        b"password" => options.password,
        b"valid_from" => options.starts,
        b"click_limit" => options.click_limit_short,
        b"expired_url" => options.expired_url,
        b"pending_url" => options.pending_url,
        b"fallback_url" => options.fallback_url,
        b"query" => options.query,
        b"utm" => options.utm,
        b"consent" => options.consent,
        b"app" => options.app,
        b"card" => options.card,
        b"robots" => options.robots,
        _ => return None,
    })
}

/// `rules[0] (name)` is rule 1 to readers.
fn named_rule(words: &Words, field: &str) -> String {
    let place = field.strip_prefix("rules[").and_then(|rest| rest.split_once(']'));
    let number = place.and_then(|(at, rest)| Some((at.parse::<usize>().ok()? + 1, rest)));
    match number {
        Some((number, rest)) => format!("{}{rest}", fill(words.rules.rule_number, number)),
        None => field.to_owned(),
    }
}
