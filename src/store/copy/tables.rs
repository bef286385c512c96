//! The tables that a copy holds: their columns, their keys, and the statements that move their rows.

use std::borrow::Cow;

use crate::store::driver::{BulkSql, Sql, statements};
use crate::store::value::SqlValue;

/// The columns of a table, its key first.
macro_rules! columns {
    (workspaces) => {
        "id, strategy, hit_limit, created_at, updated_at, deleted_at"
    };
    (hosts) => {
        "host, workspace, created_at"
    };
    (links) => {
        "id, workspace, code, strategy, target, canonical_hash, title, tags, redirect_status,
         hit_limit, created_at, updated_at, expires_at, deleted_at, purged_at, main_since, version,
         owner_id, claim_hash, expired_at, disabled_at, disabled_reason, disabled_note, made_key,
         made_from, row_checksum"
    };
    (link_tags) => {
        "workspace, tag, link_id"
    };
    (link_stats) => {
        "link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits, others,
         list_scope"
    };
    (link_hours) => {
        "hour, link_id, hits, others"
    };
    (link_days) => {
        "link_id, day, hits, others"
    };
    (click_writers) => {
        "writer, write_seq, written_at"
    };
    (click_log) => {
        "writer, seq, tallies"
    };
    (sessions) => {
        "hash, user_id, token_version, agent, created_at, seen_at, expires_at"
    };
    (audit) => {
        "id, at, user_id, key_id, action, subject_kind, subject_id, detail, client"
    };
    (reports) => {
        "id, link_id, client, reason, words, at"
    };
    (released_hosts) => {
        "host, workspace, released_at"
    };
    (totals) => {
        "name, count, mean"
    };
    (counters) => {
        "name, next"
    };
    (secrets) => {
        "name, value, created_at"
    };
    (users) => {
        "id, email, name, password_hash, token_version, admin_at, disabled_at, created_at,
         updated_at"
    };
    (api_keys) => {
        "id, user_id, name, hash, prefix, scopes, workspace, created_at, expires_at, last_used_at,
         revoked_at"
    };
    (members) => {
        "user_id, workspace, role, created_at"
    };
    (invites) => {
        "hash, email, created_at, expires_at, used_at"
    };
    (user_months) => {
        "user_id, month, links"
    };
    (link_health) => {
        "link_id, destination_status, last_checked_at, next_check_at"
    };
}

macro_rules! select {
    ($table:ident, $rest:literal) => {
        concat!("select ", columns!($table), " from ", stringify!($table), " where ", $rest)
    };
}

macro_rules! insert {
    ($table:ident, $rest:literal) => {
        concat!("insert into ", stringify!($table), " (", columns!($table), ") values ", $rest)
    };
}

macro_rules! bulk {
    ($table:ident) => {
        BulkSql::constant(concat!(
            "copy ",
            stringify!($table),
            " (",
            columns!($table),
            ") from stdin (format binary)"
        ))
    };
}

