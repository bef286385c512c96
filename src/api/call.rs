//! A call of the API: the program, who calls, and the names in its path. What most endpoints begin with.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::account::Caller;
use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::{App, AppError};
use crate::code::WorkspaceId;
use crate::problem::Problem;

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
