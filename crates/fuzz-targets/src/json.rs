//! Any bytes as the body of any call of the API or its compatibility APIs, sent to the whole program: router,
//! checks and an SQLite store, without a socket.
//!
//! What a body may contain is not repeated here: whatever is accepted must fit the OpenAPI document.
//!
//! The first line of an input is the `operationId` of the call, the rest is the body.
#![expect(clippy::indexing_slicing, reason = "a panic is how the fuzzer learns of a failure")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Method, Request, StatusCode};
use kurz::app::accounts::{Accounts, NewUser};
use kurz::app::{Actor, Passwords};
use kurz::client_address::ClientAddress;
use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::routes;
use kurz::server::run::RunningServer;
use kurz::store::Store;
use kurz_core::account::Email;
use kurz_core::account::password::Password;
use kurz_core::code::{Code, canonicalise};
use kurz_core::link::fields;
use kurz_core::time::Timestamp;
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::tree::Tree;

/// Who asks: an administrator of the server. And who is there beside them.
const ADA: &str = "ada@example.com";
const BOB: &str = "bob@example.com";
/// A host of the workspace.
const HOST: &str = "go.example.com";
/// What the refusals of the reader are called; all others come after a body was taken for what it says.
const UNREAD: [&str; 4] = ["json-malformed", "body-invalid", "body-not-utf8", "body-too-large"];
/// Codes of fields of a plan, whose shape is read after that of the body.
const PLAN_UNREAD: [&str; 12] = [
    "rules-invalid",
    "rule-action",
    "link-password-invalid",
    "valid-from-invalid",
    "click-limit-invalid",
    "query-mode-invalid",
    "utm-invalid",
    "consent-invalid",
    "app-invalid",
    "card-invalid",
    "robots-invalid",
    "cloaking-refused",
];
/// Longest name of a person, a key or a workspace.
const NAME_CHARS: usize = 100;

/// A call that has a body.
struct Call {
    method: Method,
    path: String,
    schema: Value,
    /// Those with passwords are asked by nobody: comparing one takes longer than everything else.
    signed_in: bool,
}

/// A whole kurz with a clock that stands still, one administrator, one more person, a workspace and a link.
pub struct World {
    runtime: Runtime,
    router: Router,
    token: String,
    calls: BTreeMap<String, Call>,
    schemas: Value,
    _program: RunningServer,
}

