//! The fields of a plan on the wire: flat on a link, with their shapes for the API's document. They are read by
//! `kurz_core::plan`, whose errors name the place in the body.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::links::plan_shapes::{
    AppBody, CardBody, ConsentBody, RuleBody, SplitBody, UtmBody,
};
use kurz_core::link::Change;
use kurz_core::plan::{PlanChanges, PlanDocument, PlanField, PlanJson, PlanWarning};

/// The changes of a body with these fields.
macro_rules! plan_changes {
    ($body:ident) => {{
        let mut changes = kurz_core::plan::PlanChanges::default();
        for (field, value) in [
            (kurz_core::plan::PlanField::Rules, $body.rules),
            (kurz_core::plan::PlanField::Split, $body.split),
            (kurz_core::plan::PlanField::Password, $body.password),
            (kurz_core::plan::PlanField::ValidFrom, $body.valid_from),
            (kurz_core::plan::PlanField::ClickLimit, $body.click_limit),
            (kurz_core::plan::PlanField::ExpiredUrl, $body.expired_url),
            (kurz_core::plan::PlanField::PendingUrl, $body.pending_url),
            (kurz_core::plan::PlanField::FallbackUrl, $body.fallback_url),
            (kurz_core::plan::PlanField::Query, $body.query),
            (kurz_core::plan::PlanField::Utm, $body.utm),
            (kurz_core::plan::PlanField::Consent, $body.consent),
            (kurz_core::plan::PlanField::App, $body.app),
            (kurz_core::plan::PlanField::Card, $body.card),
            (kurz_core::plan::PlanField::Robots, $body.robots),
        ] {
            $crate::api::links::plan_wire::set(&mut changes, field, value);
        }
        for (field, value) in [("cloak", $body.cloak), ("frame", $body.frame)] {
            $crate::api::links::plan_wire::refuse_frame(&mut changes, field, &value);
        }
        changes
    }};
}
pub(crate) use plan_changes;

pub(crate) fn set(changes: &mut PlanChanges, field: PlanField, value: Change<PlanJson>) {
    if let Change::To(value) = value {
        changes.set(field, value);
    }
}

/// Frames are refused with their reason, not as a field that nobody knows.
pub(crate) fn refuse_frame(changes: &mut PlanChanges, field: &str, value: &Change<PlanJson>) {
    if *value != Change::Keep {
        changes.refuse(field, kurz_core::plan::PlanError::CloakingRefused);
    }
}

/// What decides where visitors are sent, on a link that has any of it. What is not set is not there.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct PlanBody {
    /// The first rule that applies to a visitor decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<RuleBody>>)]
    rules: Option<PlanJson>,
    /// Where visitors go to whom no rule applies: a list of variants, or an object with `variants`,
    /// `ends_at` and `winner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SplitBody>)]
    split: Option<PlanJson>,
    /// Whether visitors need a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_password: Option<bool>,
    /// Before it the link is as if it were not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "date-time")]
    valid_from: Option<PlanJson>,
    /// Visits in the link's whole life.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    click_limit: Option<PlanJson>,
    /// Where visitors go after the link's end, and once its click limit is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    expired_url: Option<PlanJson>,
    /// Where visitors go before `valid_from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pending_url: Option<PlanJson>,
    /// Where visitors go while the target is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    fallback_url: Option<PlanJson>,
    /// `drop` or `merge`: what becomes of the query of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(drop|merge)$")]
    query: Option<PlanJson>,
    /// Parameters that are added where the target has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<UtmBody>)]
    utm: Option<PlanJson>,
    /// A page before the target: `always`, `once`, or an object with a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ConsentBody>)]
    consent: Option<PlanJson>,
    /// Apps that open the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AppBody>)]
    app: Option<PlanJson>,
    /// What previews of the link show.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CardBody>)]
    card: Option<PlanJson>,
    /// `noindex` or `index`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(noindex|index)$")]
    robots: Option<PlanJson>,
    /// Tests that can never be known on this server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<WarningBody>,
}

impl PlanBody {
    pub(crate) fn new(document: &PlanDocument, warnings: Vec<PlanWarning>) -> Self {
        let field = |field| Some(document.field(field)).filter(|value| *value != PlanJson::Null);
        Self {
            rules: field(PlanField::Rules),
            split: field(PlanField::Split),
            has_password: (!document.is_empty()).then_some(document.password.is_some()),
            valid_from: field(PlanField::ValidFrom),
            click_limit: field(PlanField::ClickLimit),
            expired_url: field(PlanField::ExpiredUrl),
            pending_url: field(PlanField::PendingUrl),
            fallback_url: field(PlanField::FallbackUrl),
            query: field(PlanField::Query),
            utm: field(PlanField::Utm),
            consent: field(PlanField::Consent),
            app: field(PlanField::App),
            card: field(PlanField::Card),
            robots: field(PlanField::Robots),
            warnings: warnings.into_iter().map(WarningBody::from).collect(),
        }
    }
}

/// Something that is allowed and does not do what it seems to.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WarningBody {
    /// Where it is in the plan.
    field: String,
    /// Its stable name.
    code: &'static str,
    /// A sentence for people.
    detail: &'static str,
}

impl From<PlanWarning> for WarningBody {
    fn from(PlanWarning { field, code, message }: PlanWarning) -> Self {
        Self { field, code, detail: message }
    }
}
