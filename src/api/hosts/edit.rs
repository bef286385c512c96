//! `PATCH …/hosts/{host}`: change where other addresses of a host lead than those of links.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult};
use crate::api::hosts::{HostBody, HostPath};
use crate::api::input::change;
use crate::app::{App, Change, HostPatch};
use crate::problem::Problems;

/// What to change; what is not there stays, null brings the page back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub(crate) struct EditHostBody {
    /// Where `/` leads, with 302.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>, example = "https://acme.example/")]
    home_url: Change<Option<String>>,
    /// Where unknown codes lead, with 302.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    not_found_url: Change<Option<String>>,
    /// Where paths lead that can be no code and are no page, with 302.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    invalid_code_url: Change<Option<String>>,
}

/// Change where `/`, unknown codes and paths that can be no code lead on an active host. What may be a link's
/// target may stand there, but for URLs on a host of this server.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}/hosts/{host}", tag = "hosts",
    operation_id = "edit_host",
    params(HostPath),
    request_body = EditHostBody,
    responses((status = 200, description = "The changed host.", body = HostBody), Problems))]
pub(crate) async fn edit(
    BodyCall { app, caller, path, body }: BodyCall<HostPath, EditHostBody>,
) -> JsonResult<HostBody> {
    let patch = HostPatch {
        home_url: body.home_url,
        not_found_url: body.not_found_url,
        invalid_code_url: body.invalid_code_url,
    };
    let workspace = App::workspace_id(&path.workspace)?;
    Ok(axum::Json(app.edit_host(&caller, &workspace, &path.host, &patch).await?.into()))
}
