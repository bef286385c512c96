//! What decides where visitors of a link are sent beyond its target: rules, splits, a password, times and limits,
//! forwarded parameters, pages before the target.
//!
//! A plan is written as a [`PlanDocument`] (JSON), checked, stored, and compiled into a [`Plan`] when its link is read
//! into memory; [`Plan::choose`] decides for each request, [`Plan::explain`] says why.

mod agent_class;
mod app_files;
mod changes;
mod plan_check;
mod choose;
mod compile;
mod compiled;
mod consent;
mod document;
mod document_json;
mod plan_error;
mod explain;
mod json;
mod language_tag;
mod prepared_url;
mod names;
mod places;
mod query_pairs;
mod read;
mod read_settings;
mod referrer;
mod sample_ratio;
mod schedule;
mod split;
mod test_key;
#[cfg(test)]
mod tests;

/// From so many failed checks in a row on the target of a link is down, and its `fallback_url` is used.
pub const FAILED_CHECKS_OF_DOWN: u64 = 3;

pub use agent_class::{AgentClass, BotKind, Browser, Device, InApp, Os};
pub use app_files::{APP_FILE_BYTES, AppsTooMany, apple_app_site_association, asset_links};
pub use changes::{LinkPassword, PlanChanges};
pub use choose::{Inputs, PlanChoice, PlanOutcome};
pub use compile::{CompileContext, CompileError};
pub use compiled::{Needs, PLAN_BYTES, Plan, TargetId};
pub use consent::{consent_token, is_consent_token};
pub use document::{
    Action, AndroidApp, AppLinks, Card, Consent, ConsentShow, IosApp, PlanDamaged, PlanDefaults,
    PlanDocument, PlanField, QueryForwarding, Robots, Rule, Split, SplitKey, Test, Tests, Utm,
    UtmField, Variant, When,
};
pub use explain::{Explanation, TestedCondition};
pub use json::PlanJson;
pub use language_tag::{LanguageRange, LanguageTag};
pub use places::{Country, Region, VisitorPlace, continents, countries};
pub use plan_check::{CheckContext, JSON_BYTES, PlanWarning};
pub use plan_error::{PlanError, PlanProblem};
pub use prepared_url::{Placeholder, PreparedUrl};
pub use read::{NAME_CHARS, RULES, TESTS, VALUES, VARIANTS, WEIGHT, read_field};
pub use read_settings::{
    BUTTON_CHARS, CARD_DESCRIPTION_CHARS, CARD_IMAGE_CHARS, CARD_TITLE_CHARS, CLICK_LIMIT,
    CONSENT_CHARS, FINGERPRINTS, UTM_CHARS,
};
pub use sample_ratio::sample_ratio_p;
pub use test_key::{CHANNELS, Day, TestKey, ValueShape, Visitor};
