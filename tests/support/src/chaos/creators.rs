//! Clients that make, change, delete and follow links of their own, and write down what they were
//! told. Each draws from a row of chances of its own; a link belongs to one client, so what it may be is
//! known.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use super::history::{End, History, Key, Rule, State};
use crate::http::{Answer, Http};
use crate::rng::Rng;

/// The same codes exist in both.
pub const WORKSPACES: [&str; 2] = ["red", "blue"];

/// What all clients of a scenario share.
#[derive(Debug, Default)]
pub struct Notes {
    pub history: Mutex<History>,
    /// Whether a fault is under way, or just was: errors are excused then.
    pub fault: AtomicBool,
    pub stop: AtomicBool,
}

impl Notes {
    pub fn write<T>(&self, write: impl FnOnce(&mut History) -> T) -> T {
        write(&mut self.history.lock().unwrap())
    }

    fn excused(&self) -> bool {
        self.fault.load(Ordering::SeqCst)
    }
}

/// No answer came.
#[derive(Debug)]
pub struct Gone;

/// One client.
pub struct Creator<'a> {
    notes: &'a Notes,
    /// The server it talks to, and others that know the same links.
    https: Vec<Http>,
    rng: Rng,
    name: String,
    made: u64,
    own: Vec<Own>,
}

#[derive(Clone)]
struct Own {
    key: Key,
    target: String,
    edited: bool,
}

impl<'a> Creator<'a> {
    pub fn new(notes: &'a Notes, https: Vec<Http>, rng: Rng, name: String) -> Self {
        Self { notes, https, rng, name, made: 0, own: Vec::new() }
    }

    /// Work until the server is gone.
    pub async fn until_gone(mut self) {
        while self.step().await.is_ok() {}
    }

