//! `GET …/links/{code}/rules`: the plan of a link, and what it costs.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::api::links::plan_wire::PlanBody;
use crate::problem::Problems;

/// The plan of a link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesBody {
    #[serde(flatten)]
    plan: PlanBody,
    /// Bytes of memory while the link is cached.
    compiled_bytes: usize,
    /// What a redirect looks at: `plain` (nothing), `light` (the request), `place` (where the visitor is) or `page`
    /// (a page may come first).
    #[schema(pattern = "^(plain|light|place|page)$")]
    cost: &'static str,
}

/// The plan of a link: what decides where its visitors are sent beyond its target.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/rules", tag = "links",
    operation_id = "link_rules",
    params(LinkPath),
    responses((status = 200, description = "The plan.", body = RulesBody), Problems))]
pub(crate) async fn rules(Call { app, caller, path }: Call<LinkPath>) -> JsonResult<RulesBody> {
    let workspace = path.workspace()?;
    let (document, plan) = app.link_plan(&caller, &workspace, &path.code).await?;
    Ok(axum::Json(RulesBody {
        plan: PlanBody::new(&document, app.plan_warnings(&document)),
        compiled_bytes: plan.bytes(),
        cost: plan.cost_class(),
    }))
}
