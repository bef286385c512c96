//! Lists of links: filtered, sorted, a page at a time. Each sort is a statement of its own, put
//! together at compile time, so that no text is ever built at run time.
//!
//! A list has a scope: the links of a workspace, or somebody's own in `main`. Both have indexes for their
//! sorts and searches. The third scope, all of `main`, is for administrators and open servers.

use crate::store::driver::{Sql, statements};
use crate::store::link_columns::LINK_SELECTED;
use crate::store::links::{link_text, read_link};
use crate::store::list_scope::ListScope;
use crate::store::list_sort::{Position, Search, Sort, SortKey};
use crate::store::text::Piece::{Selected, Text};
use crate::store::text::text;
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::link::{Link, Status, Strategy};
use kurz_core::time::Timestamp;

/// Which links, whatever the list and the order: status at a time, strategy, tag.
macro_rules! filters {
    () => {
        filters!("$2", "$3", "$4", "$5")
    };
    ($status:literal, $now:literal, $strategy:literal, $tag:literal) => {
        concat!(
            filters!($status, $now, $strategy),
            " and (cast(",
            $tag,
            " as text) is null or exists (select 1 from link_tags t
                where t.workspace = l.workspace and t.tag = ",
            $tag,
            " and t.link_id = l.id))"
        )
    };
    ($status:literal, $now:literal, $strategy:literal) => {
        concat!(
            "l.purged_at is null
            and case cast(",
            $status,
            " as text)
                when 'DELETED' then l.deleted_at is not null
                when 'DISABLED' then l.deleted_at is null and l.disabled_at is not null
                when 'EXPIRED' then l.deleted_at is null and l.disabled_at is null
                    and (l.expired_at is not null or l.expires_at <= ",
            $now,
            ")
                when 'ACTIVE' then l.deleted_at is null and l.expired_at is null
                    and l.disabled_at is null
                    and (l.expires_at is null or l.expires_at > ",
            $now,
            ")
                else l.deleted_at is null end
            and (cast(",
            $strategy,
            " as text) is null or l.strategy = ",
            $strategy,
            ")"
        )
    };
}

/// Those that hold a text somewhere.
macro_rules! holding {
    () => {
        " and (cast($6 as text) is null or lower(l.code) like $6 escape '\\'
            or lower(l.title) like $6 escape '\\' or lower(l.target) like $6 escape '\\')"
    };
}

/// Some of those that begin with a text, by an index.
macro_rules! beginning {
    ($text:literal, $scheme:literal, $more:literal) => {
        concat!(
            "select * from (select id from links where list_scope = $1 and purged_at is null",
            $more,
            " and ",
            $text,
            " >= ",
            $scheme,
            "$2 and ",
            $text,
            " < ",
            $scheme,
            "$2 || $3 order by ",
            $text,
            " limit $4)"
        )
    };
}

/// Those whose code, title or host begins with a text: the first so many of each by the alphabet.
macro_rules! found_by_beginning {
    () => {
        concat!(
            "l.id in (",
            beginning!("lower(code)", "", ""),
            " a union all ",
            beginning!("lower(title)", "", " and title is not null"),
            " b union all ",
            beginning!("lower(substr(target, 1, 80))", "'https://' || ", ""),
            " c union all ",
            beginning!("lower(substr(target, 1, 80))", "'https://www.' || ", ""),
            " d union all ",
            beginning!("lower(substr(target, 1, 80))", "'http://' || ", ""),
            " e union all ",
            beginning!("lower(substr(target, 1, 80))", "'http://www.' || ", ""),
            " f)"
        )
    };
}

/// One page, from the place to go on from, by `$key` in direction `$after`.
macro_rules! page {
    ($list:literal, $key:literal, $after:literal, $direction:literal) => {
        link_text!(concat!(
            "where ",
            $list,
            " = $1 and ",
            filters!(),
            holding!(),
            " and (",
            $key,
            ", l.id) ",
            $after,
            " ($7, $8) order by ",
            $key,
            " ",
            $direction,
            ", l.id ",
            $direction,
            " limit $9"
        ))
    };
    (all $key:literal, $after:literal, $direction:literal) => {
        page!("l.workspace", $key, $after, $direction)
    };
    (scope $key:literal, $after:literal, $direction:literal) => {
        page!("l.list_scope", $key, $after, $direction)
    };
    (tagged $key:literal, $after:literal, $direction:literal) => {
        // The list is compared in a way that no index serves: the tag's own index is to be used.
        link_text!(concat!(
            "where l.id in (select link_id from link_tags where workspace = $1 and tag = $2)
                and l.list_scope || '' = $3 and ",
            filters!("$4", "$5", "$6"),
            " and (",
            $key,
            ", l.id) ",
            $after,
            " ($7, $8) order by ",
            $key,
            " ",
            $direction,
            ", l.id ",
            $direction,
            " limit $9"
        ))
    };
    (found $key:literal, $after:literal, $direction:literal) => {
        // Not by the list: what was found is all in it, and is to be read by its number.
        link_text!(concat!(
            "where ",
            found_by_beginning!(),
            " and ",
            filters!("$5", "$6", "$7", "$8"),
            " and (",
            $key,
            ", l.id) ",
            $after,
            " ($9, $10) order by ",
            $key,
            " ",
            $direction,
            ", l.id ",
            $direction,
            " limit $11"
        ))
    };
}

statements! {
    ALL_OLDEST = page!(all "l.created_at", ">", "asc");
    ALL_NEWEST = page!(all "l.created_at", "<", "desc");
    ALL_LEAST_RECENTLY_CHANGED = page!(all "l.updated_at", ">", "asc");
    ALL_LAST_CHANGED = page!(all "l.updated_at", "<", "desc");
    ALL_FEWEST_REDIRECTS = page!(all "coalesce(s.redirect_count, 0)", ">", "asc");
    ALL_MOST_REDIRECTS = page!(all "coalesce(s.redirect_count, 0)", "<", "desc");
    ALL_BY_CODE = page!(all "l.code", ">", "asc");
    ALL_BY_CODE_BACKWARDS = page!(all "l.code", "<", "desc");
    OLDEST = page!(scope "l.created_at", ">", "asc");
    NEWEST = page!(scope "l.created_at", "<", "desc");
    LEAST_RECENTLY_CHANGED = page!(scope "l.updated_at", ">", "asc");
    LAST_CHANGED = page!(scope "l.updated_at", "<", "desc");
    FEWEST_REDIRECTS = page!(scope "coalesce(s.redirect_count, 0)", ">", "asc");
    BY_CODE = page!(scope "l.code", ">", "asc");
    BY_CODE_BACKWARDS = page!(scope "l.code", "<", "desc");
    /// From the index over the counts. Those that were never followed come after, newest first.
    MOST_REDIRECTS = text!(Text("select "), Selected(LINK_SELECTED), Text(concat!(" from link_stats s
        join links l on l.id = s.link_id left join link_health h on h.link_id = l.id
        where s.list_scope = $1 and s.redirect_count > 0 and ", filters!(), holding!(), "
            and (s.redirect_count, s.link_id) < ($7, $8)
        order by s.redirect_count desc, s.link_id desc limit $9")));
    NEVER_REDIRECTED = link_text!(concat!("where l.list_scope = $1
            and coalesce(s.redirect_count, 0) = 0 and ", filters!(), holding!(), "
            and (l.created_at, l.id) < ($7, $8)
        order by l.created_at desc, l.id desc limit $9"));
    FOUND_OLDEST = page!(found "l.created_at", ">", "asc");
    FOUND_NEWEST = page!(found "l.created_at", "<", "desc");
    FOUND_LEAST_RECENTLY_CHANGED = page!(found "l.updated_at", ">", "asc");
    FOUND_LAST_CHANGED = page!(found "l.updated_at", "<", "desc");
    FOUND_FEWEST_REDIRECTS = page!(found "coalesce(s.redirect_count, 0)", ">", "asc");
    FOUND_MOST_REDIRECTS = page!(found "coalesce(s.redirect_count, 0)", "<", "desc");
    FOUND_BY_CODE = page!(found "l.code", ">", "asc");
    FOUND_BY_CODE_BACKWARDS = page!(found "l.code", "<", "desc");
    TAGGED_OLDEST = page!(tagged "l.created_at", ">", "asc");
    TAGGED_NEWEST = page!(tagged "l.created_at", "<", "desc");
    TAGGED_LEAST_RECENTLY_CHANGED = page!(tagged "l.updated_at", ">", "asc");
    TAGGED_LAST_CHANGED = page!(tagged "l.updated_at", "<", "desc");
    TAGGED_FEWEST_REDIRECTS = page!(tagged "coalesce(s.redirect_count, 0)", ">", "asc");
    TAGGED_MOST_REDIRECTS = page!(tagged "coalesce(s.redirect_count, 0)", "<", "desc");
    TAGGED_BY_CODE = page!(tagged "l.code", ">", "asc");
    TAGGED_BY_CODE_BACKWARDS = page!(tagged "l.code", "<", "desc");
    COUNT_TAG = "select count(*) from (select 1 from link_tags
        where workspace = $1 and tag = $2 limit $3) t";
    /// No more of them than it is asked about.
    COUNT = "select count(*) from (select 1 from links
        where list_scope = $1 and purged_at is null limit $2) t";
}

/// Most links that a search finds by the beginning of each of code, title and host.
const FOUND: i64 = 500;
/// After every text that begins alike.
const AFTER_ALL: &str = "\u{10ffff}";
/// A link that was never followed stands behind all that were, by when it was made.
const NEVER: i64 = 1 << 62;

/// The eight sorts of one kind of list, in the order of `Sort::statement`.
type Sorts = [Sql; 8];

const ALL: Sorts = [
    ALL_OLDEST,
    ALL_NEWEST,
    ALL_LEAST_RECENTLY_CHANGED,
    ALL_LAST_CHANGED,
    ALL_FEWEST_REDIRECTS,
    ALL_MOST_REDIRECTS,
    ALL_BY_CODE,
    ALL_BY_CODE_BACKWARDS,
];
const SCOPE: Sorts = [
    OLDEST,
    NEWEST,
    LEAST_RECENTLY_CHANGED,
    LAST_CHANGED,
    FEWEST_REDIRECTS,
    MOST_REDIRECTS,
    BY_CODE,
    BY_CODE_BACKWARDS,
];
const BY_BEGINNING: Sorts = [
    FOUND_OLDEST,
    FOUND_NEWEST,
    FOUND_LEAST_RECENTLY_CHANGED,
    FOUND_LAST_CHANGED,
    FOUND_FEWEST_REDIRECTS,
    FOUND_MOST_REDIRECTS,
    FOUND_BY_CODE,
    FOUND_BY_CODE_BACKWARDS,
];

const BY_TAG: Sorts = [
    TAGGED_OLDEST,
    TAGGED_NEWEST,
    TAGGED_LEAST_RECENTLY_CHANGED,
    TAGGED_LAST_CHANGED,
    TAGGED_FEWEST_REDIRECTS,
    TAGGED_MOST_REDIRECTS,
    TAGGED_BY_CODE,
    TAGGED_BY_CODE_BACKWARDS,
];

impl Sort {
    fn statement(self, sorts: &Sorts) -> Sql {
        let [oldest, newest, least_recent, last, fewest, most, forwards, backwards] = *sorts;
        match (self.key, self.descending) {
            (SortKey::Created, false) => oldest,
            (SortKey::Created, true) => newest,
            (SortKey::Updated, false) => least_recent,
            (SortKey::Updated, true) => last,
            (SortKey::Redirects, false) => fewest,
            (SortKey::Redirects, true) => most,
            (SortKey::Code, false) => forwards,
            (SortKey::Code, true) => backwards,
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
    /// Whether to go by the tag's index: right where few carry it. Not with a search, and not for
    /// all of `main`.
    pub by_tag: bool,
    pub search: Option<Search>,
    pub sort: Sort,
    /// Go on after this place.
    pub after: Option<Position>,
    /// At most so many.
    pub most: i64,
}

impl ListQuery {
    /// The place of `link` in this list.
    pub fn position(&self, link: &Link) -> Position {
        match self.sort.key {
            SortKey::Created => Position::Number(link.created_at.as_ms(), link.id),
            SortKey::Updated => Position::Number(link.updated_at.as_ms(), link.id),
            SortKey::Redirects if self.is_ranked() && link.redirect_count == 0 => {
                Position::Number(link.created_at.as_ms() - NEVER, link.id)
            }
            SortKey::Redirects => Position::Number(link.redirect_count, link.id),
            SortKey::Code => Position::Text(link.code.as_str().to_owned(), link.id),
        }
    }

    /// Whether the list comes from the index over the counts.
    fn is_ranked(&self) -> bool {
        let most_first = Sort { key: SortKey::Redirects, descending: true };
        let by_index = !matches!(self.search, Some(Search::Begins(_)));
        self.sort == most_first && self.scope != ListScope::Main && by_index && !self.by_tag
    }

    fn params(&self, now: Timestamp, after: Position, most: i64) -> Vec<SqlValue<'_>> {
        let mut params = Vec::with_capacity(11);
        if self.by_tag {
            params.extend([SqlValue::text(self.scope.workspace()), self.tag.as_deref().into()]);
        }
        params.push(SqlValue::owned(self.scope.key()));
        if let Some(Search::Begins(text)) = &self.search {
            let text = SqlValue::owned(text.to_ascii_lowercase());
            params.extend([text, SqlValue::text(AFTER_ALL), SqlValue::Int(FOUND)]);
        }
        params.extend([
            self.status.map(Status::as_str).into(),
            now.into(),
            self.strategy.map(Strategy::as_str).into(),
        ]);
        if !self.by_tag {
            params.push(self.tag.as_deref().into());
            match &self.search {
                None => params.push(SqlValue::Null),
                Some(Search::Holds(text)) => params.push(SqlValue::owned(like_pattern(text))),
                Some(Search::Begins(_)) => {}
            }
        }
        let (value, id) = match after {
            Position::Number(number, id) => (SqlValue::Int(number), id),
            Position::Text(text, id) => (SqlValue::owned(text), id),
        };
        params.extend([value, SqlValue::Int(id.0), SqlValue::Int(most)]);
        params
    }
}

impl Store {
    /// A page of links, as they stand at `now`.
    pub async fn list_links(&self, query: &ListQuery, now: Timestamp) -> Result<Vec<Link>, Error> {
        if query.is_ranked() {
            return self.list_ranked(query, now).await;
        }
        let sorts = match (&query.scope, &query.search) {
            (ListScope::Main, _) => &ALL,
            _ if query.by_tag => &BY_TAG,
            (_, Some(Search::Begins(_))) => &BY_BEGINNING,
            _ => &SCOPE,
        };
        let after = query.after.clone().unwrap_or_else(|| query.sort.start());
        let params = query.params(now, after, query.most);
        self.read_page(query.sort.statement(sorts), params).await
    }

    /// The most followed first; once there are none left, those that were never followed.
    async fn list_ranked(&self, query: &ListQuery, now: Timestamp) -> Result<Vec<Link>, Error> {
        let after = query.after.clone().unwrap_or_else(|| query.sort.start());
        let (mut links, rest) = match after {
            Position::Number(value, id) if value < 0 => {
                (Vec::new(), Position::Number(value.saturating_add(NEVER), id))
            }
            after => {
                let params = query.params(now, after, query.most);
                let followed = self.read_page(MOST_REDIRECTS, params).await?;
                (followed, query.sort.start())
            }
        };
        let left = query.most - i64::try_from(links.len()).unwrap_or(i64::MAX);
        if left > 0 {
            links.extend(self.read_page(NEVER_REDIRECTED, query.params(now, rest, left)).await?);
        }
        Ok(links)
    }

    async fn read_page(&self, sql: Sql, params: Vec<SqlValue<'_>>) -> Result<Vec<Link>, Error> {
        self.db.list(sql, params).await?.iter().map(read_link).collect()
    }

    /// How many links of a list's workspace carry a tag, counted no further than `most`.
    pub async fn count_tagged(
        &self,
        which: &ListScope,
        tag: &str,
        most: i64,
    ) -> Result<i64, Error> {
        let params =
            vec![SqlValue::text(which.workspace()), SqlValue::text(tag), SqlValue::Int(most)];
        self.db.list(COUNT_TAG, params).await?.first().map_or(Ok(0), |row| row.int(0))
    }

    /// How many links a list holds, counted no further than `most`.
    pub async fn count_links_in(&self, which: &ListScope, most: i64) -> Result<i64, Error> {
        let params = vec![SqlValue::owned(which.key()), SqlValue::Int(most)];
        self.db.list(COUNT, params).await?.first().map_or(Ok(0), |row| row.int(0))
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
