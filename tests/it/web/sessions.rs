//! What stands before the pages: cookies, sessions, requests from elsewhere, and where one goes
//! after signing in.

use std::time::Duration;

use kurz_test_support::accounts::PASSWORD;
use kurz_test_support::http::Http;
use kurz_test_support::pages::{cookie, post_form};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::{COOKIE, HeaderName, ORIGIN};
use serde_json::json;

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
    ("/app/w/main/l/mine/rules", "do=save"),
    ("/app/w/main/l/mine/rules/change", "do=delete-rule+rules[0]"),
    ("/app/w/main/l/mine/options", "do=save&password=secret"),
    ("/app/w/main/l/mine/try", "device=iphone"),
    ("/app/w/main/l/mine/delete", ""),
    ("/app/w/main/l/mine/restore", ""),
    ("/app/w/main/settings", "strategy=random"),
    ("/app/w/main/settings/defaults", "query=merge"),
    ("/app/w/main/invitations", "email=eve%40example.com"),
    ("/app/w/main/invitations/revoke", "id=1"),
    ("/app/invitations/accept", "id=1"),
    ("/app/invitations/decline", "id=1"),
    ("/app/w/main/members/change", "email=ada%40example.com&action=remove"),
    ("/app/w/main/hosts", "host=go.example"),
    ("/app/w/main/hosts/check", "host=go.example"),
    ("/app/w/main/hosts/approve", "host=go.example"),
    ("/app/w/main/hosts/remove", "host=go.example"),
    ("/app/w/main/keys", "name=a&scope=read"),
    ("/app/w/main/delete", ""),
];

// threats: C13, C14
#[tokio::test]
async fn no_change_comes_from_elsewhere_whatever_cookie_it_brings() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let mine = json!({ "original_url": "https://example.com", "custom_code": "mine" });
    links::make(&token, "main", &mine).await;
    let base = server.base_url();
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
    server.http().get("/mine").await.expect(302);
    server.stop().await;
}

/// The list above names what would be done; this one names everything, from the pages themselves.
// threats: C13, C14
#[tokio::test]
async fn no_page_at_all_takes_a_change_from_elsewhere() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let evil = server.sign_up("ada").await.with(ORIGIN, "https://evil.example");
    let api = utoipa::openapi::OpenApiBuilder::new().build();
    let pages = kurz::web::pages(&api);
    assert!(pages.len() > 30, "there are pages");
    for (path, _) in pages {
        let names = [("{workspace}", "main"), ("{code}", "mine"), ("{name}", "style.css")];
        let path = names.iter().fold(path.to_owned(), |path, (from, to)| path.replace(from, to));
        let answer = evil.post_bytes(&path, "").await;
        assert!([403, 405].contains(&answer.status), "{path}: {}", answer.status);
    }
    server.stop().await;
}

// threats: C13, G12
#[tokio::test]
async fn what_a_script_sends_has_its_content_type() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    for path in ["/app/claim", "/app/w/main/bulk.json"] {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let http = ada.with(HeaderName::from_static("content-type"), kind);
            let http = http.with(HeaderName::from_static("accept"), "application/json");
            http.post_bytes(path, "{}").await.expect_problem(415, "content-type-unsupported");
        }
    }
    server.stop().await;
}

// threats: C13, C15
#[tokio::test]
async fn the_cookie_is_for_this_host_alone_and_for_no_script() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = post_form(&server.visitor(), "/login", &fields).await.expect(303);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-kurz="), "{set}");
    for part in ["; Path=/;", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.to_lowercase().contains("domain"), "{set}");
    // A new secret at every sign-in.
    let again = post_form(&server.visitor(), "/login", &fields).await.expect(303);
    assert_ne!(cookie(&again), cookie(&answer));
    server.stop().await;

    let plain = [("KURZ_PUBLIC_URL", "http://kurz.internal.example")];
    let server = TestServer::builder().accounts().from_now().settings(&plain).start().await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = post_form(&server.visitor(), "/register", &fields).await.expect(303);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.starts_with("kurz=") && !set.contains("Secure"), "{set}");
    server.stop().await;
}

