//! A million links, written behind kurz's back: nobody wants to wait for a million requests.

use std::path::PathBuf;

use rusqlite::Connection;
use tokio_postgres::NoTls;

/// Where they go.
pub(crate) enum Store {
    Sqlite(PathBuf),
    Postgres(String),
}

/// What differs: random bytes, and text of a number with leading zeros.
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

impl Store {
    /// An empty database on the server of the test command.
    pub(crate) async fn postgres() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the command that starts the servers names them"
        )]
        let text = std::env::var("TEST_POSTGRES_URL")
            .expect("run ./scripts/with-servers cargo bench --bench lists");
        let mut url: url::Url = text.parse().expect("TEST_POSTGRES_URL is a URL");
        execute(&text, "create database lists template template0").await;
        url.set_path("lists");
        Self::Postgres(url.into())
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => format!("sqlite://{}", file.display()),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// `many` links of the first user and `few` of the second; a third of them followed.
    pub(crate) async fn fill(&self, many: u64, few: u64) {
        match self {
            Self::Sqlite(file) => {
                let db = Connection::open(file).expect("kurz made it");
                db.execute_batch("pragma synchronous = off; pragma cache_size = -1000000")
                    .expect("SQLite knows these pragmas");
                db.execute_batch(&statements(&SQLITE, many, few)).expect("the tables are kurz's");
            }
            Self::Postgres(url) => {
                execute(url, &statements(&POSTGRES, many, few)).await;
                execute(url, "vacuum analyze").await;
            }
        }
    }
}

fn statements(dialect: &Dialect, many: u64, few: u64) -> String {
    let Dialect { hash, code } = dialect;
    let all = many + few;
    format!(
        "insert into links (id, workspace, code, strategy, target, canonical_hash, title,
            redirect_status, created_at, updated_at, version, owner_id)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {all})
        select n, 'main', {code}, 'random',
            'https://host' || (n % 1000) || '.example/some/page/' || n, {hash},
            case when n % 4 = 0 then 'Title ' || (n % 100) else null end,
            302, 1790000000000 + n, 1790000000000 + n, 1, case when n <= {many} then 1 else 2 end
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

async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it answers");
    tokio::runtime::Handle::current().spawn(connection);
    client.batch_execute(sql).await.expect("the tables are kurz's");
}
