//! The subcommands that talk to a server, run as a user runs them, against a real one on each of the
//! two databases.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread;

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, Program, TestServer};
use serde_json::{Value, json};

/// Run `kurz ARGS` against the server at `url`.
fn run(url: &str, args: &[&str]) -> Output {
    Program::kurz(args).env("KURZ_URL", url).run("")
}

/// Run, expect exit code 0 and nothing on stderr, and give stdout.
#[track_caller]
fn done(url: &str, args: &[&str]) -> String {
    let output = run(url, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Run, expect this exit code, nothing on stdout and one sentence on stderr, which is given.
#[track_caller]
fn fails(url: &str, code: i32, args: &[&str]) -> String {
    let output = run(url, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{args:?}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: ") && said.ends_with(".\n"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[track_caller]
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
}

/// Run a test against a server on SQLite and against one on PostgreSQL.
fn on_both(test: impl Fn(&Process)) {
    test(&TestServer::builder().process().start());
    test(&TestServer::builder().database(Kind::Postgres).process().start());
}

#[test]
fn shorten_prints_the_short_url_or_the_whole_link() {
    on_both(|server| {
        let url = server.base_url();
        let short = done(url, &["shorten", "https://example.com/a?b=1", "--code", "promo"]);
        assert_eq!(short, format!("{url}/promo\n"));

        let args = ["shorten", "https://example.com/ü", "--workspace", "acme", "--json"];
        let more = ["--title", "Größe", "--tag", "x", "--tag", "y", "--hit-limit", "7"];
        let last = ["--expires-at", "2099-01-01T01:00:00+01:00", "--redirect-status", "308"];
        let link = parse(&done(url, &[&args[..], &more[..], &last[..]].concat()));
        assert_eq!(link["workspace"], "acme");
        assert_eq!(link["original_url"], "https://example.com/ü");
        assert_eq!(link["strategy"], "deterministic");
        assert_eq!((&link["title"], &link["tags"]), (&json!("Größe"), &json!(["x", "y"])));
        assert_eq!((&link["hit_limit"], &link["redirect_status"]), (&json!(7), &json!(308)));
        assert_eq!(link["expires_at"], "2099-01-01T00:00:00.000Z");
        // The same URL again is the same link.
        let again = done(url, &args[..4]);
        assert_eq!(again.trim_end(), link["short_url"].as_str().unwrap());

        let random =
            ["shorten", "https://example.com/r", "--workspace", "acme", "--strategy", "random"];
        assert!(done(url, &random).starts_with(url));
    });
}

#[test]
fn what_a_server_refuses_is_one_sentence_and_exit_code_2() {
    let server = TestServer::builder().process().start();
    let url = server.base_url();
    done(url, &["shorten", "https://example.com/a", "--code", "promo"]);
    let said = fails(url, 2, &["shorten", "https://example.com/b", "--code", "promo"]);
    assert!(said.contains("taken"), "{said}");
    fails(url, 2, &["shorten", "ftp://example.com/"]);
    fails(url, 2, &["shorten", "https://example.com/", "--code", "api"]);
    let said = fails(
        url,
        2,
        &["shorten", "https://example.com/", "--code", "a", "--redirect-status", "200"],
    );
    assert!(said.contains("custom_code: ") && said.contains("redirect_status: "), "{said}");
    fails(url, 2, &["links", "show", "nothing"]);
    fails(url, 2, &["links", "list", "--workspace", "nothing"]);
    fails(url, 2, &["links", "list", "--sort", "colour"]);
    fails(url, 2, &["workspace", "delete", "main"]);
    fails(url, 2, &["workspace", "host", "remove", "main", "nothing.example"]);
}

#[test]
fn wrong_usage_is_told_before_anything_is_sent() {
    // Nothing listens there: whoever sends ends with exit code 1.
    let url = "http://127.0.0.1:1";
    let table: &[&[&str]] = &[
        &["shorten"],
        &["shorten", "https://example.com/", "--workspace", "a b"],
        &["shorten", "https://example.com/", "--expires-at", "tomorrow"],
        &["shorten", "https://example.com/", "--strategy", "magic"],
        &["shorten", "https://example.com/", "--hit-limit", "-1"],
        &["links"],
        &["links", "show", "a/b"],
        &["links", "show", ".."],
        &["links", "edit", "promo"],
        &["links", "edit", "promo", "--title", "a", "--no-title"],
        &["links", "list", "--limit", "0"],
        &["links", "list", "--limit", "1001"],
        &["links", "list", "--limit", "5", "--all"],
        &["links", "list", "--status", "LOST"],
        &["workspace", "create", "a b"],
        &["workspace", "edit", "acme"],
        &["workspace", "host", "add", "acme", ".."],
    ];
    for args in table {
        let output = run(url, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}: {output:?}");
    }
    for (variable, value) in [("KURZ_URL", "example.com"), ("KURZ_API_KEY", "hunter2 hunter3")] {
        let output = Program::kurz(&["links", "list"]).env(variable, value).run("");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(variable) && !said.contains("hunter"), "{said}");
    }
}

#[test]
fn a_link_is_listed_shown_changed_deleted_and_restored() {
    on_both(|server| {
        let url = server.base_url();
        let link = ["--workspace", "acme"];
        let with = |args: &[&'static str]| [args, &link[..]].concat();
        let made = with(&["shorten", "https://example.com/old", "--code", "promo", "--tag", "x"]);
        done(url, &made);
        done(url, &with(&["shorten", "https://example.com/other", "--code", "other"]));

        let table = done(url, &with(&["links", "list", "--search", "OLD"]));
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2, "a head and one link: {table}");
        assert!(lines[0].starts_with("CODE") && lines[1].starts_with("promo"), "{table}");
        assert!(lines[1].ends_with("https://example.com/old"), "{table}");
        let tagged = done(url, &with(&["links", "list", "--tag", "x", "--json"]));
        assert_eq!(parse(&tagged)["short_code"], "promo");

        let edit = ["links", "edit", "promo", "--target", "https://example.com/new", "--no-tags"];
        let edited =
            [&edit[..], &["--title", "New", "--hit-limit", "9", "--json"], &link[..]].concat();
        let edited = parse(&done(url, &edited));
        assert_eq!(edited["original_url"], "https://example.com/new");
        assert_eq!((&edited["tags"], &edited["title"]), (&json!([]), &json!("New")));
        let taken =
            with(&["links", "edit", "promo", "--no-title", "--default-hit-limit", "--json"]);
        let taken = parse(&done(url, &taken));
        assert_eq!(taken["title"], json!(null));
        assert_ne!(taken["hit_limit"], 9);

        let shown = done(url, &with(&["links", "show", "promo"]));
        let target = shown.lines().find(|line| line.starts_with("original_url ")).unwrap();
        assert!(target.ends_with(" https://example.com/new"), "{shown}");
        assert!(!shown.contains("title"), "{shown}");

        let deleted = done(url, &with(&["links", "delete", "promo"]));
        assert!(deleted.starts_with("deleted promo; it can be restored until 20"), "{deleted}");
        let listed = done(url, &with(&["links", "list", "--status", "deleted", "--json"]));
        assert_eq!(parse(&listed)["status"], "DELETED");
        let restored = done(url, &with(&["links", "restore", "promo"]));
        assert!(restored.ends_with("/promo\n"), "{restored}");
        fails(url, 2, &with(&["links", "restore", "promo"]));
        let sorted = done(url, &with(&["links", "list", "--sort", "-short_code", "--json"]));
        let codes: Vec<Value> =
            sorted.lines().map(|line| parse(line)["short_code"].clone()).collect();
        assert_eq!(codes, ["promo", "other"]);
    });
}

#[tokio::test]
async fn all_links_come_page_after_page() {
    let server = TestServer::builder().process().start();
    let url = server.base_url();
    let http = Http::new(url);
    for batch in [0..1000, 1000..1203] {
        let links: Vec<Value> =
            batch.map(|n| json!({ "original_url": format!("https://example.com/{n}") })).collect();
        http.post("/api/v1/workspaces/acme/links/bulk", &json!({ "links": links }))
            .await
            .expect(200);
    }
    let all = done(url, &["links", "list", "--workspace", "acme", "--all", "--json"]);
    let codes: BTreeSet<String> =
        all.lines().map(|line| parse(line)["short_code"].as_str().unwrap().to_owned()).collect();
    assert_eq!((all.lines().count(), codes.len()), (1203, 1203));
    let table = done(url, &["links", "list", "--workspace", "acme", "--all"]);
    assert_eq!(table.lines().count(), 1204, "one head for all pages");

    let some = run(url, &["links", "list", "--workspace", "acme", "--limit", "3"]);
    assert_eq!(some.status.code(), Some(0));
    assert_eq!(String::from_utf8(some.stdout).unwrap().lines().count(), 4);
    assert!(
        String::from_utf8(some.stderr).unwrap().contains("--all"),
        "it says that there are more"
    );
}

#[test]
fn a_workspace_and_its_hosts_come_and_go() {
    on_both(|server| {
        let url = server.base_url();
        let made = done(url, &["workspace", "create", "acme", "--strategy", "counter", "--json"]);
        assert_eq!(parse(&made)["strategy"], "counter");
        fails(url, 2, &["workspace", "create", "acme"]);
        let host = ["workspace", "host"];
        let hosts = |args: &[&'static str]| [&host[..], args].concat();
        assert_eq!(done(url, &hosts(&["add", "acme", "GO.Acme.example"])), "go.acme.example\n");
        assert!(done(url, &hosts(&["list", "acme"])).contains("\ngo.acme.example"));
        let listed = done(url, &hosts(&["list", "acme", "--json"]));
        assert_eq!(parse(&listed)["host"], "go.acme.example");

        let edited = done(url, &["workspace", "edit", "acme", "--hit-limit", "5"]);
        assert!(
            edited.contains("hit_limit   5\n") && edited.contains("go.acme.example"),
            "{edited}"
        );
        let edited = ["workspace", "edit", "acme", "--default-hit-limit", "--json"];
        assert_eq!(parse(&done(url, &edited))["hit_limit"], json!(null));
        assert_eq!(done(url, &["workspace", "show", "acme", "--json"]).lines().count(), 1);
        let table = done(url, &["workspace", "list"]);
        assert!(table.starts_with("ID") && table.contains("\nacme") && table.contains("\nmain"));

        assert_eq!(
            done(url, &hosts(&["remove", "acme", "go.acme.example"])),
            "removed go.acme.example\n"
        );
        assert_eq!(done(url, &["workspace", "delete", "acme"]), "deleted acme\n");
        fails(url, 2, &["workspace", "show", "acme"]);
    });
}

#[test]
fn a_server_that_is_not_there_is_exit_code_1_and_a_way_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for args in
        [&["shorten", "https://example.com/"][..], &["links", "list"], &["workspace", "list"]]
    {
        let said = fails(&url, 1, args);
        assert!(said.contains(&format!("Cannot reach kurz at {url}")), "{said}");
        assert!(said.contains("is it running? Set KURZ_URL"), "{said}");
    }
}

#[tokio::test]
async fn https_at_a_port_without_tls_says_so() {
    let kurz = TestServer::builder().start().await;
    let address = kurz.base_url().trim_start_matches("http://").to_owned();
    let said = tokio::task::spawn_blocking(move || {
        let said = fails(&format!("https://{address}"), 1, &["links", "list"]);
        (said, address)
    });
    let (said, address) = said.await.unwrap();
    assert!(said.contains("speaks plain HTTP, not HTTPS"), "{said}");
    assert!(said.contains(&format!("set KURZ_URL to http://{address}.")), "{said}");
    kurz.stop().await;
}

/// Answer one request at a free port with `answer`; the address, and what was asked.
fn answering(answer: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..length]).to_lowercase()
    });
    (url, asked)
}

