//! Which rule applies to a request, and where it leads. Nothing here allocates, locks or reads JSON.
//!
//! A test on an unknown value holds neither inside nor outside of `not`, unless the rule says that unknown matches.

use super::agent_class::{AgentClass, Browser, Device, InApp, Os};
use super::compiled::{
    CompiledAction, CompiledQuery, CompiledRule, CompiledTest, CompiledValue, Plan, Span, TargetId,
    TestKind,
};
use super::document::QueryForwarding;
use super::language_tag::LanguageTag;
use super::places::VisitorPlace;
use super::prepared_url::{Additions, Placeholder, QR_MARK, push_value};
use super::query_pairs::{first_value, name_is, starts_with};
use super::referrer::host_in;
use super::test_key::CHANNELS;
use crate::clicks::Channel;
use crate::time::Timestamp;

/// What a plan can ask about a request. Each is asked at most once in a choice, and only if a test that is reached
/// needs it.
pub trait Inputs {
    fn now(&self) -> Timestamp;

    fn agent(&self) -> AgentClass;

    /// The hash of the user agent, the same on all instances; 0 when there is none.
    fn agent_hash(&self) -> u64;

    /// The field `Accept-Language`; empty when there is none.
    fn accept_language(&self) -> &[u8];

    fn place(&self) -> VisitorPlace;

    /// The client's address, IPv4 as mapped into IPv6.
    fn address(&self) -> Option<u128>;

    /// Without the question mark.
    fn query(&self) -> &[u8];

    /// The field `Referer`; empty when there is none.
    fn referrer(&self) -> &[u8];

    /// The channel of a referrer's host, which may have upper-case letters.
    fn channel(&self, host: &[u8]) -> Channel;

    /// Whether the visitor was seen on this link in this visitor period; `None`: nobody knows.
    fn is_returning(&self) -> Option<bool>;

    /// The host that was asked for.
    fn host(&self) -> &str;
}

/// Where a request leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanOutcome {
    Target(TargetId),
    /// 403, 404 or 451.
    Block(u16),
}

/// What was chosen for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanChoice {
    pub outcome: PlanOutcome,
    /// The place of the rule in the document; `None`: no rule applied.
    pub rule: Option<u8>,
    /// The place of the variant in its split.
    pub variant: Option<u8>,
    split: Option<u16>,
}

#[derive(Clone, Copy)]
enum Returning {
    NotAsked,
    Is(Option<bool>),
}

/// The values that were asked for already.
pub(super) struct AskedInputs<'a, I> {
    pub(super) inputs: &'a I,
    agent: Option<AgentClass>,
    language: Option<LanguageTag>,
    place: Option<VisitorPlace>,
    referrer: Option<&'a [u8]>,
    channel: Option<Channel>,
    returning: Returning,
}

impl<'a, I: Inputs> AskedInputs<'a, I> {
    pub(super) const fn new(inputs: &'a I) -> Self {
        Self {
            inputs,
            agent: None,
            language: None,
            place: None,
            referrer: None,
            channel: None,
            returning: Returning::NotAsked,
        }
    }

    pub(super) fn agent(&mut self) -> AgentClass {
        *self.agent.get_or_insert_with(|| self.inputs.agent())
    }

    pub(super) fn language(&mut self) -> LanguageTag {
        let inputs = self.inputs;
        *self.language.get_or_insert_with(|| LanguageTag::preferred(inputs.accept_language()))
    }

    pub(super) fn place(&mut self) -> VisitorPlace {
        *self.place.get_or_insert_with(|| self.inputs.place())
    }

    /// The host of the referrer; empty when there is none.
    pub(super) fn referrer(&mut self) -> &'a [u8] {
        let inputs = self.inputs;
        self.referrer.get_or_insert_with(|| host_in(inputs.referrer()))
    }

    pub(super) fn channel(&mut self) -> Channel {
        let host = self.referrer();
        *self.channel.get_or_insert_with(|| {
            if host.is_empty() { Channel::Direct } else { self.inputs.channel(host) }
        })
    }

    pub(super) fn returning(&mut self) -> Option<bool> {
        if let Returning::Is(known) = self.returning {
            return known;
        }
        let known = self.inputs.is_returning();
        self.returning = Returning::Is(known);
        known
    }

    pub(super) fn is_qr(&self) -> bool {
        is_qr(self.inputs.query())
    }
}

fn is_qr(query: &[u8]) -> bool {
    first_value(query, QR_MARK.as_bytes()).is_some()
}

/// Whether a number is among the bits; 0 is unknown.
#[inline]
fn among(bits: u16, number: Option<u8>) -> Option<bool> {
    number.map(|number| bits >> number & 1 == 1)
}

