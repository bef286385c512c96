//! A million links for lists and searches, put into the database directly, which is faster than a million
//! requests. Those of the first user and those of the second are in the same tables.

use std::path::Path;

use rusqlite::Connection;
use tokio_postgres::NoTls;

/// SQL that differs between the databases.
struct Dialect {
    /// 32 bytes that no other row has.
    hash: &'static str,
    /// Fourteen hexadecimal digits, spread evenly.
    code: &'static str,
}

const SQLITE: Dialect = Dialect { hash: "randomblob(32)", code: "lower(hex(randomblob(7)))" };
const POSTGRES: Dialect = Dialect {
    hash: "decode(md5(random()::text) || md5(n::text), 'hex')",
    code: "substr(md5(n::text || 'x'), 1, 14)",
};

/// `many` links of the first user and `few` of the second: a third of them followed, few of them deleted,
/// disabled, expired, custom or tagged.
pub fn fill_sqlite(file: &Path, many: u64, few: u64) {
    let db = Connection::open(file).unwrap();
    kurz::store::add_search_function(&db).unwrap();
    db.execute_batch("pragma synchronous = off; pragma cache_size = -1000000").unwrap();
    db.execute_batch(&statements(&SQLITE, many, few)).unwrap();
    db.execute_batch(
        "insert into link_search (rowid, text)
            select id, scope_token(list_scope) || char(10) || code || char(10)
                || coalesce(title, '') || char(10) || target from links
            where id not in (select id from link_search_docsize)",
    )
    .unwrap();
}

/// The same in a PostgreSQL database.
pub async fn fill_postgres(url: &str, many: u64, few: u64) {
    execute(url, &statements(&POSTGRES, many, few)).await;
    execute(url, "vacuum analyze").await;
}

fn statements(dialect: &Dialect, many: u64, few: u64) -> String {
    let Dialect { hash, code } = dialect;
    let all = many + few;
    format!(
        "insert into links (id, workspace, code, strategy, target, canonical_hash, title,
            redirect_status, created_at, updated_at, version, owner_id, main_since,
            deleted_at, disabled_at, disabled_reason, expires_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {all})
        select n, 'main', {code}, case when n % 5000 = 1 then 'custom' else 'random' end,
            'https://host' || (n % 1000) || '.example/some/page/' || n, {hash},
            case when n % 4 = 0 then 'Title ' || (n % 100) else null end,
            302, 1790000000000 + n, 1790000000000 + (cast(n as bigint) * 7919) % {all}, 1,
            case when n <= {many} then 1 else 2 end, 1790000000000 + n,
            case when n % 2000 = 2 then 1790000000000 end,
            case when n % 2000 = 3 then 1790000000000 end,
            case when n % 2000 = 3 then 'other' end,
            case when n % 200 = 4 then 1790000000000 end
        from numbers;
        insert into link_stats (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month,
            month_hits, list_scope)
        select id, 1 + (id * 7919) % 100003, 0.1, 1790000000000, 24320, 1, list_scope from links
            where id % 3 = 0;
        insert into link_tags (workspace, tag, link_id)
            select 'main', 'rare', id from links where id % 1000 = 0;
        insert into link_tags (workspace, tag, link_id)
            select 'main', 'common', id from links where id % 10 = 0;
        update counters set next = {all} + 1 where name = 'link';"
    )
}

/// Run statements on a PostgreSQL database.
pub async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::runtime::Handle::current().spawn(connection);
    client.batch_execute(sql).await.unwrap();
}
