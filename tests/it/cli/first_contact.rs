//! What a new user types: flags in the forms that people write, and commands in a folder without a store.

use std::fs;
use std::net::TcpListener;

use kurz_test_support::{Process, Program, TestServer};
use serde_json::Value;

/// `kurz serve --open ARGS` in an empty folder.
fn serve(args: &[&str]) -> Program {
    let program = Program::kurz(&["serve", "--open"]).env("KURZ_ADMIN_LISTEN", "off");
    args.iter().fold(program, |program, arg| program.arg(arg))
}

#[track_caller]
fn run(server: &Process, args: &[&str]) -> String {
    let output = Program::kurz(args).env("KURZ_URL", server.base_url()).run("");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn only_serve_migrate_and_copy_make_a_store_and_others_say_where_they_looked() {
    for args in [
        &["user", "list"][..],
        &["user", "add", "ada@example.com", "--admin"],
        &["user", "promote", "ada@example.com"],
        &["key", "list", "ada@example.com"],
        &["backup", "backup.db"],
    ] {
        let program = Program::kurz(args);
        let output = program.run("a long password\n");
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let folder = program.folder().canonicalize().unwrap();
        assert!(
            said.contains("there is no store at") || said.contains("There is no store at"),
            "{said}"
        );
        assert!(said.contains(&format!("{}/kurz.db", folder.display())), "{args:?}: {said}");
        assert!(said.contains("KURZ_STORE"), "{said}");
        assert_eq!(fs::read_dir(program.folder()).unwrap().count(), 0, "{args:?} made something");
    }
    let database = kurz_test_support::postgres::Database::create();
    let program = Program::kurz(&["user", "list"]).env("KURZ_STORE", database.url());
    let output = program.run("");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("here is no store at postgres://"), "{said}");
}

#[test]
fn serve_says_which_store_it_serves() {
    let program = serve(&["--listen", "0", "--store", "links.db"]);
    let server = program.start();
    let folder = program.folder().canonicalize().unwrap();
    let line = server.wait_for_log("store sqlite://");
    assert!(line.ends_with(&format!("{}/links.db", folder.display())), "{line}");
    assert!(program.folder().join("links.db").exists());
}

#[test]
fn addresses_are_understood_as_people_write_them() {
    for (args, starts) in [
        (["--listen", "0"], "http://127.0.0.1:"),
        (["--listen", ":0"], "http://0.0.0.0:"),
        (["--listen", "localhost:0"], "http://127.0.0.1:"),
        (["--port", "0"], "http://127.0.0.1:"),
    ] {
        let server = serve(&args).start();
        assert!(server.base_url().starts_with(starts), "{args:?}: {}", server.base_url());
    }
    let output = serve(&["--port", "1", "--listen", "2"]).run("");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_level_of_the_log_that_is_none_is_refused() {
    for level in ["loud", "info,loud", "verbose"] {
        let output = serve(&["--listen", "0", "--log", level]).run("");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!("--log is \"{level}\", but it takes error, warn")),
            "{said}"
        );
    }
    drop(serve(&["--listen", "0", "--log", "WARN,kurz::store=debug"]).start());
}

#[test]
fn the_admin_port_that_nobody_named_is_given_up_when_it_is_taken() {
    // Taken by this test, or by somebody else already.
    let _holder = TcpListener::bind("127.0.0.1:9580");
    let program = Program::kurz(&["serve", "--open", "--listen", "0"]);
    let server = program.start();
    let line = server.wait_for_log("127.0.0.1:9580");
    assert!(line.contains("WARN") && line.contains("--admin-listen"), "{line}");
    // A named one is needed.
    let output =
        program.clone().arg("--admin-listen").arg("127.0.0.1:9580").arg("--store").arg("b.db");
    let output = output.run("");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let free = program.arg("--admin-listen").arg("0").arg("--store").arg("c.db").start();
    assert!(free.admin_url().starts_with("http://127.0.0.1:"));
}

#[test]
fn targets_links_and_times_are_understood_as_people_write_them() {
    let server = TestServer::builder().process().start();
    let url = server.base_url();
    let short =
        run(&server, &["shorten", "example.com/page", "--code", "promo", "--expires-at", "7d"]);
    assert_eq!(short.trim(), format!("{url}/promo"));
    let shown: Value =
        serde_json::from_str(&run(&server, &["links", "show", short.trim(), "--json"])).unwrap();
    assert_eq!(shown["original_url"], "https://example.com/page");
    assert!(shown["expires_at"].is_string(), "{shown}");
    run(&server, &["links", "edit", short.trim(), "--expires-at", "2099-12-31"]);
    let shown: Value =
        serde_json::from_str(&run(&server, &["links", "show", "promo", "--json"])).unwrap();
    assert!(shown["expires_at"].as_str().unwrap().starts_with("2099-12-31T23:59:59"), "{shown}");

    run(&server, &["workspace", "create", "acme"]);
    let short =
        run(&server, &["shorten", "example.com/team", "--workspace", "acme", "--code", "team"]);
    let shown = run(&server, &["links", "show", short.trim(), "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["workspace"], &shown["short_code"]), (&"acme".into(), &"team".into()));
    let whole = format!("{url}/w/acme/team");
    let shown: Value =
        serde_json::from_str(&run(&server, &["links", "show", &whole, "--json"])).unwrap();
    assert_eq!(shown["workspace"], "acme");
    run(&server, &["links", "delete", &whole]);
}

#[test]
fn the_client_trusts_the_authority_of_a_private_certificate() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let pem = |label: &str, der: &[u8]| {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    };
    let certificate = put("cert.pem", pem("CERTIFICATE", made.cert.der()));
    let key = put("key.pem", pem("PRIVATE KEY", &made.signing_key.serialize_der()));
    let server = TestServer::builder()
        .setting("KURZ_TLS_CERT", &certificate)
        .setting("KURZ_TLS_KEY", &key)
        .process()
        .start();
    let client = Program::kurz(&["shorten", "example.com"]).env("KURZ_URL", server.base_url());
    let output = client.run("");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("set KURZ_TLS_CA"), "{said}");
    let output = client.clone().env("KURZ_TLS_CA", &certificate).run("");
    assert!(output.status.success(), "{output:?}");
    let empty = put("empty.pem", String::new());
    let output = client.env("KURZ_TLS_CA", &empty).run("");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
