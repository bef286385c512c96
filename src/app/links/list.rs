//! Lists of links, a page at a time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::app::page::{page_size, read_cursor};
use crate::app::{App, AppError, FieldError, MAIN, Page, ShownLink};
use crate::store::{Archived, ListQuery, ListScope, Position, Sort, SortKey};
use kurz_core::account::{Act, Caller, Reach, Refused};
use kurz_core::code::WorkspaceId;
use kurz_core::link::fields::TAG_CHARS;
use kurz_core::link::{LinkId, Status, Strategy};

/// Longest text to search for, in bytes.
const SEARCH_BYTES: usize = 200;
/// Longest tag, in bytes.
const TAG_BYTES: usize = 4 * TAG_CHARS;

/// Which links, as a request says it.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// Go on where the last page ended.
    pub cursor: Option<String>,
    pub limit: Option<i64>,
    pub search: Option<String>,
    /// Whether a search waits for its turn where too many run, instead of being refused.
    pub waits: bool,
    /// `ACTIVE`, `EXPIRED`, `DELETED` or `DISABLED`.
    pub status: Option<String>,
    pub strategy: Option<String>,
    pub tag: Option<String>,
    /// `true`: archived ones as well; `only`: them alone.
    pub archived: Option<String>,
    /// `created_at`, `updated_at`, `redirect_count` or `short_code`; `-` in front turns it around.
    pub sort: Option<String>,
    /// Only the caller's own, whatever else they may see.
    pub mine: bool,
}

impl App {
    /// A page of a workspace's links.
    pub async fn list_links(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        filter: &LinkFilter,
    ) -> Result<Page<ShownLink>, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, Act::ReadLinks).await?;
        let which = list_scope(caller, &workspace.id, reach, filter.mine)?;
        let query = read_filter(which, filter)?;
        let _running = match (&query.search, filter.waits) {
            (None, _) => None,
            (Some(_), false) => Some(self.parts.searches.begin(caller.owner()).await?),
            (Some(_), true) => Some(self.parts.searches.wait(caller.owner()).await?),
        };
        let size = query.most;
        let query = ListQuery { most: size + 1, ..query };
        let now = self.parts.clock.latest(self.parts.clock.now());
        let listed = self.parts.store.list_links(&query, now).await?;
        let rest = listed.rest.map(|place| write_cursor(query.sort, &place));
        let page =
            Page::cut(listed.links, size, |last| write_cursor(query.sort, &query.position(last)));
        Ok(Page { items: self.show(&workspace, page.items), next: page.next.or(rest) })
    }
}

/// The list that a caller sees in a workspace; with `mine` their own in `main`, whatever else they may see.
pub(super) fn list_scope(
    caller: &Caller,
    workspace: &WorkspaceId,
    reach: Reach,
    mine: bool,
) -> Result<ListScope, AppError> {
    Ok(match reach {
        Reach::All if workspace.as_str() == MAIN => match caller.owner().filter(|_| mine) {
            Some(owner) => ListScope::Own(owner),
            None => ListScope::Main,
        },
        Reach::All => ListScope::Workspace(workspace.clone()),
        Reach::Own(id) => ListScope::Own(id),
        Reach::Nobodys => return Err(Refused::Unauthenticated.into()),
    })
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
    let archived = match filter.archived.as_deref() {
        None | Some("false") => Archived::Without,
        Some("true") => Archived::With,
        Some("only") => Archived::Only,
        Some(_) => {
            let detail = "archived is false, true or only";
            return Err(refused("archived", "archived-invalid", detail));
        }
    };
    let text = |field, text: &Option<String>, most: usize| match text.as_deref() {
        Some(text) if text.len() > most || text.contains('\0') => {
            let detail = format!("{field} is at most {most} bytes of text");
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
        tag: text("tag", &filter.tag, TAG_BYTES)?,
        archived,
        search: text("q", &filter.search, SEARCH_BYTES)?,
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