impl Plan {
    /// What applies to a request: the first rule that holds, else the link's split, else its target.
    #[inline]
    pub fn choose<I: Inputs>(&self, inputs: &I) -> PlanChoice {
        let mut asked = AskedInputs::new(inputs);
        for rule in &self.rules {
            if self.holds(rule, &mut asked) {
                return self.act(rule.action, Some(rule.number), inputs);
            }
        }
        self.default_choice(inputs)
    }

    /// What applies when no rule does.
    pub(super) fn default_choice<I: Inputs>(&self, inputs: &I) -> PlanChoice {
        let action = match self.split {
            Some(split) => CompiledAction::Split(split),
            None => CompiledAction::Target(TargetId::OWN),
        };
        self.act(action, None, inputs)
    }

    pub(super) fn act<I: Inputs>(
        &self,
        action: CompiledAction,
        rule: Option<u8>,
        inputs: &I,
    ) -> PlanChoice {
        let (outcome, split, variant) = match action {
            CompiledAction::Target(target) => (PlanOutcome::Target(target), None, None),
            CompiledAction::Block(status) => (PlanOutcome::Block(status), None, None),
            CompiledAction::Split(at) => match self.splits.get(usize::from(at)) {
                Some(split) => {
                    let address = inputs.address().unwrap_or_default();
                    let variant =
                        split.choose(self.link, inputs.now(), address, inputs.agent_hash());
                    (PlanOutcome::Target(split.target(variant)), Some(at), Some(variant))
                }
                None => (PlanOutcome::Block(404), None, None),
            },
        };
        PlanChoice { outcome, rule, variant, split }
    }

    #[inline]
    pub(super) fn holds<I: Inputs>(
        &self,
        rule: &CompiledRule,
        asked: &mut AskedInputs<'_, I>,
    ) -> bool {
        let unknown = rule.unknown_matches;
        if !self.all_hold(rule.all, unknown, asked) {
            return false;
        }
        if !rule.any.is_empty() {
            let groups = self.groups.get(rule.any.range()).unwrap_or_default();
            if !groups.iter().any(|group| self.all_hold(*group, unknown, asked)) {
                return false;
            }
        }
        rule.not.is_empty()
            || self.tests_of(rule.not).iter().any(|test| self.test_holds(test, unknown, asked))
    }

    #[inline]
    pub(super) fn tests_of(&self, span: Span) -> &[CompiledTest] {
        self.tests.get(span.range()).unwrap_or_default()
    }

    #[inline]
    fn all_hold<I: Inputs>(
        &self,
        span: Span,
        unknown: bool,
        asked: &mut AskedInputs<'_, I>,
    ) -> bool {
        self.tests_of(span).iter().all(|test| self.test_holds(test, unknown, asked))
    }

    #[inline]
    fn test_holds<I: Inputs>(
        &self,
        test: &CompiledTest,
        unknown: bool,
        asked: &mut AskedInputs<'_, I>,
    ) -> bool {
        self.compare(test.kind, asked).map_or(unknown, |holds| holds != test.negated)
    }

    /// Whether a value is what the test compares it with; `None`: it is unknown.
    #[inline]
    pub(super) fn compare<I: Inputs>(
        &self,
        kind: TestKind,
        asked: &mut AskedInputs<'_, I>,
    ) -> Option<bool> {
        match kind {
            TestKind::Device(bits) => among(bits, asked.agent().device.map(Device::number)),
            TestKind::Os(bits) => among(bits, asked.agent().os.map(Os::number)),
            TestKind::Browser(bits) => among(bits, asked.agent().browser.map(Browser::number)),
            TestKind::InApp(bits) => {
                let agent = asked.agent();
                let app = agent.in_app.map_or(0, InApp::number);
                among(bits, agent.is_known.then_some(app))
            }
            TestKind::Language(span) => {
                let tag = asked.language();
                let ranges = self.languages.get(span.range()).unwrap_or_default();
                tag.is_known().then(|| ranges.iter().any(|range| range.matches(tag)))
            }
            TestKind::Country(span) => {
                let country = asked.place().country;
                let all = self.countries.get(span.range()).unwrap_or_default();
                country.is_known().then(|| all.binary_search(&country.number()).is_ok())
            }
            TestKind::Region(span) => {
                let region = asked.place().region;
                let all = self.regions.get(span.range()).unwrap_or_default();
                region.is_known().then(|| all.binary_search(&region.number()).is_ok())
            }
            TestKind::Network(span) => {
                let networks = self.networks.get(span.range()).unwrap_or_default();
                asked.inputs.address().map(|address| {
                    networks.iter().any(|it| (it.first..=it.last).contains(&address))
                })
            }
            TestKind::Query(at) => {
                let test = self.queries.get(usize::from(at))?;
                Some(test.holds(asked.inputs.query()))
            }
            TestKind::Referrer(hosts, channels) => self.compare_referrer(hosts, channels, asked),
            TestKind::From(at) => Some(asked.inputs.now() >= *self.times.get(usize::from(at))?),
            TestKind::Until(at) => Some(asked.inputs.now() < *self.times.get(usize::from(at))?),
            TestKind::Schedule(at) => {
                let (schedule, zone) = self.schedules.get(usize::from(at))?;
                let zone = self.zones.get(usize::from(*zone))?;
                Some(schedule.holds(asked.inputs.now(), zone))
            }
            TestKind::Returning => asked.returning(),
            TestKind::Qr => Some(asked.is_qr()),
        }
    }

