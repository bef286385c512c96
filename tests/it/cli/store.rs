//! The subcommands that work on a store itself: migrate, backup and copy, with and without a server
//! that runs on it.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;

use kurz_test_support::http::Http;
use kurz_test_support::postgres::Database;
use kurz_test_support::{Program, TestServer};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
fn done(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(output.stdout)
}

#[track_caller]
fn fails(output: Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = text(output.stderr);
    assert!(said.starts_with("error: ") && said.ends_with(".\n"), "{said}");
    said
}

fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

/// `kurz ARGS` on this store.
fn on(store: &str, args: &[&str]) -> Output {
    Program::kurz(args).env("KURZ_STORE", store).run("")
}

async fn make_links(url: &str, codes: impl Iterator<Item = usize>) {
    let http = Http::new(url);
    for n in codes {
        let body = serde_json::json!({
            "original_url": format!("https://example.com/{n}"), "custom_code": format!("code-{n}"),
        });
        http.post("/api/v1/links", &body).await.expect(201);
    }
}

#[test]
fn migrate_says_what_it_applied_and_then_that_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create();
    for store in [sqlite_url(&folder.path().join("kurz.db")), database.url().to_owned()] {
        let first = done(on(&store, &["migrate"]));
        assert!(
            first.contains("applied 0001_core\n") && first.ends_with("is up to date\n"),
            "{first}"
        );
        let second = done(on(&store, &["migrate"]));
        assert!(!second.contains("applied") && second.ends_with("is up to date\n"), "{second}");
        assert!(!second.contains("password"), "{second}");
    }
}

#[test]
fn migrate_refuses_what_it_cannot_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "these are notes, and not a database of any kind at all").unwrap();
    let said = fails(on(&sqlite_url(&file), &["migrate"]), 1);
    assert!(said.contains("not a healthy SQLite file"), "{said}");
    let said = fails(on("sqlite:///nowhere/at/all.db", &["migrate"]), 1);
    assert!(said.contains("check that the folder exists"), "{said}");
    let said = fails(on("postgres://me@127.0.0.1:1/kurz", &["migrate"]), 1);
    assert!(said.contains("check that PostgreSQL runs"), "{said}");
    fails(on("mysql://db/kurz", &["migrate"]), 2);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "these are notes, and not a database of any kind at all"
    );
}

// threats: F7
#[test]
fn a_backup_follows_no_link_that_somebody_planted() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite_url(&folder.path().join("kurz.db"));
    done(on(&store, &["migrate"]));
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let file = folder.path().join("backup.db");
    for planted in ["backup.db.part", "backup.db-journal", "backup.db.part-journal"] {
        std::os::unix::fs::symlink(&victim, folder.path().join(planted)).unwrap();
    }
    done(on(&store, &["backup", file.to_str().unwrap()]));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(file.metadata().unwrap().is_file());
    // Nor under its own name.
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("nowhere.db"), &link).unwrap();
    assert!(fails(on(&store, &["backup", link.to_str().unwrap()]), 1).contains("exists already"));
    assert!(!folder.path().join("nowhere.db").exists());
}

#[test]
fn a_password_with_a_sign_that_ends_it_is_told_to_be_percent_encoded() {
    for store in ["postgres://me:hunter@2@127.0.0.1/kurz", "postgres://me:hunter2/@127.0.0.1/kurz"]
    {
        let said = fails(on(store, &["migrate"]), 1);
        assert!(said.contains("percent-encode") && said.contains("%40"), "{said}");
        assert!(!said.contains("hunter"), "{said}");
    }
}

