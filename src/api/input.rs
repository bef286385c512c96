//! What comes in: bodies, queries and paths, refused with a problem when they cannot be read.

use std::fmt;
use std::marker::PhantomData;

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use http::StatusCode;
use http::request::Parts;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, IgnoredAny, MapAccess, Visitor};

use crate::app::{AppError, Change, FieldError};
use crate::problem::{Problem, read_body};

/// Most bytes of an ordinary body.
pub(crate) const BODY_BYTES: usize = 64 << 10;
/// Most bytes of a bulk body.
pub(crate) const BULK_BYTES: usize = 1 << 20;

/// A JSON body of at most `MOST` bytes, whatever its content type says.
pub(crate) struct Json<T, const MOST: usize = BODY_BYTES>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync, const MOST: usize> FromRequest<S> for Json<T, MOST> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        read_json(&read_body(request.into_body(), MOST).await?).map(Self)
    }
}

/// A JSON object with the fields of `T`. By itself a type would also be read from an array, its
/// fields in order, which nobody documented.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// Read a JSON object; unknown and repeated fields are refused by the types.
pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(body).map_err(|_| {
        let detail = "The body is not UTF-8 text.";
        Problem::new(StatusCode::BAD_REQUEST, "body-not-utf8", detail)
    })?;
    serde_json::from_str(text).map(|Object(body)| body).map_err(|error| {
        if let Some(problem) = invalid_url(&error) {
            return problem;
        }
        let error = quoted(&error);
        // Not the error's own class: a null where a word should be counts as bad syntax there.
        if serde_json::from_str::<IgnoredAny>(text).is_ok() {
            let detail = format!("The body does not have the expected shape: {error}.");
            return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "body-invalid", detail);
        }
        let detail = format!("The body is not valid JSON: {error}.");
        Problem::new(StatusCode::BAD_REQUEST, "json-malformed", detail)
    })
}

/// What is said about a URL that is null. The contract fixes this sentence to the letter.
const INVALID_URL: &str = "Invalid URL format";

/// The fields that hold a URL, in the API and the compatibility APIs.
const URL_FIELDS: [&str; 4] = ["original_url", "originalUrl", "targetUrl", "url"];

/// Read the URL of `field`, which must not be null.
pub(crate) fn url_text<'de, D>(deserializer: D, field: &str) -> Result<String, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Option::<String>::deserialize(deserializer)?
        .ok_or_else(|| serde::de::Error::custom(format_args!("{INVALID_URL} {field}")))
}

/// Declare the function that reads the URL of a field.
macro_rules! url_field {
    ($name:ident, $field:literal) => {
        fn $name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
            $crate::api::input::url_text(deserializer, $field)
        }
    };
}
pub(crate) use url_field;

/// The problem for an error of [`url_text`].
fn invalid_url(error: &serde_json::Error) -> Option<Problem> {
    let said = error.to_string();
    let named = said.strip_prefix(INVALID_URL)?.split_whitespace().next()?;
    let field = URL_FIELDS.into_iter().find(|field| *field == named)?;
    let detail = "the URL must be text that starts with http:// or https://";
    let error = AppError::from(FieldError::new(field, "url-invalid", detail));
    Some(Problem::from(error).saying(INVALID_URL))
}

/// Most characters of what is said about a body: it names fields as they were sent.
const MOST_SAID: usize = 300;

/// The words of an error that may hold words of the request, cut short.
fn quoted(error: &serde_json::Error) -> String {
    // Problems write out hidden characters.
    error.to_string().chars().take(MOST_SAID).collect()
}

/// A query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(params)| Self(params)).map_err(|_| {
            let detail = "The query string has an unknown, repeated or unreadable parameter.";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "query-invalid", detail)
        })
    }
}

/// The variable pieces of a path.
pub(crate) struct Names<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Names<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(names)| Self(names)).map_err(|_| {
            Problem::new(StatusCode::NOT_FOUND, "not-found", "There is nothing at this address.")
        })
    }
}

/// A field that may be left out but not be null, since there is nothing it could be without.
pub(crate) fn set<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A field that tells "not there" from "null".
pub(crate) fn change<'de, T, D>(deserializer: D) -> Result<Change<T>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(deserializer).map(Change::To)
}
