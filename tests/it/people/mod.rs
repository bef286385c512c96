//! People on a running server: accounts, keys, members, and who may do what. Each test has a server
//! and a store of its own.

mod accounts;
mod claims;
mod dialects;
mod keys;
mod matrix;
mod members;
mod signup;
mod tokens;

use serde_json::{Value, json};

use crate::harness::http::Http;
use crate::harness::process::{Process, Program};

/// A password that is good, and easy to find where it must not be.
pub(crate) const PASSWORD: &str = "planted-password-7731";

/// A server with accounts.
pub(crate) struct Server {
    pub(crate) program: Program,
    pub(crate) process: Process,
    pub(crate) http: Http,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(env: &[(&str, &str)]) -> Self {
        let program = Program::serve(&[]);
        let program = env.iter().fold(program, |program, (name, text)| program.env(name, text));
        let process = program.start();
        let http = Http::new(process.base_url());
        Self { program, process, http }
    }

    /// Register `name`@example.com; a client with their token.
    pub(crate) async fn register(&self, name: &str) -> Http {
        let answer = self.try_register(name).await.expect(201);
        self.http.bearer(answer.json()["token"].as_str().unwrap())
    }

    pub(crate) async fn try_register(&self, name: &str) -> crate::harness::http::Answer {
        let body = json!({ "email": email(name), "password": PASSWORD, "name": name });
        self.http.post("/api/v1/auth/register", &body).await
    }

    pub(crate) async fn log_in(&self, name: &str, password: &str) -> crate::harness::http::Answer {
        let body = json!({ "email": email(name), "password": password });
        self.http.post("/api/v1/auth/login", &body).await
    }

    /// Run a subcommand on the server's store, with `input` on its standard input; what it printed.
    #[track_caller]
    pub(crate) fn kurz(&self, args: &[&str], input: &str) -> String {
        let store = format!("sqlite://{}", self.program.folder().join("kurz.db").display());
        let output = Program::kurz(args).env("KURZ_STORE", &store).run(input);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kurz {args:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A server administrator, made the only way there is; a client with their token.
    pub(crate) async fn administrator(&self, name: &str) -> Http {
        self.kurz(&["user", "add", &email(name), "--admin"], PASSWORD);
        let token = self.log_in(name, PASSWORD).await.expect(200).json()["token"].clone();
        self.http.bearer(token.as_str().unwrap())
    }
}

pub(crate) fn email(name: &str) -> String {
    format!("{name}@example.com")
}

/// Make a link in `main` and give it back.
pub(crate) async fn shorten(http: &Http, url: &str) -> Value {
    http.post("/api/v1/links", &json!({ "original_url": url })).await.expect(201).json()
}

/// The code of a problem.
pub(crate) fn code(answer: &crate::harness::http::Answer) -> String {
    answer.json()["code"].as_str().unwrap_or_default().to_owned()
}