impl World {
    /// In an empty folder.
    pub fn open(folder: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime can be had");
        let (program, token) = runtime.block_on(start(folder));
        let document = serde_json::to_value(routes::document()).expect("it is JSON");
        let world = Self {
            router: routes::router(Arc::clone(program.app())),
            token,
            calls: calls(&document),
            schemas: document["components"]["schemas"].clone(),
            runtime,
            _program: program,
        };
        for (call, body) in [
            ("create_workspace", r#"{"id":"team"}"#),
            ("create_link", r#"{"original_url":"https://a.example","custom_code":"known"}"#),
            ("create_link", r#"{"original_url":"https://b.example","tags":["red"]}"#),
            ("add_host", r#"{"host":"go.example.com"}"#),
            ("invite_member", r#"{"email":"bob@example.com","role":"member"}"#),
        ] {
            let (status, answer) = world.ask(&world.calls[call], body.as_bytes());
            assert!(status.is_success(), "{call}: {status} {answer}");
        }
        world
    }

    /// The names of all calls that have a body.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.calls.keys().map(String::as_str)
    }

    /// The answer to one call.
    fn ask(&self, call: &Call, body: &[u8]) -> (StatusCode, Value) {
        let mut request = Request::builder().method(&call.method).uri(&call.path);
        if call.signed_in {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        let request = request.extension(ClientAddress::UNKNOWN).body(Body::from(body.to_vec()));
        let request = request.expect("the document's paths are paths");
        self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request).await.expect("it cannot fail");
            let status = answer.status();
            let bytes = to_bytes(answer.into_body(), 16 << 20).await.expect("it is whole");
            let answer =
                if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
            (status, answer.expect("every answer is JSON"))
        })
    }
}

async fn start(folder: &Path) -> (RunningServer, String) {
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let store = format!("sqlite://{}", folder.join("kurz.db").display());
    let settings = vec![
        setting("KURZ_STORE", &store),
        setting("KURZ_LISTEN", "127.0.0.1:0"),
        setting("KURZ_ADMIN_LISTEN", "off"),
        setting("KURZ_THREADS", "1"),
        setting("KURZ_PUBLIC_URL", "https://kurz.example"),
        setting("KURZ_JWT_SECRET", "a secret that only this target knows"),
        // A password costs a quarter of a second.
        setting("KURZ_LIMIT_LOGINS_PER_ADDRESS", "1"),
        setting("KURZ_LIMIT_SIGNUPS", "1"),
        setting("KURZ_LIMIT_LINKS", "0"),
        setting("KURZ_LIMIT_CALLS_PER_ACCOUNT", "0"),
        setting("KURZ_USER_LINK_LIMIT", "0"),
    ];
    let config = Config::load(&Overrides::default(), settings, folder).expect("they are sound");
    let clock = Clock::manual(Timestamp::from_ms(1_773_576_000_000));
    let passwords = Passwords::start(NonZeroUsize::MIN, 4, 4).expect("a thread can be had");
    let people = Accounts {
        store: Arc::new(Store::open(&config.store).await.expect("the folder can be written to")),
        clock: clock.clone(),
        entropy: Entropy::os(),
        passwords: Arc::new(passwords),
    };
    let word = "a password that no body holds";
    for (email, is_admin) in [(ADA, true), (BOB, false)] {
        let new = NewUser {
            email: Email::parse(email).expect("it is one"),
            name: String::new(),
            password: Password::parse(word).expect("it is one"),
            is_admin,
            invite: None,
        };
        people.add(new, &Actor::operator()).await.expect("it is new");
    }
    drop(people);
    let program = RunningServer::start(&config, clock, Entropy::os()).await.expect("it starts");
    let session =
        program.app().log_in(ADA, word, ClientAddress::UNKNOWN.0).await.expect("it is she");
    (program, session.token.text)
}

/// Every call of the document that has a body, with what stands in its path filled in.
fn calls(document: &Value) -> BTreeMap<String, Call> {
    let mut calls = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        let path = path.replace("{workspace}", "team").replace("{code}", "known");
        let path = path.replace("{email}", BOB).replace("{host}", HOST).replace("{tag}", "red");
        for (method, call) in methods.as_object().into_iter().flatten() {
            let schema = &call["requestBody"]["content"]["application/json"]["schema"];
            let Some(name) = call["operationId"].as_str().filter(|_| !schema.is_null()) else {
                continue;
            };
            assert!(!path.contains('{'), "{path} is filled in");
            let call = Call {
                method: method.to_uppercase().parse().expect("it is a method"),
                path: path.clone(),
                schema: schema.clone(),
                signed_in: !path.starts_with("/api/v1/me"),
            };
            calls.insert(name.to_owned(), call);
        }
    }
    calls
}

/// Refused in a sentence, or read as what the document allows and answered with what kurz promises.
pub fn json(world: &World, input: &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (name, body) = (&input[..end], &input[end + 1..]);
    let call = std::str::from_utf8(name).ok().and_then(|name| world.calls.get(name));
    let Some(call) = call else { return };

    let (status, answer) = world.ask(call, body);
    assert!(!status.is_server_error(), "{status} {answer}");
    let code = answer["code"].as_str().unwrap_or_default();
    if status.is_success() {
        keeps_promises(&answer);
    } else {
        is_problem(status, &answer);
    }
    if UNREAD.contains(&code) || PLAN_UNREAD.contains(&code) {
        let again = world.ask(call, body);
        assert_eq!(again, (status, answer), "the same bytes, the same answer");
    } else {
        let tree = serde_json::from_slice::<Tree>(body);
        let tree = tree.expect("what is taken is JSON in which nothing stands twice");
        assert!(
            tree.fits(&call.schema, &world.schemas),
            "undocumented, yet taken: {status} {answer}"
        );
    }
}

fn is_problem(status: StatusCode, problem: &Value) {
    assert_eq!(problem["status"], status.as_u16(), "{problem}");
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let code = problem["code"].as_str().unwrap_or_default();
    assert!(!code.is_empty() && code.chars().all(word), "{problem}");
    let mut details = vec![&problem["detail"]];
    details
        .extend(problem["errors"].as_array().into_iter().flatten().map(|error| &error["detail"]));
    for detail in details {
        let detail = detail.as_str().expect("it is said in words");
        assert!(!detail.is_empty() && !detail.chars().any(char::is_control), "{problem:?}");
    }
}

/// Whatever an answer shows, wherever in it: within its bounds.
fn keeps_promises(answer: &Value) {
    match answer {
        Value::Array(items) => items.iter().for_each(keeps_promises),
        Value::Object(fields) => {
            for (name, value) in fields {
                // The echo of a claim that was refused is no link.
                if !fields.contains_key("problem") {
                    keeps_promise(name, value);
                }
                match name.as_str() {
                    "problem" => {
                        let status =
                            value["status"].as_u64().and_then(|status| status.try_into().ok());
                        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
                        is_problem(status.expect("it has one"), value);
                    }
                    _ => keeps_promises(value),
                }
            }
        }
        _ => {}
    }
}

fn keeps_promise(name: &str, value: &Value) {
    let plain = |most: usize| {
        value
            .as_str()
            .is_none_or(|text| text.chars().count() <= most && !text.chars().any(char::is_control))
    };
    let kept = match name {
        "short_code" | "shortCode" | "shortcode" => {
            value.as_str().is_some_and(|code| Code::parse(code).is_some())
        }
        "original_url" | "originalUrl" | "targetUrl" => {
            value.as_str().is_some_and(|url| canonicalise(url).is_ok())
        }
        "normalized_url" => value
            .as_str()
            .is_some_and(|url| canonicalise(url).is_ok_and(|form| form.as_str() == url)),
        "title" => plain(fields::TITLE_CHARS),
        "note" => value.as_str().is_none_or(|text| text.chars().count() <= fields::NOTE_CHARS),
        "name" => plain(NAME_CHARS),
        "tags" => value.as_array().is_some_and(|tags| tags.len() <= fields::TAGS),
        "hit_limit" => value.as_i64().is_none_or(|limit| (0..=fields::HIT_LIMIT).contains(&limit)),
        "redirect_status" => matches!(value.as_u64(), Some(301 | 302 | 307 | 308)),
        "email" => value.as_str().is_some_and(|email| Email::parse(email).is_ok()),
        _ => true,
    };
    assert!(kept, "{name} is {value}");
}
