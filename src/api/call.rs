//! The extractors that most endpoints begin with: the program, the caller, the names in the path and the
//! body.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::app::{App, AppError};
use crate::client_address::ClientAddress;
use crate::problem::Problem;
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;

/// A call by somebody whose credential was checked, at a path with the names `P`.
pub(crate) struct Call<P = ()> {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    pub(crate) path: P,
}

impl<P: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Call<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, app).await?;
        let Names(path) = Names::from_request_parts(parts, app).await?;
        Ok(Self { app: Arc::clone(app), caller, path })
    }
}

/// A [`Call`] with a JSON body.
pub(crate) struct BodyCall<P, B> {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    pub(crate) path: P,
    pub(crate) body: B,
}

impl<P: DeserializeOwned + Send, B: DeserializeOwned> FromRequest<Arc<App>> for BodyCall<P, B> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Call { app, caller, path } = Call::from_request_parts(&mut parts, app).await?;
        let Json(body) = Json::<B>::from_request(Request::from_parts(parts, body), &app).await?;
        Ok(Self { app, caller, path, body })
    }
}

/// A call that takes no credential, with a JSON body.
pub(crate) struct PublicBodyCall<B> {
    pub(crate) app: Arc<App>,
    pub(crate) client: IpAddr,
    pub(crate) body: B,
}

impl<B: DeserializeOwned> FromRequest<Arc<App>> for PublicBodyCall<B> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(&mut parts, app).await;
        let Json(body) = Json::<B>::from_request(Request::from_parts(parts, body), app).await?;
        Ok(Self { app: Arc::clone(app), client, body })
    }
}

/// An answer with a JSON body.
pub(crate) type JsonResult<T> = Result<axum::Json<T>, Problem>;
/// A 201 with a JSON body.
pub(crate) type CreatedResult<T> = Result<(StatusCode, axum::Json<T>), Problem>;
/// A 204.
pub(crate) type EmptyResult = Result<StatusCode, Problem>;

pub(crate) fn created<T>(body: T) -> (StatusCode, axum::Json<T>) {
    (StatusCode::CREATED, axum::Json(body))
}

/// `/workspaces/{workspace}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WorkspacePath {
    /// The workspace's id.
    workspace: String,
}

impl WorkspacePath {
    pub(crate) fn workspace(&self) -> Result<WorkspaceId, AppError> {
        App::workspace_id(&self.workspace)
    }
}

/// `/workspaces/{workspace}/links/{code}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct LinkPath {
    /// The workspace's id.
    workspace: String,
    /// The link's code.
    pub(crate) code: String,
}

impl LinkPath {
    pub(crate) fn workspace(&self) -> Result<WorkspaceId, AppError> {
        App::workspace_id(&self.workspace)
    }
}
