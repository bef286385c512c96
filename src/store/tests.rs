//! Every statement of the store, prepared on both databases; and the tables of both compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tokio_postgres::NoTls;
use tokio_postgres::types::Type;

use crate::store::driver::Sql;
use crate::store::{add_search_function, copy, migrate, sqlite, statements};

fn all() -> impl Iterator<Item = Sql> {
    statements::ALL.iter().copied().flatten().copied()
}

/// A migrated SQLite database in `folder`.
pub(super) fn fresh_sqlite(folder: &tempfile::TempDir) -> Connection {
    let path = folder.path().join("kurz.db");
    let mut db = sqlite::connect_writer(&path).unwrap();
    migrate::migrate_sqlite(&mut db, &path).unwrap();
    db
}

pub(super) fn postgres_url() -> String {
    #[expect(clippy::disallowed_methods, reason = "the test command names its servers")]
    std::env::var("TEST_POSTGRES_URL")
        .expect("run ./scripts/test, or ./scripts/with-servers cargo test")
}

/// An empty PostgreSQL database of its own: a schema that ends with the connection.
pub(super) async fn connect_postgres() -> tokio_postgres::Client {
    let url = postgres_url();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "ends with the client")]
    tokio::spawn(connection);
    client.batch_execute("set search_path = pg_temp").await.unwrap();
    client
}

pub(super) async fn fresh_postgres() -> tokio_postgres::Client {
    let mut client = connect_postgres().await;
    migrate::migrate_postgres(&mut client).await.unwrap();
    client
}

