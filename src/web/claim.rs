//! `POST /app/claim`: what was made in this browser without an account becomes the account's. The
//! script sends it after a sign-in.

use axum::Json as Answer;
use serde::{Deserialize, Serialize};

use crate::app::{AppError, ClaimRequest};
use crate::web::errors::PageError;
use crate::web::form::ScriptJson;
use crate::web::visitor::PageCall;

/// The links that the browser remembers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RememberedLinks {
    links: Vec<RememberedLink>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberedLink {
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
    PageCall { app, visitor, .. }: PageCall,
    ScriptJson(claims): ScriptJson<RememberedLinks>,
) -> Result<Answer<Claimed>, PageError> {
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
