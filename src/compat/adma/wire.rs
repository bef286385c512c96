//! The JSON shapes of Adma: camelCase, with numbers for links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::input::{Object, url_field};
use crate::api::time::Time;
use crate::app::{Session, ShownLink};

/// A person to register.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::compat) struct AdmaRegister {
    pub(super) name: String,
    pub(super) email: String,
    #[schema(format = "password")]
    pub(super) password: String,
}

/// A person to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::compat) struct AdmaLogin {
    pub(super) email: String,
    #[schema(format = "password")]
    pub(super) password: String,
}

/// A sign-in.
#[derive(Serialize, ToSchema)]
pub(in crate::compat) struct AdmaSession {
    pub(super) token: String,
    pub(super) name: String,
    pub(super) email: String,
}

impl From<Session> for AdmaSession {
    fn from(session: Session) -> Self {
        Self {
            token: session.token.text,
            name: session.person.name,
            email: session.person.email.to_string(),
        }
    }
}

/// A link to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::compat) struct AdmaNewLink {
    #[serde(deserialize_with = "original_url")]
    pub(super) original_url: String,
}

url_field!(original_url, "originalUrl");

/// A link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::compat) struct AdmaLink {
    pub(super) id: i64,
    pub(super) original_url: String,
    pub(super) short_code: String,
    pub(super) short_url: String,
    pub(super) created_at: Time,
    pub(super) expires_at: Option<Time>,
    /// `TEMPORARY` or `PERMANENT`.
    pub(super) link_type: &'static str,
    /// `ACTIVE` or `EXPIRED`.
    pub(super) status: &'static str,
    pub(super) redirect_count: i64,
    pub(super) avg_redirect_ms: f64,
    /// The HTTP status of the last response of the target; null when there was none.
    pub(super) destination_status: Option<u16>,
    /// The result of the last check in one word: `ok`, `broken`, `blocked` or `unknown`.
    pub(super) destination_health: Option<String>,
    pub(super) last_checked_at: Option<Time>,
    /// On a link made without an account, this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claim_token: Option<String>,
}

impl AdmaLink {
    pub(super) fn new(shown: ShownLink, claim_token: Option<String>) -> Self {
        let link = shown.link;
        Self {
            id: link.id.0,
            original_url: link.target,
            short_code: link.code.to_string(),
            short_url: shown.short_url,
            created_at: link.created_at.into(),
            expires_at: link.fields.expires_at.map(Time::from),
            link_type: if link.is_temporary { "TEMPORARY" } else { "PERMANENT" },
            status: shown.status.as_str(),
            redirect_count: link.redirect_count,
            avg_redirect_ms: link.avg_redirect_ms,
            destination_status: link.destination_http_status,
            destination_health: link.destination_status,
            last_checked_at: link.last_checked_at.map(Time::from),
            claim_token,
        }
    }
}

/// Links to claim, and URLs to create links for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::compat) struct AdmaSync {
    /// 1 to 100 of them.
    #[schema(min_items = 1, max_items = 100)]
    pub(super) urls: Vec<AdmaSyncEntry>,
}

/// A URL, for which a new link is made, or a link with its token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(in crate::compat) enum AdmaSyncEntry {
    /// A bare URL.
    Url(String),
    /// A link made without an account.
    #[schema(value_type = AdmaSyncLink)]
    Link(Object<AdmaSyncLink>),
}

/// A link made without an account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::compat) struct AdmaSyncLink {
    pub(super) original_url: Option<String>,
    pub(super) short_code: Option<String>,
    pub(super) claim_token: Option<String>,
}

impl std::fmt::Debug for AdmaSyncLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AdmaSyncLink({:?})", self.short_code)
    }
}

/// The platform's totals.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::compat) struct AdmaStats {
    pub(super) total_links: i64,
    pub(super) total_redirects: i64,
    pub(super) avg_latency_ms: f64,
}
