//! Lists of links: filtered, sorted, a page at a time. Each sort is a statement of its own, put
//! together at compile time, so that no text is ever built at run time.

use crate::account::UserId;
use crate::clock::Timestamp;
use crate::code::WorkspaceId;
use crate::link::{Link, LinkId, Status, Strategy};
use crate::store::driver::{Sql, statements};
use crate::store::links::{link_columns, link_tables, read_link};
use crate::store::value::Value;
use crate::store::{Error, Store};

/// One page: the filters, then the place to go on from, by `$key` in direction `$after`.
macro_rules! page {
    ($key:literal, $after:literal, $direction:literal) => {
        page!($key, $after, $direction, "", " limit $9")
    };
    (own $key:literal, $after:literal, $direction:literal) => {
        page!($key, $after, $direction, " and l.owner_id = $9", " limit $10")
    };
    ($key:literal, $after:literal, $direction:literal, $owner:literal, $limit:literal) => {
        concat!(
            "select ",
            link_columns!(),
            link_tables!(),
            "where l.workspace = $1 and l.purged_at is null
                and case cast($2 as text)
                    when 'DELETED' then l.deleted_at is not null
                    when 'EXPIRED' then l.deleted_at is null
                        and (l.expired_at is not null or l.expires_at <= $3)
                    when 'ACTIVE' then l.deleted_at is null and l.expired_at is null
                        and (l.expires_at is null or l.expires_at > $3)
                    else l.deleted_at is null end
                and (cast($4 as text) is null or l.strategy = $4)
                and (cast($5 as text) is null or exists (select 1 from link_tags t
                    where t.workspace = $1 and t.tag = $5 and t.link_id = l.id))
                and (cast($6 as text) is null or lower(l.code) like $6 escape '\\'
                    or lower(l.title) like $6 escape '\\' or lower(l.target) like $6 escape '\\')
                and (",
            $key,
            ", l.id) ",
            $after,
            " ($7, $8)",
            $owner,
            " order by ",
            $key,
            " ",
            $direction,
            ", l.id ",
            $direction,
            $limit
        )
    };
}

statements! {
    OLDEST_FIRST = page!("l.created_at", ">", "asc");
    NEWEST_FIRST = page!("l.created_at", "<", "desc");
    LEAST_RECENTLY_CHANGED_FIRST = page!("l.updated_at", ">", "asc");
    LAST_CHANGED_FIRST = page!("l.updated_at", "<", "desc");
    FEWEST_REDIRECTS_FIRST = page!("coalesce(s.redirect_count, 0)", ">", "asc");
    MOST_REDIRECTS_FIRST = page!("coalesce(s.redirect_count, 0)", "<", "desc");
    BY_CODE = page!("l.code", ">", "asc");
    BY_CODE_BACKWARDS = page!("l.code", "<", "desc");
    OWN_OLDEST_FIRST = page!(own "l.created_at", ">", "asc");
    OWN_NEWEST_FIRST = page!(own "l.created_at", "<", "desc");
    OWN_LEAST_RECENTLY_CHANGED_FIRST = page!(own "l.updated_at", ">", "asc");
    OWN_LAST_CHANGED_FIRST = page!(own "l.updated_at", "<", "desc");
    OWN_FEWEST_REDIRECTS_FIRST = page!(own "coalesce(s.redirect_count, 0)", ">", "asc");
    OWN_MOST_REDIRECTS_FIRST = page!(own "coalesce(s.redirect_count, 0)", "<", "desc");
    OWN_BY_CODE = page!(own "l.code", ">", "asc");
    OWN_BY_CODE_BACKWARDS = page!(own "l.code", "<", "desc");
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// When the link was made.
    Created,
    /// When it was last changed.
    Updated,
    /// How often it was followed.
    Redirects,
    /// Its code.
    Code,
}

/// A sort: by what, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub key: SortKey,
    /// From the largest down.
    pub descending: bool,
}

/// A place in a sorted list: the sort's value of a link, and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// In a list sorted by a number or a time.
    Number(i64, LinkId),
    /// In a list sorted by code.
    Text(String, LinkId),
}

