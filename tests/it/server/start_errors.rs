//! A start that cannot succeed: one clear sentence on stderr that says what to do, the right exit code,
//! and nothing half done.

use std::net::TcpListener;
use std::path::Path;

use kurz_test_support::{Home, Kind, Program, TestServer};

/// Start, expect `code` and a sentence with all of `words`.
#[track_caller]
fn expect_failure(program: &Program, code: i32, words: &[&str]) -> String {
    let output = program.run("");
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "it wrote:\n{stdout}{stderr}");
    assert_eq!(stdout, "", "it never listened");
    let sentence = stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("{stderr}"));
    assert_eq!(sentence.trim_end().lines().count(), 1, "one sentence: {stderr}");
    for word in words {
        assert!(sentence.contains(word), "`{word}` is missing: {stderr}");
    }
    sentence.to_owned()
}

fn serve(store: &str) -> Program {
    TestServer::builder().setting("KURZ_STORE", store).process()
}

fn sqlite(file: &Path) -> Program {
    serve(&format!("sqlite://{}", file.display()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let served = TestServer::builder().database(kind).process().start();
        let home = std::sync::Arc::clone(served.home());
        drop(served.stop());
        home.execute("insert into migrations values (9999, '9999_from_the_future')").await;
        let words = ["newer kurz", "9999_from_the_future", "start that version"];
        expect_failure(&serve(&home.store()), 1, &words);
        // Taken back, everything is as it was.
        home.execute("delete from migrations where number = 9999").await;
        let program = serve(&home.store());
        drop(program.start());
    }
}

#[test]
fn a_file_that_another_program_holds_is_named() {
    let home = Home::new(Kind::Sqlite);
    let holder = rusqlite::Connection::open(home.sqlite_file()).unwrap();
    holder.execute_batch("create table mine (id integer); begin exclusive").unwrap();
    let file = home.sqlite_file();
    expect_failure(
        &sqlite(&file),
        1,
        &[&file.display().to_string(), "locked", "stop that program"],
    );
    holder.execute_batch("rollback").unwrap();
    drop(holder);
    drop(sqlite(&file).start());
}

// threats: F6
#[test]
fn a_second_server_on_the_same_file_is_refused_and_the_first_goes_on() {
    let home = Home::new(Kind::Sqlite);
    let first = sqlite(&home.sqlite_file()).start();
    let words = ["another `kurz serve` is running", "KURZ_STORE", "kurz.db"];
    expect_failure(&sqlite(&home.sqlite_file()), 1, &words);
    let (status, _) = first.terminate();
    assert!(status.success());
    // The lock goes with its holder, however that ended.
    sqlite(&home.sqlite_file()).start().kill_9();
    drop(sqlite(&home.sqlite_file()).start());
}

#[test]
fn a_postgres_that_does_not_answer_is_said_so() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let store = format!("postgres://kurz:secret@{closed}/kurz");
    let words = ["PostgreSQL", "KURZ_STORE"];
    let sentence = expect_failure(&serve(&store), 1, &words);
    assert!(!sentence.contains("secret"), "{sentence}");
}

#[test]
fn a_postgres_database_that_is_not_there_is_said_so() {
    let home = Home::new(Kind::Postgres);
    let mut url = url::Url::parse(&home.store()).unwrap();
    url.set_path("/no_such_database");
    expect_failure(&serve(url.as_str()), 1, &["no_such_database", "KURZ_STORE"]);
}

#[test]
fn a_port_in_use_is_named() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    for setting in ["KURZ_LISTEN", "KURZ_ADMIN_LISTEN"] {
        let program = TestServer::builder().process().env(setting, &address);
        expect_failure(&program, 1, &[setting, &address]);
    }
}

#[test]
fn a_store_that_cannot_be_opened_is_named() {
    let home = Home::new(Kind::Sqlite);
    let file = home.sqlite_file();
    let missing = file.with_file_name("missing").join("kurz.db");
    expect_failure(&sqlite(&missing), 1, &["missing", "folder exists"]);
    assert!(!missing.exists());
    std::fs::create_dir(&file).unwrap();
    expect_failure(&sqlite(&file), 1, &["kurz.db"]);
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "this is a letter to my mother, and no database at all\n".repeat(100))
        .unwrap();
    expect_failure(
        &sqlite(&file),
        1,
        &["kurz.db", "not a healthy SQLite file", "restore a backup"],
    );
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.starts_with("this is a letter"), "it is left as it was");
}

#[test]
fn a_bad_setting_is_named_and_nothing_is_made() {
    let table = [
        ("KURZ_LISTEN", "localhost"),
        ("KURZ_STORE", "mysql://localhost/kurz"),
        ("KURZ_STORE", "sqlite://:memory:"),
        ("KURZ_PUBLIC_URL", "kurz.example"),
        ("KURZ_HIT_LIMIT", "-1"),
        ("KURZ_COUNTER_TTL", "1 year"),
        ("KURZ_COUNTER_MULT", "62"),
        ("KURZ_COUNTER_MULT", "31"),
        ("KURZ_COUNTER_SALT", ""),
        ("KURZ_COUNTER_SCRAMBLE", "rot13"),
        ("KURZ_CACHE_BYTES", "1"),
        ("KURZ_LOG_FORMAT", "xml"),
        ("KURZ_NO_SUCH_THING", "1"),
    ];
    for (setting, value) in table {
        let program = TestServer::builder().process().env(setting, value);
        expect_failure(&program, 2, &[setting]);
        let made: Vec<_> = std::fs::read_dir(program.folder()).unwrap().collect();
        assert!(made.is_empty(), "{setting}={value} left {made:?}");
    }
    let program = TestServer::builder().process().arg("--config").arg("missing.toml");
    expect_failure(&program, 2, &["missing.toml"]);
}

#[test]
fn files_that_clicks_are_classified_by_must_be_usable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let start =
        |setting: &str| TestServer::builder().setting(setting, path.to_str().unwrap()).process();
    expect_failure(&start("KURZ_GEO_FILE"), 1, &["geo file", "KURZ_GEO_FILE", "/file"]);
    expect_failure(&start("KURZ_CHANNELS"), 1, &["file of channels", "KURZ_CHANNELS", "/file"]);
    std::fs::write(&path, "sozial intranet.example").unwrap();
    expect_failure(&start("KURZ_GEO_FILE"), 1, &["cannot be used", "MMDB"]);
    expect_failure(&start("KURZ_CHANNELS"), 1, &["line 1", "`sozial`", "social"]);
    std::fs::write(&path, "social intranet.example").unwrap();
    drop(start("KURZ_CHANNELS").start());
}
