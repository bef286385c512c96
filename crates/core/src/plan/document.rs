//! A plan as users write it and as it is stored: one JSON document. Values are in their canonical spelling.
//! Secrets of the splits are kept apart from the text ([`PlanDocument::keys`]).

use super::json::PlanJson;
use super::names::names;
use super::plan_error::PlanProblem;
use super::read::read_document;
use super::test_key::TestKey;
use crate::time::Timestamp;

names! {
    /// The fields of a link that make up its plan, in the order in which they are stored.
    PlanField {
        Rules = "rules",
        Split = "split",
        /// In a request the password, in a stored plan its hash.
        Password = "password",
        ValidFrom = "valid_from",
        ClickLimit = "click_limit",
        ExpiredUrl = "expired_url",
        PendingUrl = "pending_url",
        FallbackUrl = "fallback_url",
        Query = "query",
        Utm = "utm",
        Consent = "consent",
        App = "app",
        Card = "card",
        Robots = "robots",
    }
}

names! {
    /// What becomes of the request's query.
    QueryForwarding {
        Drop = "drop",
        Merge = "merge",
    }
}

names! {
    /// Whether search engines may list the short address.
    Robots {
        Noindex = "noindex",
        Index = "index",
    }
}

names! {
    /// When the page before the target is shown: each time, or once to each visitor in a visitor period.
    ConsentShow {
        Always = "always",
        Once = "once",
    }
}

names! {
    /// The parameters of a campaign.
    UtmField {
        Source = "source",
        Medium = "medium",
        Campaign = "campaign",
        Term = "term",
        Content = "content",
    }
}

/// Everything that decides where visitors of a link are sent, beyond its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDocument {
    pub rules: Vec<Rule>,
    pub split: Option<Split>,
    /// The hash of the password.
    pub password: Option<String>,
    pub valid_from: Option<Timestamp>,
    /// Visits in the link's whole life; 0: any number.
    pub click_limit: u64,
    pub expired_url: Option<String>,
    pub pending_url: Option<String>,
    pub fallback_url: Option<String>,
    /// `None`: as the workspace says.
    pub query: Option<QueryForwarding>,
    pub utm: Utm,
    pub consent: Option<Consent>,
    pub app: Option<AppLinks>,
    pub card: Option<Card>,
    /// `None`: as the workspace says.
    pub robots: Option<Robots>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: Option<String>,
    /// It is passed over.
    pub paused: bool,
    pub when: When,
    /// A test on an unknown value holds.
    pub unknown_matches: bool,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    To(String),
    Split(Split),
    /// 403, 404 or 451.
    Block(u16),
}

/// When a rule applies: all of `tests`, one of `any` if there are any, and not all of `not` if there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    pub tests: Tests,
    pub any: Vec<Tests>,
    pub not: Option<Tests>,
}

impl When {
    /// Whether it holds for everybody.
    pub fn is_empty(&self) -> bool {
        self.tests.0.is_empty() && self.any.is_empty() && self.not.is_none()
    }

    /// All lists of tests in it.
    pub fn all(&self) -> impl Iterator<Item = &Tests> {
        [&self.tests].into_iter().chain(&self.any).chain(&self.not)
    }
}

/// Tests of which all must hold, in the order of [`TestKey`], each key once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests(pub Vec<Test>);

/// One key with its values; for their spelling see [`TestKey::canonical_value`]. Sorted, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub key: TestKey,
    pub values: Vec<String>,
}

impl Tests {
    /// The values of a key; empty if it is not there.
    pub fn values(&self, key: TestKey) -> &[String] {
        self.0.iter().find(|test| test.key == key).map_or(&[], |test| &test.values)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Two to eight.
    pub variants: Vec<Variant>,
    /// From then on everybody gets the winner.
    pub ends_at: Option<Timestamp>,
    /// The name of a variant; without `ends_at` everybody gets it now.
    pub winner: Option<String>,
    /// Visitors are to be drawn again. Only in requests.
    pub fresh: bool,
    /// Random; decides who gets what.
    pub key: SplitKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub name: String,
    pub weight: u16,
    pub to: String,
}

/// The secret of a split.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SplitKey(pub [u8; SplitKey::BYTES]);

impl SplitKey {
    pub const BYTES: usize = 16;
}

/// A key is a secret.
impl std::fmt::Debug for SplitKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[hidden]")
    }
}

