//! Every endpoint of the OpenAPI document, asked by everybody: who may do what, in one table. An
//! endpoint without a row here fails, so that none is forgotten.

use std::collections::BTreeSet;

use kurz_test_support::accounts::{PASSWORD, email, invite, join};
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

/// Who asks: the owner of everything named, who administers the workspace `team`; a viewer of
/// `team`, who is just another user in `main`; the administrator of another workspace; nobody.
const CALLERS: [&str; 4] = ["owner", "viewer", "stranger", "anonymous"];

/// Method, path, the workspace to fill in, the body, and the status for each caller.
type Row = (&'static str, &'static str, &'static str, &'static str, [u16; 4]);

const WS: &str = "/api/v1/workspaces/{workspace}";
const LINKS: &str = "/api/v1/workspaces/{workspace}/links";
const LINK: &str = "/api/v1/workspaces/{workspace}/links/{code}";
const HOSTS: &str = "/api/v1/workspaces/{workspace}/hosts";
const HOST: &str = "/api/v1/workspaces/{workspace}/hosts/{host}";
const ALIASES: &str = "/api/v1/workspaces/{workspace}/links/{code}/aliases";
const ALIAS: &str = "/api/v1/workspaces/{workspace}/links/{code}/aliases/{alias}";
const TAGS: &str = "/api/v1/workspaces/{workspace}/tags";
const TAG: &str = "/api/v1/workspaces/{workspace}/tags/{tag}";
const SHARES: &str = "/api/v1/workspaces/{workspace}/analytics/shares";
const MEMBERS: &str = "/api/v1/workspaces/{workspace}/members";
const INVITATIONS: &str = "/api/v1/workspaces/{workspace}/invitations";
const MEMBER: &str = "/api/v1/workspaces/{workspace}/members/{email}";
const URL: &str = r#"{"original_url":"https://example.com/{n}"}"#;
const BULK: &str = r#"{"links":[{"original_url":"https://example.com/{n}"}]}"#;
const CLAIM: &str = r#"{"links":[{"short_code":"nothing","claim_token":"nothing"}]}"#;
const REGISTER: &str = r#"{"name":"N","email":"new{n}@example.com","password":"correct horse"}"#;
const LOGIN: &str = r#"{"email":"owner@example.com","password":"planted-password-7731"}"#;
const CHANGE: &str = r#"{"current_password":"not it at all","new_password":"correct horse"}"#;
const TO_ALL: [u16; 4] = [200, 200, 200, 200];
/// For everybody who signed in.
const TO_USERS: [u16; 4] = [200, 200, 200, 401];
/// To look at in a team's workspace.
const TEAM_READ: [u16; 4] = [200, 200, 404, 401];
/// To change in a team's workspace.
const TEAM_WRITE: [u16; 4] = [200, 403, 404, 401];
/// One's own link in `main`.
const OWN: [u16; 4] = [200, 403, 403, 401];
/// What takes an administrator of the server.
const NOBODY: [u16; 4] = [403, 403, 403, 401];
/// The same, where others do not even learn that it is there.
const HIDDEN: [u16; 4] = [404, 404, 404, 401];

