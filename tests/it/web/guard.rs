//! What stands before the pages: cookies, sessions, requests from elsewhere, and where one goes
//! after signing in.

use std::time::Duration;

use reqwest::header::{COOKIE, HeaderName, ORIGIN};
use serde_json::json;

use super::stage::{Stage, cookie, post};
use crate::harness::http::Http;
use crate::harness::instance::{Kind, on_both_databases};
use crate::people::PASSWORD;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Every path that changes something, with fields that would do it.
const CHANGES: &[(&str, &str)] = &[
    ("/", "url=https%3A%2F%2Fexample.com"),
    ("/login", "email=ada%40example.com&password=planted-password-7731"),
    ("/register", "email=eve%40example.com&password=planted-password-7731"),
    ("/app/logout", ""),
    ("/app/language", "language=de"),
    ("/app/claim", "{}"),
    ("/app/account/password", "current=planted-password-7731&new=another-password"),
    ("/app/account/sessions", "all=1"),
    ("/app/account/delete", "password=planted-password-7731"),
    ("/app/keys", "name=a&scope=read"),
    ("/app/keys/revoke", "id=1"),
    ("/app/admin/users", "email=ada%40example.com&action=disable"),
    ("/app/workspaces", "id=team"),
    ("/app/w/main/new", "original_url=https%3A%2F%2Fexample.com"),
    ("/app/w/main/bulk", "lines=https%3A%2F%2Fexample.com"),
    ("/app/w/main/bulk.json", "{}"),
    ("/app/w/main/many", "action=delete&code=mine"),
    ("/app/w/main/l/mine/edit", "original_url=https%3A%2F%2Fevil.example"),
    ("/app/w/main/l/mine/delete", ""),
    ("/app/w/main/l/mine/restore", ""),
    ("/app/w/main/settings", "strategy=random"),
    ("/app/w/main/members", "email=eve%40example.com"),
    ("/app/w/main/members/change", "email=ada%40example.com&action=remove"),
    ("/app/w/main/hosts", "host=go.example"),
    ("/app/w/main/hosts/remove", "host=go.example"),
    ("/app/w/main/keys", "name=a&scope=read"),
    ("/app/w/main/delete", ""),
];

#[tokio::test]
async fn c13_c14_no_change_comes_from_elsewhere_whatever_cookie_it_brings() {
    let stage = Stage::start().await;
    let ada = stage.sign_up("ada").await;
    let token = stage.log_in("ada").await;
    let mine = json!({ "original_url": "https://example.com", "custom_code": "mine" });
    stage.link(&token, "main", &mine).await;
    let base = stage.base();
    let attacks: [Http; 6] = [
        ada.with(ORIGIN, "https://evil.example").with(SITE, "cross-site"),
        ada.with(ORIGIN, "https://evil.example"),
        ada.with(ORIGIN, "null"),
        ada.with(SITE, "cross-site"),
        ada.with(SITE, "same-site"),
        ada.with(ORIGIN, &base.replace("http://", "http://evil.example@")),
    ];
    for (path, body) in CHANGES {
        for attack in &attacks {
            let kind = "application/x-www-form-urlencoded";
            let attack = attack.with(HeaderName::from_static("content-type"), kind);
            let answer = attack.post_bytes(path, *body).await.expect(403);
            assert!(answer.text().contains("nothing was changed"), "{path}: {}", answer.text());
            assert_eq!(answer.header("set-cookie"), None, "{path}");
        }
    }
    // And it is all still there.
    ada.get("/app/w/main/l/mine").await.expect(200);
    token.get("/api/v1/me").await.expect(200);
    stage.http().get("/mine").await.expect(302);
    stage.stop().await;
}

/// The list above names what would be done; this one names everything, from the pages themselves.
#[tokio::test]
async fn c13_c14_no_page_at_all_takes_a_change_from_elsewhere() {
    let stage = Stage::start().await;
    let evil = stage.sign_up("ada").await.with(ORIGIN, "https://evil.example");
    let api = utoipa::openapi::OpenApiBuilder::new().build();
    let pages = kurz::web::pages(&api);
    assert!(pages.len() > 30, "there are pages");
    for (path, _) in pages {
        let names = [("{workspace}", "main"), ("{code}", "mine"), ("{name}", "style.css")];
        let path = names.iter().fold(path.to_owned(), |path, (from, to)| path.replace(from, to));
        let answer = evil.post_bytes(&path, "").await;
        assert!([403, 405].contains(&answer.status), "{path}: {}", answer.status);
    }
    stage.stop().await;
}

