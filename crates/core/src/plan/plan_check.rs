//! What a plan is checked for once it was read: rules against each other, and the plan against the rest of the link
//! and what the server can know. URLs are checked like any target, by those who know the hosts and the block list
//! ([`PlanDocument::urls`]).

use super::document::{Action, PlanDocument, PlanField, Rule};
use super::plan_error::{PlanError, PlanProblem};
use super::test_key::TestKey;
use crate::time::Timestamp;

/// The most bytes of a plan as JSON.
pub const JSON_BYTES: usize = 16 * 1024;

/// What a plan is checked against.
#[derive(Clone, Copy, Debug)]
pub struct CheckContext {
    pub expires_at: Option<Timestamp>,
    pub redirect_status: u16,
    /// Whether targets are checked, so that a fallback is ever used.
    pub health_checks: bool,
    /// Whether visitors are told apart: analytics are not off for the link.
    pub knows_visitors: bool,
}

/// Something that is allowed and does not do what it seems to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanWarning {
    pub field: String,
    pub code: &'static str,
    pub message: &'static str,
}

impl PlanDocument {
    /// Everything that is wrong with it.
    pub fn check(&self, context: &CheckContext) -> Vec<PlanProblem> {
        let mut problems = Vec::new();
        let mut add = |field: String, error| problems.push(PlanProblem { field, error });
        for (at, rule) in self.rules.iter().enumerate() {
            let earlier = self.rules.get(..at).unwrap_or_default();
            if let Some(before) = earlier.iter().position(Rule::catches_all) {
                add(format!("rules[{at}]"), PlanError::Unreachable(before + 1));
            }
            let is_taken = |other: &Rule| other.name.is_some() && other.name == rule.name;
            if earlier.iter().any(is_taken) {
                add(format!("rules[{at}].name"), PlanError::NameTaken);
            }
            if !context.knows_visitors && rule.goes_by(TestKey::Visitor) {
                add(format!("rules[{at}].when"), PlanError::VisitorUnknown);
            }
        }
        if !self.is_empty() && matches!(context.redirect_status, 301 | 308) {
            add("redirect_status".to_owned(), PlanError::StatusPermanent);
        }
        if let (Some(from), Some(end)) = (self.valid_from, context.expires_at)
            && from >= end
        {
            add("valid_from".to_owned(), PlanError::ValidFromAfterEnd);
        }
        if self.fallback_url.is_some() && !context.health_checks {
            add("fallback_url".to_owned(), PlanError::HealthOff);
        }
        let bytes = self.to_json().len();
        if bytes > JSON_BYTES {
            let message =
                format!("a plan has at most {JSON_BYTES} bytes of JSON; this one has {bytes}");
            add(PlanField::Rules.name().to_owned(), PlanError::TooLarge(message));
        }
        problems
    }

    /// Tests that are always unknown on this server.
    pub fn warnings(&self, knows_countries: bool, knows_regions: bool) -> Vec<PlanWarning> {
        let mut warnings = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            let by_country = [TestKey::Country, TestKey::Continent, TestKey::Eu];
            let is_blind = !knows_countries && by_country.iter().any(|key| rule.goes_by(*key));
            if is_blind {
                warnings.push(PlanWarning {
                    field: format!("rules[{at}].when"),
                    code: "country-unknown",
                    message: "this server does not know where visitors are: the test is always unknown; set \
                              KURZ_GEO_FILE",
                });
            }
            if !knows_regions && rule.goes_by(TestKey::Region) {
                warnings.push(PlanWarning {
                    field: format!("rules[{at}].when"),
                    code: "region-unknown",
                    message: "this server does not know the regions of visitors: the test is always unknown; set \
                              KURZ_GEO_FILE to a file with regions",
                });
            }
        }
        warnings
    }

    /// The place of the first rule that goes by `key`.
    pub fn rule_about(&self, key: TestKey) -> Option<usize> {
        self.rules.iter().position(|rule| rule.goes_by(key))
    }

    /// The fields that differ from `other`; of rules those that differ, with their names.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let mut names = Vec::new();
        for field in PlanField::ALL.iter().copied() {
            if field != PlanField::Rules && self.field(field) != other.field(field) {
                names.push(field.name().to_owned());
            }
        }
        for at in 0..self.rules.len().max(other.rules.len()) {
            let (new, old) = (self.rules.get(at), other.rules.get(at));
            let is_same = match (new, old) {
                (Some(new), Some(old)) => new.is_same(old),
                _ => false,
            };
            if !is_same {
                let name = new.or(old).and_then(|rule| rule.name.as_deref());
                let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
                names.push(format!("rules[{at}]{name}"));
            }
        }
        names
    }
}

impl Rule {
    /// Whether no rule after it is ever reached.
    fn catches_all(&self) -> bool {
        !self.paused && self.when.is_empty()
    }

    pub(super) fn goes_by(&self, key: TestKey) -> bool {
        self.when.all().any(|tests| tests.0.iter().any(|test| test.key == key))
    }

    /// Whether it is written the same; keys of splits are not looked at.
    fn is_same(&self, other: &Self) -> bool {
        let is_redrawn = matches!(&self.action, Action::Split(split) if split.fresh);
        !is_redrawn && self.json() == other.json()
    }
}
