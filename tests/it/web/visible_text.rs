//! Hidden characters in what users write: pages, problems and the command line write them out, and what is stored
//! stays as it was sent.

use kurz_test_support::http::Http;
use kurz_test_support::pages::post_form;
use kurz_test_support::{Program, TestServer, links};
use serde_json::json;

/// A title that reads as `annexe.jpg` where its override is obeyed.
const TITLE: &str = "ann\u{202e}gpj.exe \u{2066}x\u{2069}\u{200f}";
const TARGET: &str = "https://example.com/\u{202e}moc.live\u{2069}?q=\u{200f}";

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The page without the values of its fields and the addresses that it leads to.
async fn texts_of(http: &Http, path: &str) -> String {
    let page = http.get(path).await.expect(200).text();
    let mut texts = String::new();
    let mut rest = page.as_str();
    while let Some(at) = [" value=\"", " href=\""].iter().filter_map(|one| rest.find(one)).min() {
        texts.push_str(&rest[..at]);
        let value = &rest[at..];
        let open = value.find('"').unwrap() + 1;
        let end = value[open..].find('"').unwrap();
        rest = &value[open + end..];
    }
    texts + rest
}

// threats: H15
#[tokio::test]
async fn pages_write_hidden_characters_out_and_forms_keep_them() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let link = json!({ "original_url": TARGET, "custom_code": "promo", "title": TITLE, "tags": ["a\u{202e}b"] });
    links::make(&token, "main", &link).await;
    for path in ["/app/w/main", "/app/w/main/l/promo", "/app/w/main/l/promo/edit", "/promo+"] {
        let texts = texts_of(&ada, path).await;
        assert!(!texts.contains(is_bidi), "{path}: {texts}");
        if !path.ends_with("edit") {
            assert!(texts.contains("ann\\u202egpj.exe"), "{path}: {texts}");
            assert!(texts.contains("/\\u202emoc.live"), "{path}: {texts}");
        }
    }
    // Saved without a change, the link is as it was.
    let form = ada.get("/app/w/main/l/promo/edit").await.expect(200).text();
    assert!(form.contains(&format!("value=\"{TITLE}\"")), "{form}");
    let fields = [
        ("original_url", TARGET),
        ("title", TITLE),
        ("tags", "a\u{202e}b"),
        ("redirect_status", "302"),
    ];
    post_form(&ada, "/app/w/main/l/promo/edit", &fields).await.expect(303);
    let shown = token.get("/api/v1/workspaces/main/links/promo").await.expect(200).json();
    assert_eq!((&shown["title"], &shown["original_url"]), (&json!(TITLE), &json!(TARGET)));
    // What a script shows, and what a form repeats.
    let lines = json!({ "lines": [TARGET, "ftp://x\u{202e}y/"], "first": 1 });
    let json_kind = reqwest::header::CONTENT_TYPE;
    let answer =
        ada.with(json_kind, "application/json").post("/app/w/main/bulk.json", &lines).await;
    assert!(!answer.expect(200).text().contains(is_bidi));
    server.stop().await;
}

// threats: H15
#[tokio::test]
async fn problems_and_the_command_line_write_hidden_characters_out() {
    let server = TestServer::builder().process().start();
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "ti\u{202e}tle\u{9b}": "x" });
    let problem = http.post("/api/v1/links", &body).await.expect(422).text();
    assert!(problem.contains("ti\\\\u202etle\\\\u009b"), "{problem}");
    let link = json!({ "original_url": TARGET, "custom_code": "promo", "title": TITLE });
    http.post("/api/v1/links", &link).await.expect(201);

    let run = |args: &[&str]| {
        let output = Program::kurz(args).env("KURZ_URL", server.base_url()).run("");
        let (out, err) = (output.stdout, output.stderr);
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    };
    for args in [
        &["links", "list"][..],
        &["links", "list", "--json"],
        &["links", "show", "promo"],
        &["links", "show", "promo", "--json"],
    ] {
        let (out, err) = run(args);
        assert!(!out.contains(is_bidi) && !err.contains(is_bidi), "{args:?}: {out} {err}");
        assert!(out.contains("ann\\u202egpj.exe"), "{args:?}: {out}");
    }
    // The escapes of JSON are read back as what was stored.
    let (out, _) = run(&["links", "show", "promo", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&shown["title"], &shown["original_url"]), (&json!(TITLE), &json!(TARGET)));
    let (_, err) = run(&["shorten", "ft\u{202e}p:\u{1b}[31m"]);
    assert!(!err.is_empty() && !err.contains(is_bidi) && !err.contains('\u{1b}'), "{err:?}");
    let output = Program::kurz(&["canon", "--stdin"]).run("\"http://\u{202e}/\"\n");
    assert!(!String::from_utf8(output.stdout).unwrap().contains(is_bidi));
}
