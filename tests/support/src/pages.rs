//! The pages of a server as a browser asks for them, without a browser.

use reqwest::header::{COOKIE, HeaderName, ORIGIN};

use crate::accounts::{PASSWORD, email};
use crate::http::{Answer, Http};
use crate::server::TestServer;

impl TestServer {
    /// A client whose requests look like those of one of the server's own pages.
    pub fn visitor(&self) -> Http {
        self.http()
            .with(ORIGIN, &self.base_url())
            .with(HeaderName::from_static("sec-fetch-site"), "same-origin")
            .with(HeaderName::from_static("accept"), "text/html")
    }

    /// Register `name`@example.com on the page for it; a client with the session's cookie.
    pub async fn sign_up(&self, name: &str) -> Http {
        let email = email(name);
        let fields = [("email", email.as_str()), ("password", PASSWORD), ("name", name)];
        let answer = post_form(&self.visitor(), "/register", &fields).await.expect(303);
        self.visitor().with(COOKIE, &cookie(&answer))
    }
}

/// The cookie that an answer sets, as a browser sends it back.
#[track_caller]
pub fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").expect("the answer sets a cookie");
    set.split(';').next().unwrap().to_owned()
}

/// Send a form.
pub async fn post_form(http: &Http, path: &str, fields: &[(&str, &str)]) -> Answer {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    let kind = "application/x-www-form-urlencoded";
    let http = http.with(HeaderName::from_static("content-type"), kind);
    http.post_bytes(path, form.finish()).await
}