statements! {
    READ_WORKSPACES = select!(workspaces, "id > $1 order by id limit $2");
    /// Links refer to it: it is changed where it stands.
    WRITE_WORKSPACES = insert!(workspaces, "($1, $2, $3, $4, $5, $6)
        on conflict (id) do update set strategy = excluded.strategy,
            hit_limit = excluded.hit_limit, created_at = excluded.created_at,
            updated_at = excluded.updated_at, deleted_at = excluded.deleted_at");
    CLEAR_WORKSPACES = "delete from workspaces where id > $1 and id <= $2";
    COUNT_WORKSPACES = "select count(*) from workspaces";
    READ_HOSTS = select!(hosts, "host > $1 order by host limit $2");
    WRITE_HOSTS = insert!(hosts, "($1, $2, $3)");
    CLEAR_HOSTS = "delete from hosts where host > $1 and host <= $2";
    COUNT_HOSTS = "select count(*) from hosts";
    READ_LINKS = select!(links, "id > $1 order by id limit $2");
    WRITE_LINKS = insert!(links, "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)");
    CLEAR_LINKS = "delete from links where id > $1 and id <= $2";
    COUNT_LINKS = "select count(*) from links";
    READ_TAGS = select!(link_tags, "(workspace, tag, link_id) > ($1, $2, $3)
        order by workspace, tag, link_id limit $4");
    WRITE_TAGS = insert!(link_tags, "($1, $2, $3)");
    CLEAR_TAGS = "delete from link_tags where (workspace, tag, link_id) > ($1, $2, $3)
        and (workspace, tag, link_id) <= ($4, $5, $6)";
    COUNT_TAGS = "select count(*) from link_tags";
    READ_STATS = select!(link_stats, "link_id > $1 order by link_id limit $2");
    WRITE_STATS = insert!(link_stats, "($1, $2, $3, $4, $5, $6, $7, $8)");
    CLEAR_STATS = "delete from link_stats where link_id > $1 and link_id <= $2";
    COUNT_STATS = "select count(*) from link_stats";
    READ_HOURS = select!(link_hours, "(hour, link_id) > ($1, $2) order by hour, link_id limit $3");
    WRITE_HOURS = insert!(link_hours, "($1, $2, $3, $4)");
    CLEAR_HOURS = "delete from link_hours where (hour, link_id) > ($1, $2) and (hour, link_id) <= ($3, $4)";
    COUNT_HOURS = "select count(*) from link_hours";
    READ_DAYS = select!(link_days, "(link_id, day) > ($1, $2) order by link_id, day limit $3");
    WRITE_DAYS = insert!(link_days, "($1, $2, $3, $4)");
    CLEAR_DAYS = "delete from link_days where (link_id, day) > ($1, $2) and (link_id, day) <= ($3, $4)";
    COUNT_DAYS = "select count(*) from link_days";
    READ_WRITERS = select!(click_writers, "writer > $1 order by writer limit $2");
    WRITE_WRITERS = insert!(click_writers, "($1, $2, $3)");
    CLEAR_WRITERS = "delete from click_writers where writer > $1 and writer <= $2";
    COUNT_WRITERS = "select count(*) from click_writers";
    READ_LOG = select!(click_log, "(writer, seq) > ($1, $2) order by writer, seq limit $3");
    WRITE_LOG = insert!(click_log, "($1, $2, $3)");
    CLEAR_LOG = "delete from click_log where (writer, seq) > ($1, $2) and (writer, seq) <= ($3, $4)";
    COUNT_LOG = "select count(*) from click_log";
    READ_TOTALS = select!(totals, "name > $1 order by name limit $2");
    WRITE_TOTALS = insert!(totals, "($1, $2, $3)");
    CLEAR_TOTALS = "delete from totals where name > $1 and name <= $2";
    COUNT_TOTALS = "select count(*) from totals";
    READ_COUNTERS = select!(counters, "name > $1 order by name limit $2");
    WRITE_COUNTERS = insert!(counters, "($1, $2)");
    CLEAR_COUNTERS = "delete from counters where name > $1 and name <= $2";
    COUNT_COUNTERS = "select count(*) from counters";
    READ_SECRETS = select!(secrets, "name > $1 order by name limit $2");
    WRITE_SECRETS = insert!(secrets, "($1, $2, $3)");
    CLEAR_SECRETS = "delete from secrets where name > $1 and name <= $2";
    COUNT_SECRETS = "select count(*) from secrets";
    READ_USERS = select!(users, "id > $1 order by id limit $2");
    WRITE_USERS = insert!(users, "($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    CLEAR_USERS = "delete from users where id > $1 and id <= $2";
    COUNT_USERS = "select count(*) from users";
    READ_KEYS = select!(api_keys, "id > $1 order by id limit $2");
    WRITE_KEYS = insert!(api_keys, "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    CLEAR_KEYS = "delete from api_keys where id > $1 and id <= $2";
    COUNT_KEYS = "select count(*) from api_keys";
    READ_MEMBERS = select!(members, "(user_id, workspace) > ($1, $2)
        order by user_id, workspace limit $3");
    WRITE_MEMBERS = insert!(members, "($1, $2, $3, $4)");
    CLEAR_MEMBERS = "delete from members where (user_id, workspace) > ($1, $2)
        and (user_id, workspace) <= ($3, $4)";
    COUNT_MEMBERS = "select count(*) from members";
    READ_INVITES = select!(invites, "hash > $1 order by hash limit $2");
    WRITE_INVITES = insert!(invites, "($1, $2, $3, $4, $5)");
    CLEAR_INVITES = "delete from invites where hash > $1 and hash <= $2";
    COUNT_INVITES = "select count(*) from invites";
    READ_MONTHS = select!(user_months, "(user_id, month) > ($1, $2)
        order by user_id, month limit $3");
    WRITE_MONTHS = insert!(user_months, "($1, $2, $3)");
    CLEAR_MONTHS = "delete from user_months where (user_id, month) > ($1, $2)
        and (user_id, month) <= ($3, $4)";
    COUNT_MONTHS = "select count(*) from user_months";
    READ_HEALTH = select!(link_health, "link_id > $1 order by link_id limit $2");
    WRITE_HEALTH = insert!(link_health, "($1, $2, $3, $4)");
    CLEAR_HEALTH = "delete from link_health where link_id > $1 and link_id <= $2";
    COUNT_HEALTH = "select count(*) from link_health";
    READ_SESSIONS = select!(sessions, "hash > $1 order by hash limit $2");
    WRITE_SESSIONS = insert!(sessions, "($1, $2, $3, $4, $5, $6, $7)");
    CLEAR_SESSIONS = "delete from sessions where hash > $1 and hash <= $2";
    COUNT_SESSIONS = "select count(*) from sessions";
    READ_AUDIT = select!(audit, "id > $1 order by id limit $2");
    WRITE_AUDIT = insert!(audit, "($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    CLEAR_AUDIT = "delete from audit where id > $1 and id <= $2";
    READ_REPORTS = select!(reports, "id > $1 order by id limit $2");
    WRITE_REPORTS = insert!(reports, "($1, $2, $3, $4, $5, $6)");
    CLEAR_REPORTS = "delete from reports where id > $1 and id <= $2";
    COUNT_REPORTS = "select count(*) from reports";
    READ_RELEASED = select!(released_hosts, "host > $1 order by host limit $2");
    WRITE_RELEASED = insert!(released_hosts, "($1, $2, $3)");
    CLEAR_RELEASED = "delete from released_hosts where host > $1 and host <= $2";
    COUNT_RELEASED = "select count(*) from released_hosts";
    COUNT_AUDIT = "select count(*) from audit";
}

/// How a table is copied.
pub(super) struct CopyTable {
    pub(super) name: &'static str,
    pub(super) key: &'static [KeyType],
    /// Whether its rows must stay where they are, since other tables' rows refer to them.
    pub(super) stays: bool,
    pub(super) read: Sql,
    pub(super) write: Sql,
    pub(super) bulk: BulkSql,
    /// Removes what lies after one key, up to another.
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
    /// Before all values.
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

macro_rules! table {
    ($name:ident, $key:expr, $stays:literal, $read:expr, $write:expr, $clear:expr, $count:expr) => {
        CopyTable {
            name: stringify!($name),
            key: $key,
            stays: $stays,
            read: $read,
            write: $write,
            bulk: bulk!($name),
            clear: $clear,
            count: $count,
        }
    };
}

const NUMBER: &[KeyType] = &[KeyType::Number];
const TEXT: &[KeyType] = &[KeyType::Text];
const NUMBERS: &[KeyType] = &[KeyType::Number, KeyType::Number];
const BYTES: &[KeyType] = &[KeyType::Bytes];
const MEMBER: &[KeyType] = &[KeyType::Number, KeyType::Text];
const TAG: &[KeyType] = &[KeyType::Text, KeyType::Text, KeyType::Number];

/// Those that others refer to come first. Locks stay where they are: they belong to processes.
pub(super) const TABLES: &[CopyTable] = &[
    table!(
        workspaces,
        TEXT,
        true,
        READ_WORKSPACES,
        WRITE_WORKSPACES,
        CLEAR_WORKSPACES,
        COUNT_WORKSPACES
    ),
    table!(hosts, TEXT, false, READ_HOSTS, WRITE_HOSTS, CLEAR_HOSTS, COUNT_HOSTS),
    table!(links, NUMBER, false, READ_LINKS, WRITE_LINKS, CLEAR_LINKS, COUNT_LINKS),
    table!(link_tags, TAG, false, READ_TAGS, WRITE_TAGS, CLEAR_TAGS, COUNT_TAGS),
    table!(link_stats, NUMBER, false, READ_STATS, WRITE_STATS, CLEAR_STATS, COUNT_STATS),
    table!(link_hours, NUMBERS, false, READ_HOURS, WRITE_HOURS, CLEAR_HOURS, COUNT_HOURS),
    table!(link_days, NUMBERS, false, READ_DAYS, WRITE_DAYS, CLEAR_DAYS, COUNT_DAYS),
    table!(click_writers, NUMBER, false, READ_WRITERS, WRITE_WRITERS, CLEAR_WRITERS, COUNT_WRITERS),
    table!(click_log, NUMBERS, false, READ_LOG, WRITE_LOG, CLEAR_LOG, COUNT_LOG),
    table!(totals, TEXT, false, READ_TOTALS, WRITE_TOTALS, CLEAR_TOTALS, COUNT_TOTALS),
    table!(counters, TEXT, false, READ_COUNTERS, WRITE_COUNTERS, CLEAR_COUNTERS, COUNT_COUNTERS),
    table!(secrets, TEXT, false, READ_SECRETS, WRITE_SECRETS, CLEAR_SECRETS, COUNT_SECRETS),
    table!(users, NUMBER, false, READ_USERS, WRITE_USERS, CLEAR_USERS, COUNT_USERS),
    table!(api_keys, NUMBER, false, READ_KEYS, WRITE_KEYS, CLEAR_KEYS, COUNT_KEYS),
    table!(members, MEMBER, false, READ_MEMBERS, WRITE_MEMBERS, CLEAR_MEMBERS, COUNT_MEMBERS),
    table!(invites, BYTES, false, READ_INVITES, WRITE_INVITES, CLEAR_INVITES, COUNT_INVITES),
    table!(user_months, NUMBERS, false, READ_MONTHS, WRITE_MONTHS, CLEAR_MONTHS, COUNT_MONTHS),
    table!(link_health, NUMBER, false, READ_HEALTH, WRITE_HEALTH, CLEAR_HEALTH, COUNT_HEALTH),
    table!(sessions, BYTES, false, READ_SESSIONS, WRITE_SESSIONS, CLEAR_SESSIONS, COUNT_SESSIONS),
    table!(audit, NUMBER, false, READ_AUDIT, WRITE_AUDIT, CLEAR_AUDIT, COUNT_AUDIT),
    table!(reports, NUMBER, false, READ_REPORTS, WRITE_REPORTS, CLEAR_REPORTS, COUNT_REPORTS),
    table!(
        released_hosts,
        TEXT,
        false,
        READ_RELEASED,
        WRITE_RELEASED,
        CLEAR_RELEASED,
        COUNT_RELEASED
    ),
];

/// The names of the tables that a copy holds.
#[cfg(test)]
pub(in crate::store) fn tables() -> Vec<&'static str> {
    TABLES.iter().map(|table| table.name).collect()
}

/// How many links a store has, and what else shows that it was used.
pub(super) const LINKS: Sql = COUNT_LINKS;
pub(super) const HOSTS: Sql = COUNT_HOSTS;
pub(super) const WORKSPACES: Sql = COUNT_WORKSPACES;
