//! `POST …/links/{code}/simulate`: where a visitor would be sent, and why. Nothing is counted.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult, LinkPath};
use crate::api::links::plan_shapes::RuleBody;
use crate::api::time::Time;
use crate::app::{SimulatedVisit, Simulation};
use crate::problem::Problems;
use kurz_core::plan::{PlanJson, TestedCondition};
use kurz_core::time::Timestamp;

/// A visitor who is made up. What is left out is unknown; the time is now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulateBody {
    /// The visitor's address.
    #[schema(example = "192.0.2.1")]
    ip: Option<String>,
    /// ISO 3166-1, instead of the country of the address.
    #[schema(example = "DE")]
    country: Option<String>,
    /// ISO 3166-2.
    region: Option<String>,
    /// The field `User-Agent`.
    user_agent: Option<String>,
    /// The field `Accept-Language`.
    #[schema(example = "de-AT,de;q=0.9")]
    language: Option<String>,
    /// The field `Referer`.
    referrer: Option<String>,
    /// The query, without the question mark.
    query: Option<String>,
    /// When.
    at: Option<Time>,
    /// `first` or `returning`.
    #[schema(pattern = "^(first|returning)$")]
    visitor: Option<String>,
    /// Rules to try instead of the stored ones.
    #[schema(value_type = Option<Vec<RuleBody>>)]
    rules: Option<PlanJson>,
}

impl From<SimulateBody> for SimulatedVisit {
    fn from(body: SimulateBody) -> Self {
        Self {
            ip: body.ip,
            country: body.country,
            region: body.region,
            user_agent: body.user_agent,
            language: body.language,
            referrer: body.referrer,
            query: body.query,
            at: body.at.map(Timestamp::from),
            visitor: body.visitor,
            rules: body.rules,
        }
    }
}

/// What the visitor would get.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SimulationBody {
    /// The step of the order of evaluation that answers; `docs/RULES.md` lists them.
    #[schema(minimum = 1, maximum = 13)]
    step: u8,
    /// The rule that applied.
    rule: Option<AppliedRule>,
    /// The variant of a split.
    variant: Option<String>,
    /// The HTTP status.
    status: u16,
    /// Where the visitor would be sent.
    location: Option<String>,
    /// Pages that have to be passed before: `password`, `consent`, `app`.
    pages: Vec<&'static str>,
    /// Every test of the rules up to the one that applied.
    why: Vec<WhyBody>,
    /// Whether it would count as a click.
    would_count: bool,
}

/// A rule of a link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AppliedRule {
    /// Its place, from 0 on.
    index: u8,
    name: Option<String>,
}

/// One test.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhyBody {
    /// The place of its rule.
    rule: u8,
    /// What it goes by.
    test: &'static str,
    /// The parameter, of a test of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// `any` or `not`, if it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<&'static str>,
    /// What the visitor has.
    value: String,
    /// `true`, `false` or `"unknown"`; of a test in `not` whether the opposite holds.
    #[schema(value_type = Object)]
    holds: Holds,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Holds {
    Known(bool),
    Unknown(&'static str),
}

impl From<TestedCondition> for WhyBody {
    fn from(reason: TestedCondition) -> Self {
        Self {
            rule: reason.rule,
            test: reason.test.name(),
            parameter: reason.parameter,
            within: reason.within,
            value: reason.value,
            holds: reason.holds.map_or(Holds::Unknown("unknown"), Holds::Known),
        }
    }
}

impl From<Simulation> for SimulationBody {
    fn from(simulation: Simulation) -> Self {
        Self {
            step: simulation.step,
            rule: simulation.rule.map(|(index, name)| AppliedRule { index, name }),
            variant: simulation.variant,
            status: simulation.status,
            location: simulation.location,
            pages: simulation.pages,
            why: simulation.why.into_iter().map(WhyBody::from).collect(),
            would_count: simulation.would_count,
        }
    }
}

/// Where a visitor of a link would be sent, and why. It uses no limit and counts nothing. With `rules` they are tried
/// before they are saved.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/simulate", tag = "links",
    operation_id = "simulate_link",
    params(LinkPath),
    request_body = SimulateBody,
    responses((status = 200, description = "What the visitor would get.", body = SimulationBody), Problems))]
pub(crate) async fn simulate(
    BodyCall { app, caller, path, body }: BodyCall<LinkPath, SimulateBody>,
) -> JsonResult<SimulationBody> {
    let workspace = path.workspace()?;
    let simulation = app.simulate(&caller, &workspace, &path.code, &body.into()).await?;
    Ok(axum::Json(simulation.into()))
}
