//! A link on the wire, and the requests to make and to change one.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::input::{change, url_field};
use crate::api::links::plan_shapes::{
    AppBody, CardBody, ConsentBody, RuleBody, SplitBody, UtmBody,
};
use crate::api::links::plan_wire::{PlanBody, plan_changes};
use crate::api::time::Time;
use crate::app::{Created, LinkPatch, LinkRequest, ShownLink};
use kurz_core::code::canonicalise;
use kurz_core::link::{Change, LinkFieldChanges, Reason, Strategy};
use kurz_core::plan::PlanJson;
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
    /// A text for those who manage it; visitors never see it.
    note: Option<String>,
    /// Words to find it by.
    tags: Vec<String>,
    /// Its further codes, oldest first: they lead where it leads and count as it counts.
    aliases: Vec<String>,
    /// Since when it is archived: left out of lists that do not ask for it. It redirects all the same.
    archived_at: Option<Time>,
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
    #[serde(flatten)]
    plan: PlanBody,
}

impl From<ShownLink> for LinkBody {
    fn from(shown: ShownLink) -> Self {
        let plan = PlanBody::new(&shown.plan, shown.warnings);
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
            note: link.fields.note,
            tags: link.fields.tags,
            aliases: link.aliases.iter().map(ToString::to_string).collect(),
            archived_at: link.fields.archived_at.0.map(Time::from),
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
            plan,
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
    /// How long a random code is, if not as the server says.
    #[schema(minimum = 4, maximum = 64)]
    length: Option<u8>,
    /// A name for people.
    #[schema(max_length = 512)]
    title: Option<String>,
    /// A text for those who manage it; visitors never see it.
    #[schema(max_length = 2048)]
    note: Option<String>,
    /// Words to find it by, each of at most 255 characters.
    #[schema(max_items = 100)]
    tags: Option<Vec<String>>,
    /// Whether it is left out of lists that do not ask for it.
    archived: Option<bool>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times.
    #[schema(minimum = 0)]
    hit_limit: Option<i64>,
    /// 301, 302 (if you say nothing), 307 or 308.
    redirect_status: Option<u16>,
    /// The first rule that applies to a visitor decides; null removes them.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Vec<RuleBody>>)]
    rules: Change<PlanJson>,
    /// Where visitors go to whom no rule applies.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<SplitBody>)]
    split: Change<PlanJson>,
    /// Visitors need it; 4 to 71 bytes. It is never shown.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    password: Change<PlanJson>,
    /// Before it the link is as if it were not there.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Time>)]
    valid_from: Change<PlanJson>,
    /// Visits in the link's whole life; 0: any number.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    click_limit: Change<PlanJson>,
    /// Where visitors go after the link's end, and once its click limit is used up.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    expired_url: Change<PlanJson>,
    /// Where visitors go before `valid_from`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    pending_url: Change<PlanJson>,
    /// Where visitors go while the target is down.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    fallback_url: Change<PlanJson>,
    /// `drop` or `merge`: what becomes of the query of a request.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    query: Change<PlanJson>,
    /// Parameters that are added where the target has none.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<UtmBody>)]
    utm: Change<PlanJson>,
    /// A page before the target: `always`, `once`, or an object with a text.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<ConsentBody>)]
    consent: Change<PlanJson>,
    /// Apps that open the link.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<AppBody>)]
    app: Change<PlanJson>,
    /// What previews of the link show.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<CardBody>)]
    card: Change<PlanJson>,
    /// `noindex` or `index`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    robots: Change<PlanJson>,
    /// Always refused: a target is not shown in a frame.
    #[serde(default, deserialize_with = "change")]
    #[schema(ignore)]
    cloak: Change<PlanJson>,
    /// The same.
    #[serde(default, deserialize_with = "change")]
    #[schema(ignore)]
    frame: Change<PlanJson>,
}

url_field!(original_url, "original_url");

/// A URL that may be left out, but is not null.
fn changed_url<'de, D: serde::Deserializer<'de>>(de: D) -> Result<Option<String>, D::Error> {
    original_url(de).map(Some)
}

/// A code that may be left out, but is not null.
fn changed_code<'de, D: serde::Deserializer<'de>>(de: D) -> Result<Option<String>, D::Error> {
    String::deserialize(de).map(Some)
}

impl From<NewLinkBody> for LinkRequest {
    fn from(body: NewLinkBody) -> Self {
        let fields = LinkFieldChanges {
            title: Change::To(body.title),
            note: Change::To(body.note),
            tags: Change::To(body.tags),
            archived_at: Change::To(body.archived),
            expires_at: Change::To(body.expires_at.map(Timestamp::from)),
            hit_limit: Change::To(body.hit_limit),
            redirect_status: Change::To(body.redirect_status),
        };
        let plan = plan_changes!(body);
        Self {
            original_url: body.original_url,
            custom_code: body.custom_code,
            strategy: body.strategy.map(Strategy::from),
            length: body.length,
            fields,
            plan,
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
    /// Another code. The one that it has becomes an alias and leads there as before; a deterministic, counter
    /// or random link becomes a custom one.
    #[serde(default, deserialize_with = "changed_code")]
    #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{3,64}$")]
    short_code: Option<String>,
    /// A name for people.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>, max_length = 512)]
    title: Change<Option<String>>,
    /// A text for those who manage it; visitors never see it.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>, max_length = 2048)]
    note: Change<Option<String>>,
    /// Whether it is left out of lists that do not ask for it. It redirects all the same.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<bool>)]
    archived: Change<Option<bool>>,
    /// Words to find it by, each of at most 255 characters.
    #[schema(max_items = 100)]
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
    /// The first rule that applies to a visitor decides; null removes them.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Vec<RuleBody>>)]
    rules: Change<PlanJson>,
    /// Where visitors go to whom no rule applies.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<SplitBody>)]
    split: Change<PlanJson>,
    /// Visitors need it; 4 to 71 bytes. It is never shown.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    password: Change<PlanJson>,
    /// Before it the link is as if it were not there.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<Time>)]
    valid_from: Change<PlanJson>,
    /// Visits in the link's whole life; 0: any number.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>)]
    click_limit: Change<PlanJson>,
    /// Where visitors go after the link's end, and once its click limit is used up.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    expired_url: Change<PlanJson>,
    /// Where visitors go before `valid_from`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    pending_url: Change<PlanJson>,
    /// Where visitors go while the target is down.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    fallback_url: Change<PlanJson>,
    /// `drop` or `merge`: what becomes of the query of a request.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    query: Change<PlanJson>,
    /// Parameters that are added where the target has none.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<UtmBody>)]
    utm: Change<PlanJson>,
    /// A page before the target: `always`, `once`, or an object with a text.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<ConsentBody>)]
    consent: Change<PlanJson>,
    /// Apps that open the link.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<AppBody>)]
    app: Change<PlanJson>,
    /// What previews of the link show.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<CardBody>)]
    card: Change<PlanJson>,
    /// `noindex` or `index`.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<String>)]
    robots: Change<PlanJson>,
    /// Always refused: a target is not shown in a frame.
    #[serde(default, deserialize_with = "change")]
    #[schema(ignore)]
    cloak: Change<PlanJson>,
    /// The same.
    #[serde(default, deserialize_with = "change")]
    #[schema(ignore)]
    frame: Change<PlanJson>,
}

impl From<EditBody> for LinkPatch {
    fn from(body: EditBody) -> Self {
        let fields = LinkFieldChanges {
            title: body.title,
            note: body.note,
            tags: body.tags,
            archived_at: body.archived,
            expires_at: body.expires_at.map(|end| end.map(Timestamp::from)),
            hit_limit: body.hit_limit,
            redirect_status: body.redirect_status,
        };
        let plan = plan_changes!(body);
        Self { original_url: body.original_url, short_code: body.short_code, fields, plan }
    }
}