#[tokio::test]
async fn c13_g12_what_a_script_sends_has_its_content_type() {
    let stage = Stage::start().await;
    let ada = stage.sign_up("ada").await;
    for path in ["/app/claim", "/app/w/main/bulk.json"] {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let http = ada.with(HeaderName::from_static("content-type"), kind);
            let http = http.with(HeaderName::from_static("accept"), "application/json");
            http.post_bytes(path, "{}").await.expect_problem(415, "content-type-unsupported");
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn c13_c15_the_cookie_is_for_this_host_alone_and_for_no_script() {
    let stage = Stage::start().await;
    stage.sign_up("ada").await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = post(&stage.visitor(), "/login", &fields).await.expect(303);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-kurz="), "{set}");
    for part in ["; Path=/;", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.to_lowercase().contains("domain"), "{set}");
    // A new secret at every sign-in.
    let again = post(&stage.visitor(), "/login", &fields).await.expect(303);
    assert_ne!(cookie(&again), cookie(&answer));
    stage.stop().await;

    let plain = [("KURZ_PUBLIC_URL", "http://kurz.internal.example")];
    let stage = Stage::with(Kind::Sqlite, &plain).await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = post(&stage.visitor(), "/register", &fields).await.expect(303);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("kurz=") && !set.contains("Secure"), "{set}");
    stage.stop().await;
}

/// Where nobody goes after signing in, in forty spellings.
const ELSEWHERE: [&str; 44] = [
    "//evil.example",
    "///evil.example",
    "////evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\\/evil.example",
    "\\/\\/evil.example",
    "https://evil.example",
    "HTTPS://evil.example",
    "http:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "https:\\\\evil.example",
    "//evil.example/%2f..",
    "//evil.example\\@good.example",
    "//127.0.0.1@evil.example",
    "//user:pass@evil.example/app",
    "evil.example",
    "evil",
    ".evil.example",
    "@evil.example",
    ":@evil.example",
    "/\n/evil.example",
    "/\t/evil.example",
    "/\r/evil.example",
    "\t//evil.example",
    "\n//evil.example",
    " //evil.example",
    "/ /evil.example\n",
    "/app\r\nSet-Cookie: a=b",
    "/app\r\n\r\n<script>alert(1)</script>",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "\u{1}javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//[::1]/",
    "//evil.example:80",
    "//%65vil.example",
    "",
    "?next=//evil.example",
    "#//evil.example",
];

#[tokio::test]
async fn c15_one_goes_on_to_own_pages_only() {
    let stage = Stage::start().await;
    stage.sign_up("ada").await;
    let login = stage.visitor();
    let to = async |next: &str| {
        let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", next)];
        let answer = post(&login, "/login", &fields).await.expect(303);
        answer.header("location").unwrap().to_owned()
    };
    assert_eq!(to("/app/account").await, "/app/account");
    for evil in ELSEWHERE {
        assert_eq!(to(evil).await, "/app", "{evil:?}");
    }
    let asked = stage.visitor().get("/app/w/main?q=a%26b").await.expect(303);
    assert_eq!(asked.header("location"), Some("/login?next=%2Fapp%2Fw%2Fmain%3Fq%3Da%2526b"));
    stage.stop().await;
}

/// Sessions end where they should: by logging out, from another browser, with a new password, with
/// the account, by an administrator and by time.
async fn c6_sessions_end(kind: Kind) {
    let stage = Stage::with(kind, &[]).await;
    let first = stage.sign_up("ada").await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let sign_in = async || {
        let answer = post(&stage.visitor(), "/login", &fields).await.expect(303);
        stage.visitor().with(COOKIE, &cookie(&answer))
    };
    let is_in = async |browser: &Http| browser.get("/app/account").await.status == 200;

    let second = sign_in().await;
    assert!(is_in(&first).await && is_in(&second).await);
    post(&second, "/app/logout", &[]).await.expect(303);
    assert!(is_in(&first).await && !is_in(&second).await, "only the one that logged out");

    let third = sign_in().await;
    let page = third.get("/app/account").await.expect(200).text();
    assert_eq!(page.matches("name=\"id\"").count(), 2, "two browsers are signed in");
    let other =
        page.split("name=\"id\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for id in other {
        let answer = post(&first, "/app/account/sessions", &[("id", id)]).await;
        assert!([303, 404].contains(&answer.status), "{}", answer.text());
    }
    assert!(!is_in(&first).await || !is_in(&third).await);

    let fourth = sign_in().await;
    let fifth = sign_in().await;
    let change = [("current", PASSWORD), ("new", "another-password")];
    let answer = post(&fourth, "/app/account/password", &change).await.expect(303);
    let changed = stage.visitor().with(COOKIE, &cookie(&answer));
    assert!(is_in(&changed).await, "the browser that changed it goes on");
    assert!(!is_in(&fourth).await && !is_in(&fifth).await, "with a new secret, all others are out");

    stage.pass(Duration::from_hours(30 * 24 + 1));
    assert!(!is_in(&changed).await, "a session is good for 30 days");
    stage.stop().await;
}

on_both_databases!(c6_sessions_end);

#[tokio::test]
async fn a_workspaces_own_host_has_no_pages_but_its_links_and_their_preview() {
    let stage = Stage::start().await;
    stage.sign_up("ada").await;
    let http = stage.log_in("ada").await;
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    http.post("/api/v1/workspaces/acme/hosts", &json!({ "host": "go.acme.example" }))
        .await
        .expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    stage.link(&http, "acme", &link).await;
    let own = stage.visitor().with(HeaderName::from_static("host"), "go.acme.example");
    own.get("/promo").await.expect(302);
    let preview = own.get("/promo+").await.expect(200).text();
    let style = preview.split("stylesheet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    own.get(style).await.expect(200);
    for path in ["/", "/login", "/register", "/app", "/app/w/acme"] {
        own.get(path).await.expect(404);
    }
    stage.stop().await;
}
