//! The statements of lists of links, put together at compile time, so that no text is ever built at run
//! time. Each order has statements of its own, in both directions.
//!
//! There are two ways to read a page. A walk follows the index of its order and passes over what the
//! filters leave out, up to a place that `BOUNDS` tells. A gathering takes all links that an index of one
//! filter has, which are few, and sorts them.

use crate::store::driver::{Sql, statements};
use crate::store::link_columns::LINK_SELECTED;
use crate::store::links::link_text;
use crate::store::list_sort::{Sort, SortKey};
use crate::store::search_index::{postgres_candidates, sqlite_candidates};
use crate::store::text::Piece::{Selected, Text};
use crate::store::text::text;

/// Which links, whatever the list and the order: status at a time, strategy, tag, a text that they hold
/// somewhere, and whether archived ones are among them. Deleted ones are, archived or not.
macro_rules! filters {
    ($status:literal, $now:literal, $strategy:literal, $tag:literal, $like:literal, $archived:literal) => {
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
            ") and (cast(",
            $tag,
            " as text) is null or exists (select 1 from link_tags t
                where t.workspace = l.workspace and t.tag = ",
            $tag,
            " and t.link_id = l.id)) and (cast(",
            $like,
            " as text) is null or lower(l.code) like ",
            $like,
            " escape '\\' or lower(l.title) like ",
            $like,
            " escape '\\' or lower(l.target) like ",
            $like,
            " escape '\\' or lower(l.note) like ",
            $like,
            " escape '\\') and case cast(",
            $archived,
            " as text)
                when 'only' then l.archived_at is not null
                when 'without' then l.archived_at is null or l.deleted_at is not null
                else 1 = 1 end"
        )
    };
}

/// The end of a walk: filters, the place to go on from, the place to stop at, the order.
macro_rules! stretch {
    ($key:literal, $id:literal, desc) => {
        stretch!($key, $id, "<", ">=", " desc")
    };
    ($key:literal, $id:literal, asc) => {
        stretch!($key, $id, ">", "<=", "")
    };
    ($key:literal, $id:literal, $after:literal, $until:literal, $order:literal) => {
        concat!(
            " and ",
            filters!("$2", "$3", "$4", "$5", "$6", "$7"),
            " and (",
            $key,
            ", ",
            $id,
            ") ",
            $after,
            " ($8, $9) and (",
            $key,
            ", ",
            $id,
            ") ",
            $until,
            " ($10, $11) order by ",
            $key,
            $order,
            ", ",
            $id,
            $order,
            " limit $12"
        )
    };
}

/// A walk by a column of the link.
macro_rules! walk {
    ($scope:literal, $key:literal, $direction:tt) => {
        link_text!(concat!("where ", $scope, stretch!($key, "l.id", $direction)))
    };
}

/// A walk by the number of clicks, among those that have any: `+ 0`, because SQLite would take this condition
/// for the end of its range, instead of the place to stop at, and read all that have clicks.
macro_rules! counted {
    ($scope:literal, $direction:tt) => {
        text!(
            Text("select "),
            Selected(LINK_SELECTED),
            Text(concat!(
                " from link_stats s join links l on l.id = s.link_id
                left join link_health h on h.link_id = l.id where ",
                $scope,
                " and s.redirect_count + 0 > 0",
                stretch!("s.redirect_count", "s.link_id", $direction)
            ))
        )
    };
}

/// The place so many links after another.
macro_rules! bound {
    ($from:literal, $key:literal, $id:literal, desc) => {
        bound!($from, $key, $id, "<", " desc")
    };
    ($from:literal, $key:literal, $id:literal, asc) => {
        bound!($from, $key, $id, ">", "")
    };
    ($from:literal, $key:literal, $id:literal, $after:literal, $order:literal) => {
        concat!(
            "select ",
            $key,
            ", ",
            $id,
            " from ",
            $from,
            " and (",
            $key,
            ", ",
            $id,
            ") ",
            $after,
            " ($2, $3) order by ",
            $key,
            $order,
            ", ",
            $id,
            $order,
            " limit 1 offset $4"
        )
    };
}

/// More than are gathered.
macro_rules! too_many {
    () => {
        3001
    };
}
pub(super) const TOO_MANY: i64 = too_many!();