/// The same with another status for success.
const fn with(success: u16, mut row: [u16; 4]) -> [u16; 4] {
    let mut at = 0;
    while at < row.len() {
        #[expect(clippy::indexing_slicing, reason = "const code has no iterators")]
        if row[at] == 200 {
            row[at] = success;
        }
        at += 1;
    }
    row
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("POST", "/api/v1/links", "", URL, with(201, TO_ALL)),
    ("POST", "/api/v1/links/claim", "", CLAIM, TO_USERS),
    ("POST", LINKS, "team", URL, with(201, TEAM_WRITE)),
    ("POST", LINKS, "main", URL, with(201, TO_ALL)),
    ("GET", LINKS, "team", "", TEAM_READ),
    ("GET", LINKS, "main", "", TO_USERS),
    ("POST", "/api/v1/workspaces/{workspace}/links/bulk", "team", BULK, TEAM_WRITE),
    ("POST", "/api/v1/workspaces/{workspace}/links/bulk", "main", BULK, TO_USERS),
    ("GET", LINK, "team", "", TEAM_READ),
    ("GET", LINK, "main", "", OWN),
    ("PATCH", LINK, "team", r#"{"title":"t"}"#, TEAM_WRITE),
    ("PATCH", LINK, "main", r#"{"title":"t"}"#, OWN),
    ("DELETE", LINK, "team", "", TEAM_WRITE),
    ("DELETE", LINK, "main", "", OWN),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/restore", "team", "", TEAM_WRITE),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/restore", "main", "", OWN),
    ("POST", ALIASES, "team", r#"{"code":"alias-{n}"}"#, with(201, TEAM_WRITE)),
    ("POST", ALIASES, "main", r#"{"code":"alias-{n}"}"#, with(201, OWN)),
    ("DELETE", ALIAS, "team", "", with(204, TEAM_WRITE)),
    ("DELETE", ALIAS, "main", "", with(204, OWN)),
    ("GET", TAGS, "team", "", TEAM_READ),
    ("GET", TAGS, "main", "", TO_USERS),
    ("PATCH", TAG, "team", r#"{"name":"new-{n}"}"#, TEAM_WRITE),
    // Others have no such tag of their own.
    ("PATCH", TAG, "main", r#"{"name":"new-{n}"}"#, [200, 404, 404, 401]),
    ("DELETE", TAG, "team", "", with(204, TEAM_WRITE)),
    ("DELETE", TAG, "main", "", [204, 404, 404, 401]),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/stats", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/stats", "main", "", OWN),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/analytics", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/analytics", "main", "", OWN),
    ("GET", "/api/v1/workspaces/{workspace}/analytics", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/analytics", "main", "", TO_USERS),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/events", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/events", "main", "", TO_USERS),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/export", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/export", "main", "", TO_USERS),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/orphans", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/orphans", "main", "", TO_USERS),
    // A stream does not end: who may have one is told that there is no such zone.
    ("GET", "/api/v1/workspaces/{workspace}/analytics/live?zone=none", "team", "", with(422, TEAM_READ)),
    ("GET", "/api/v1/workspaces/{workspace}/analytics/live?zone=none", "main", "", with(422, TO_USERS)),
    ("POST", SHARES, "team", r#"{"scope":"workspace"}"#, with(201, TEAM_WRITE)),
    ("GET", SHARES, "team", "", TEAM_WRITE),
    ("GET", SHARES, "main", "", TO_USERS),
    ("DELETE", "/api/v1/workspaces/{workspace}/analytics/shares/{share}", "team", "", with(204, TEAM_WRITE)),
    ("GET", "/api/v1/workspaces/{workspace}/privacy", "team", "", TEAM_READ),
    ("PUT", "/api/v1/workspaces/{workspace}/privacy", "team", r#"{"mode":"off"}"#, TEAM_WRITE),
    ("PUT", "/api/v1/workspaces/{workspace}/privacy", "main", r#"{"mode":"off"}"#, NOBODY),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/privacy", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/privacy", "main", "", OWN),
    ("PUT", "/api/v1/workspaces/{workspace}/links/{code}/privacy", "team", r#"{"mode":"off"}"#, TEAM_WRITE),
    ("PUT", "/api/v1/workspaces/{workspace}/links/{code}/privacy", "main", r#"{"mode":"off"}"#, NOBODY),
    ("DELETE", "/api/v1/workspaces/{workspace}/analytics", "team", "", with(202, TEAM_WRITE)),
    ("DELETE", "/api/v1/workspaces/{workspace}/analytics", "main", "", NOBODY),
    ("GET", "/api/v1/admin/analytics", "", "", HIDDEN),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/rules", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/rules", "main", "", OWN),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/simulate", "team", "{}", TEAM_READ),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/simulate", "main", "{}", OWN),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/split", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/split", "main", "", OWN),
    ("GET", "/api/v1/workspaces/{workspace}/defaults", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/defaults", "main", "", TO_USERS),
    ("PUT", "/api/v1/workspaces/{workspace}/defaults", "team", r#"{"query":"merge"}"#, TEAM_WRITE),
    ("PUT", "/api/v1/workspaces/{workspace}/defaults", "main", r#"{"query":"merge"}"#, NOBODY),
    ("DELETE", "/api/v1/workspaces/{workspace}/defaults", "team", "", with(204, TEAM_WRITE)),
    ("DELETE", "/api/v1/workspaces/{workspace}/defaults", "main", "", NOBODY),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/qr", "team", "", TEAM_READ),
    ("GET", "/api/v1/workspaces/{workspace}/links/{code}/qr", "main", "", OWN),
    ("POST", "/api/v1/workspaces", "", r#"{"id":"w{n}"}"#, with(201, TO_USERS)),
    ("GET", "/api/v1/workspaces", "", "", TO_USERS),
    ("GET", WS, "team", "", TEAM_READ),
    ("GET", WS, "main", "", TO_USERS),
    ("PATCH", WS, "team", r#"{"hit_limit":5}"#, TEAM_WRITE),
    ("PATCH", WS, "main", r#"{"hit_limit":5}"#, NOBODY),
    ("DELETE", WS, "empty", "", with(204, TEAM_WRITE)),
    ("DELETE", WS, "main", "", NOBODY),
    ("POST", HOSTS, "team", r#"{"host":"h{n}.example.com"}"#, with(201, TEAM_WRITE)),
    ("POST", HOSTS, "main", r#"{"host":"h{n}.example.com"}"#, NOBODY),
    ("GET", HOSTS, "team", "", TEAM_READ),
    ("GET", HOSTS, "main", "", TO_USERS),
    ("DELETE", HOST, "team", "", with(204, TEAM_WRITE)),
    // It is pending.
    ("PATCH", HOST, "team", r#"{"home_url":null}"#, [404, 403, 404, 401]),
    ("POST", "/api/v1/workspaces/{workspace}/hosts/{host}/check", "team", "", [409, 403, 404, 401]),
    ("POST", "/api/v1/workspaces/{workspace}/hosts/{host}/approve", "team", "", HIDDEN),
    ("POST", INVITATIONS, "team", r#"{"email":"new{n}@example.com"}"#, with(201, TEAM_WRITE)),
    ("POST", INVITATIONS, "team", r#"{"email":"viewer@example.com"}"#, [409, 403, 404, 401]),
    ("POST", INVITATIONS, "main", r#"{"email":"viewer@example.com"}"#, NOBODY),
    ("GET", INVITATIONS, "team", "", TEAM_WRITE),
    ("DELETE", "/api/v1/workspaces/{workspace}/invitations/{invitation}", "team", "", with(204, TEAM_WRITE)),
    ("GET", "/api/v1/me/invitations", "", "", TO_USERS),
    ("POST", "/api/v1/me/invitations/accept", "", r#"{"id":123456}"#, HIDDEN),
    ("POST", "/api/v1/me/invitations/decline", "", r#"{"token":"nothing"}"#, HIDDEN),
    ("GET", MEMBERS, "team", "", TEAM_READ),
    ("GET", MEMBERS, "main", "", TO_USERS),
    ("PATCH", MEMBER, "team", r#"{"role":"member"}"#, TEAM_WRITE),
    ("DELETE", MEMBER, "team", "", with(204, TEAM_WRITE)),
    ("GET", "/api/v1/me", "", "", TO_USERS),
    ("PATCH", "/api/v1/me/password", "", CHANGE, NOBODY),
    ("DELETE", "/api/v1/me", "", r#"{"password":"not it at all"}"#, NOBODY),
    ("POST", "/api/v1/keys", "", r#"{"scopes":["read"]}"#, with(201, TO_USERS)),
    ("GET", "/api/v1/keys", "", "", TO_USERS),
    ("DELETE", "/api/v1/keys/{id}", "", "", [204, 404, 404, 401]),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/disable", "team", r#"{"reason":"abuse"}"#, HIDDEN),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/enable", "team", "", HIDDEN),
    ("POST", "/api/v1/workspaces/{workspace}/links/{code}/reports/dismiss", "main", "", HIDDEN),
    ("GET", "/api/v1/admin/audit", "", "", HIDDEN),
    ("GET", "/api/v1/admin/reports", "", "", HIDDEN),
    ("GET", "/api/v1/admin/users", "", "", HIDDEN),
    ("POST", "/api/v1/admin/users/{email}/disable", "", "{}", HIDDEN),
    ("POST", "/api/v1/admin/users/{email}/enable", "", "{}", HIDDEN),
    ("GET", "/api/v1/stats", "", "", TO_ALL),
    ("GET", "/healthz", "", "", TO_ALL),
    ("GET", "/readyz", "", "", TO_ALL),
    ("POST", "/api/urls/public", "", r#"{"originalUrl":"https://example.com/{n}"}"#, with(201, TO_ALL)),
    ("POST", "/api/urls", "", r#"{"originalUrl":"https://example.com/{n}"}"#, with(201, TO_USERS)),
    ("GET", "/api/urls", "", "", TO_USERS),
    ("DELETE", "/api/urls/{id}", "", "", with(204, OWN)),
    ("POST", "/api/urls/sync", "", r#"{"urls":["https://example.com/{n}"]}"#, TO_USERS),
    ("GET", "/api/stats", "", "", TO_ALL),
    ("POST", "/v1/shorten", "", r#"{"targetUrl":"https://example.com/{n}"}"#, TO_USERS),
    ("POST", "/shorten", "", r#"{"url":"https://example.com/{n}"}"#, with(201, TO_USERS)),
    ("POST", "/api/links", "", r#"{"url":"https://example.com/{n}"}"#, with(201, TO_USERS)),
    ("POST", "/workspaces/{workspace}/links", "team", r#"{"url":"https://example.com/{n}"}"#, with(201, TEAM_WRITE)),
    ("POST", "/workspaces/{workspace}/links", "main", r#"{"url":"https://example.com/{n}"}"#, with(201, TO_USERS)),
    ("POST", "/api/v1/workspaces/{workspace}/restore", "team", "", HIDDEN),
    ("POST", "/auth/register", "", REGISTER, with(201, TO_ALL)),
    ("POST", "/auth/login", "", LOGIN, TO_ALL),
    ("POST", "/api/v1/auth/register", "", REGISTER, with(201, TO_ALL)),
    ("POST", "/api/v1/auth/login", "", LOGIN, TO_ALL),
    // Last: it ends the tokens of those who ask.
    ("POST", "/api/v1/auth/logout", "", "", with(204, TO_USERS)),
];

// threats: D4
#[tokio::test]
async fn every_endpoint_answers_everybody_as_the_table_says() {
    check(&TestServer::builder().accounts().process().start()).await;
}

// threats: D4
#[tokio::test]
async fn on_postgresql_every_endpoint_answers_everybody_the_same() {
    let server = TestServer::builder().database(Kind::Postgres).accounts();
    check(&server.process().start()).await;
}

async fn check(server: &Process) {
    let document = server.http().get("/api/openapi.json").await.expect(200).json();
    let mut missing = endpoints(&document);
    for (method, path, ..) in ROWS {
        let path = path.split('?').next().unwrap_or_default();
        missing.remove(&format!("{method} {}", path.replace("{invitation}", "{id}")));
    }
    assert!(missing.is_empty(), "no row says who may use {missing:?}");

    let world = World::make(server).await;
    let mut wrong = Vec::new();
    let mut number = 0;
    for (method, path, workspace, body, expected) in ROWS {
        // The owner asks last: what they delete is gone.
        for at in [3, 2, 1, 0] {
            number += 1;
            let path = world.fill(path, workspace, number).await;
            let body = body.replace("{n}", &number.to_string());
            let body: Option<Value> = serde_json::from_str(&body).ok();
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let answer = world.callers[at].send(method.clone(), &path, body.as_ref()).await;
            if answer.status != expected[at] {
                let (who, status, wanted) = (CALLERS[at], answer.status, expected[at]);
                let text = answer.text();
                wrong.push(format!("{method} {path} by {who}: {status}, not {wanted}: {text}"));
            }
            if answer.status == 401 {
                assert!(
                    answer.header("www-authenticate").is_some_and(|it| it.starts_with("Bearer"))
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every method of every path.
fn endpoints(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, methods): (&String, &Value)| {
        let methods: Vec<String> = methods.as_object().unwrap().keys().cloned().collect();
        methods.into_iter().map(|method| format!("{} {path}", method.to_uppercase())).collect()
    };
    paths.iter().flat_map::<Vec<String>, _>(of_path).collect()
}

struct World {
    callers: [Http; 4],
    guest: Http,
}

impl World {
    async fn make(server: &Process) -> Self {
        let owner = server.register("owner").await;
        let viewer = server.register("viewer").await;
        let stranger = server.register("stranger").await;
        let guest = server.register("guest").await;
        owner.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
        join(&owner, "team", ("viewer", &viewer), "viewer").await;
        stranger.post("/api/v1/workspaces", &json!({ "id": "other" })).await.expect(201);
        assert!(LOGIN.contains(PASSWORD), "the table knows the owner's password");
        Self { callers: [owner, viewer, stranger, server.http().clone()], guest }
    }

    /// The path with what it names, made for this one request by the owner.
    async fn fill(&self, path: &str, workspace: &str, number: usize) -> String {
        let owner = &self.callers[0];
        let mut workspace = workspace.to_owned();
        if workspace == "empty" {
            workspace = format!("empty{number}");
            owner.post("/api/v1/workspaces", &json!({ "id": workspace })).await.expect(201);
            join(owner, &workspace, ("viewer", &self.callers[1]), "viewer").await;
        }
        let base = format!("/api/v1/workspaces/{workspace}");
        let mut filled = path.replace("{workspace}", &workspace);
        if path.contains("{code}") {
            let code = format!("code-{number}");
            let body = json!({ "original_url": "https://example.com/", "custom_code": code });
            owner.post(&format!("{base}/links"), &body).await.expect(201);
            if path.ends_with("/restore") {
                owner.delete(&format!("{base}/links/{code}")).await.expect(200);
            }
            if path.contains("{alias}") {
                let alias = format!("further-{number}");
                let aliases = format!("{base}/links/{code}/aliases");
                owner.post(&aliases, &json!({ "code": alias })).await.expect(201);
                filled = filled.replace("{alias}", &alias);
            }
            filled = filled.replace("{code}", &code);
        }
        if path.contains("{tag}") {
            let tag = format!("tag-{number}");
            let body = json!({ "original_url": "https://example.com/", "tags": [tag],
                "custom_code": format!("tagged-{number}") });
            owner.post(&format!("{base}/links"), &body).await.expect(201);
            filled = filled.replace("{tag}", &tag);
        }
        if path.contains("{host}") {
            let host = format!("gone{number}.internal");
            owner.post(&format!("{base}/hosts"), &json!({ "host": host })).await.expect(201);
            filled = filled.replace("{host}", &host);
        }
        if path.contains("{invitation}") {
            let invited = invite(owner, &workspace, &format!("invited{number}"), "viewer").await;
            filled = filled.replace("{invitation}", &invited["id"].to_string());
        }
        if path.contains("{share}") {
            let body = json!({ "scope": "workspace" });
            let share = owner.post(&format!("{base}/analytics/shares"), &body).await.expect(201);
            filled = filled.replace("{share}", share.json()["id"].as_str().unwrap());
        }
        if path.contains("{email}") {
            // A conflict when the last request left the guest in.
            let body = json!({ "email": email("guest") });
            let invited = owner.post(&format!("{base}/invitations"), &body).await.json();
            let token = json!({ "token": invited["token"] });
            self.guest.post("/api/v1/me/invitations/accept", &token).await;
            filled = filled.replace("{email}", &email("guest"));
        }
        if path.contains("{id}") {
            let made = if path.starts_with("/api/urls") {
                let body = json!({ "originalUrl": "https://example.com/" });
                owner.post("/api/urls", &body).await.expect(201)
            } else {
                owner.post("/api/v1/keys", &json!({ "scopes": ["read"] })).await.expect(201)
            };
            filled = filled.replace("{id}", &made.json()["id"].to_string());
        }
        filled
    }
}
