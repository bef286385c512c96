//! `/app/w/{workspace}`: a list of links with search, filters, order and pages.

use askama::Template;
use axum::response::Response;
use http::Uri;
use url::form_urlencoded::Serializer;

use crate::app::{App, LinkFilter, ShownLink};
use crate::web::analytics::filters::of_tag;
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::{Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::links::plan_card::marks;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::code::Code;

const PAGE: i64 = 50;

#[derive(Template)]
#[template(path = "links.html")]
struct ListPage {
    page: Layout,
    place: WorkspaceView,
    filter: LinkQuery,
    /// The dashboard of the tag that the list is narrowed to.
    tag_analytics: Option<String>,
    rows: Vec<LinkRow>,
    /// Whether the list was not looked through to its end, though the page is not full.
    is_partial: bool,
    next: Option<String>,
    export_csv: String,
    export_json: String,
    /// Where an administrator sees everybody's links.
    all_of_main: Option<String>,
}

/// What was asked for, as the fields of the form show it.
#[derive(Debug, Default)]
pub(super) struct LinkQuery {
    q: String,
    status: String,
    strategy: String,
    tag: String,
    archived: String,
    sort: String,
    cursor: String,
    all: bool,
    /// This page, to come back to.
    here: String,
    /// The first page of the same list.
    first: String,
    is_later: bool,
}

struct LinkRow {
    code: String,
    page: String,
    short: String,
    short_url: String,
    target: String,
    title: Option<String>,
    tags: Vec<(String, String)>,
    clicks: String,
    created: String,
    created_at: String,
    status: &'static str,
    /// What decides where it leads beyond its target: signs and their names.
    marks: Vec<(&'static str, &'static str)>,
    is_archived: bool,
    select: String,
}

impl LinkQuery {
    pub(super) fn read(uri: &Uri, base: &str) -> Self {
        let query = FormData::of_query(uri);
        let text = |name| query.text(name).to_owned();
        let mut asked = Self {
            q: text("q"),
            status: text("status"),
            strategy: text("strategy"),
            tag: text("tag"),
            archived: text("archived"),
            sort: text("sort"),
            cursor: text("cursor"),
            all: query.word("all").is_some(),
            ..Self::default()
        };
        asked.here = asked.address(base, "", &asked.cursor);
        asked.first = asked.address(base, "", "");
        asked.is_later = !asked.cursor.is_empty();
        asked
    }

    fn is_narrow(&self) -> bool {
        [&self.q, &self.status, &self.strategy, &self.tag, &self.archived, &self.cursor]
            .iter()
            .any(|text| !text.is_empty())
    }

    /// The same list at `base` and `end`, from `cursor` on.
    fn address(&self, base: &str, end: &str, cursor: &str) -> String {
        let mut query = Serializer::new(String::new());
        let fields = [
            ("q", self.q.as_str()),
            ("status", &self.status),
            ("strategy", &self.strategy),
            ("tag", &self.tag),
            ("archived", &self.archived),
            ("sort", &self.sort),
            ("all", if self.all { "1" } else { "" }),
            ("cursor", cursor),
        ];
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { format!("{base}{end}") } else { format!("{base}{end}?{query}") }
    }

    /// The filter for the list.
    pub(super) fn filter(&self, place: &WorkspaceView) -> LinkFilter {
        let word = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        LinkFilter {
            cursor: word(&self.cursor),
            limit: Some(PAGE),
            search: word(&self.q),
            waits: false,
            status: word(&self.status),
            strategy: word(&self.strategy),
            tag: word(&self.tag),
            archived: word(&self.archived),
            sort: word(&self.sort),
            mine: place.is_main && !self.all,
        }
    }
}

/// `GET /app/w/{workspace}`
pub(in crate::web) async fn list(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    let mut place = WorkspaceView::enter(&app, &visitor, &workspace, "list").await?;
    let words = visitor.words();
    let filter = LinkQuery::read(&uri, &place.base);
    let found = app.list_links(&visitor.caller, &place.workspace, &filter.filter(&place)).await?;
    let rows: Vec<_> = found.items.iter().map(|link| row(link, &place, words)).collect();
    let is_admin = visitor.browser.as_ref().is_some_and(|browser| browser.person.is_admin);
    let all_of_main =
        (place.is_main && is_admin && !filter.all).then(|| format!("{}?all=1", place.base));
    place.is_all = place.is_main && filter.all;
    if place.is_all {
        words.links.all_of_main.clone_into(&mut place.title);
    }
    let note = match deleted_code(&uri) {
        Some(code) => deletion_note(&app, &visitor, &place, &code).await,
        None => note(&visitor, &uri),
    };
    let page = Layout::new(&app, &visitor).noting(note);
    Ok(page::show(&ListPage {
        page,
        is_partial: found.next.is_some() && i64::try_from(rows.len()).is_ok_and(|rows| rows < PAGE),
        rows,
        next: found.next.map(|cursor| filter.address(&place.base, "", &cursor)),
        export_csv: filter.address(&place.base, "/export.csv", ""),
        export_json: filter.address(&place.base, "/export.json", ""),
        all_of_main,
        tag_analytics: Some(filter.tag.trim())
            .filter(|tag| !tag.is_empty())
            .map(|tag| of_tag(&place.base, tag)),
        place,
        filter,
    }))
}

/// The link that was deleted just now, from its name in the address.
fn deleted_code(uri: &Uri) -> Option<Code> {
    FormData::of_query(uri).word("deleted").and_then(Code::parse)
}

/// Says that a link was deleted and until when that can be undone, if it can.
async fn deletion_note(
    app: &App,
    visitor: &Visitor,
    place: &WorkspaceView,
    code: &Code,
) -> Option<Note> {
    let words = visitor.words();
    let shown = app.show_link(&visitor.caller, &place.workspace, code.as_str()).await.ok()?;
    let until = page::unbroken_time(shown.restorable_until?);
    let deleted = fill(words.links.was_deleted, code);
    let text = format!("{deleted} {}", fill(words.links.restorable_until, until));
    Some(Note { text, undo: Some(format!("{}/restore", place.link(code.as_str()))) })
}

/// What just happened, from the names in the address: never text of its own.
fn note(visitor: &Visitor, uri: &Uri) -> Option<Note> {
    let query = FormData::of_query(uri);
    let words = visitor.words();
    let count = |name| query.word(name).and_then(|count| count.parse::<u32>().ok());
    let done = count("done")?;
    let mut text = fill(words.links.many_done, done);
    if let Some(failed) = count("failed").filter(|failed| *failed > 0) {
        text = format!("{text} {}", fill(words.links.many_failed, failed));
    }
    Some(Note::plain(text))
}

fn row(shown: &ShownLink, place: &WorkspaceView, words: &Words) -> LinkRow {
    let link = &shown.link;
    let short =
        shown.short_url.split_once("://").map_or(shown.short_url.as_str(), |(_, rest)| rest);
    LinkRow {
        code: link.code.to_string(),
        page: place.link(link.code.as_str()),
        short: short.to_owned(),
        short_url: shown.short_url.clone(),
        target: shown.visible_target(),
        title: link.fields.title.clone(),
        tags: link.fields.tags.iter().map(|tag| (tag.clone(), place.tagged(tag))).collect(),
        clicks: page::number(link.redirect_count),
        created: page::time(link.created_at),
        created_at: link.created_at.to_rfc3339(),
        status: shown.status.as_str(),
        marks: marks(shown, words),
        is_archived: link.fields.archived_at.0.is_some(),
        select: fill(words.links.select, &link.code),
    }
}
