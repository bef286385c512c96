//! The tables that a copy holds, listed once: their keys and columns. The statements that move their rows
//! follow from the list.

use std::borrow::Cow;

use crate::store::driver::{BulkSql, Sql};
use crate::store::value::SqlValue;

pub(super) struct CopyTable {
    pub(super) name: &'static str,
    pub(super) key: &'static [KeyType],
    #[cfg(test)]
    pub(in crate::store) columns: &'static [&'static str],
    /// Whether its rows are updated in place, since rows of other tables refer to them.
    pub(super) updates_in_place: bool,
    /// A page of rows after a key, in the order of the key.
    pub(super) read: Sql,
    pub(super) write: Sql,
    pub(super) bulk: BulkSql,
    /// Removes the rows after one key, up to another.
    pub(super) clear: Sql,
    pub(super) count: Sql,
}

/// What a column of a key holds.
#[derive(Clone, Copy)]
pub(super) enum KeyType {
    Number,
    Text,
    Bytes,
}

impl KeyType {
    pub(super) const fn first(self) -> SqlValue<'static> {
        match self {
            Self::Number => SqlValue::Int(i64::MIN),
            Self::Text => SqlValue::Text(Cow::Borrowed("")),
            Self::Bytes => SqlValue::Blob(Cow::Borrowed(&[])),
        }
    }

    /// After all values: names, hosts and tags hold no such character, hashes are shorter.
    pub(super) const fn last(self) -> SqlValue<'static> {
        match self {
            Self::Number => SqlValue::Int(i64::MAX),
            Self::Text => SqlValue::Text(Cow::Borrowed("\u{10ffff}")),
            Self::Bytes => SqlValue::Blob(Cow::Borrowed(&[0xff; 33])),
        }
    }
}

/// Declare the tables: for each its key, and all columns, those of the key first.
macro_rules! copy_tables {
    ($($table:ident ($($key:ident $type:ident),+) $($in_place:ident)?: $columns:expr;)+) => {
        $(mod $table {
            use super::{BulkSql, CopyTable, KeyType, Sql};
            use crate::store::text::Piece::{Excluded, Names, Params, Text};
            use crate::store::text::text;

            const NAME: &str = stringify!($table);
            const KEY: &[&str] = &[$(stringify!($key)),+];
            const COLUMNS: &[&str] = $columns;
            const IN_PLACE: &[&str] = &[$(stringify!($in_place))?];
            const INSERT: &str = text!(Text("insert into "), Text(NAME), Text(" ("), Names(COLUMNS),
                Text(") values ("), Params(1, COLUMNS.len()), Text(")"));
            const UPSERT: &str = text!(Text(INSERT), Text(" on conflict ("), Names(KEY),
                Text(") do update set "), Excluded(COLUMNS.split_at(KEY.len()).1));

            pub(super) const TABLE: CopyTable = CopyTable {
                name: NAME,
                key: &[$(KeyType::$type),+],
                #[cfg(test)]
                columns: COLUMNS,
                updates_in_place: !IN_PLACE.is_empty(),
                read: Sql::constant(
                    concat!(module_path!(), "::READ"),
                    text!(Text("select "), Names(COLUMNS), Text(" from "), Text(NAME), Text(" where ("),
                        Names(KEY), Text(") > ("), Params(1, KEY.len()), Text(") order by "),
                        Names(KEY), Text(" limit "), Params(KEY.len() + 1, 1)),
                ),
                write: Sql::constant(
                    concat!(module_path!(), "::WRITE"),
                    if IN_PLACE.is_empty() { INSERT } else { UPSERT },
                ),
                bulk: BulkSql::constant(text!(Text("copy "), Text(NAME), Text(" ("), Names(COLUMNS),
                    Text(") from stdin (format binary)"))),
                clear: Sql::constant(
                    concat!(module_path!(), "::CLEAR"),
                    text!(Text("delete from "), Text(NAME), Text(" where ("), Names(KEY), Text(") > ("),
                        Params(1, KEY.len()), Text(") and ("), Names(KEY), Text(") <= ("),
                        Params(KEY.len() + 1, KEY.len()), Text(")")),
                ),
                count: Sql::constant(
                    concat!(module_path!(), "::COUNT"),
                    text!(Text("select count(*) from "), Text(NAME)),
                ),
            };
        })+

        pub(super) const TABLES: &[CopyTable] = &[$($table::TABLE),+];

        pub(in crate::store) const STATEMENTS: &[Sql] = &[$(
            $table::TABLE.read,
            $table::TABLE.write,
            $table::TABLE.clear,
            $table::TABLE.count,
        )+];
    };
}

