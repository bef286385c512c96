//! The file of an SQLite store: one server at a time under whatever name, readable by its owner alone, and
//! noticed when it goes away.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use kurz_test_support::{Home, Kind, Program, TestServer};
use serde_json::json;

fn serve(file: &Path) -> Program {
    TestServer::builder().setting("KURZ_STORE", &format!("sqlite://{}", file.display())).process()
}

/// What a program says when it ends with `code`.
#[track_caller]
fn refused(program: &Program, code: i32) -> String {
    let output = program.run("");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// With this umask.
fn with_umask(program: Program, umask: &str) -> Program {
    let script = format!("umask {umask}; exec \"$@\"");
    program.through(&["sh", "-c", &script, "sh"])
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap_or_else(|error| panic!("{}: {error}", path.display())).mode() & 0o777
}

// threats: F6
#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_is_refused_under_every_name_of_the_file() {
    let home = Home::new(Kind::Sqlite);
    let at = |name: &str| home.folder().join(name);
    let first = serve(&home.sqlite_file()).start();
    symlink(home.sqlite_file(), at("symbolic.db")).unwrap();
    symlink(home.folder(), at("folder")).unwrap();
    for name in ["symbolic.db", "folder/kurz.db", "folder/symbolic.db"] {
        let said = refused(&serve(&at(name)), 1);
        assert!(said.contains("another `kurz serve` is running"), "{name}: {said}");
    }
    fs::hard_link(home.sqlite_file(), at("hard.db")).unwrap();
    let said = refused(&serve(&at("hard.db")), 1);
    assert!(said.contains("another `kurz serve` is running"), "{said}");
    // Commands that write without the lock would have a log of their own as well.
    let command = |args: &[&str]| {
        Program::kurz(args).env("KURZ_STORE", &format!("sqlite://{}", at("hard.db").display()))
    };
    for args in [&["user", "list"][..], &["backup", "copy.db"]] {
        let said = refused(&command(args), 1);
        assert!(said.contains("has 2 names (hard links)"), "{args:?}: {said}");
    }
    // The first goes on.
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    first.http().post("/api/v1/links", &body).await.expect(201);
    first.stop();
    for name in ["hard.db", "kurz.db"] {
        let said = refused(&serve(&at(name)), 1);
        assert!(said.contains("has 2 names (hard links)"), "{name}: {said}");
    }
    fs::remove_file(at("hard.db")).unwrap();
    let second = serve(&at("symbolic.db")).start();
    second.http().get("/promo").await.expect(302);
    assert!(!at("symbolic.db-wal").exists() && !at("symbolic.db.lock").exists());
}

// threats: F6
#[test]
fn of_many_servers_that_start_at_once_under_different_names_one_serves() {
    for _ in 0..5 {
        let home = Home::new(Kind::Sqlite);
        let names: Vec<_> = (0..4).map(|n| home.folder().join(format!("name-{n}.db"))).collect();
        for name in &names {
            symlink("kurz.db", name).unwrap();
        }
        let started: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                names.iter().map(|name| scope.spawn(|| serve(name).try_start().ok())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(started.iter().flatten().count(), 1);
    }
}

// threats: H12
#[test]
fn the_files_of_a_store_are_private_whatever_the_umask_is() {
    for umask in ["000", "022", "077"] {
        let home = Home::new(Kind::Sqlite);
        let server = with_umask(serve(&home.sqlite_file()), umask).start();
        for name in ["kurz.db", "kurz.db-wal", "kurz.db-shm", "kurz.db.lock"] {
            assert_eq!(mode(&home.folder().join(name)), 0o600, "{name} with umask {umask}");
        }
        let backup = home.folder().join("backup.db");
        let program =
            Program::kurz(&["backup", backup.to_str().unwrap()]).env("KURZ_STORE", &home.store());
        let output = with_umask(program, umask).run("");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(mode(&backup), 0o600);
        assert!(!server.log().contains("others on this machine"), "{}", server.log());
    }
}

// threats: H12
#[test]
fn a_start_and_the_doctor_warn_of_files_that_others_can_read() {
    let home = Home::new(Kind::Sqlite);
    serve(&home.sqlite_file()).start().stop();
    fs::set_permissions(home.sqlite_file(), fs::Permissions::from_mode(0o644)).unwrap();
    let server = serve(&home.sqlite_file()).start();
    let line = server.wait_for_log("others on this machine can read the store");
    let file = home.sqlite_file();
    assert!(line.contains("chmod 600") && line.contains(file.to_str().unwrap()), "{line}");
    let doctor = Program::kurz(&["doctor"]).env("KURZ_STORE", &home.store());
    let output = doctor.env("KURZ_LISTEN", "0").env("KURZ_ADMIN_LISTEN", "off").run("");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("warning  permissions"), "{said}");
}

#[test]
fn files_that_root_makes_belong_to_the_owner_of_the_folder() {
    let home = Home::new(Kind::Sqlite);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(home.folder(), Some(65_534), Some(65_534)).unwrap();
    }
    let owner = home.folder().metadata().unwrap().uid();
    assert_eq!(is_root, owner == 65_534);
    let _server = serve(&home.sqlite_file()).start();
    let backup = home.folder().join("backup.db");
    let program = Program::kurz(&["backup", backup.to_str().unwrap()]);
    let output = program.env("KURZ_STORE", &home.store()).run("");
    assert!(output.status.success(), "{output:?}");
    for name in ["kurz.db", "kurz.db-wal", "kurz.db-shm", "kurz.db.lock", "backup.db"] {
        assert_eq!(home.folder().join(name).metadata().unwrap().uid(), owner, "{name}");
    }
}

// threats: F5
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_moved_away_or_replaced_is_said_in_readyz_and_in_the_log() {
    let home = Home::new(Kind::Sqlite);
    let (file, away) = (home.sqlite_file(), home.folder().join("away.db"));
    let server = serve(&file).start();
    let http = server.http();
    http.get("/readyz").await.expect(200);
    fs::rename(&file, &away).unwrap();
    let answer = http.get("/readyz").await.expect(503).json();
    assert_eq!(answer["checks"]["store"], "the file of the database was moved away or replaced");
    let line = server.wait_for_log("the store's file is not where it was opened");
    assert!(line.contains("was moved away or removed"), "{line}");
    fs::copy(&away, &file).unwrap();
    http.get("/readyz").await.expect(503);
    fs::rename(&away, &file).unwrap();
    http.get("/readyz").await.expect(200);
}
