//! Why a plan was refused: the field, a stable code, and a sentence that says what to do.

use thiserror::Error;

use super::document::PlanField;

/// A field of a plan that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanProblem {
    /// Such as `rules[2].when.country[0]`.
    pub field: String,
    pub error: PlanError,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A value of this field cannot be used; the text says why.
    #[error("{1}")]
    Invalid(PlanField, String),
    #[error("a rule has exactly one of to, split and block")]
    Action,
    #[error("{0}")]
    TooLarge(String),
    #[error("it is never reached: rule {0} before it applies to everybody")]
    Unreachable(usize),
    #[error("another rule has this name: names are used once in a link")]
    NameTaken,
    #[error(
        "a link with a plan is not answered 301 or 308, which browsers keep: use 302 or 307, or remove the plan"
    )]
    StatusPermanent,
    #[error(
        "{0} is no placeholder: use {{code}}, {{workspace}}, {{host}}, {{variant}}, {{country}}, {{device}} or {{qr}}"
    )]
    PlaceholderUnknown(String),
    #[error("valid_from must be before expires_at")]
    ValidFromAfterEnd,
    #[error(
        "analytics are off for this link, so that nobody knows whether a visitor was there before"
    )]
    VisitorUnknown,
    #[error(
        "showing a target in a frame under the short address hides from visitors where they are, is how phishing \
         is done, and fails with every target that forbids frames: use a redirect"
    )]
    CloakingRefused,
    #[error(
        "nobody would know that the target is down: set KURZ_HEALTH_CHECKS=on, or remove fallback_url"
    )]
    HealthOff,
    #[error("a link's password has 4 to 71 bytes without NUL")]
    Password,
    #[error("a stored plan cannot be read: set its rules anew, or remove them")]
    Damaged,
}

impl PlanError {
    /// The stable name of the error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(field, _) => match field {
                PlanField::Rules | PlanField::Split => "rules-invalid",
                PlanField::Password => "link-password-invalid",
                PlanField::ValidFrom => "valid-from-invalid",
                PlanField::ClickLimit => "click-limit-invalid",
                PlanField::ExpiredUrl | PlanField::PendingUrl | PlanField::FallbackUrl => {
                    "body-invalid"
                }
                PlanField::Query => "query-mode-invalid",
                PlanField::Utm => "utm-invalid",
                PlanField::Consent => "consent-invalid",
                PlanField::App => "app-invalid",
                PlanField::Card => "card-invalid",
                PlanField::Robots => "robots-invalid",
            },
            Self::Action => "rule-action",
            Self::TooLarge(_) => "rules-too-large",
            Self::Unreachable(_) => "rule-unreachable",
            Self::NameTaken => "rule-name-taken",
            Self::StatusPermanent => "status-permanent",
            Self::PlaceholderUnknown(_) => "placeholder-unknown",
            Self::ValidFromAfterEnd => "valid-from-after-end",
            Self::VisitorUnknown => "visitor-unknown",
            Self::CloakingRefused => "cloaking-refused",
            Self::HealthOff => "health-off",
            Self::Password => "link-password-invalid",
            Self::Damaged => "plan-damaged",
        }
    }
}
