//! Accounts of Adma: `/auth/register` and `/auth/login`.

use super::wire::{AdmaLogin, AdmaRegister, AdmaSession};
use crate::api::call::{CreatedResult, JsonResult, PublicBodyCall, created};
use crate::app::Registration;
use crate::problem::{Problem, Problems};

/// Make an account and sign in.
#[utoipa::path(post, path = "/auth/register", tag = "adma", operation_id = "adma_register",
    security(()), request_body = AdmaRegister,
    responses(
        (status = 201, description = "The account was made.", body = AdmaSession),
        (status = 409, description = "The address has an account.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(in crate::compat) async fn register(
    PublicBodyCall { app, client, body }: PublicBodyCall<AdmaRegister>,
) -> CreatedResult<AdmaSession> {
    let AdmaRegister { name, email, password } = body;
    let registration = Registration { email, password, name, invite: None };
    let session = app.register(&registration, client).await?;
    Ok(created(session.into()))
}

/// Sign in.
#[utoipa::path(post, path = "/auth/login", tag = "adma", operation_id = "adma_login",
    security(()), request_body = AdmaLogin,
    responses((status = 200, description = "Signed in.", body = AdmaSession), Problems))]
pub(in crate::compat) async fn login(
    PublicBodyCall { app, client, body }: PublicBodyCall<AdmaLogin>,
) -> JsonResult<AdmaSession> {
    Ok(axum::Json(app.log_in(&body.email, &body.password, client).await?.into()))
}
