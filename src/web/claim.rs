//! `POST /app/claim`: what was made in this browser without an account becomes the account's. The
//! script sends it after a sign-in.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::app::{App, AppError, ClaimRequest};
use crate::web::failure::Failure;
use crate::web::form::Json;
use crate::web::visitor::Member;

/// The links that the browser remembers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claims {
    links: Vec<Remembered>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    short_code: String,
    claim_token: String,
}

/// How many became one's own. Those that did not are used or over: there is nothing to keep.
#[derive(Debug, Serialize)]
pub(super) struct Claimed {
    claimed: usize,
}

/// `POST /app/claim`
pub(super) async fn claim(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Json(claims): Json<Claims>,
) -> Result<Answer<Claimed>, Failure> {
    let requests: Vec<ClaimRequest> = claims
        .links
        .into_iter()
        .map(|link| ClaimRequest { code: link.short_code, token: link.claim_token })
        .collect();
    let results = app.claim_links(&visitor.caller, &requests).await?;
    let mut claimed = 0;
    for result in results {
        match result {
            Ok(_) => claimed += 1,
            Err(AppError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer(Claimed { claimed }))
}