/// A text for each parameter of a campaign, by [`UtmField`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utm(pub [Option<String>; 5]);

impl Utm {
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub fn entries(&self) -> impl Iterator<Item = (UtmField, &str)> {
        let fields = UtmField::ALL.iter().copied().zip(&self.0);
        fields.filter_map(|(field, text)| Some((field, text.as_deref()?)))
    }
}

/// A page before the target. Without a text it has one in the visitor's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    pub text: Option<String>,
    pub button: Option<String>,
    pub show: ConsentShow,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppLinks {
    pub ios: Option<IosApp>,
    pub android: Option<AndroidApp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IosApp {
    /// Team and bundle: `ABCDE12345.com.example.app`.
    pub app_id: String,
    /// A path in the app, or an address with the app's own scheme.
    pub path: Option<String>,
    pub store_url: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndroidApp {
    pub package: String,
    /// Fingerprints of its certificates, `AB:CD:…`.
    pub sha256: Vec<String>,
    pub path: Option<String>,
    pub store_url: Option<String>,
}

/// What previews of the link show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub title: Option<String>,
    pub description: Option<String>,
    pub image_url: Option<String>,
}

/// What a workspace says for links that say nothing themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDefaults(PlanDocument);

impl PlanDefaults {
    pub const FIELDS: [PlanField; 5] = [
        PlanField::Query,
        PlanField::Utm,
        PlanField::ExpiredUrl,
        PlanField::Robots,
        PlanField::Consent,
    ];

    /// The fields of `document` that a workspace can have.
    pub fn of(document: &PlanDocument) -> Self {
        Self(PlanDocument {
            query: document.query,
            utm: document.utm.clone(),
            expired_url: document.expired_url.clone(),
            robots: document.robots,
            consent: document.consent.clone(),
            ..PlanDocument::default()
        })
    }

    /// As stored; refused if it has other fields.
    pub fn from_json(text: &str) -> Result<Self, PlanDamaged> {
        let document = PlanDocument::from_json(text)?;
        let defaults = Self::of(&document);
        if defaults.0 == document { Ok(defaults) } else { Err(PlanDamaged("other fields".into())) }
    }

    pub fn document(&self) -> &PlanDocument {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `document`, with what it does not say itself.
    pub fn complete(&self, document: &PlanDocument) -> PlanDocument {
        let mut whole = document.clone();
        whole.query = whole.query.or(self.0.query);
        for (own, default) in whole.utm.0.iter_mut().zip(&self.0.utm.0) {
            if own.is_none() {
                own.clone_from(default);
            }
        }
        whole.expired_url = whole.expired_url.or_else(|| self.0.expired_url.clone());
        whole.robots = whole.robots.or(self.0.robots);
        whole.consent = whole.consent.or_else(|| self.0.consent.clone());
        whole
    }
}

/// A stored plan that cannot be read: it was damaged, or a newer program wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan cannot be read: {0}")]
pub struct PlanDamaged(pub String);

impl PlanDocument {
    /// Whether nothing is set, so that nothing needs to be stored.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Read a stored plan without its keys.
    pub fn from_json(text: &str) -> Result<Self, PlanDamaged> {
        let tree = PlanJson::parse(text).map_err(|error| PlanDamaged(error.to_string()))?;
        let first = |problems: Vec<PlanProblem>| {
            let problem = problems.into_iter().next();
            PlanDamaged(problem.map(|it| format!("{}: {}", it.field, it.error)).unwrap_or_default())
        };
        read_document(&tree).map_err(first)
    }

    /// Read a stored plan with the keys of its splits.
    pub fn from_stored(text: &str, keys: &[u8]) -> Result<Self, PlanDamaged> {
        let mut document = Self::from_json(text)?;
        let (keys, rest) = keys.as_chunks::<{ SplitKey::BYTES }>();
        let mut keys = keys.iter();
        for split in document.splits_mut() {
            let key = keys.next().ok_or_else(|| PlanDamaged("a split has no key".into()))?;
            split.key = SplitKey(*key);
        }
        if keys.next().is_some() || !rest.is_empty() {
            return Err(PlanDamaged("a key has no split".into()));
        }
        Ok(document)
    }

    /// The text that is stored, with the hash of the password and without the keys.
    pub fn to_json(&self) -> String {
        let fields =
            PlanField::ALL.iter().map(|field| (field.name().to_owned(), self.field(*field)));
        let fields = fields.filter(|(_, value)| *value != PlanJson::Null).collect();
        serde_json::to_string(&PlanJson::Object(fields)).unwrap_or_default()
    }

    /// The keys of its splits, in the order of the text.
    pub fn keys(&self) -> Vec<u8> {
        self.splits().flat_map(|(_, split)| split.key.0).collect()
    }

    /// All splits, each with the place of its rule; that of the link itself has none.
    pub fn splits(&self) -> impl Iterator<Item = (Option<usize>, &Split)> {
        let of_rules = self.rules.iter().enumerate().filter_map(|(at, rule)| match &rule.action {
            Action::Split(split) => Some((Some(at), split)),
            Action::To(_) | Action::Block(_) => None,
        });
        of_rules.chain(self.split.iter().map(|split| (None, split)))
    }

    pub(super) fn splits_mut(&mut self) -> impl Iterator<Item = &mut Split> {
        let of_rules = self.rules.iter_mut().filter_map(|rule| match &mut rule.action {
            Action::Split(split) => Some(split),
            Action::To(_) | Action::Block(_) => None,
        });
        of_rules.chain(self.split.iter_mut())
    }

    /// Every URL in it that somebody may be sent to, with its field, for the checks of a target.
    pub fn urls(&self) -> Vec<(String, &str)> {
        let mut urls = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            match &rule.action {
                Action::To(to) => urls.push((format!("rules[{at}].to"), to.as_str())),
                Action::Split(split) => split.add_urls(&format!("rules[{at}].split"), &mut urls),
                Action::Block(_) => {}
            }
        }
        if let Some(split) = &self.split {
            split.add_urls("split", &mut urls);
        }
        let store = self.app.as_ref().map(|app| {
            let ios = app.ios.as_ref().and_then(|app| app.store_url.as_ref());
            let android = app.android.as_ref().and_then(|app| app.store_url.as_ref());
            (ios, android)
        });
        let (ios, android) = store.unwrap_or_default();
        for (field, url) in [
            ("expired_url", self.expired_url.as_ref()),
            ("pending_url", self.pending_url.as_ref()),
            ("fallback_url", self.fallback_url.as_ref()),
            ("app.ios.store_url", ios),
            ("app.android.store_url", android),
            ("card.image_url", self.card.as_ref().and_then(|card| card.image_url.as_ref())),
        ] {
            urls.extend(url.map(|url| (field.to_owned(), url.as_str())));
        }
        urls
    }
}

impl Split {
    fn add_urls<'a>(&'a self, field: &str, urls: &mut Vec<(String, &'a str)>) {
        let is_list = self.ends_at.is_none() && self.winner.is_none();
        let list = if is_list { "" } else { ".variants" };
        for (at, variant) in self.variants.iter().enumerate() {
            urls.push((format!("{field}{list}[{at}].to"), &variant.to));
        }
    }
}

impl Tests {
    pub(super) fn has(&self, key: TestKey) -> bool {
        self.0.iter().any(|test| test.key == key)
    }

    /// How many tests it has; a zone belongs to days and hours, and each parameter of a query is one.
    pub(super) fn count(&self) -> usize {
        let count = |test: &Test| match test.key {
            TestKey::Zone => 0,
            TestKey::Query => test.values.len(),
            _ => 1,
        };
        self.0.iter().map(count).sum()
    }
}
