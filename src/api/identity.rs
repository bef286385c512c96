//! The credential of a request, from its `Authorization` header only: a query string ends up in logs and
//! browser histories.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use crate::app::{App, AppError};
use crate::client_address::ClientAddress;
use crate::problem::Problem;
use crate::telemetry::set_caller;
use kurz_core::account::Caller;

/// Who asks.
pub(crate) struct Identified(pub(crate) Caller);

impl FromRequestParts<Arc<App>> for Identified {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(parts, app).await;
        let credential = bearer(&parts.headers)?;
        let caller = app.identify(credential, client).await?;
        set_caller(&caller);
        Ok(Self(caller))
    }
}

/// What stands after `Bearer`; `None` when there is no credential at all.
fn bearer(headers: &HeaderMap<HeaderValue>) -> Result<Option<&str>, AppError> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        return Err(AppError::InvalidToken);
    }
    let text = first.to_str().map_err(|_| AppError::InvalidToken)?;
    let (scheme, credential) = text.split_once(' ').ok_or(AppError::InvalidToken)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(AppError::InvalidToken);
    }
    Ok(Some(credential.trim_start_matches(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&'static str]) -> Result<Option<String>, ()> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer(&headers).map(|text| text.map(str::to_owned)).map_err(|_| ())
    }

    #[test]
    fn a_credential_is_one_bearer_and_nothing_else() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["Bearer a.b.c"]), Ok(Some("a.b.c".to_owned())));
        assert_eq!(read(&["bearer  kurz_x"]), Ok(Some("kurz_x".to_owned())));
        for bad in [&["Basic YTpi"][..], &["Bearer"], &[""], &["Bearer a", "Bearer a"]] {
            assert_eq!(read(bad), Err(()), "{bad:?}");
        }
    }
}
