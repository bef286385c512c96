//! Lists of links: filtered, sorted, a page at a time. The statements are in `list_statements`.
//!
//! A list has a scope: the links of a workspace, somebody's own in `main`, or all of `main`, which
//! administrators and open servers see.
//!
//! A page is read along the index of its order first: most pages are full after a few links. Where the
//! filters leave out almost everything, those few are gathered by an index of one filter and sorted. Where
//! neither helps, such as for a text of two letters that hardly any link holds, the walk goes on for a
//! while, and then ends with the place to go on from.
//!
//! Invariant: no page reads more than a bounded number of links, and pages in a row hold every link once.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::store::driver::{Db, Sql};
use crate::store::links::read_link;
use crate::store::list_scope::ListScope;
use crate::store::list_sort::{Position, Sort, SortKey};
use crate::store::list_statements::{self as statements, NEVER, TOO_MANY, Walk};
use crate::store::search_index;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::{Link, LinkId, Status, Strategy};
use kurz_core::time::Timestamp;

/// How far a page is read in which way.
pub(super) struct ListSteps {
    /// Links that a walk looks at before the other way is tried.
    pub(super) first: i64,
    /// Those in each step after that.
    pub(super) next: i64,
    /// Links of one filter that are gathered.
    pub(super) gathered: i64,
    /// How long a walk goes on.
    pub(super) walk: Duration,
}

/// A walk takes half of the 50 ms that a page may take.
const STEPS: ListSteps =
    ListSteps { first: 1000, next: 4000, gathered: TOO_MANY - 1, walk: Duration::from_millis(25) };

/// Whether archived links are in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Archived {
    /// All but them; in a list of deleted links they are.
    #[default]
    Without,
    With,
    Only,
}

impl Archived {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Without => "without",
            Self::With => "with",
            Self::Only => "only",
        }
    }
}

/// Which links of a list, in which order, from where on.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub scope: ListScope,
    /// Where they stand; `None`: all but the deleted.
    pub status: Option<Status>,
    pub strategy: Option<Strategy>,
    pub tag: Option<String>,
    pub archived: Archived,
    /// Text that code, title, target or note holds, in any case of the letters A to Z.
    pub search: Option<String>,
    pub sort: Sort,
    /// Go on after this place.
    pub after: Option<Position>,
    /// At most so many.
    pub most: i64,
}

/// A page of links.
#[derive(Clone, Debug)]
pub struct ListedLinks {
    pub links: Vec<Link>,
    /// Where to go on, when the page ended before it was full and before the list did.
    pub rest: Option<Position>,
}

impl ListQuery {
    /// The place of `link` in this list.
    pub fn position(&self, link: &Link) -> Position {
        match self.sort.key {
            SortKey::Created => Position::Number(link.created_at.as_ms(), link.id),
            SortKey::Updated => Position::Number(link.updated_at.as_ms(), link.id),
            SortKey::Redirects if link.redirect_count == 0 => {
                Position::Number(link.created_at.as_ms() - NEVER, link.id)
            }
            SortKey::Redirects => Position::Number(link.redirect_count, link.id),
            SortKey::Code => Position::Text(link.code.as_str().to_owned(), link.id),
        }
    }

    /// Which index to begin with, and after which place.
    fn start(&self) -> (usize, Position) {
        let walks = Walk::of(self.sort);
        match &self.after {
            Some(Position::Number(value, id)) if self.sort.key == SortKey::Redirects => {
                let (walk, value) = if *value < 0 {
                    (Walk::Never, value.saturating_add(NEVER))
                } else {
                    (Walk::Counted, *value)
                };
                let at = walks.iter().position(|one| *one == walk).unwrap_or_default();
                (at, Position::Number(value, *id))
            }
            Some(after) => (0, after.clone()),
            None => (0, self.sort.start()),
        }
    }

    fn filters(&self) -> [SqlValue<'_>; 4] {
        [
            self.strategy.map(Strategy::as_str).into(),
            self.tag.as_deref().into(),
            self.search.as_deref().map(|text| SqlValue::owned(like_pattern(text))).into(),
            SqlValue::text(self.archived.as_str()),
        ]
    }

    /// The filters that have an index, each with its value: first what is rare most likely.
    fn sources(&self, db: &Db) -> Vec<(&'static str, SqlValue<'_>)> {
        let scope = self.scope.key();
        let scope = (self.scope != ListScope::Main).then_some(scope.as_str());
        let search = self.search.as_deref().and_then(|text| match db {
            Db::Sqlite(_) => search_index::sqlite_query(scope, text),
            Db::Postgres(_) => search_index::postgres_query(scope, text),
        });
        let mut sources = Vec::new();
        sources.extend(search.map(|query| ("search", SqlValue::owned(query))));
        sources.extend(self.tag.as_deref().map(|tag| ("tag", SqlValue::text(tag))));
        if let Some(status) = self.status.filter(|status| *status != Status::Active) {
            sources.push((status.as_str(), SqlValue::text("")));
        }
        if self.archived == Archived::Only {
            sources.push(("archived", SqlValue::text("")));
        }
        let strategy = self.strategy.map(Strategy::as_str);
        sources.extend(strategy.map(|strategy| ("strategy", SqlValue::text(strategy))));
        if self.scope == ListScope::Main {
            sources.push(("scope", SqlValue::text("")));
        }
        sources
    }
}

