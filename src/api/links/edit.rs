//! `PATCH …/links/{code}`: change a link.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names, change, set};
use crate::api::links::LinkBody;
use crate::api::time::Time;
use crate::app::{App, Change, LinkPatch};
use crate::problem::{Problem, Problems};
use kurz_core::time::Timestamp;

/// What to change; what is not there stays, what is null goes back to what it is without a word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// Where it leads. The code stays; a deterministic link becomes a custom one.
    #[serde(default, deserialize_with = "set")]
    #[schema(value_type = String)]
    original_url: Option<String>,
    /// A name for people.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>, max_length = 200)]
    title: Change<Option<String>>,
    /// Words to find it by.
    #[schema(max_items = 20)]
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Vec<String>>)]
    tags: Change<Option<Vec<String>>>,
    /// From when on it answers 410.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Time>)]
    expires_at: Change<Option<Time>>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times; null: as
    /// often as the workspace says.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>, minimum = 0)]
    hit_limit: Change<Option<i64>>,
    /// 301, 302, 307 or 308; null: 302.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<u16>)]
    redirect_status: Change<Option<u16>>,
}

/// Change a link. Its code stays.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "edit_link",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    request_body = EditBody,
    responses(
        (status = 200, description = "The changed link.", body = LinkBody),
        (status = 409, description = "Somebody else changed it at the same time.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn edit(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
    Json(body): Json<EditBody>,
) -> Result<axum::Json<LinkBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let patch = LinkPatch {
        original_url: body.original_url,
        title: body.title,
        tags: body.tags,
        expires_at: body.expires_at.map(|end| end.map(Timestamp::from)),
        hit_limit: body.hit_limit,
        redirect_status: body.redirect_status,
    };
    Ok(axum::Json(app.edit_link(&caller, &workspace, &code, &patch).await?.into()))
}
