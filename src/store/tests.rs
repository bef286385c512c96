//! Every statement of the store, prepared on both databases; and the tables of both compared.

use std::collections::BTreeMap;

use rusqlite::Connection;
use tokio_postgres::NoTls;
use tokio_postgres::types::Type;

use crate::store::driver::Sql;
use crate::store::{
    changes, claims, cleanup, clicks, copied, copy, counters, disable, edit, health, hits, hours,
    insert, instances, keys, links, list, locks, members, migrate, places, quota, reports, seal,
    secrets, sessions, sqlite, totals, users, workspaces,
};

const ALL: &[&[(&str, Sql)]] = &[
    changes::STATEMENTS,
    claims::STATEMENTS,
    clicks::STATEMENTS,
    cleanup::STATEMENTS,
    copied::STATEMENTS,
    copy::STATEMENTS,
    counters::STATEMENTS,
    disable::STATEMENTS,
    edit::STATEMENTS,
    health::STATEMENTS,
    hits::STATEMENTS,
    hours::STATEMENTS,
    insert::STATEMENTS,
    instances::STATEMENTS,
    keys::STATEMENTS,
    links::STATEMENTS,
    list::STATEMENTS,
    locks::STATEMENTS,
    members::STATEMENTS,
    places::STATEMENTS,
    quota::STATEMENTS,
    reports::STATEMENTS,
    seal::STATEMENTS,
    secrets::STATEMENTS,
    sessions::STATEMENTS,
    totals::STATEMENTS,
    users::STATEMENTS,
    workspaces::STATEMENTS,
];

fn all() -> impl Iterator<Item = (&'static str, Sql)> {
    ALL.iter().copied().flatten().copied()
}

/// A migrated SQLite database in `folder`.
fn fresh_sqlite(folder: &tempfile::TempDir) -> Connection {
    let path = folder.path().join("kurz.db");
    let mut db = sqlite::connect_writer(&path).unwrap();
    migrate::migrate_sqlite(&mut db, &path).unwrap();
    db
}

/// A migrated PostgreSQL database of its own, in a schema that ends with the connection.
async fn fresh_postgres() -> tokio_postgres::Client {
    #[expect(clippy::disallowed_methods, reason = "the test command names its servers")]
    let url = std::env::var("TEST_POSTGRES_URL")
        .expect("run ./scripts/test, or ./scripts/with-servers cargo test");
    let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "ends with the client")]
    tokio::spawn(connection);
    client.batch_execute("set search_path = pg_temp").await.unwrap();
    migrate::migrate_postgres(&mut client).await.unwrap();
    client
}

#[test]
fn every_file_of_statements_is_listed_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("\nstatements! {") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let module = format!("store::{name}::");
            assert!(
                all().any(|(statement, _)| statement.contains(&module)),
                "{name}.rs has statements that no test prepares: add it to ALL"
            );
        }
    }
}

#[test]
fn parameters_first_appear_in_ascending_order() {
    // SQLite numbers them by first appearance, PostgreSQL by name: only then do the two agree.
    for (name, sql) in all() {
        let mut seen = 0;
        for piece in sql.text().split('$').skip(1) {
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
    for (name, sql) in all() {
        let ours = sqlite.prepare(sql.text()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let theirs = postgres.prepare(sql.text()).await;
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
             join pragma_table_xinfo(t.name) c where t.type = 'table' and t.name <> 'migrations'",
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
             and table_name not in ('migrations', 'database_clock')",
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
fn a_copy_holds_every_table_but_those_of_processes_and_history() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = fresh_sqlite(&folder);
    let mut statement = sqlite
        .prepare(
            "select name from sqlite_schema where type = 'table'
             and name not in ('instances', 'locks', 'migrations') order by name",
        )
        .unwrap();
    let there: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut copied = copied::tables();
    copied.sort_unstable();
    assert_eq!(copied, there, "a table that is not copied is lost on the way to another database");
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
             and indexname not like '%_pkey' order by 1",
            &[],
        )
        .await
        .unwrap();
    let mut theirs: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    theirs.sort();
    assert_eq!(ours, theirs);
}
