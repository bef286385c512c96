//! `POST /api/v1/auth/register`: make an account and sign in.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::SessionBody;
use crate::api::call::{CreatedResult, PublicBodyCall, created};
use crate::app::Registration;
use crate::problem::{Problem, Problems};

/// An account to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegisterBody {
    /// The address to sign in with.
    #[schema(format = "email", max_length = 254)]
    email: String,
    /// 8 to 71 characters.
    #[schema(format = "password", min_length = 8, max_length = 71)]
    password: String,
    /// What you are called.
    #[schema(max_length = 100)]
    name: Option<String>,
    /// An invitation, where the server asks for one.
    invite: Option<String>,
}

/// Create an account and sign in.
#[utoipa::path(post, path = "/api/v1/auth/register", tag = "account", operation_id = "register", security(()),
    request_body = RegisterBody,
    responses(
        (status = 201, description = "The account was created.", body = SessionBody),
        (status = 409, description = "The address has an account.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn register(
    PublicBodyCall { app, client, body }: PublicBodyCall<RegisterBody>,
) -> CreatedResult<SessionBody> {
    let registration = Registration {
        email: body.email,
        password: body.password,
        name: body.name.unwrap_or_default(),
        invite: body.invite,
    };
    let session = app.register(&registration, client).await?;
    Ok(created(session.into()))
}