/// Where nobody goes after signing in, in forty spellings.
const ELSEWHERE: [&str; 61] = [
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
    // On this server, but no page: a short link leads elsewhere.
    "/mine",
    "/mine+",
    "/w/main/mine",
    "/apple",
    "/app2/x",
    "/App",
    "/app/../mine",
    "/app/./../mine",
    "/app/%2e%2e/mine",
    "/app/.%2E/mine",
    "/app%2f..",
    "/app%2f../mine",
    "/app/..%2fmine",
    "/app\\..\\mine",
    "/%61pp/../mine",
    "/../mine",
    "/?x=/mine",
];

// threats: C15
#[tokio::test]
async fn one_goes_on_to_own_pages_only() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let login = server.visitor();
    let to = async |next: &str| {
        let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", next)];
        let answer = post_form(&login, "/login", &fields).await.expect(303);
        answer.header("location").unwrap().to_owned()
    };
    assert_eq!(to("/app/account").await, "/app/account");
    assert_eq!(to("/").await, "/");
    for evil in ELSEWHERE {
        assert_eq!(to(evil).await, "/app", "{evil:?}");
    }
    let asked = server.visitor().get("/app/w/main?q=a%26b").await.expect(303);
    assert_eq!(asked.header("location"), Some("/login?next=%2Fapp%2Fw%2Fmain%3Fq%3Da%2526b"));
    server.stop().await;
}

/// Sessions end where they should: by logging out, from another browser, with a new password, with
/// the account, by an administrator and by time.
// threats: C6
async fn sessions_end(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let first = server.sign_up("ada").await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let sign_in = async || {
        let answer = post_form(&server.visitor(), "/login", &fields).await.expect(303);
        server.visitor().with(COOKIE, &cookie(&answer))
    };
    let is_in = async |browser: &Http| browser.get("/app/account").await.status == 200;

    let second = sign_in().await;
    assert!(is_in(&first).await && is_in(&second).await);
    post_form(&second, "/app/logout", &[]).await.expect(303);
    assert!(is_in(&first).await && !is_in(&second).await, "only the one that logged out");

    let third = sign_in().await;
    let page = third.get("/app/account").await.expect(200).text();
    assert_eq!(page.matches("name=\"id\"").count(), 2, "two browsers are signed in");
    let other =
        page.split("name=\"id\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for id in other {
        let answer = post_form(&first, "/app/account/sessions", &[("id", id)]).await;
        assert!([303, 404].contains(&answer.status), "{}", answer.text());
    }
    assert!(!is_in(&first).await || !is_in(&third).await);

    let fourth = sign_in().await;
    let fifth = sign_in().await;
    let change = [("current", PASSWORD), ("new", "another-password")];
    let answer = post_form(&fourth, "/app/account/password", &change).await.expect(303);
    let changed = server.visitor().with(COOKIE, &cookie(&answer));
    assert!(is_in(&changed).await, "the browser that changed it goes on");
    assert!(!is_in(&fourth).await && !is_in(&fifth).await, "with a new secret, all others are out");

    server.advance(Duration::from_hours(30 * 24 + 1));
    assert!(!is_in(&changed).await, "a session is good for 30 days");
    server.stop().await;
}

on_both_databases!(sessions_end);

#[tokio::test]
async fn a_workspaces_own_host_has_no_pages_but_its_links_and_their_preview() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("root").await;
    let http = server.log_in("root").await;
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    http.post("/api/v1/workspaces/acme/hosts", &json!({ "host": "go.acme.example" }))
        .await
        .expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&http, "acme", &link).await;
    let own = server.visitor().with(HeaderName::from_static("host"), "go.acme.example");
    own.get("/promo").await.expect(302);
    let preview = own.get("/promo+").await.expect(200).text();
    let style = preview.split("stylesheet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    own.get(style).await.expect(200);
    for path in ["/", "/login", "/register", "/app", "/app/w/acme"] {
        own.get(path).await.expect(404);
    }
    server.stop().await;
}