#[test]
fn every_file_of_statements_is_listed_here() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store"));
    for path in rust_files(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("\nstatements! {") {
            let path = path.strip_prefix(folder).unwrap().with_extension("");
            let module = path.to_str().unwrap().replace('/', "::").replace("::mod", "");
            let module = format!("store::{module}::");
            assert!(
                all().any(|sql| sql.name().contains(&module)),
                "{module} has statements that no test prepares: add it to store/statements.rs"
            );
        }
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(rust_files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn every_statement_has_a_name_of_its_own_and_fits_into_the_caches() {
    let names: BTreeSet<&str> = all().map(Sql::name).collect();
    assert_eq!(names.len(), all().count());
    assert_eq!(statements::COUNT, all().count());
}

#[test]
fn parameters_first_appear_in_ascending_order() {
    // SQLite numbers them by first appearance, PostgreSQL by name: only then do the two agree.
    for sql in all() {
        let name = sql.name();
        let mut seen = 0;
        for piece in sql.sqlite_text().split('$').skip(1) {
            let digits: String = piece.chars().take_while(char::is_ascii_digit).collect();
            let number: usize = digits.parse().unwrap();
            assert!(number <= seen + 1, "{name}: ${number} comes before ${}", seen + 1);
            seen = seen.max(number);
        }
    }
}

#[tokio::test]
async fn every_statement_is_prepared_on_both_databases_and_means_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = fresh_sqlite(&folder);
    let postgres = fresh_postgres().await;
    for sql in all() {
        let name = sql.name();
        let ours =
            sqlite.prepare(sql.sqlite_text()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let theirs = postgres.prepare(sql.postgres_text()).await;
        let theirs = theirs.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(ours.parameter_count(), theirs.params().len(), "{name}: parameters");
        assert_eq!(ours.column_count(), theirs.columns().len(), "{name}: columns");
        let columns = theirs.columns().iter().map(tokio_postgres::Column::type_);
        for kind in theirs.params().iter().chain(columns) {
            assert!(
                [Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(kind),
                "{name}: PostgreSQL sees a {kind}; cast it to bigint, double precision or text"
            );
        }
    }
}

#[tokio::test]
async fn both_migration_folders_give_the_same_tables() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = fresh_sqlite(&folder);
    let mut ours = BTreeMap::new();
    let mut columns = sqlite
        .prepare(
            "select t.name, c.name, upper(c.type), c.\"notnull\" from sqlite_schema t
             join pragma_table_xinfo(t.name) c where t.type = 'table' and t.name <> 'migrations'
             and t.name not like 'link_search%'",
        )
        .unwrap();
    let mut rows = columns.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let column: (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let kind: String = row.get(2).unwrap();
        let kind = if kind == "INTEGER" { "BIGINT".to_owned() } else { kind };
        ours.insert(column, (kind, row.get::<_, bool>(3).unwrap()));
    }

    let postgres = fresh_postgres().await;
    let rows = postgres
        .query(
            "select table_name::text, column_name::text, upper(data_type), is_nullable = 'NO'
             from information_schema.columns
             where table_schema = (select nspname from pg_namespace where oid = pg_my_temp_schema())
             and table_name not in
                 ('migrations', 'database_clock', 'live_users', 'live_workspaces')",
            &[],
        )
        .await
        .unwrap();
    let theirs: BTreeMap<(String, String), (String, bool)> = rows
        .iter()
        .map(|row| {
            let kind: String = row.get(2);
            let kind = if kind == "BYTEA" { "BLOB".to_owned() } else { kind };
            ((row.get(0), row.get(1)), (kind, row.get(3)))
        })
        .collect();
    assert_eq!(ours, theirs);
}

#[test]
fn a_copy_holds_every_column_but_those_of_processes_and_generated_ones() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = fresh_sqlite(&folder);
    let mut statement = sqlite
        .prepare(
            "select t.name, c.name from sqlite_schema t join pragma_table_info(t.name) c
             where t.type = 'table' and t.name not in ('instances', 'locks', 'migrations')
             and c.name not in ('reserved', 'holders', 'writers', 'granted', 'bit')
             and t.name not like 'link_search%' and t.name <> 'visitor_keys'",
        )
        .unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let there: BTreeSet<(String, String)> =
        statement.query_map([], read).unwrap().map(Result::unwrap).collect();
    let copied = copy::tables::columns().map(|(table, name)| (table.to_owned(), name.to_owned()));
    let copied: BTreeSet<_> = copied.collect();
    assert_eq!(copied, there, "a column that is not copied is lost on the way to another database");
}

#[tokio::test]
async fn both_migration_folders_give_the_same_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = fresh_sqlite(&folder);
    let mut statement = sqlite
        .prepare("select name from sqlite_schema where type = 'index' and sql is not null")
        .unwrap();
    let mut ours: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    ours.sort();
    let postgres = fresh_postgres().await;
    let rows = postgres
        .query(
            "select indexname::text from pg_indexes
             where schemaname = (select nspname from pg_namespace where oid = pg_my_temp_schema())
             and indexname not like '%_pkey' and indexname not in ('links_search', 'links_note_search') order by 1",
            &[],
        )
        .await
        .unwrap();
    let mut theirs: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    theirs.sort();
    assert_eq!(ours, theirs);
}

/// Rows as the migrations before the new names left them.
const OLD_ROWS: &str = "
    insert into workspaces (id, strategy, created_at, updated_at) values ('main', 'random', 1, 1);
    insert into links (id, workspace, code, strategy, target, canonical_hash, redirect_status,
            created_at, updated_at, version, owner_id, seal)
        values (1, 'main', 'abc', 'random', 'https://example.com/', '', 302, 1, 1, 1, 7, 42);
    insert into link_stats (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month,
            month_hits, shelf)
        values (1, 3, 0.1, 1, 1, 3, 'main/7');
    insert into click_writers (writer, turn, written_at) values (5, 6, 1);
    insert into changes (id, at, action, subject_kind, subject_id, detail)
        values (9, 1, 'edited', 'link', '1', '{}')";

/// The same rows under their new names.
const NEW_ROW: &str = "select l.list_scope, l.row_checksum, s.list_scope, w.write_seq, a.action
    from links l join link_stats s on s.link_id = l.id, click_writers w, audit a";