    /// Work until told to stop, whoever is gone meanwhile.
    pub async fn until_stopped(mut self) {
        while !self.notes.stop.load(Ordering::SeqCst) {
            if self.step().await.is_err() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    }

    /// One operation.
    pub async fn step(&mut self) -> Result<(), Gone> {
        match self.rng.below(10) {
            0..=4 => self.create().await,
            5 => self.create_many().await,
            6 => self.edit().await,
            7 => self.delete().await,
            _ => self.follow().await,
        }
    }

    fn target(&mut self, workspace: &str) -> String {
        self.made += 1;
        format!("https://example.com/{workspace}/{}/{}", self.name, self.made)
    }

    async fn send(
        &self,
        at: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Gone> {
        // A fault that begins or ends while the answer is under way excuses it as well.
        let before = self.notes.excused();
        let answer = self.https[at].try_send(method.clone(), path, body).await.map_err(|_| Gone)?;
        let excused = before || self.notes.excused();
        let asked = format!("{method} {path}");
        self.notes.write(|history| history.answered(answer.status, excused, &asked));
        Ok(answer)
    }

    async fn create(&mut self) -> Result<(), Gone> {
        let workspace = WORKSPACES[self.rng.index(2)];
        let target = self.target(workspace);
        let code = format!("{}-{}", self.name, self.made);
        let (known, body) = match self.rng.below(4) {
            0 => (None, json!({ "original_url": target })),
            1 => (None, json!({ "original_url": target, "strategy": "counter" })),
            2 => (None, json!({ "original_url": target, "strategy": "random" })),
            _ => (Some(code.clone()), json!({ "original_url": target, "custom_code": code })),
        };
        let path = format!("/api/v1/workspaces/{workspace}/links");
        let answer = self.send(0, Method::POST, &path, Some(&body)).await;
        match answer {
            Ok(answer) if [200, 201].contains(&answer.status) => {
                let link = answer.json();
                self.was_made(workspace, &link);
                Ok(())
            }
            other => {
                if let Some(code) = known {
                    let key = Key::new(workspace, &code);
                    self.notes.write(|history| history.created(key, None, &target, End::Unknown));
                }
                self.settle(other, "making a link")
            }
        }
    }

    /// A link that was acknowledged.
    fn was_made(&mut self, workspace: &str, link: &Value) {
        let key = Key::new(workspace, link["short_code"].as_str().unwrap());
        let target = link["original_url"].as_str().unwrap().to_owned();
        let id = link["id"].as_i64().or_else(|| link["id"].as_str()?.parse().ok());
        self.notes.write(|history| history.created(key.clone(), id, &target, End::Acknowledged));
        self.own.push(Own { key, target, edited: false });
    }

    /// Five at once, all or none, with codes that are known whatever the answer.
    async fn create_many(&mut self) -> Result<(), Gone> {
        let workspace = WORKSPACES[self.rng.index(2)];
        let links: Vec<(Key, String)> = (0..5)
            .map(|_| {
                let target = self.target(workspace);
                (Key::new(workspace, &format!("{}-{}", self.name, self.made)), target)
            })
            .collect();
        let ask = |(key, target): &(Key, String)| json!({ "original_url": target, "custom_code": key.code });
        let body = json!({ "atomic": true, "links": links.iter().map(ask).collect::<Vec<_>>() });
        let path = format!("/api/v1/workspaces/{workspace}/links/bulk");
        match self.send(0, Method::POST, &path, Some(&body)).await {
            Ok(answer) if answer.status == 200 => {
                for result in answer.json()["results"].as_array().unwrap() {
                    self.was_made(workspace, &result["link"]);
                }
                Ok(())
            }
            other => {
                self.notes.write(|history| history.maybe_created_together(&links));
                self.settle(other, "making many links")
            }
        }
    }

    async fn edit(&mut self) -> Result<(), Gone> {
        let Some((at, own)) = self.pick() else { return Ok(()) };
        let target = self.target(&own.key.workspace);
        let body = json!({ "original_url": target });
        let answer = self.send(0, Method::PATCH, &own.key.api(), Some(&body)).await;
        let done = matches!(&answer, Ok(answer) if answer.status == 200);
        let end = if done { End::Acknowledged } else { End::Unknown };
        self.notes.write(|history| history.edited(own.key.clone(), &target, end));
        if done {
            self.own[at].target = target;
            self.own[at].edited = true;
            return Ok(());
        }
        self.own.swap_remove(at);
        self.settle(answer, &format!("editing {}", own.key.path()))
    }

    async fn delete(&mut self) -> Result<(), Gone> {
        let Some((at, own)) = self.pick() else { return Ok(()) };
        self.own.swap_remove(at);
        let answer = self.send(0, Method::DELETE, &own.key.api(), None).await;
        let done = matches!(&answer, Ok(answer) if answer.status == 200);
        let end = if done { End::Acknowledged } else { End::Unknown };
        self.notes.write(|history| history.deleted(own.key.clone(), end));
        if done { Ok(()) } else { self.settle(answer, &format!("deleting {}", own.key.path())) }
    }

    /// Where a link leads, on this server, or on another when no change can be on its way there.
    async fn follow(&mut self) -> Result<(), Gone> {
        let Some((_, own)) = self.pick() else { return Ok(()) };
        let server = if own.edited { 0 } else { self.rng.index(self.https.len()) };
        let answer = self.send(server, Method::GET, &own.key.path(), None).await?;
        match found(&answer) {
            Some(state) => {
                let expected = State::Leads(own.target);
                if state != expected {
                    let what = format!("{} gave {state:?}, not {expected:?}", own.key.path());
                    self.notes.write(|history| history.unexpected(Rule::Target, what));
                }
                Ok(())
            }
            None => self.settle(Ok(answer), &format!("following {}", own.key.path())),
        }
    }

    fn pick(&mut self) -> Option<(usize, Own)> {
        if self.own.is_empty() {
            return None;
        }
        let at = self.rng.index(self.own.len());
        Some((at, self.own[at].clone()))
    }

    /// What is no success: a fault of a server is written down already, anything else is news.
    fn settle(&self, answer: Result<Answer, Gone>, doing: &str) -> Result<(), Gone> {
        let answer = answer?;
        if answer.status < 500 {
            let what = format!("{doing} answered {}: {}", answer.status, answer.text());
            self.notes.write(|history| history.unexpected(Rule::Errors, what));
        }
        Ok(())
    }
}

/// What an answer to a visitor says about a link; `None` when it says nothing.
pub fn found(answer: &Answer) -> Option<State> {
    match answer.status {
        302 => Some(State::Leads(answer.header("location").unwrap_or_default().to_owned())),
        404 => Some(State::Missing),
        _ => None,
    }
}

/// Look at links as visitors do, some at a time, and write down what is there.
pub async fn look(http: &Http, notes: &Notes, keys: &[Key], at_once: usize) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let visitors = (0..at_once).map(|_| async {
        while let Some(key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
            let answer = http.get(&key.path()).await;
            match found(&answer) {
                Some(state) => notes.write(|history| history.seen(key, &state)),
                None => notes.write(|history| {
                    let what = format!("{} answered {}", key.path(), answer.status);
                    history.unexpected(Rule::Errors, what);
                }),
            }
        }
    });
    futures_util::future::join_all(visitors).await;
}
