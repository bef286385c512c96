//! A link on the wire, and the requests to make and to change one.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::input::{change, url_field};
use crate::api::time::Time;
use crate::app::{Created, LinkPatch, LinkRequest, ShownLink};
use kurz_core::code::canonicalise;
use kurz_core::link::{Change, LinkFieldChanges, Reason, Strategy};
use kurz_core::time::Timestamp;

/// How a code is made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StrategyName {
    /// From the URL and the workspace: the same input always gives the same code.
    Deterministic,
    /// From a scrambled counter.
    Counter,
    /// From the operating system's random generator.
    Random,
    /// Chosen by the caller.
    Custom,
}

impl From<Strategy> for StrategyName {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Deterministic => Self::Deterministic,
            Strategy::Counter => Self::Counter,
            Strategy::Random => Self::Random,
            Strategy::Custom => Self::Custom,
        }
    }
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Deterministic => Self::Deterministic,
            StrategyName::Counter => Self::Counter,
            StrategyName::Random => Self::Random,
            StrategyName::Custom => Self::Custom,
        }
    }
}

/// A link.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LinkBody {
    /// Its number.
    id: i64,
    /// The workspace it belongs to.
    workspace: String,
    /// Its code.
    short_code: String,
    /// The shortest address that leads to it.
    #[schema(format = "uri")]
    short_url: String,
    /// Where it leads, exactly as it was sent.
    original_url: String,
    /// The canonical form of the target: the key for "same URL".
    #[schema(format = "uri")]
    normalized_url: String,
    /// Whether the target's host may be taken for another: show `normalized_url` then, which has it in
    /// punycode.
    idn_suspicious: bool,
    /// The strategy of its code.
    strategy: StrategyName,
    /// `PERMANENT`, or `TEMPORARY` for a link without an owner.
    #[schema(pattern = "^(PERMANENT|TEMPORARY)$")]
    link_type: &'static str,
    /// `ACTIVE`, `EXPIRED`, `DELETED`, or `DISABLED`: it answers 410, and `disabled_reason` says why.
    #[schema(pattern = "^(ACTIVE|EXPIRED|DELETED|DISABLED)$")]
    status: &'static str,
    /// Why whoever runs the server does not let it redirect: `abuse`, `malware`, `phishing`, `legal`
    /// or `other`; `account` with its owner's account; `blocked` by the block list.
    #[schema(pattern = "^(abuse|malware|phishing|legal|other|account|blocked)$")]
    disabled_reason: Option<&'static str>,
    /// Since when it is disabled, unless the block list does that.
    disabled_at: Option<Time>,
    /// What whoever disabled it says about that.
    disabled_note: Option<String>,
    /// A name for people.
    title: Option<String>,
    /// Words to find it by.
    tags: Vec<String>,
    /// When it was created.
    created_at: Time,
    /// When it was last changed.
    updated_at: Time,
    /// From when on it answers 410.
    expires_at: Option<Time>,
    /// Redirects so far, up to about a second ago.
    redirect_count: i64,
    /// Their mean latency on the server, in milliseconds.
    avg_redirect_ms: f64,
    /// The latest of them.
    last_redirect_at: Option<Time>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times.
    hit_limit: i64,
    /// How often it was followed in this month.
    hits_this_month: i64,
    /// What the target said when it was last checked.
    destination_status: Option<String>,
    /// The HTTP status of the last response of the target; null when there was none.
    destination_http_status: Option<u16>,
    /// When the target was last checked.
    last_checked_at: Option<Time>,
    /// 301, 302, 307 or 308.
    redirect_status: u16,
    /// Until when it can be restored for certain, on a deleted link.
    restorable_until: Option<Time>,
}