// Tables that others refer to come first. Locks are left out: they belong to processes. So are the keys of
// visitors' hashes: they are nowhere but in one store, so that destroying them there is enough.
copy_tables! {
    workspaces (id Text) updated_in_place: &[
        "id", "strategy", "hit_limit", "created_at", "updated_at", "deleted_at", "created_by",
        "analytics_mode", "events_keep", "honour", "excluded_networks", "panels_off",
        "link_defaults", "link_defaults_checksum",
    ];
    hosts (host Text): &[
        "host", "workspace", "created_at", "home_url", "not_found_url", "invalid_code_url",
    ];
    links (id Number): crate::store::link_columns::LINK_COLUMNS;
    link_plans (link_id Number): &["link_id", "plan", "keys", "version"];
    link_uses (link_id Number): &["link_id", "uses", "taken"];
    link_tags (workspace Text, tag Text, link_id Number): &[
        "workspace", "tag", "link_id", "position",
    ];
    link_stats (link_id Number): &[
        "link_id", "redirect_count", "avg_redirect_ms", "last_redirect_at", "month", "month_hits",
        "others", "list_scope",
    ];
    link_hours (hour Number, link_id Number): &["hour", "link_id", "hits", "others"];
    link_days (link_id Number, day Number): &["link_id", "day", "hits", "others"];
    click_writers (writer Number): &["writer", "write_seq", "written_at"];
    click_log (writer Number, seq Number): &["writer", "seq", "totals"];
    event_log (writer Number, seq Number): &["writer", "seq", "events", "data", "written_at"];
    event_blocks (workspace Text, day Number, seq Number, column_number Number): &[
        "workspace", "day", "seq", "column_number", "events", "data",
    ];
    day_sums (workspace Text, day Number, dimension Number): &[
        "workspace", "day", "dimension", "data",
    ];
    event_tasks (id Number): &[
        "id", "kind", "workspace", "link_id", "from_time", "to_time", "requested_at",
    ];
    analytics_shares (token_hash Bytes): &[
        "token_hash", "workspace", "scope", "subject", "time_range", "group_names", "filters",
        "password_hash", "expires_at", "is_indexed", "created_by", "created_at", "revoked_at",
    ];
    totals (name Text): &["name", "count", "mean"];
    counters (name Text): &["name", "next"];
    secrets (name Text): &["name", "value", "created_at"];
    users (id Number): &[
        "id", "email", "name", "password_hash", "token_version", "admin_at", "disabled_at",
        "created_at", "updated_at", "deleted_at",
    ];
    api_keys (id Number): &[
        "id", "user_id", "name", "hash", "prefix", "scopes", "workspace", "created_at",
        "expires_at", "last_used_at", "revoked_at",
    ];
    members (user_id Number, workspace Text): &["user_id", "workspace", "role", "created_at"];
    invites (hash Bytes): &["hash", "email", "created_at", "expires_at", "used_at"];
    workspace_invitations (id Number): &[
        "id", "workspace", "email", "role", "hash", "invited_by", "created_at", "expires_at",
    ];
    user_months (user_id Number, month Number): &["user_id", "month", "links", "custom_codes"];
    link_health (link_id Number): &[
        "link_id", "destination_status", "last_checked_at", "next_check_at", "http_status",
        "failures", "failed_at",
    ];
    synced_urls (user_id Number, url_hash Bytes): &["user_id", "url_hash", "link_id"];
    sessions (hash Bytes): &[
        "hash", "user_id", "token_version", "agent", "created_at", "seen_at", "expires_at",
    ];
    audit (id Number): &[
        "id", "at", "user_id", "key_id", "action", "subject_kind", "subject_id", "detail",
        "client",
    ];
    reports (id Number): &["id", "link_id", "client", "reason", "words", "at"];
    released_hosts (host Text): &["host", "workspace", "released_at"];
    pending_hosts (workspace Text, host Text): &[
        "workspace", "host", "token", "created_at", "checked_at",
    ];
}

/// Every column that a copy holds, with its table.
#[cfg(test)]
pub(in crate::store) fn columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.iter().flat_map(|table| table.columns.iter().map(|column| (table.name, *column)))
}

/// How many links a store has, and what else shows that it was used.
pub(super) const COUNT_LINKS: Sql = links::TABLE.count;
pub(super) const COUNT_HOSTS: Sql = hosts::TABLE.count;
pub(super) const COUNT_WORKSPACES: Sql = workspaces::TABLE.count;