#[test]
fn what_is_not_kurz_is_not_followed_and_not_believed() {
    for answer in [
        "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n<html></>",
    ] {
        let (url, asked) = answering(answer);
        let said = fails(&url, 1, &["links", "list"]);
        assert!(said.contains("is not kurz: set KURZ_URL"), "{said}");
        asked.join().unwrap();
    }
}

#[test]
fn a_failure_of_the_server_is_exit_code_1_and_its_own_words() {
    let (url, asked) = answering(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
         connection: close\r\n\r\n{\"status\":503,\"detail\":\"The database does not answer.\"}",
    );
    assert_eq!(fails(&url, 1, &["links", "list"]), "error: The database does not answer.\n");
    asked.join().unwrap();
}

#[test]
fn the_key_travels_as_a_bearer_token_and_only_when_there_is_one() {
    let answer = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n\
                  {\"detail\":\"The key is not valid.\"}";
    let (url, asked) = answering(answer);
    let program = Program::kurz(&["links", "list"]).env("KURZ_URL", &url);
    let output = program.env("KURZ_API_KEY", "kurz_secret").run("");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("set KURZ_API_KEY") && !said.contains("secret"), "{said}");
    assert!(asked.join().unwrap().contains("authorization: bearer kurz_secret\r\n"));
    let (url, asked) = answering(answer);
    fails(&url, 2, &["links", "list"]);
    assert!(!asked.join().unwrap().contains("authorization"));
}

#[test]
fn a_reader_that_leaves_ends_a_list_quietly() {
    let server = TestServer::builder().process().start();
    done(server.base_url(), &["shorten", "https://example.com/"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_kurz"))
        .args(["links", "list"])
        .env_clear()
        .env("KURZ_URL", server.base_url())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_completions_know_every_subcommand() {
    for shell in ["bash", "zsh", "fish"] {
        let script =
            String::from_utf8(Program::kurz(&["completions", shell]).run("").stdout).unwrap();
        for word in
            ["shorten", "links", "workspace", "migrate", "backup", "copy", "doctor", "restore"]
        {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
}

#[test]
fn links_are_renamed_aliased_noted_and_archived_and_tags_renamed() {
    on_both(|server| {
        let url = server.base_url();
        done(
            url,
            &["shorten", "https://example.com/a", "--code", "promo", "--note", "n", "--tag", "red"],
        );
        done(url, &["links", "alias", "promo", "spring"]);
        done(url, &["links", "edit", "spring", "--code", "summer", "--archive", "--no-note"]);
        let link = parse(&done(url, &["links", "show", "summer", "--json"]));
        assert_eq!((&link["aliases"], &link["note"]), (&json!(["spring", "promo"]), &Value::Null));
        assert!(link["archived_at"].is_string(), "{link}");
        assert!(!done(url, &["links", "list"]).contains("summer"));
        assert!(done(url, &["links", "list", "--archived"]).contains("summer"));
        assert!(done(url, &["links", "list", "--only-archived"]).contains("summer"));
        done(url, &["links", "edit", "summer", "--unarchive"]);
        assert!(done(url, &["links", "list"]).contains("summer"));
        done(url, &["links", "unalias", "summer", "spring"]);
        assert!(fails(url, 2, &["links", "unalias", "summer", "spring"]).contains("alias"));
        assert_eq!(done(url, &["tags", "rename", "red", "a/b"]), "renamed red to a/b\n");
        assert!(done(url, &["tags", "list"]).contains("a/b"));
        assert_eq!(done(url, &["tags", "delete", "a/b"]), "deleted a/b\n");
        let host = ["workspace", "host"];
        done(url, &["workspace", "create", "acme"]);
        done(url, &[&host[..], &["add", "acme", "go.example.com"]].concat());
        let edit =
            ["edit", "acme", "go.example.com", "--home-url", "https://acme.example/", "--json"];
        let shown = parse(&done(url, &[&host[..], &edit].concat()));
        assert_eq!(shown["home_url"], "https://acme.example/");
        let edit = ["edit", "acme", "go.example.com", "--home-url", "", "--json"];
        assert_eq!(parse(&done(url, &[&host[..], &edit].concat()))["home_url"], Value::Null);
    });
}