/// The numbers of the links of one filter, `$1`, that has the value `$2`. Each branch reads an index of its
/// own; those of other filters read nothing.
macro_rules! candidates {
    ($search:expr) => {
        concat!(
            $search,
            " union all select link_id from link_tags
                where $1 = 'tag' and tag = $2 and workspace = $3
            union all select id from links where $1 = 'DELETED' and list_scope between $4 and $5
                and deleted_at is not null and purged_at is null
            union all select id from links where $1 = 'DISABLED' and list_scope between $4 and $5
                and disabled_at is not null and purged_at is null
            union all select id from links where $1 = 'archived' and list_scope between $4 and $5
                and archived_at is not null and purged_at is null
            union all select id from links where $1 = 'EXPIRED' and list_scope = $4 and $4 = $5
                and expires_at <= $6 and purged_at is null
            union all select id from links where $1 = 'EXPIRED' and list_scope between $4 and $5
                and $4 < $5 and expires_at <= $6 and purged_at is null
            union all select id from links where $1 = 'strategy' and list_scope between $4 and $5
                and strategy = $2 and purged_at is null
            union all select id from links where $1 = 'scope' and list_scope between $4 and $5
                and purged_at is null
            limit ",
            too_many!()
        )
    };
}

/// A page of those, sorted. Their list is compared in a way that no index serves: they are to be read by
/// their numbers.
macro_rules! gathered {
    ($candidates:expr, $key:literal, $after:literal, $order:literal) => {
        link_text!(concat!(
            "where l.id in (",
            $candidates,
            ") and l.workspace || '' = $3 and l.list_scope || '' between $4 and $5 and ",
            filters!("$7", "$6", "$8", "$9", "$10", "$11"),
            " and (",
            $key,
            ", l.id) ",
            $after,
            " ($12, $13) order by ",
            $key,
            $order,
            ", l.id",
            $order,
            " limit $14"
        ))
    };
    (sqlite $key:literal desc) => {
        gathered!(candidates!(sqlite_candidates!()), $key, "<", " desc")
    };
    (sqlite $key:literal asc) => {
        gathered!(candidates!(sqlite_candidates!()), $key, ">", "")
    };
    (postgres $key:literal desc) => {
        gathered!(candidates!(postgres_candidates!()), $key, "<", " desc")
    };
    (postgres $key:literal asc) => {
        gathered!(candidates!(postgres_candidates!()), $key, ">", "")
    };
    // Those without clicks come after all others, by when they were made: see `NEVER`.
    (sqlite clicks $direction:tt) => {
        gathered!(sqlite "case when s.redirect_count > 0 then s.redirect_count
            else l.created_at - 4611686018427387904 end" $direction)
    };
    (postgres clicks $direction:tt) => {
        gathered!(postgres "case when s.redirect_count > 0 then s.redirect_count
            else l.created_at - 4611686018427387904 end" $direction)
    };
}

/// A link without clicks stands behind all that have any, by when it was made, less this.
pub(super) const NEVER: i64 = 1 << 62;

statements! {
    OLDEST = walk!("l.list_scope = $1", "l.created_at", asc);
    NEWEST = walk!("l.list_scope = $1", "l.created_at", desc);
    LEAST_RECENTLY_CHANGED = walk!("l.list_scope = $1", "l.updated_at", asc);
    LAST_CHANGED = walk!("l.list_scope = $1", "l.updated_at", desc);
    BY_CODE = walk!("l.list_scope = $1", "l.code", asc);
    BY_CODE_BACKWARDS = walk!("l.list_scope = $1", "l.code", desc);
    FEWEST_CLICKS = counted!("s.list_scope = $1", asc);
    MOST_CLICKS = counted!("s.list_scope = $1", desc);
    NEVER_CLICKED_OLDEST = walk!("l.list_scope = $1 and coalesce(s.redirect_count, 0) = 0",
        "l.created_at", asc);
    NEVER_CLICKED_NEWEST = walk!("l.list_scope = $1 and coalesce(s.redirect_count, 0) = 0",
        "l.created_at", desc);
    // All of `main`: by indexes over all workspaces.
    MAIN_OLDEST = walk!("l.workspace || '' = $1", "l.created_at", asc);
    MAIN_NEWEST = walk!("l.workspace || '' = $1", "l.created_at", desc);
    MAIN_LEAST_RECENTLY_CHANGED = walk!("l.workspace || '' = $1", "l.updated_at", asc);
    MAIN_LAST_CHANGED = walk!("l.workspace || '' = $1", "l.updated_at", desc);
    MAIN_BY_CODE = walk!("l.workspace = $1", "l.code", asc);
    MAIN_BY_CODE_BACKWARDS = walk!("l.workspace = $1", "l.code", desc);
    MAIN_FEWEST_CLICKS = counted!("l.workspace || '' = $1", asc);
    MAIN_MOST_CLICKS = counted!("l.workspace || '' = $1", desc);
    MAIN_NEVER_CLICKED_OLDEST = walk!("l.workspace || '' = $1 and coalesce(s.redirect_count, 0) = 0",
        "l.created_at", asc);
    MAIN_NEVER_CLICKED_NEWEST = walk!("l.workspace || '' = $1 and coalesce(s.redirect_count, 0) = 0",
        "l.created_at", desc);

    BOUND_OLDEST = bound!("links where list_scope = $1 and purged_at is null", "created_at", "id", asc);
    BOUND_NEWEST = bound!("links where list_scope = $1 and purged_at is null", "created_at", "id", desc);
    BOUND_LEAST_RECENTLY_CHANGED =
        bound!("links where list_scope = $1 and purged_at is null", "updated_at", "id", asc);
    BOUND_LAST_CHANGED =
        bound!("links where list_scope = $1 and purged_at is null", "updated_at", "id", desc);
    BOUND_BY_CODE = bound!("links where list_scope = $1 and purged_at is null", "code", "id", asc);
    BOUND_BY_CODE_BACKWARDS =
        bound!("links where list_scope = $1 and purged_at is null", "code", "id", desc);
    BOUND_FEWEST_CLICKS = bound!("link_stats where list_scope = $1 and redirect_count + 0 > 0",
        "redirect_count", "link_id", asc);
    BOUND_MOST_CLICKS = bound!("link_stats where list_scope = $1 and redirect_count + 0 > 0",
        "redirect_count", "link_id", desc);
    MAIN_BOUND_OLDEST = bound!("links where cast($1 as text) = 'main'", "created_at", "id", asc);
    MAIN_BOUND_NEWEST = bound!("links where cast($1 as text) = 'main'", "created_at", "id", desc);
    MAIN_BOUND_LEAST_RECENTLY_CHANGED =
        bound!("links where cast($1 as text) = 'main' and purged_at is null", "updated_at", "id", asc);
    MAIN_BOUND_LAST_CHANGED =
        bound!("links where cast($1 as text) = 'main' and purged_at is null", "updated_at", "id", desc);
    MAIN_BOUND_BY_CODE = bound!("links where workspace = $1", "code", "id", asc);
    MAIN_BOUND_BY_CODE_BACKWARDS = bound!("links where workspace = $1", "code", "id", desc);
    MAIN_BOUND_FEWEST_CLICKS =
        bound!("link_stats where cast($1 as text) = 'main' and redirect_count + 0 > 0",
            "redirect_count", "link_id", asc);
    MAIN_BOUND_MOST_CLICKS =
        bound!("link_stats where cast($1 as text) = 'main' and redirect_count + 0 > 0",
            "redirect_count", "link_id", desc);

    COUNT_CANDIDATES = concat!("select count(*) from (", candidates!(sqlite_candidates!()), ") c"),
        on_postgres concat!("select count(*) from (", candidates!(postgres_candidates!()), ") c");
    GATHERED_OLDEST = gathered!(sqlite "l.created_at" asc),
        on_postgres gathered!(postgres "l.created_at" asc);
    GATHERED_NEWEST = gathered!(sqlite "l.created_at" desc),
        on_postgres gathered!(postgres "l.created_at" desc);
    GATHERED_LEAST_RECENTLY_CHANGED = gathered!(sqlite "l.updated_at" asc),
        on_postgres gathered!(postgres "l.updated_at" asc);
    GATHERED_LAST_CHANGED = gathered!(sqlite "l.updated_at" desc),
        on_postgres gathered!(postgres "l.updated_at" desc);
    GATHERED_BY_CODE = gathered!(sqlite "l.code" asc), on_postgres gathered!(postgres "l.code" asc);
    GATHERED_BY_CODE_BACKWARDS = gathered!(sqlite "l.code" desc),
        on_postgres gathered!(postgres "l.code" desc);
    GATHERED_FEWEST_CLICKS = gathered!(sqlite clicks asc), on_postgres gathered!(postgres clicks asc);
    GATHERED_MOST_CLICKS = gathered!(sqlite clicks desc), on_postgres gathered!(postgres clicks desc);
}

/// How many links an index has for a filter, counted no further than [`TOO_MANY`].
pub(super) const COUNT: Sql = COUNT_CANDIDATES;

/// An index that a list is walked along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    Created,
    Changed,
    Code,
    /// Links with clicks, by their number.
    Counted,
    /// Links without clicks, by when they were made.
    Never,
}

impl Walk {
    /// What is walked along for a sort, one after the other.
    pub(super) fn of(sort: Sort) -> &'static [Self] {
        match (sort.key, sort.descending) {
            (SortKey::Created, _) => &[Self::Created],
            (SortKey::Updated, _) => &[Self::Changed],
            (SortKey::Code, _) => &[Self::Code],
            (SortKey::Redirects, true) => &[Self::Counted, Self::Never],
            (SortKey::Redirects, false) => &[Self::Never, Self::Counted],
        }
    }

    /// The statements for a page and for its bound, of all of `main` or of a list.
    pub(super) fn statements(self, is_main: bool, descending: bool) -> (Sql, Sql) {
        match (self, is_main, descending) {
            (Self::Created, false, false) => (OLDEST, BOUND_OLDEST),
            (Self::Created, false, true) => (NEWEST, BOUND_NEWEST),
            (Self::Created, true, false) => (MAIN_OLDEST, MAIN_BOUND_OLDEST),
            (Self::Created, true, true) => (MAIN_NEWEST, MAIN_BOUND_NEWEST),
            (Self::Changed, false, false) => (LEAST_RECENTLY_CHANGED, BOUND_LEAST_RECENTLY_CHANGED),
            (Self::Changed, false, true) => (LAST_CHANGED, BOUND_LAST_CHANGED),
            (Self::Changed, true, false) => {
                (MAIN_LEAST_RECENTLY_CHANGED, MAIN_BOUND_LEAST_RECENTLY_CHANGED)
            }
            (Self::Changed, true, true) => (MAIN_LAST_CHANGED, MAIN_BOUND_LAST_CHANGED),
            (Self::Code, false, false) => (BY_CODE, BOUND_BY_CODE),
            (Self::Code, false, true) => (BY_CODE_BACKWARDS, BOUND_BY_CODE_BACKWARDS),
            (Self::Code, true, false) => (MAIN_BY_CODE, MAIN_BOUND_BY_CODE),
            (Self::Code, true, true) => (MAIN_BY_CODE_BACKWARDS, MAIN_BOUND_BY_CODE_BACKWARDS),
            (Self::Counted, false, false) => (FEWEST_CLICKS, BOUND_FEWEST_CLICKS),
            (Self::Counted, false, true) => (MOST_CLICKS, BOUND_MOST_CLICKS),
            (Self::Counted, true, false) => (MAIN_FEWEST_CLICKS, MAIN_BOUND_FEWEST_CLICKS),
            (Self::Counted, true, true) => (MAIN_MOST_CLICKS, MAIN_BOUND_MOST_CLICKS),
            (Self::Never, false, false) => (NEVER_CLICKED_OLDEST, BOUND_OLDEST),
            (Self::Never, false, true) => (NEVER_CLICKED_NEWEST, BOUND_NEWEST),
            (Self::Never, true, false) => (MAIN_NEVER_CLICKED_OLDEST, MAIN_BOUND_OLDEST),
            (Self::Never, true, true) => (MAIN_NEVER_CLICKED_NEWEST, MAIN_BOUND_NEWEST),
        }
    }
}

/// The statement that gathers and sorts.
pub(super) const fn gathered(sort: Sort) -> Sql {
    match (sort.key, sort.descending) {
        (SortKey::Created, false) => GATHERED_OLDEST,
        (SortKey::Created, true) => GATHERED_NEWEST,
        (SortKey::Updated, false) => GATHERED_LEAST_RECENTLY_CHANGED,
        (SortKey::Updated, true) => GATHERED_LAST_CHANGED,
        (SortKey::Code, false) => GATHERED_BY_CODE,
        (SortKey::Code, true) => GATHERED_BY_CODE_BACKWARDS,
        (SortKey::Redirects, false) => GATHERED_FEWEST_CLICKS,
        (SortKey::Redirects, true) => GATHERED_MOST_CLICKS,
    }
}
