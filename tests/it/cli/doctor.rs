//! `kurz doctor`, on healthy and on broken surroundings: it finds what is wrong, says what to do and
//! changes nothing.

use std::fs;
use std::net::TcpListener;

use kurz_test_support::mmdb::{GeoNet, city_file};
use kurz_test_support::postgres::Database;
use kurz_test_support::{Program, TestServer};
use serde_json::Value;

/// A doctor who looks at free ports.
fn doctor() -> Program {
    let program = Program::kurz(&["doctor", "--json"]);
    program.env("KURZ_LISTEN", "127.0.0.1:0").env("KURZ_ADMIN_LISTEN", "127.0.0.1:0")
}

/// Run, expect this exit code, and give the findings.
#[track_caller]
fn findings(program: &Program, code: i32) -> Vec<Value> {
    let output = program.run("");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(output.stderr.is_empty(), code == 0, "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one finding of this level about `check`, which must say `words`.
#[track_caller]
fn find(findings: &[Value], level: &str, check: &str, words: &str) {
    let said = |finding: &&Value| {
        finding["level"] == level
            && finding["check"] == check
            && finding["detail"].as_str().unwrap().contains(words)
    };
    assert_eq!(
        findings.iter().filter(said).count(),
        1,
        "no {level} {check} {words}: {findings:#?}"
    );
}

#[test]
fn before_the_first_start_all_is_well_and_nothing_is_made() {
    let program = doctor();
    let found = findings(&program, 0);
    assert!(found.iter().all(|finding| finding["level"] != "problem"), "{found:#?}");
    find(&found, "ok", "store", "is empty");
    find(&found, "ok", "disk", "is writable");
    find(&found, "ok", "clock", "It is 20");
    find(&found, "ok", "configuration", "chosen by the machine's memory");
    assert_eq!(fs::read_dir(program.folder()).unwrap().count(), 0, "nothing was made");
}

// threats: B5
#[test]
fn feistel_is_recommended_for_public_servers_and_for_no_others() {
    const WORDS: &str = "KURZ_COUNTER_SCRAMBLE=feistel";
    let public = doctor().env("KURZ_PUBLIC_URL", "https://kurz.example");
    find(&findings(&public, 0), "warning", "configuration", WORDS);
    let everywhere = doctor().env("KURZ_LISTEN", "0.0.0.0:0");
    find(&findings(&everywhere, 0), "warning", "configuration", WORDS);
    let chosen = public.env("KURZ_COUNTER_SCRAMBLE", "feistel");
    let local = doctor().env("KURZ_PUBLIC_URL", "http://localhost:8080");
    for quiet in [chosen, local, doctor()] {
        let found = findings(&quiet, 0);
        let said = |finding: &Value| finding["detail"].as_str().unwrap().contains("feistel");
        assert!(!found.iter().any(said), "{found:#?}");
    }
}

#[test]
fn a_running_server_is_recognised() {
    let database = Database::create();
    let program = TestServer::builder().process();
    let file = format!("sqlite://{}", program.folder().join("kurz.db").display());
    for store in [file.as_str(), database.url()] {
        let server = program.clone().env("KURZ_STORE", store).start();
        let port = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
        let doctor = doctor()
            .env("KURZ_STORE", store)
            .env("KURZ_LISTEN", &port(server.base_url()))
            .env("KURZ_ADMIN_LISTEN", &port(&server.admin_url()));
        let found = findings(&doctor, 0);
        find(&found, "ok", "store", "answers and is up to date");
        find(&found, "ok", "port", "(KURZ_LISTEN)");
        assert_eq!(
            found
                .iter()
                .filter(|f| f["detail"].as_str().unwrap().starts_with("A kurz answers"))
                .count(),
            2,
            "{found:#?}"
        );
    }
}

#[test]
fn the_clock_of_postgresql_is_compared() {
    let database = Database::create();
    Program::kurz(&["migrate"]).env("KURZ_STORE", database.url()).run("");
    let found = findings(&doctor().env("KURZ_STORE", database.url()), 0);
    find(&found, "ok", "clock", "PostgreSQL differ by");
}

#[test]
fn people_get_a_line_for_each_finding() {
    let program = Program::kurz(&["doctor"]).env("KURZ_LISTEN", "127.0.0.1:0");
    let output = program.env("KURZ_ADMIN_LISTEN", "off").run("");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for line in said.lines() {
        assert!(line.starts_with("ok  ") || line.starts_with("warning  "), "{said}");
        assert!(line.ends_with('.'), "{said}");
    }
}

#[test]
fn what_is_wrong_is_named_with_what_to_do() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let found = findings(&doctor().env("KURZ_LISTEN", &taken), 1);
    find(&found, "problem", "port", "stop it or choose another port");
    drop(other);

    let found = findings(&doctor().env("KURZ_LISTEN", "here"), 1);
    find(&found, "problem", "configuration", "KURZ_LISTEN is \"here\", but it takes");
    let found = findings(&doctor().env("KURZ_URL", "here"), 1);
    find(&found, "problem", "configuration", "KURZ_URL is \"here\"");
    let found = findings(&doctor().env("KURZ_STORE", "postgres://me@127.0.0.1:1/kurz"), 1);
    find(&found, "problem", "store", "check that PostgreSQL runs");
    let found = findings(&doctor().env("KURZ_STORE", "sqlite:///nowhere/kurz.db"), 1);
    find(&found, "problem", "disk", "make it");
    let program = doctor();
    fs::write(program.folder().join("kurz.db"), "no database at all, just some text in a file")
        .unwrap();
    let found = findings(&program, 1);
    find(&found, "problem", "store", "restore a backup");
}

#[test]
fn a_store_of_a_newer_kurz_is_recognised_and_left_alone() {
    let program = doctor();
    let path = program.folder().join("kurz.db");
    let store = format!("sqlite://{}", path.display());
    Program::kurz(&["migrate"]).env("KURZ_STORE", &store).run("");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("insert into migrations values (99, '0099_tomorrow')", []).unwrap();
    let found = findings(&program, 1);
    find(&found, "problem", "store", "made by a newer kurz");
}

#[test]
fn a_public_address_in_open_mode_is_a_warning() {
    let public = doctor().env("KURZ_LISTEN", "0.0.0.0:0");
    let closed = findings(&public, 0);
    assert!(
        closed.iter().all(|finding| !finding["detail"].as_str().unwrap().contains("open mode"))
    );
    let found = findings(&public.env("KURZ_OPEN", "on"), 0);
    find(&found, "warning", "configuration", "everybody who reaches it");
    find(&found, "warning", "configuration", "KURZ_PUBLIC_URL");
}

#[test]
fn redis_is_looked_at_where_there_is_one() {
    let url = kurz_test_support::redis::database();
    let found = findings(&doctor().env("KURZ_REDIS", url.as_str()), 0);
    assert!(found.iter().any(|finding| finding["check"] == "redis"));
    let found = findings(&doctor().env("KURZ_REDIS", "redis://me:hunter2@127.0.0.1:1"), 1);
    find(&found, "problem", "redis", "check that it runs");
    assert!(!format!("{found:?}").contains("hunter2"));
    assert!(!findings(&doctor(), 0).iter().any(|finding| finding["check"] == "redis"));
}

#[test]
fn geo_files_and_channels_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let path_text = path.to_str().unwrap();
    let nets = [GeoNet::country("198.51.100.0/24", "DE")];
    let geo = doctor().env("KURZ_GEO_FILE", path_text);
    find(&findings(&geo, 1), "problem", "geo file", "KURZ_GEO_FILE");
    fs::write(&path, city_file(1, &nets)).unwrap();
    find(&findings(&geo, 0), "warning", "geo file", "1970");
    fs::write(&path, city_file(4_000_000_000, &nets)).unwrap();
    find(&findings(&geo, 0), "ok", "geo file", "2096");

    let channels = doctor().env("KURZ_CHANNELS", path_text);
    fs::write(&path, "nothing x.example").unwrap();
    find(&findings(&channels, 1), "problem", "channels", "`nothing`");
    fs::write(&path, "social x.example").unwrap();
    find(&findings(&channels, 0), "ok", "channels", "can be read");
}