// threats: F7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_while_links_are_written_is_whole_and_can_be_served() {
    let program = TestServer::builder().process();
    let server = program.start();
    make_links(server.base_url(), 0..50).await;
    let store = sqlite_url(&program.folder().join("kurz.db"));
    let file = program.folder().join("backup.db");
    let name = file.to_str().unwrap().to_owned();
    let backup = thread::spawn({
        let store = store.clone();
        move || on(&store, &["backup", &name])
    });
    make_links(server.base_url(), 50..150).await;
    let said = done(backup.join().unwrap());
    assert!(said.contains("is backed up in") && said.contains("checked"), "{said}");

    let files: Vec<String> = fs::read_dir(program.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("backup"))
        .collect();
    assert_eq!(files, ["backup.db"], "one file, and nothing beside it");
    let before = fs::read(&file).unwrap();
    let said = fails(on(&store, &["backup", file.to_str().unwrap()]), 1);
    assert!(said.contains("exists already"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before, "what was there stays");

    // Restored as the help says, it holds what had been acknowledged when it was started.
    let restored = TestServer::builder().process();
    fs::copy(&file, restored.folder().join("kurz.db")).unwrap();
    let server = restored.start();
    let http = server.http();
    for n in 0..50 {
        http.get(&format!("/code-{n}")).await.expect(302);
    }
}

#[test]
fn a_backup_of_what_is_not_there_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.db");
    let to = file.to_str().unwrap();
    let missing = folder.path().join("missing.db");
    let said = fails(on(&sqlite_url(&missing), &["backup", to]), 1);
    assert!(said.contains("There is no store at") && said.contains("missing.db"), "{said}");
    let said = fails(on("postgres://me@127.0.0.1:1/kurz", &["backup", to]), 1);
    assert!(said.contains("pg_dump"), "{said}");
    let store = folder.path().join("kurz.db");
    done(on(&sqlite_url(&store), &["migrate"]));
    let said = fails(on(&sqlite_url(&store), &["backup", "/nowhere/at/all.db"]), 1);
    assert!(said.contains("cannot write the backup") || said.contains("Cannot write"), "{said}");
    assert!(!missing.exists() && !file.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_moves_a_store_to_postgresql_and_back_and_both_can_be_served() {
    let first = TestServer::builder().process();
    let server = first.start();
    make_links(server.base_url(), 0..20).await;
    let from = sqlite_url(&first.folder().join("kurz.db"));
    let database = Database::create();

    let said = fails(on(&from, &["copy", "--to", database.url()]), 1);
    assert!(said.contains("another `kurz serve` is running on it"), "{said}");
    server.terminate();

    let there = on("sqlite://unused.db", &["copy", "--from", &from, "--to", database.url()]);
    assert!(text(there.stderr.clone()).contains("copying: "), "plain lines without a terminal");
    let there = done(there);
    assert!(there.contains("links                20  "), "{there}");
    assert!(there.contains(": equal\n") && there.lines().count() == 33, "{there}");

    // A store that was started once and never used counts as fresh; and a left-out end is the
    // configured store.
    let last = TestServer::builder().process();
    last.start().terminate();
    let to = sqlite_url(&last.folder().join("kurz.db"));
    let back = done(on(&to, &["copy", "--from", database.url()]));
    let sums = |text: &str| text.lines().take(14).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(sums(&there), sums(&back));

    let server = last.start();
    server.http().get("/code-7").await.expect(302);
    drop(server);
    let on_postgres = TestServer::builder().setting("KURZ_STORE", database.url()).process().start();
    on_postgres.http().get("/code-7").await.expect(302);

    let said = fails(on("sqlite://unused.db", &["copy", "--from", &from, "--to", &to]), 1);
    assert!(said.contains("name a fresh store"), "{said}");
}

#[test]
fn copy_refuses_ends_that_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite_url(&folder.path().join("kurz.db"));
    done(on(&store, &["migrate"]));
    let other = format!("sqlite://{}/./kurz.db", folder.path().display());
    let said = fails(on(&store, &["copy", "--from", &store, "--to", &other]), 2);
    assert!(said.contains("the same store"), "{said}");
    let missing = sqlite_url(&folder.path().join("missing.db"));
    let said = fails(on(&store, &["copy", "--from", &missing]), 2);
    assert!(said.contains("There is no store at"), "{said}");
    let said = fails(on(&store, &["copy", "--to", "postgres:me:hunter2@db"]), 2);
    assert!(said.contains("--to is [hidden]") && !said.contains("hunter"), "{said}");
    assert_eq!(on(&store, &["copy"]).status.code(), Some(2));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.iter().all(|entry| {
        !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("missing")
    }));
}
