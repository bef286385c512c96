//! Lists of links, a page at a time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::account::{Act, Caller, Reach, Refused};
use crate::app::{App, AppError, FieldError, ShownLink};
use crate::code::WorkspaceId;
use crate::link::{LinkId, Status, Strategy};
use crate::store::{ListQuery, Position, Sort, SortKey};

/// Links in a page, unless the request says otherwise.
const PAGE: i64 = 50;
/// Most links in a page.
const MOST: i64 = 1000;
/// Longest text to search for, in bytes.
const SEARCH_BYTES: usize = 200;

/// Which links, as a request says it.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// Go on where the last page ended.
    pub cursor: Option<String>,
    /// Links in the page.
    pub limit: Option<i64>,
    /// Text that code, title or target holds.
    pub search: Option<String>,
    /// `ACTIVE`, `EXPIRED` or `DELETED`.
    pub status: Option<String>,
    /// How the code was made.
    pub strategy: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// `created_at`, `updated_at`, `redirect_count` or `short_code`; `-` in front turns it around.
    pub sort: Option<String>,
    /// Only the caller's own, whatever else they may see.
    pub mine: bool,
}

/// One page.
#[derive(Clone, Debug)]
pub struct LinkPage {
    /// The links.
    pub links: Vec<ShownLink>,
    /// How to get the next page, if there is one.
    pub next: Option<String>,
}

impl App {
    /// A page of a workspace's links.
    pub async fn list_links(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        filter: &LinkFilter,
    ) -> Result<LinkPage, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, Act::ReadLinks).await?;
        let mut query = read_filter(workspace.id.clone(), filter)?;
        query.owner = match reach {
            Reach::All => caller.owner().filter(|_| filter.mine),
            Reach::Own(id) => Some(id),
            Reach::Nobodys => return Err(Refused::Unauthenticated.into()),
        };
        let page = query.most;
        // One more than asked for tells whether there is a next page.
        let query = ListQuery { most: page + 1, ..query };
        let now = self.parts.clock.latest(self.parts.clock.now());
        let mut links = self.parts.store.list_links(&query, now).await?;
        let full = usize::try_from(page).unwrap_or(usize::MAX);
        let more = links.len() > full;
        links.truncate(full);
        let next = links.last().filter(|_| more);
        let next = next.map(|last| write_cursor(query.sort, &query.sort.position(last)));
        Ok(LinkPage { links: self.show(&workspace, links), next })
    }
}

/// How many in a page.
pub(super) fn page_size(limit: Option<i64>) -> Result<i64, FieldError> {
    let limit = limit.unwrap_or(PAGE);
    if (1..=MOST).contains(&limit) {
        return Ok(limit);
    }
    let detail = format!("limit is a whole number from 1 to {MOST}");
    Err(FieldError::new("limit", "limit-invalid", detail))
}

fn read_filter(workspace: WorkspaceId, filter: &LinkFilter) -> Result<ListQuery, AppError> {
    let refused = |field, code, detail: &str| AppError::from(FieldError::new(field, code, detail));
    let sort = filter.sort.as_deref().unwrap_or("-created_at");
    let sort = read_sort(sort).ok_or_else(|| {
        let detail =
            "sort is created_at, updated_at, redirect_count or short_code, perhaps with - in front";
        refused("sort", "sort-invalid", detail)
    })?;
    let status = match filter.status.as_deref() {
        None => None,
        Some("ACTIVE") => Some(Status::Active),
        Some("EXPIRED") => Some(Status::Expired),
        Some("DELETED") => Some(Status::Deleted),
        Some(_) => {
            let detail = "status is ACTIVE, EXPIRED or DELETED";
            return Err(refused("status", "status-invalid", detail));
        }
    };
    let strategy = filter.strategy.as_deref().map(str::parse).transpose().map_err(|()| {
        let detail = "strategy is deterministic, counter, random or custom";
        refused("strategy", "strategy-invalid", detail)
    })?;
    let strategy: Option<Strategy> = strategy;
    let text = |field, text: &Option<String>| match text.as_deref() {
        Some(text) if text.len() > SEARCH_BYTES || text.contains('\0') => {
            let detail = format!("{field} is at most {SEARCH_BYTES} bytes of text");
            Err(refused(field, "search-invalid", &detail))
        }
        Some("") | None => Ok(None),
        Some(text) => Ok(Some(text.to_owned())),
    };
    let after = filter.cursor.as_deref().map(|cursor| {
        let detail =
            "cursor is not one that a list with this sort gave: leave it out to start over";
        read_cursor(sort, cursor).ok_or_else(|| refused("cursor", "cursor-invalid", detail))
    });
    Ok(ListQuery {
        workspace,
        status,
        strategy,
        tag: text("tag", &filter.tag)?,
        search: text("q", &filter.search)?,
        sort,
        after: after.transpose()?,
        most: page_size(filter.limit)?,
        owner: None,
    })
}

const SORTS: [(&str, SortKey); 4] = [
    ("created_at", SortKey::Created),
    ("updated_at", SortKey::Updated),
    ("redirect_count", SortKey::Redirects),
    ("short_code", SortKey::Code),
];

fn read_sort(text: &str) -> Option<Sort> {
    let (name, descending) = match text.strip_prefix('-') {
        Some(name) => (name, true),
        None => (text, false),
    };
    let (_, key) = SORTS.into_iter().find(|(known, _)| *known == name)?;
    Some(Sort { key, descending })
}

/// `sort:number:value`, opaque to those who carry it.
fn write_cursor(sort: Sort, position: &Position) -> String {
    let text = match position {
        Position::Number(value, id) => format!("{}:{id}:{value}", mark(sort)),
        Position::Text(value, id) => format!("{}:{id}:{value}", mark(sort)),
    };
    URL_SAFE_NO_PAD.encode(text)
}

fn read_cursor(sort: Sort, cursor: &str) -> Option<Position> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut pieces = text.splitn(3, ':');
    if pieces.next()? != mark(sort) {
        return None;
    }
    let id = LinkId(pieces.next()?.parse().ok()?);
    let value = pieces.next()?;
    match sort.key {
        SortKey::Code if value.contains('\0') => None,
        SortKey::Code => Some(Position::Text(value.to_owned(), id)),
        _ => Some(Position::Number(value.parse().ok()?, id)),
    }
}

/// The sort that a cursor belongs to.
fn mark(sort: Sort) -> &'static str {
    match (sort.key, sort.descending) {
        (SortKey::Created, false) => "c",
        (SortKey::Created, true) => "C",
        (SortKey::Updated, false) => "u",
        (SortKey::Updated, true) => "U",
        (SortKey::Redirects, false) => "r",
        (SortKey::Redirects, true) => "R",
        (SortKey::Code, false) => "s",
        (SortKey::Code, true) => "S",
    }
}
