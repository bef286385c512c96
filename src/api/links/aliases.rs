//! `POST …/links/{code}/aliases` and `DELETE …/links/{code}/aliases/{alias}`: further codes of a link.

use http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{BodyCall, Call, CreatedResult, EmptyResult, LinkPath, created};
use crate::api::links::LinkBody;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// A further code of a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAliasBody {
    /// A code of your choice.
    #[schema(pattern = "^[A-Za-z0-9_-]{3,64}$", example = "spring")]
    code: String,
}

/// `/workspaces/{workspace}/links/{code}/aliases/{alias}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct AliasPath {
    /// The workspace's id.
    workspace: String,
    /// The link's code.
    code: String,
    /// The alias.
    alias: String,
}

/// Give a link a further code. It leads where the link leads, and clicks, limits and everything else are the
/// link's. A code that is an alias of the link already is as good.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/aliases", tag = "links",
    operation_id = "add_alias",
    params(LinkPath),
    request_body = NewAliasBody,
    responses(
        (status = 201, description = "The link, with its aliases.", body = LinkBody),
        (status = 409, description = "The code is taken.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn add(
    BodyCall { app, caller, path, body }: BodyCall<LinkPath, NewAliasBody>,
) -> CreatedResult<LinkBody> {
    let link = app.add_alias(&caller, &path.workspace()?, &path.code, &body.code).await?;
    Ok(created(link.into()))
}

/// Remove an alias. Its address answers 404 from then on, and the code is never given to another link.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/links/{code}/aliases/{alias}",
    tag = "links", operation_id = "remove_alias",
    params(AliasPath),
    responses((status = 204, description = "The alias is removed."), Problems))]
pub(crate) async fn remove(Call { app, caller, path }: Call<AliasPath>) -> EmptyResult {
    let workspace = App::workspace_id(&path.workspace)?;
    app.remove_alias(&caller, &workspace, &path.code, &path.alias).await?;
    Ok(StatusCode::NO_CONTENT)
}
