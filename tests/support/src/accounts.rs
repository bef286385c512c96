//! Accounts on a server: register, log in, become an administrator.

use kurz::app::accounts::{Accounts, NewUser};
use kurz::app::{Actor, COST, Passwords, QUEUE};
use kurz::config::password_threads;
use kurz::entropy::Entropy;
use kurz_core::account::Email;
use kurz_core::account::password::Password;
use serde_json::{Value, json};

use crate::http::{Answer, Http};
use crate::process::{Process, Program};
use crate::server::TestServer;

/// A password that is good, and easy to find where it must not be.
pub const PASSWORD: &str = "planted-password-7731";

pub fn email(name: &str) -> String {
    format!("{name}@example.com")
}

/// Register `name`@example.com, or try to.
pub async fn try_register(http: &Http, name: &str) -> Answer {
    let body = json!({ "email": email(name), "password": PASSWORD, "name": name });
    http.post("/api/v1/auth/register", &body).await
}

/// Register `name`@example.com; the same client with their token.
pub async fn register(http: &Http, name: &str) -> Http {
    let answer = try_register(http, name).await.expect(201);
    http.bearer(answer.json()["token"].as_str().unwrap())
}

/// Log in, or try to.
pub async fn try_log_in(http: &Http, name: &str, password: &str) -> Answer {
    let body = json!({ "email": email(name), "password": password });
    http.post("/api/v1/auth/login", &body).await
}

/// Log in; the same client with a token.
pub async fn log_in(http: &Http, name: &str) -> Http {
    let answer = try_log_in(http, name, PASSWORD).await.expect(200);
    http.bearer(answer.json()["token"].as_str().unwrap())
}

/// Make a link in `main` and give it back.
pub async fn shorten(http: &Http, url: &str) -> Value {
    http.post("/api/v1/links", &json!({ "original_url": url })).await.expect(201).json()
}

/// Invite `name`@example.com into a workspace; the invitation with its token.
pub async fn invite(admin: &Http, workspace: &str, name: &str, role: &str) -> Value {
    let body = json!({ "email": email(name), "role": role });
    let path = format!("/api/v1/workspaces/{workspace}/invitations");
    admin.post(&path, &body).await.expect(201).json()
}

/// Make `name`@example.com, whose client is `person`, a member of a workspace.
pub async fn join(admin: &Http, workspace: &str, (name, person): (&str, &Http), role: &str) {
    let invited = invite(admin, workspace, name, role).await;
    let body = json!({ "token": invited["token"] });
    person.post("/api/v1/me/invitations/accept", &body).await.expect(200);
}

/// The code of a problem.
pub fn code(answer: &Answer) -> String {
    answer.json()["code"].as_str().unwrap_or_default().to_owned()
}

impl Process {
    /// Register `name`@example.com; a client with their token.
    pub async fn register(&self, name: &str) -> Http {
        register(&self.http(), name).await
    }

    pub async fn try_register(&self, name: &str) -> Answer {
        try_register(&self.http(), name).await
    }

    pub async fn log_in(&self, name: &str, password: &str) -> Answer {
        try_log_in(&self.http(), name, password).await
    }

    /// Run a subcommand on the server's store, with `input` on its standard input; what it printed.
    #[track_caller]
    pub fn kurz(&self, args: &[&str], input: &str) -> String {
        let output = Program::kurz(args).env("KURZ_STORE", &self.home().store()).run(input);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kurz {args:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A server administrator, made the only way there is; a client with their token.
    pub async fn administrator(&self, name: &str) -> Http {
        self.kurz(&["user", "add", &email(name), "--admin"], PASSWORD);
        log_in(&self.http(), name).await
    }
}

impl TestServer {
    /// Log in over the API; a client with a token.
    pub async fn log_in(&self, name: &str) -> Http {
        log_in(&self.http(), name).await
    }

    /// An administrator of the server, made as the command line does.
    pub async fn administrator(&self, name: &str) {
        let accounts = Accounts {
            store: self.open_store().await.into(),
            clock: self.clock.clone(),
            entropy: Entropy::os(),
            passwords: Passwords::start(password_threads(0), QUEUE, COST).unwrap().into(),
        };
        let new = NewUser {
            email: Email::parse(&email(name)).unwrap(),
            name: name.to_owned(),
            password: Password::parse(PASSWORD).unwrap(),
            is_admin: true,
            invite: None,
        };
        accounts.add(new, &Actor::operator()).await.unwrap();
    }
}