const OLD_HOSTS: &str = "insert into workspaces (id, strategy, created_at, updated_at)
        values ('team', 'random', 1, 1), ('nobodys', 'random', 1, 1);
    insert into hosts (host, workspace, created_at) values ('go.team.example', 'team', 2);
    insert into users (id, email, name, password_hash, token_version, created_at, updated_at)
        values (7, 'a@b.c', '', '', 0, 1, 1), (8, 'b@b.c', '', '', 0, 1, 1);
    insert into members (workspace, user_id, role, created_at)
        values ('team', 8, 'admin', 3), ('team', 7, 'admin', 2);
    insert into user_months (user_id, month, links) values (7, 100, 5);";
const NEW_HOSTS: &str = "select host, created_by, custom_codes,
        (select count(*) from pending_hosts), (select count(created_by) from workspaces)
    from hosts join workspaces on workspace = id join user_months on user_id = 7";

#[tokio::test]
async fn hosts_from_before_proofs_stay_and_workspaces_get_their_first_administrator_as_creator() {
    let expected = ("go.team.example".to_owned(), 7, 0, 0, 1);
    let (before, after) = migrate::split_before("0011_hosts_and_codes");
    let sqlite = Connection::open_in_memory().unwrap();
    add_search_function(&sqlite).unwrap();
    sqlite.execute_batch(&before.0).unwrap();
    sqlite.execute_batch(OLD_HOSTS).unwrap();
    sqlite.execute_batch(&after.0).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    };
    let row: (String, i64, i64, i64, i64) = sqlite.query_row(NEW_HOSTS, [], read).unwrap();
    assert_eq!(row, expected);

    let postgres = connect_postgres().await;
    postgres.batch_execute(&before.1).await.unwrap();
    postgres.batch_execute(OLD_HOSTS).await.unwrap();
    postgres.batch_execute(&after.1).await.unwrap();
    let row = postgres.query_one(NEW_HOSTS, &[]).await.unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2), row.get(3), row.get(4)), expected);
}

#[tokio::test]
async fn new_names_keep_the_rows() {
    let expected = ("main/7".to_owned(), 42, "main/7".to_owned(), 6, "edited".to_owned());
    let (before, after) = migrate::split_before("0008_names");
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&before.0).unwrap();
    sqlite.execute_batch(OLD_ROWS).unwrap();
    sqlite.execute_batch(&after.0).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    };
    let row: (String, i64, String, i64, String) = sqlite.query_row(NEW_ROW, [], read).unwrap();
    assert_eq!(row, expected);

    let postgres = connect_postgres().await;
    postgres.batch_execute(&before.1).await.unwrap();
    postgres.batch_execute(OLD_ROWS).await.unwrap();
    postgres.batch_execute(&after.1).await.unwrap();
    let row = postgres.query_one(NEW_ROW, &[]).await.unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2), row.get(3), row.get(4)), expected);
}

const OLD_TAGS: &str = "
    insert into workspaces (id, strategy, created_at, updated_at) values ('team', 'random', 1, 1);
    insert into links (id, workspace, code, strategy, target, canonical_hash, tags, redirect_status,
        created_at, updated_at, version)
        values (5, 'team', 'c', 'random', 'https://a.example/', '', 'ba
a
b', 302, 1, 1, 1);
    insert into link_tags (workspace, tag, link_id)
        values ('team', 'a', 5), ('team', 'b', 5), ('team', 'ba', 5);";
const TAGS_IN_ORDER: &str =
    "select string_agg(tag, ',' order by position) from link_tags where link_id = 5";

#[tokio::test]
async fn tags_from_before_they_had_positions_keep_their_order() {
    let (before, after) = migrate::split_before("0016_link_fields");
    let sqlite = Connection::open_in_memory().unwrap();
    add_search_function(&sqlite).unwrap();
    sqlite.execute_batch(&format!("{};{OLD_TAGS};{}", before.0, after.0)).unwrap();
    let tags: String = sqlite.query_row(TAGS_IN_ORDER, [], |row| row.get(0)).unwrap();
    assert_eq!(tags, "ba,a,b");

    let postgres = connect_postgres().await;
    postgres.batch_execute(&format!("{};{OLD_TAGS};{}", before.1, after.1)).await.unwrap();
    let row = postgres.query_one(TAGS_IN_ORDER, &[]).await.unwrap();
    assert_eq!(row.get::<_, String>(0), "ba,a,b");
}