impl From<ShownLink> for LinkBody {
    fn from(shown: ShownLink) -> Self {
        let link = shown.link;
        // What is stored was canonical once; the target itself is the honest answer if not.
        let normalized_url = canonicalise(&link.target)
            .map_or_else(|_| link.target.clone(), kurz_core::code::Canonical::into_string);
        Self {
            id: link.id.0,
            workspace: link.workspace.to_string(),
            short_code: link.code.to_string(),
            short_url: shown.short_url,
            original_url: link.target,
            normalized_url,
            idn_suspicious: shown.is_lookalike,
            strategy: link.strategy.into(),
            link_type: if link.is_temporary { "TEMPORARY" } else { "PERMANENT" },
            status: shown.status.as_str(),
            disabled_reason: shown.withheld.map(Reason::as_str),
            disabled_at: link.disabled.as_ref().map(|disabled| disabled.at.into()),
            disabled_note: link.disabled.and_then(|disabled| disabled.note),
            title: link.fields.title,
            tags: link.fields.tags,
            created_at: link.created_at.into(),
            updated_at: link.updated_at.into(),
            expires_at: link.fields.expires_at.map(Time::from),
            redirect_count: link.redirect_count,
            avg_redirect_ms: link.avg_redirect_ms,
            last_redirect_at: link.last_redirect_at.map(Time::from),
            hit_limit: shown.hit_limit,
            hits_this_month: shown.hits_this_month,
            destination_status: link.destination_status,
            destination_http_status: link.destination_http_status,
            last_checked_at: link.last_checked_at.map(Time::from),
            redirect_status: link.fields.redirect_status,
            restorable_until: shown.restorable_until.map(Time::from),
        }
    }
}

/// A link that was asked for.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct CreatedBody {
    #[serde(flatten)]
    link: LinkBody,
    /// The token to claim the link after signing in, on a link created without a credential. It is
    /// shown this once and works once.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_token: Option<String>,
}

impl From<Created> for CreatedBody {
    fn from(created: Created) -> Self {
        Self { link: created.link.into(), claim_token: created.claim_token }
    }
}

/// A link to be made.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLinkBody {
    /// Where it should lead: an http or https URL of at most 8,192 bytes.
    #[schema(example = "https://example.com/spring-sale?utm_source=poster")]
    #[serde(deserialize_with = "original_url")]
    original_url: String,
    /// A code of your choice, instead of a generated one.
    #[schema(pattern = "^[A-Za-z0-9_-]{3,64}$", nullable)]
    custom_code: Option<String>,
    /// How to make the code, if not as the workspace does.
    strategy: Option<StrategyName>,
    /// From when on it should answer 410.
    expires_at: Option<Time>,
    /// A name for people.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// Words to find it by.
    #[schema(max_items = 20)]
    tags: Option<Vec<String>>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times.
    #[schema(minimum = 0)]
    hit_limit: Option<i64>,
    /// 301, 302 (if you say nothing), 307 or 308.
    redirect_status: Option<u16>,
}

url_field!(original_url, "original_url");

/// A URL that may be left out, but is not null.
fn changed_url<'de, D: serde::Deserializer<'de>>(de: D) -> Result<Option<String>, D::Error> {
    original_url(de).map(Some)
}

impl From<NewLinkBody> for LinkRequest {
    fn from(body: NewLinkBody) -> Self {
        let fields = LinkFieldChanges {
            title: Change::To(body.title),
            tags: Change::To(body.tags),
            expires_at: Change::To(body.expires_at.map(Timestamp::from)),
            hit_limit: Change::To(body.hit_limit),
            redirect_status: Change::To(body.redirect_status),
        };
        Self {
            original_url: body.original_url,
            custom_code: body.custom_code,
            strategy: body.strategy.map(Strategy::from),
            fields,
        }
    }
}

/// What to change; what is not there stays, what is null goes back to what it is without a word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// Where it leads. The code stays; a deterministic link becomes a custom one.
    #[serde(default, deserialize_with = "changed_url")]
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

impl From<EditBody> for LinkPatch {
    fn from(body: EditBody) -> Self {
        let fields = LinkFieldChanges {
            title: body.title,
            tags: body.tags,
            expires_at: body.expires_at.map(|end| end.map(Timestamp::from)),
            hit_limit: body.hit_limit,
            redirect_status: body.redirect_status,
        };
        Self { original_url: body.original_url, fields }
    }
}
