//! What a form sends, bounded and read field by field. Fields may repeat.

use axum::extract::{FromRequest, Request};
use http::{StatusCode, Uri, header};
use serde::de::DeserializeOwned;

use crate::problem::{Problem, read_body};
use crate::web::errors::PageError;

/// Most bytes of a form: a thousand addresses of a thousand bytes.
const MOST: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct FormData(Vec<(String, String)>);

impl FormData {
    pub(super) fn parse(body: &[u8]) -> Self {
        let pairs = url::form_urlencoded::parse(body);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    pub(super) fn of_query(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default().as_bytes())
    }

    /// A field, empty when it is not there.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
    }

    /// A field that says something, without the space around it.
    pub(super) fn word(&self, name: &str) -> Option<&str> {
        Some(self.text(name).trim()).filter(|word| !word.is_empty())
    }

    /// All fields, in the order of the form.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl<S: Send + Sync> FromRequest<S> for FormData {
    type Rejection = PageError;

    async fn from_request(request: Request, _: &S) -> Result<Self, PageError> {
        demand(&request, "application/x-www-form-urlencoded")?;
        Ok(Self::parse(&read_body(request.into_body(), MOST).await?))
    }
}

/// JSON that a script of ours sends: only with its proper content type, which no form of another
/// site can send.
#[derive(Clone, Debug)]
pub(super) struct ScriptJson<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ScriptJson<T> {
    type Rejection = PageError;

    async fn from_request(request: Request, _: &S) -> Result<Self, PageError> {
        demand(&request, "application/json")?;
        let body = read_body(request.into_body(), MOST).await?;
        serde_json::from_slice(&body).map(Self).map_err(|_| {
            let detail = "The body does not have the expected shape.";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "body-invalid", detail).into()
        })
    }
}

fn demand(request: &Request, kind: &str) -> Result<(), PageError> {
    let given = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let given = given.and_then(|given| given.split(';').next()).unwrap_or_default();
    if given.trim().eq_ignore_ascii_case(kind) {
        return Ok(());
    }
    let detail = format!("Here a request's content type is {kind}.");
    let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Err(Problem::new(status, "content-type-unsupported", detail).into())
}