impl Sort {
    /// The place of `link` in a list sorted this way.
    pub fn position(self, link: &Link) -> Position {
        match self.key {
            SortKey::Created => Position::Number(link.created_at.as_ms(), link.id),
            SortKey::Updated => Position::Number(link.updated_at.as_ms(), link.id),
            SortKey::Redirects => Position::Number(link.redirect_count, link.id),
            SortKey::Code => Position::Text(link.code.as_str().to_owned(), link.id),
        }
    }

    /// Before the first link of any list.
    fn start(self) -> Position {
        // `~` comes after every character of a code.
        let (number, text) = if self.descending { (i64::MAX, "~") } else { (i64::MIN, "") };
        match self.key {
            SortKey::Code => Position::Text(text.to_owned(), LinkId(number)),
            _ => Position::Number(number, LinkId(number)),
        }
    }

    const fn statement(self) -> Sql {
        match (self.key, self.descending) {
            (SortKey::Created, false) => OLDEST_FIRST,
            (SortKey::Created, true) => NEWEST_FIRST,
            (SortKey::Updated, false) => LEAST_RECENTLY_CHANGED_FIRST,
            (SortKey::Updated, true) => LAST_CHANGED_FIRST,
            (SortKey::Redirects, false) => FEWEST_REDIRECTS_FIRST,
            (SortKey::Redirects, true) => MOST_REDIRECTS_FIRST,
            (SortKey::Code, false) => BY_CODE,
            (SortKey::Code, true) => BY_CODE_BACKWARDS,
        }
    }

    const fn own_statement(self) -> Sql {
        match (self.key, self.descending) {
            (SortKey::Created, false) => OWN_OLDEST_FIRST,
            (SortKey::Created, true) => OWN_NEWEST_FIRST,
            (SortKey::Updated, false) => OWN_LEAST_RECENTLY_CHANGED_FIRST,
            (SortKey::Updated, true) => OWN_LAST_CHANGED_FIRST,
            (SortKey::Redirects, false) => OWN_FEWEST_REDIRECTS_FIRST,
            (SortKey::Redirects, true) => OWN_MOST_REDIRECTS_FIRST,
            (SortKey::Code, false) => OWN_BY_CODE,
            (SortKey::Code, true) => OWN_BY_CODE_BACKWARDS,
        }
    }
}

/// Which links of a workspace, in which order, from where on.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// Whose.
    pub workspace: WorkspaceId,
    /// Where they stand; `None`: all but the deleted.
    pub status: Option<Status>,
    /// How their codes were made.
    pub strategy: Option<Strategy>,
    /// A tag they carry.
    pub tag: Option<String>,
    /// Text that their code, title or target holds, in any case of the letters A to Z.
    pub search: Option<String>,
    /// The order.
    pub sort: Sort,
    /// Go on after this place.
    pub after: Option<Position>,
    /// At most so many.
    pub most: i64,
    /// Only those of this user.
    pub owner: Option<UserId>,
}

impl Store {
    /// A page of links, as they stand at `now`.
    pub async fn list_links(&self, query: &ListQuery, now: Timestamp) -> Result<Vec<Link>, Error> {
        let pattern = query.search.as_deref().map(like_pattern);
        let (value, id) = match query.after.clone().unwrap_or_else(|| query.sort.start()) {
            Position::Number(number, id) => (Value::Int(number), id),
            Position::Text(text, id) => (Value::owned(text), id),
        };
        let mut params = vec![
            Value::text(query.workspace.as_str()),
            query.status.map(Status::as_str).into(),
            now.into(),
            query.strategy.map(Strategy::as_str).into(),
            query.tag.as_deref().into(),
            pattern.as_deref().into(),
            value,
            Value::Int(id.0),
        ];
        // One more parameter where only somebody's own links are asked for: the index by owner
        // serves that, and `owner = $9 or $9 is null` would not use it.
        params.extend(query.owner.map(|owner| Value::Int(owner.0)));
        params.push(Value::Int(query.most));
        let statement = match query.owner {
            None => query.sort.statement(),
            Some(_) => query.sort.own_statement(),
        };
        let rows = self.db.list(statement, params).await?;
        rows.iter().map(read_link).collect()
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
