//! kurz inside the test, with accounts and a clock that stands at the real time until it is moved: a
//! browser knows no other.

use std::time::Duration;

use kurz::app::people::{NewUser, People};
use kurz::app::{Actor, COST, Passwords, QUEUE};
use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::{RunningServer, password_threads};
use kurz::store::Store;
use kurz_core::account::Email;
use reqwest::header::{COOKIE, HeaderName, ORIGIN};
use serde_json::{Value, json};

use crate::harness::http::{Answer, Http};
use crate::harness::instance::{Home, Kind};
use crate::people::PASSWORD;

/// A running kurz.
pub(super) struct Stage {
    home: Home,
    pub(super) clock: Clock,
    config: Config,
    program: RunningServer,
}

impl Stage {
    pub(super) async fn start() -> Self {
        Self::with(Kind::Sqlite, &[]).await
    }

    pub(super) async fn with(kind: Kind, settings: &[(&str, &str)]) -> Self {
        let home = Home::new(kind);
        let store = home.store();
        let fixed = [
            ("KURZ_STORE", store.as_str()),
            ("KURZ_LISTEN", "127.0.0.1:0"),
            ("KURZ_ADMIN_LISTEN", "off"),
            ("KURZ_THREADS", "2"),
            ("KURZ_HEADER_TIMEOUT", "10m"),
            ("KURZ_BODY_TIMEOUT", "10m"),
            ("KURZ_POOL_SIZE", "4"),
            ("KURZ_LIMITS", "off"),
            // Pages are looked at here, not how they fare on a machine that stands still.
            ("KURZ_STATEMENT_TIMEOUT", "1m"),
        ];
        let env = fixed.iter().chain(settings);
        let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let nowhere = tempfile::tempdir().unwrap();
        let config = Config::load(&Overrides::default(), env, nowhere.path()).unwrap();
        let clock = Clock::manual(Clock::system().now());
        let program = RunningServer::start(&config, clock.clone(), Entropy::os()).await.unwrap();
        Self { home, clock, config, program }
    }

    /// Where it is, without a slash at the end.
    pub(super) fn base(&self) -> String {
        format!("http://{}", self.program.address())
    }

    pub(super) fn http(&self) -> Http {
        Http::new(&self.base())
    }

    /// Let the clock go on, here and for what was read before.
    pub(super) fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Run statements behind kurz's back.
    pub(super) async fn execute(&self, sql: &str) {
        self.home.execute(sql).await;
    }

    /// A client whose requests look like those of one of the server's own pages.
    pub(super) fn visitor(&self) -> Http {
        self.http()
            .with(ORIGIN, &self.base())
            .with(HeaderName::from_static("sec-fetch-site"), "same-origin")
            .with(HeaderName::from_static("accept"), "text/html")
    }

    /// Register `name`@example.com; a client whose browser is signed in.
    pub(super) async fn sign_up(&self, name: &str) -> Http {
        let email = crate::people::email(name);
        let fields = [("email", email.as_str()), ("password", PASSWORD), ("name", name)];
        let answer = post(&self.visitor(), "/register", &fields).await.expect(303);
        self.visitor().with(COOKIE, &cookie(&answer))
    }

    /// The same over the API, with a token.
    pub(super) async fn log_in(&self, name: &str) -> Http {
        let body = json!({ "email": crate::people::email(name), "password": PASSWORD });
        let answer = self.http().post("/api/v1/auth/login", &body).await.expect(200).json();
        self.http().bearer(answer["token"].as_str().unwrap())
    }

    /// An administrator of the server, made as the command line does.
    pub(super) async fn administrator(&self, name: &str) {
        let store = Store::open(&self.config.store).await.unwrap();
        let people = People {
            store: store.into(),
            clock: self.clock.clone(),
            entropy: Entropy::os(),
            passwords: Passwords::start(password_threads(0), QUEUE, COST).unwrap().into(),
        };
        let new = NewUser {
            email: Email::parse(&crate::people::email(name)).unwrap(),
            name: name.to_owned(),
            password: kurz_core::account::password::Password::parse(PASSWORD).unwrap(),
            is_admin: true,
            invite: None,
        };
        people.add(new, &Actor::operator()).await.unwrap();
    }

    /// Make a link over the API; its JSON.
    pub(super) async fn link(&self, http: &Http, workspace: &str, request: &Value) -> Value {
        let path = format!("/api/v1/workspaces/{workspace}/links");
        http.post(&path, request).await.expect(201).json()
    }

    pub(super) async fn stop(self) {
        self.program.shutdown().await.unwrap();
    }
}

/// The cookie that an answer sets, as a browser sends it back.
#[track_caller]
pub(super) fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").expect("the answer sets a cookie");
    set.split(';').next().unwrap().to_owned()
}

/// Send a form.
pub(crate) async fn post(http: &Http, path: &str, fields: &[(&str, &str)]) -> Answer {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    let kind = "application/x-www-form-urlencoded";
    let http = http.with(HeaderName::from_static("content-type"), kind);
    http.post_bytes(path, form.finish()).await
}
