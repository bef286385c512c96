//! `GET`, `PUT` and `DELETE …/defaults`: what holds for links of a workspace that say nothing themselves.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, Call, EmptyResult, JsonResult, WorkspacePath};
use crate::api::input::change;
use crate::api::links::plan_shapes::{ConsentBody, UtmBody};
use crate::api::links::plan_wire::set;
use crate::problem::Problems;
use kurz_core::link::Change;
use kurz_core::plan::{PlanChanges, PlanDefaults, PlanField, PlanJson};

/// What holds for links that say nothing themselves; null: nothing. A link wins, of `utm` field by field.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DefaultsBody {
    /// `drop` or `merge`: what becomes of the query of a request.
    #[schema(value_type = Option<String>)]
    query: PlanJson,
    /// Parameters that are added where a target has none.
    #[schema(value_type = Option<UtmBody>)]
    utm: PlanJson,
    /// Where visitors of expired links go.
    #[schema(value_type = Option<String>)]
    expired_url: PlanJson,
    /// `noindex` or `index`.
    #[schema(value_type = Option<String>)]
    robots: PlanJson,
    /// A page before the target.
    #[schema(value_type = Option<ConsentBody>)]
    consent: PlanJson,
}

impl From<PlanDefaults> for DefaultsBody {
    fn from(defaults: PlanDefaults) -> Self {
        let field = |field| defaults.document().field(field);
        Self {
            query: field(PlanField::Query),
            utm: field(PlanField::Utm),
            expired_url: field(PlanField::ExpiredUrl),
            robots: field(PlanField::Robots),
            consent: field(PlanField::Consent),
        }
    }
}

/// The defaults to set; what is left out is removed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDefaultsBody {
    /// `drop` or `merge`: what becomes of the query of a request.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    query: Change<PlanJson>,
    /// Parameters that are added where a target has none.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<UtmBody>)]
    utm: Change<PlanJson>,
    /// Where visitors of expired links go.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    expired_url: Change<PlanJson>,
    /// `noindex` or `index`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    robots: Change<PlanJson>,
    /// A page before the target.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<ConsentBody>)]
    consent: Change<PlanJson>,
}

/// What holds for links of the workspace that say nothing themselves.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/defaults", tag = "workspaces",
    operation_id = "show_link_defaults",
    params(WorkspacePath),
    responses((status = 200, description = "The defaults.", body = DefaultsBody), Problems))]
pub(crate) async fn show(
    Call { app, caller, path }: Call<WorkspacePath>,
) -> JsonResult<DefaultsBody> {
    Ok(axum::Json(app.link_defaults(&caller, &path.workspace()?).await?.into()))
}

/// Replace the defaults.
#[utoipa::path(put, path = "/api/v1/workspaces/{workspace}/defaults", tag = "workspaces",
    operation_id = "set_link_defaults",
    params(WorkspacePath),
    request_body = NewDefaultsBody,
    responses((status = 200, description = "The defaults.", body = DefaultsBody), Problems))]
pub(crate) async fn put(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewDefaultsBody>,
) -> JsonResult<DefaultsBody> {
    let mut changes = PlanChanges::default();
    for (field, value) in [
        (PlanField::Query, body.query),
        (PlanField::Utm, body.utm),
        (PlanField::ExpiredUrl, body.expired_url),
        (PlanField::Robots, body.robots),
        (PlanField::Consent, body.consent),
    ] {
        set(&mut changes, field, value);
    }
    let defaults = app.set_link_defaults(&caller, &path.workspace()?, &changes).await?;
    Ok(axum::Json(defaults.into()))
}

/// Remove the defaults.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/defaults", tag = "workspaces",
    operation_id = "remove_link_defaults",
    params(WorkspacePath),
    responses((status = 204, description = "There are none any more."), Problems))]
pub(crate) async fn remove(Call { app, caller, path }: Call<WorkspacePath>) -> EmptyResult {
    app.set_link_defaults(&caller, &path.workspace()?, &PlanChanges::default()).await?;
    Ok(StatusCode::NO_CONTENT)
}