    /// Without a referrer nothing but the channel `direct` is known.
    fn compare_referrer<I: Inputs>(
        &self,
        hosts: Span,
        channels: u16,
        asked: &mut AskedInputs<'_, I>,
    ) -> Option<bool> {
        let host = asked.referrer();
        let all = self.hosts.get(hosts.range()).unwrap_or_default();
        let is_host = |known: &str| match known.strip_prefix('.') {
            None => host.eq_ignore_ascii_case(known.as_bytes()),
            Some(suffix) => {
                let start = host.len().checked_sub(suffix.len());
                let (before, end) = start.map_or((host, &b""[..]), |at| host.split_at(at));
                end.eq_ignore_ascii_case(suffix.as_bytes())
                    && (before.is_empty() || before.ends_with(b"."))
            }
        };
        if !host.is_empty() && all.iter().any(|known| is_host(known)) {
            return Some(true);
        }
        if channels != 0 {
            let channel = asked.channel();
            let place = CHANNELS.iter().position(|known| *known == channel);
            if place.is_some_and(|place| channels >> place & 1 == 1) {
                return Some(true);
            }
        }
        (!host.is_empty()).then_some(false)
    }

    /// The name of the variant of a choice; empty if there is none.
    #[inline]
    pub fn variant_name(&self, choice: &PlanChoice) -> &str {
        let split = choice.split.and_then(|split| self.splits.get(usize::from(split)));
        split.zip(choice.variant).map_or("", |(split, variant)| split.name(variant))
    }

    /// Whether the split of a choice has ended, so that its visitors no longer compare anything.
    pub fn is_decided(&self, choice: &PlanChoice, now: Timestamp) -> bool {
        let split = choice.split.and_then(|split| self.splits.get(usize::from(split)));
        split.is_some_and(|split| split.is_over(now))
    }

    /// The `Location` of a URL for a request. `buffer` is used when it depends on the request.
    #[inline]
    pub fn location<'a, I: Inputs>(
        &'a self,
        target: TargetId,
        choice: &PlanChoice,
        inputs: &I,
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let Some(url) = self.target(target) else { return b"" };
        let is_merged = self.query == QueryForwarding::Merge && !inputs.query().is_empty();
        if !is_merged && !url.is_open() {
            return url.as_str().as_bytes();
        }
        buffer.clear();
        let additions = Additions {
            forwarded: is_merged.then(|| inputs.query()),
            no_track: self.no_track.as_deref(),
            utm: &self.utm,
            value: |placeholder, out: &mut Vec<u8>| {
                self.push_placeholder(placeholder, choice, inputs, out);
            },
        };
        additions.write(url, buffer);
        buffer
    }

    fn push_placeholder<I: Inputs>(
        &self,
        placeholder: Placeholder,
        choice: &PlanChoice,
        inputs: &I,
        out: &mut Vec<u8>,
    ) {
        match placeholder {
            Placeholder::Host => push_value(out, inputs.host().as_bytes()),
            Placeholder::Variant => push_value(out, self.variant_name(choice).as_bytes()),
            Placeholder::Country => {
                push_value(out, inputs.place().country.letters().as_slice());
            }
            Placeholder::Device => {
                push_value(out, inputs.agent().device.map_or("", Device::name).as_bytes());
            }
            Placeholder::Qr => {
                push_value(out, if is_qr(inputs.query()) { QR_MARK } else { "" }.as_bytes());
            }
            // Worked in when the plan was compiled.
            Placeholder::Code | Placeholder::Workspace => {}
        }
    }
}

impl CompiledQuery {
    #[inline]
    fn holds(&self, query: &[u8]) -> bool {
        let Some(found) = first_value(query, &self.name) else { return false };
        match &self.value {
            CompiledValue::Any => true,
            CompiledValue::None => found.is_empty(),
            CompiledValue::Is(value) => name_is(found, value),
            CompiledValue::StartsWith(start) => starts_with(found, start),
        }
    }
}
