//! Lists of links, a page at a time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::app::page::{page_size, read_cursor};
use crate::app::{App, AppError, FieldError, MAIN, Page, ShownLink};
use crate::store::{ListQuery, ListScope, Position, Search, Sort, SortKey};
use kurz_core::account::{Act, Caller, Reach, Refused};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{LinkId, Status, Strategy};

/// A list of so many links is looked through for each search.
const SHORT: i64 = 5000;
/// Longest text to search for, in bytes.
const SEARCH_BYTES: usize = 200;

/// Which links, as a request says it.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// Go on where the last page ended.
    pub cursor: Option<String>,
    pub limit: Option<i64>,
    pub search: Option<String>,
    pub find: Find,
    /// `ACTIVE`, `EXPIRED`, `DELETED` or `DISABLED`.
    pub status: Option<String>,
    pub strategy: Option<String>,
    pub tag: Option<String>,
    /// `created_at`, `updated_at`, `redirect_count` or `short_code`; `-` in front turns it around.
    pub sort: Option<String>,
    /// Only the caller's own, whatever else they may see.
    pub mine: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Find {
    /// Everywhere in code, title and target, however long that takes.
    #[default]
    Anywhere,
    /// Everywhere in a list that is looked through quickly; in a longer one at the beginning of
    /// code, title and host, by an index.
    Quickly,
}

#[derive(Clone, Debug)]
pub struct FoundLinks {
    pub page: Page<ShownLink>,
    /// Whether the search looked at beginnings alone.
    pub by_beginning: bool,
}

impl App {
    /// A page of a workspace's links.
    pub async fn list_links(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        filter: &LinkFilter,
    ) -> Result<FoundLinks, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, Act::ReadLinks).await?;
        let is_main = workspace.id.as_str() == MAIN;
        let which = match reach {
            Reach::All if is_main => match caller.owner().filter(|_| filter.mine) {
                Some(owner) => ListScope::Own(owner),
                None => ListScope::Main,
            },
            Reach::All => ListScope::Workspace(workspace.id.clone()),
            Reach::Own(id) => ListScope::Own(id),
            Reach::Nobodys => return Err(Refused::Unauthenticated.into()),
        };
        let mut query = read_filter(which, filter)?;
        let by_beginning = filter.find == Find::Quickly && self.is_long(&query.scope).await?;
        if by_beginning && let Some(Search::Holds(text)) = query.search {
            query.search = Some(Search::Begins(beginning(&text)));
        }
        if let Some(tag) = query.tag.as_deref()
            && query.search.is_none()
            && query.scope != ListScope::Main
        {
            let carry = self.parts.store.count_tagged(&query.scope, tag, SHORT + 1).await?;
            query.by_tag = carry <= SHORT;
        }
        let size = query.most;
        let query = ListQuery { most: size + 1, ..query };
        let now = self.parts.clock.latest(self.parts.clock.now());
        let links = self.parts.store.list_links(&query, now).await?;
        let page = Page::cut(links, size, |last| write_cursor(query.sort, &query.position(last)));
        let page = Page { items: self.show(&workspace, page.items), next: page.next };
        Ok(FoundLinks { page, by_beginning })
    }

    /// Whether a list is too long to be looked through for each search.
    async fn is_long(&self, which: &ListScope) -> Result<bool, AppError> {
        // All of `main` has no index to search by; only administrators and open servers see it.
        let long = *which != ListScope::Main
            && self.parts.store.count_links_in(which, SHORT + 1).await? > SHORT;
        Ok(long)
    }
}

/// What a text is compared with at the beginning of: a URL's scheme and `www.` do not count.
fn beginning(text: &str) -> String {
    let text = text.trim().to_ascii_lowercase();
    let bare = ["https://", "http://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    bare.map_or(text.as_str(), |bare| bare.strip_prefix("www.").unwrap_or(bare)).to_owned()
}

fn read_filter(scope: ListScope, filter: &LinkFilter) -> Result<ListQuery, AppError> {
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
        Some("DISABLED") => Some(Status::Disabled),
        Some(_) => {
            let detail = "status is ACTIVE, EXPIRED, DELETED or DISABLED";
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
    // A cursor belongs to the sort of its list.
    let after = read_cursor(filter.cursor.as_deref(), |text| read_position(sort, text))?;
    Ok(ListQuery {
        scope,
        status,
        strategy,
        tag: text("tag", &filter.tag)?,
        by_tag: false,
        search: text("q", &filter.search)?.map(Search::Holds),
        sort,
        after,
        most: page_size(filter.limit)?,
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

fn read_position(sort: Sort, cursor: &str) -> Option<Position> {
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