impl Position {
    fn params(&self) -> [SqlValue<'_>; 2] {
        match self {
            Self::Number(number, id) => [SqlValue::Int(*number), SqlValue::Int(id.0)],
            Self::Text(text, id) => [SqlValue::text(text), SqlValue::Int(id.0)],
        }
    }
}

impl Store {
    /// A page of links, as they stand at `now`.
    pub async fn list_links(
        &self,
        query: &ListQuery,
        now: Timestamp,
    ) -> Result<ListedLinks, Error> {
        self.list_in_steps(query, now, &STEPS).await
    }

    pub(super) async fn list_in_steps(
        &self,
        query: &ListQuery,
        now: Timestamp,
        steps: &ListSteps,
    ) -> Result<ListedLinks, Error> {
        let walks = Walk::of(query.sort);
        let (mut at, mut place) = query.start();
        let mut links = Vec::new();
        let mut is_first = true;
        let watch = Stopwatch::start();
        while let Some(walk) = walks.get(at).copied() {
            let step = if is_first { steps.first.max(query.most) } else { steps.next };
            let bound = self.find_bound(query, walk, &place, step).await?;
            let left = query.most - i64::try_from(links.len()).unwrap_or(i64::MAX);
            let until = bound.clone().unwrap_or_else(|| query.sort.end());
            links.extend(self.walk(query, now, walk, [&place, &until], left).await?);
            if i64::try_from(links.len()).unwrap_or(i64::MAX) >= query.most {
                break;
            }
            let Some(bound) = bound else {
                (at, place) = (at + 1, query.sort.start());
                continue;
            };
            place = bound;
            if is_first && let Some(links) = self.gather(query, now, steps).await? {
                return Ok(ListedLinks { links, rest: None });
            }
            is_first = false;
            if watch.elapsed() >= steps.walk {
                return Ok(ListedLinks { links, rest: Some(walk.in_list(place)) });
            }
        }
        Ok(ListedLinks { links, rest: None })
    }

    /// The place `step` links after `place`, unless the index ends before.
    async fn find_bound(
        &self,
        query: &ListQuery,
        walk: Walk,
        place: &Position,
        step: i64,
    ) -> Result<Option<Position>, Error> {
        let (_, sql) = walk.statements(query.scope == ListScope::Main, query.sort.descending);
        let mut params = vec![SqlValue::owned(query.scope.key())];
        params.extend(place.params());
        params.push(SqlValue::Int(step));
        let read = |row: &SqlRow| {
            let id = LinkId(row.int(1)?);
            Ok(match walk {
                Walk::Code => Position::Text(row.text(0)?.to_owned(), id),
                _ => Position::Number(row.int(0)?, id),
            })
        };
        self.db.list(sql, params).await?.first().map(read).transpose()
    }

    /// The links between two places that pass the filters.
    async fn walk(
        &self,
        query: &ListQuery,
        now: Timestamp,
        walk: Walk,
        [after, until]: [&Position; 2],
        most: i64,
    ) -> Result<Vec<Link>, Error> {
        let (sql, _) = walk.statements(query.scope == ListScope::Main, query.sort.descending);
        let mut params = vec![SqlValue::owned(query.scope.key())];
        params.extend([query.status.map(Status::as_str).into(), now.into()]);
        params.extend(query.filters());
        params.extend(after.params().into_iter().chain(until.params()));
        params.push(SqlValue::Int(most));
        self.read_page(sql, params).await
    }

    /// A page from all links that an index has for one of the filters, if one of them has few.
    async fn gather(
        &self,
        query: &ListQuery,
        now: Timestamp,
        steps: &ListSteps,
    ) -> Result<Option<Vec<Link>>, Error> {
        let (first, last) = query.scope.keys();
        for (name, value) in query.sources(&self.db) {
            let mut params = vec![SqlValue::text(name), value];
            params.push(SqlValue::text(query.scope.workspace()));
            params.extend([SqlValue::owned(first.clone()), SqlValue::owned(last.clone())]);
            params.push(now.into());
            let rows = self.db.list(statements::COUNT, params.clone()).await?;
            if rows.first().map_or(Ok(0), |row| row.int(0))? > steps.gathered {
                continue;
            }
            let after = query.after.clone().unwrap_or_else(|| query.sort.start());
            params.push(query.status.map(Status::as_str).into());
            params.extend(query.filters());
            params.extend(after.params());
            params.push(SqlValue::Int(query.most));
            return self.read_page(statements::gathered(query.sort), params).await.map(Some);
        }
        Ok(None)
    }

    async fn read_page(&self, sql: Sql, params: Vec<SqlValue<'_>>) -> Result<Vec<Link>, Error> {
        self.db.list(sql, params).await?.iter().map(read_link).collect()
    }
}

impl Walk {
    /// A place along this index as a place in the list.
    fn in_list(self, place: Position) -> Position {
        match (self, place) {
            (Self::Never, Position::Number(value, id)) => Position::Number(value - NEVER, id),
            (_, place) => place,
        }
    }
}

/// A `like` pattern for text that holds `search` somewhere.
fn like_pattern(search: &str) -> String {
    let mut pattern = String::with_capacity(search.len() + 2);
    pattern.push('%');
    for letter in search.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter.to_ascii_lowercase());
    }
    pattern.push('%');
    pattern
}
