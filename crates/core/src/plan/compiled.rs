//! A plan as redirects go by it: flat arrays of tests over small numbers, and every URL ready to be sent. It is made
//! once, when a link is read into memory, and never changes.

use std::ops::Range;

use super::document::{AppLinks, Card, Consent, QueryForwarding, Robots};
use super::language_tag::LanguageRange;
use super::prepared_url::{PreparedUrl, Template};
use super::schedule::{DaySchedule, ZoneOffsets};
use super::split::CompiledSplit;
use super::test_key::{Network, TestKey};
use crate::link::LinkId;
use crate::time::Timestamp;

/// The most bytes of a compiled plan.
pub const PLAN_BYTES: usize = 64 * 1024;

/// What a plan looks at, a bit each, so that a request is asked for nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs(u16);

impl Needs {
    /// The class of the user agent.
    pub const AGENT: Self = Self(1);
    pub const LANGUAGE: Self = Self(1 << 1);
    pub const PLACE: Self = Self(1 << 2);
    pub const ADDRESS: Self = Self(1 << 3);
    pub const QUERY: Self = Self(1 << 4);
    pub const REFERRER: Self = Self(1 << 5);
    /// Whether the visitor was there before.
    pub const VISITOR: Self = Self(1 << 6);
    pub const CLOCK: Self = Self(1 << 7);
    /// The hash of the user agent.
    pub const AGENT_HASH: Self = Self(1 << 8);
    /// The host that was asked for.
    pub const HOST: Self = Self(1 << 9);

    /// Whether all of `needs` are set.
    #[inline]
    pub const fn has(self, needs: Self) -> bool {
        self.0 & needs.0 == needs.0
    }

    #[must_use]
    pub const fn with(self, needs: Self) -> Self {
        Self(self.0 | needs.0)
    }
}

/// Places in one of the arrays of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub from: u16,
    pub to: u16,
}

impl Span {
    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        usize::from(self.from)..usize::from(self.to)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.from == self.to
    }
}

/// What one test compares, by places in the arrays of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestKind {
    /// A bit for each number of the class.
    Device(u16),
    Os(u16),
    Browser(u16),
    InApp(u16),
    Language(Span),
    Country(Span),
    Region(Span),
    Network(Span),
    Query(u16),
    /// Hosts, and a bit for each channel.
    Referrer(Span, u16),
    From(u16),
    Until(u16),
    Schedule(u16),
    Returning,
    Qr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompiledTest {
    pub kind: TestKind,
    /// It stands in `not`, or asks for the opposite of what it compares.
    pub negated: bool,
    /// What users call it.
    pub key: TestKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompiledAction {
    Target(TargetId),
    Split(u16),
    Block(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompiledRule {
    /// Tests of which all must hold.
    pub all: Span,
    /// Groups of tests of which one must hold.
    pub any: Span,
    /// Negated tests of which one must hold.
    pub not: Span,
    pub unknown_matches: bool,
    /// Its place among the rules of the document, in which some may be paused.
    pub number: u8,
    pub action: CompiledAction,
}

/// A parameter of a query; texts by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompiledQuery {
    pub name: Box<[u8]>,
    pub value: CompiledValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompiledValue {
    Is(Box<[u8]>),
    StartsWith(Box<[u8]>),
    Any,
    None,
}

/// A URL of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetId(pub(super) u16);

impl TargetId {
    /// The link's own target.
    pub const OWN: Self = Self(0);
}

/// A compiled plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) link: LinkId,
    pub(super) needs: Needs,
    pub(super) rules: Box<[CompiledRule]>,
    pub(super) groups: Box<[Span]>,
    pub(super) tests: Box<[CompiledTest]>,
    pub(super) countries: Box<[u16]>,
    pub(super) regions: Box<[u32]>,
    pub(super) languages: Box<[LanguageRange]>,
    pub(super) networks: Box<[Network]>,
    pub(super) queries: Box<[CompiledQuery]>,
    /// Hosts; one that begins with a dot is a suffix.
    pub(super) hosts: Box<[Box<str>]>,
    pub(super) times: Box<[Timestamp]>,
    pub(super) schedules: Box<[(DaySchedule, u16)]>,
    pub(super) zones: Box<[ZoneOffsets]>,
    pub(super) splits: Box<[CompiledSplit]>,
    pub(super) split: Option<u16>,
    pub(super) targets: Box<[PreparedUrl]>,
    pub(super) utm: [Option<Template>; 5],
    pub(super) query: QueryForwarding,
    pub(super) no_track: Option<Box<str>>,
    pub(super) valid_from: Option<Timestamp>,
    pub(super) click_limit: u64,
    pub(super) expired: Option<TargetId>,
    pub(super) pending: Option<TargetId>,
    pub(super) fallback: Option<TargetId>,
    pub(super) robots: Robots,
    pub(super) pages: Option<Box<PageParts>>,
    /// Names of rules, by their places in the document.
    pub(super) names: Box<[Option<Box<str>>]>,
}

/// What pages before or instead of the target show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageParts {
    pub password: Option<String>,
    pub consent: Option<Consent>,
    pub app: Option<AppLinks>,
    pub card: Option<Card>,
}

impl Plan {
    #[inline]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// Before it the link is as if it were not there.
    #[inline]
    pub const fn valid_from(&self) -> Option<Timestamp> {
        self.valid_from
    }

    /// Visits in the link's whole life; 0: any number.
    #[inline]
    pub const fn click_limit(&self) -> u64 {
        self.click_limit
    }

    /// The `Location` after the link's end, and once its limit is used up.
    pub fn expired_location(&self) -> Option<&str> {
        self.fixed(self.expired)
    }

    /// The `Location` before `valid_from`.
    pub fn pending_location(&self) -> Option<&str> {
        self.fixed(self.pending)
    }

    fn fixed(&self, target: Option<TargetId>) -> Option<&str> {
        target.and_then(|target| self.target(target)).map(PreparedUrl::as_str)
    }

    /// Where to go while the chosen URL is down.
    #[inline]
    pub const fn fallback(&self) -> Option<TargetId> {
        self.fallback
    }

    #[inline]
    pub const fn robots(&self) -> Robots {
        self.robots
    }

    /// Whether visitors may see a page before the target or instead of it: a password, a consent, an app or a card.
    #[inline]
    pub const fn has_pages(&self) -> bool {
        self.pages.is_some()
    }

    /// The hash of the password.
    pub fn password(&self) -> Option<&str> {
        self.pages.as_ref()?.password.as_deref()
    }

    pub fn consent(&self) -> Option<&Consent> {
        self.pages.as_ref()?.consent.as_ref()
    }

    pub fn app(&self) -> Option<&AppLinks> {
        self.pages.as_ref()?.app.as_ref()
    }

    pub fn card(&self) -> Option<&Card> {
        self.pages.as_ref()?.card.as_ref()
    }

    /// A URL as it is sent where nothing depends on the request.
    #[inline]
    pub fn target(&self, target: TargetId) -> Option<&PreparedUrl> {
        self.targets.get(usize::from(target.0))
    }

    /// The URLs that rules, splits and the link itself lead to, each once, for a preview.
    pub fn destinations(&self) -> impl Iterator<Item = &str> {
        let aside = [self.expired, self.pending, self.fallback];
        let targets = (0..).zip(&self.targets);
        let targets = targets.filter(move |(at, _)| !aside.contains(&Some(TargetId(*at))));
        targets.map(|(_, url)| url.as_str())
    }

    /// Whether not everybody is sent to the same place.
    pub fn has_choices(&self) -> bool {
        !self.rules.is_empty() || self.split.is_some()
    }

    /// The name of a rule, by its place in the document.
    pub fn rule_name(&self, rule: u8) -> Option<&str> {
        self.names.get(usize::from(rule))?.as_deref()
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let texts = self.hosts.iter().map(|host| host.len() + size_of::<Box<str>>()).sum::<usize>();
        let queries = self.queries.iter().map(CompiledQuery::bytes).sum::<usize>();
        let names = self.names.iter().map(|name| name.as_ref().map_or(0, |name| name.len()));
        size_of::<Self>()
            + size_of_val(&*self.rules)
            + size_of_val(&*self.groups)
            + size_of_val(&*self.tests)
            + size_of_val(&*self.countries)
            + size_of_val(&*self.regions)
            + size_of_val(&*self.languages)
            + size_of_val(&*self.networks)
            + size_of_val(&*self.times)
            + size_of_val(&*self.schedules)
            + self.zones.iter().map(ZoneOffsets::bytes).sum::<usize>()
            + self.splits.iter().map(CompiledSplit::bytes).sum::<usize>()
            + self.targets.iter().map(PreparedUrl::bytes).sum::<usize>()
            + self.utm.iter().flatten().map(Template::bytes).sum::<usize>()
            + self.pages.as_ref().map_or(0, |pages| pages.bytes())
            + names.sum::<usize>()
            + texts
            + queries
    }
}

impl CompiledQuery {
    fn bytes(&self) -> usize {
        let value = match &self.value {
            CompiledValue::Is(text) | CompiledValue::StartsWith(text) => text.len(),
            CompiledValue::Any | CompiledValue::None => 0,
        };
        size_of::<Self>() + self.name.len() + value
    }
}

impl PageParts {
    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let card = self.card.as_ref().map_or(0, |card| {
            length(&card.title) + length(&card.description) + length(&card.image_url)
        });
        let consent = self.consent.as_ref();
        let consent = consent.map_or(0, |page| length(&page.text) + length(&page.button));
        let app = self.app.as_ref().map_or(0, |app| {
            let ios = app.ios.as_ref();
            let ios =
                ios.map_or(0, |app| app.app_id.len() + length(&app.path) + length(&app.store_url));
            let android = app.android.as_ref().map_or(0, |app| {
                let prints = app.sha256.iter().map(String::len).sum::<usize>();
                app.package.len() + prints + length(&app.path) + length(&app.store_url)
            });
            ios + android
        });
        size_of::<Self>() + length(&self.password) + card + consent + app
    }
}
