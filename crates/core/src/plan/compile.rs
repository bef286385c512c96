//! From the document of a plan to its compiled form.

use thiserror::Error;

use super::agent_class::{Browser, Device, InApp, Os};
use super::compiled::{
    CompiledAction, CompiledQuery, CompiledRule, CompiledTest, CompiledValue, Needs, PLAN_BYTES,
    PageParts, Plan, Span, TargetId, TestKind,
};
use super::document::{Action, PlanDocument, QueryForwarding, Robots, Rule, Split, Test, Tests};
use super::language_tag::LanguageRange;
use super::places::{Country, Region, countries_of, countries_of_union};
use super::prepared_url::{Placeholder, PreparedUrl, Template, templates};
use super::schedule::{DaySchedule, ZoneOffsets};
use super::split::CompiledSplit;
use super::test_key::{CHANNELS, Day, Hours, Network, QueryTest, QueryValue, TestKey};
use crate::link::LinkId;
use crate::time::Timestamp;

/// Why a plan cannot be used. A stored one was checked: then it is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    #[error("the plan cannot be compiled: {0}")]
    Damaged(String),
    #[error("a compiled plan has at most {PLAN_BYTES} bytes; this one has {0}")]
    TooLarge(usize),
}

/// What a plan is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct CompileContext<'a> {
    pub link: LinkId,
    /// The link's own target.
    pub target: &'a str,
    pub code: &'a str,
    pub workspace: &'a str,
    /// The parameter by which a visitor asks not to be tracked.
    pub no_track: Option<&'a str>,
    pub now: Timestamp,
}

impl Plan {
    /// Compile a document that has what its workspace adds ([`super::PlanDefaults::complete`]).
    pub fn compile(
        document: &PlanDocument,
        context: &CompileContext<'_>,
    ) -> Result<Self, CompileError> {
        let utm = templates(&document.utm, context.code, context.workspace)
            .map_err(|text| damaged("utm", &text))?;
        let mut compiler = Compiler::new(&utm, context.now);
        compiler.target(context.target)?;
        let rules = document.rules.iter().enumerate().filter(|(_, rule)| !rule.paused);
        let rules: Vec<CompiledRule> =
            rules.map(|(at, rule)| compiler.rule(at, rule)).collect::<Result<_, _>>()?;
        let split = document.split.as_ref().map(|split| compiler.split(split)).transpose()?;
        let fallback =
            document.fallback_url.as_ref().map(|url| compiler.target(url)).transpose()?;
        let expired = document.expired_url.as_ref().map(|url| compiler.plain_target(url));
        let pending = document.pending_url.as_ref().map(|url| compiler.plain_target(url));
        let (expired, pending) = (expired.transpose()?, pending.transpose()?);
        let pages = PageParts {
            password: document.password.clone(),
            consent: document.consent.clone(),
            app: document.app.clone(),
            card: document.card.clone(),
        };
        let plan = Self {
            link: context.link,
            needs: compiler.needs.with(other_needs(document, &compiler.targets, &utm)),
            rules: rules.into(),
            groups: compiler.groups.into(),
            tests: compiler.tests.into(),
            countries: compiler.countries.into(),
            regions: compiler.regions.into(),
            languages: compiler.languages.into(),
            networks: compiler.networks.into(),
            queries: compiler.queries.into(),
            hosts: compiler.hosts.into(),
            times: compiler.times.into(),
            schedules: compiler.schedules.into(),
            zones: compiler.zones.into_iter().map(|(_, zone)| zone).collect(),
            splits: compiler.splits.into(),
            split,
            targets: compiler.targets.into(),
            query: document.query.unwrap_or(QueryForwarding::Drop),
            no_track: context.no_track.map(Into::into),
            valid_from: document.valid_from,
            click_limit: document.click_limit,
            expired,
            pending,
            fallback,
            robots: document.robots.unwrap_or(Robots::Noindex),
            pages: (pages != PageParts::default()).then(|| Box::new(pages)),
            names: document.rules.iter().map(|rule| rule.name.as_deref().map(Into::into)).collect(),
            utm,
        };
        let bytes = plan.bytes();
        if bytes > PLAN_BYTES { Err(CompileError::TooLarge(bytes)) } else { Ok(plan) }
    }
}

/// What is looked at beside tests and splits.
fn other_needs(
    document: &PlanDocument,
    targets: &[PreparedUrl],
    utm: &[Option<Template>; 5],
) -> Needs {
    let mut needs = Needs::default();
    if document.query == Some(QueryForwarding::Merge) {
        needs = needs.with(Needs::QUERY);
    }
    let has_page = document.card.is_some() || document.app.is_some() || document.click_limit > 0;
    if has_page {
        needs = needs.with(Needs::AGENT);
    }
    if targets.iter().any(PreparedUrl::is_open) {
        for placeholder in utm.iter().flatten().flat_map(Template::placeholders) {
            needs = needs.with(match placeholder {
                Placeholder::Host => Needs::HOST,
                Placeholder::Country => Needs::PLACE,
                Placeholder::Device => Needs::AGENT,
                Placeholder::Qr => Needs::QUERY,
                Placeholder::Code | Placeholder::Workspace | Placeholder::Variant => continue,
            });
        }
    }
    needs
}

fn damaged(what: &str, value: &str) -> CompileError {
    CompileError::Damaged(format!("{what} {value}"))
}

/// The arrays of a plan while they grow.
struct Compiler<'a> {
    utm: &'a [Option<Template>; 5],
    now: Timestamp,
    needs: Needs,
    groups: Vec<Span>,
    tests: Vec<CompiledTest>,
    countries: Vec<u16>,
    regions: Vec<u32>,
    languages: Vec<LanguageRange>,
    networks: Vec<Network>,
    queries: Vec<CompiledQuery>,
    hosts: Vec<Box<str>>,
    times: Vec<Timestamp>,
    schedules: Vec<(DaySchedule, u16)>,
    zones: Vec<(String, ZoneOffsets)>,
    splits: Vec<CompiledSplit>,
    targets: Vec<PreparedUrl>,
}

/// The number of the next item.
fn place<T>(items: &[T]) -> Result<u16, CompileError> {
    u16::try_from(items.len()).map_err(|_| CompileError::TooLarge(items.len()))
}

/// Append items, as a span.
fn add<T>(items: &mut Vec<T>, new: impl IntoIterator<Item = T>) -> Result<Span, CompileError> {
    let from = place(items)?;
    items.extend(new);
    Ok(Span { from, to: place(items)? })
}

/// A bit for each of the values, by their numbers.
fn bits<T: Copy>(
    test: &Test,
    parse: impl Fn(&str) -> Option<T>,
    number: impl Fn(T) -> u8,
) -> Result<u16, CompileError> {
    test.values.iter().try_fold(0, |bits, value| {
        let value = parse(value).ok_or_else(|| damaged(test.key.name(), value))?;
        Ok(bits | 1 << number(value))
    })
}

impl<'a> Compiler<'a> {
    fn new(utm: &'a [Option<Template>; 5], now: Timestamp) -> Self {
        Self {
            utm,
            now,
            needs: Needs::default(),
            groups: Vec::new(),
            tests: Vec::new(),
            countries: Vec::new(),
            regions: Vec::new(),
            languages: Vec::new(),
            networks: Vec::new(),
            queries: Vec::new(),
            hosts: Vec::new(),
            times: Vec::new(),
            schedules: Vec::new(),
            zones: Vec::new(),
            splits: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn need(&mut self, needs: Needs) {
        self.needs = self.needs.with(needs);
    }

    /// A URL that gets the parameters of the campaign.
    fn target(&mut self, url: &str) -> Result<TargetId, CompileError> {
        let prepared = PreparedUrl::prepare(url, self.utm);
        self.add_target(url, prepared.ok())
    }

    fn plain_target(&mut self, url: &str) -> Result<TargetId, CompileError> {
        let prepared = PreparedUrl::prepare(url, &[const { None }; 5]);
        self.add_target(url, prepared.ok())
    }

    fn add_target(
        &mut self,
        url: &str,
        prepared: Option<PreparedUrl>,
    ) -> Result<TargetId, CompileError> {
        let id = TargetId(place(&self.targets)?);
        self.targets.push(prepared.ok_or_else(|| damaged("the URL", url))?);
        Ok(id)
    }

    fn rule(&mut self, at: usize, rule: &Rule) -> Result<CompiledRule, CompileError> {
        let all = self.list(&rule.when.tests, false)?;
        let mut groups = Vec::with_capacity(rule.when.any.len());
        for tests in &rule.when.any {
            groups.push(self.list(tests, false)?);
        }
        let any = add(&mut self.groups, groups)?;
        let not = match &rule.when.not {
            Some(tests) => self.list(tests, true)?,
            None => Span::default(),
        };
        let action = match &rule.action {
            Action::To(url) => CompiledAction::Target(self.target(url)?),
            Action::Split(split) => CompiledAction::Split(self.split(split)?),
            Action::Block(status) => CompiledAction::Block(*status),
        };
        let number = u8::try_from(at).map_err(|_| CompileError::TooLarge(at))?;
        Ok(CompiledRule { all, any, not, unknown_matches: rule.unknown_matches, number, action })
    }

    fn split(&mut self, split: &Split) -> Result<u16, CompileError> {
        let first = TargetId(place(&self.targets)?);
        if !(2..=8).contains(&split.variants.len()) {
            return Err(damaged("a split of", &split.variants.len().to_string()));
        }
        for variant in &split.variants {
            self.target(&variant.to)?;
        }
        self.need(Needs::ADDRESS.with(Needs::AGENT_HASH));
        let id = place(&self.splits)?;
        self.splits.push(CompiledSplit::new(split, first));
        Ok(id)
    }

    fn list(&mut self, tests: &Tests, negated: bool) -> Result<Span, CompileError> {
        let from = place(&self.tests)?;
        for test in &tests.0 {
            self.test(test, tests, negated)?;
        }
        Ok(Span { from, to: place(&self.tests)? })
    }

    fn test(&mut self, test: &Test, tests: &Tests, negated: bool) -> Result<(), CompileError> {
        let key = test.key;
        let first = test.values.first().map_or("", String::as_str);
        let is_opposite = matches!(key, TestKey::Eu | TestKey::Qr) && first == "false"
            || key == TestKey::Visitor && first == "first";
        let negated = negated != is_opposite;
        let kind = match key {
            // Each parameter is a test of its own.
            TestKey::Query => return self.query(test, negated),
            // One test with the hours, or with the days.
            TestKey::Zone => return Ok(()),
            TestKey::Days if !tests.values(TestKey::Hours).is_empty() => return Ok(()),
            TestKey::Days | TestKey::Hours => self.schedule(tests)?,
            TestKey::Device | TestKey::Os | TestKey::Browser | TestKey::InApp => {
                self.agent(test)?
            }
            TestKey::Country | TestKey::Continent | TestKey::Eu => self.country(test)?,
            TestKey::Region => self.region(test)?,
            TestKey::Language => self.language(test)?,
            TestKey::Network => self.network(test)?,
            TestKey::Referrer => self.referrer(test)?,
            TestKey::From | TestKey::ToTime => {
                let time =
                    Timestamp::parse_rfc3339(first).ok_or_else(|| damaged(key.name(), first))?;
                self.need(Needs::CLOCK);
                let at = place(&self.times)?;
                self.times.push(time);
                if key == TestKey::From { TestKind::From(at) } else { TestKind::Until(at) }
            }
            TestKey::Visitor => {
                self.need(Needs::VISITOR);
                TestKind::Returning
            }
            TestKey::Qr => {
                self.need(Needs::QUERY);
                TestKind::Qr
            }
        };
        self.tests.push(CompiledTest { kind, negated, key });
        Ok(())
    }

    fn agent(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::AGENT);
        Ok(match test.key {
            TestKey::Device => TestKind::Device(bits(test, Device::parse, Device::number)?),
            TestKey::Os => TestKind::Os(bits(test, Os::parse, Os::number)?),
            TestKey::Browser => TestKind::Browser(bits(test, Browser::parse, Browser::number)?),
            // Any number of an app, but not 0, which is none.
            _ if test.values.iter().any(|value| value == "true") => TestKind::InApp(u16::MAX - 1),
            _ => TestKind::InApp(bits(test, InApp::parse, InApp::number)?),
        })
    }

    fn country(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::PLACE);
        let mut countries: Vec<u16> = match test.key {
            TestKey::Eu => countries_of_union().map(Country::number).collect(),
            TestKey::Continent => {
                let all = test.values.iter().flat_map(|value| countries_of(value));
                all.map(Country::number).collect()
            }
            _ => test.values.iter().map(|value| Country::from_text(value).number()).collect(),
        };
        countries.sort_unstable();
        if countries.is_empty() || countries.contains(&0) {
            return Err(damaged(test.key.name(), &test.values.join(" ")));
        }
        Ok(TestKind::Country(add(&mut self.countries, countries)?))
    }

    fn region(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::PLACE);
        let mut regions: Vec<u32> =
            test.values.iter().map(|value| Region::from_text(value).number()).collect();
        regions.sort_unstable();
        if regions.contains(&0) {
            return Err(damaged(test.key.name(), &test.values.join(" ")));
        }
        Ok(TestKind::Region(add(&mut self.regions, regions)?))
    }

    fn language(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::LANGUAGE);
        let ranges = test.values.iter().map(|value| {
            LanguageRange::parse(value).ok_or_else(|| damaged(test.key.name(), value))
        });
        let ranges: Vec<_> = ranges.collect::<Result<_, _>>()?;
        Ok(TestKind::Language(add(&mut self.languages, ranges)?))
    }

    fn network(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::ADDRESS);
        let networks = test
            .values
            .iter()
            .map(|value| Network::parse(value).ok_or_else(|| damaged(test.key.name(), value)));
        let networks: Vec<_> = networks.collect::<Result<_, _>>()?;
        Ok(TestKind::Network(add(&mut self.networks, networks)?))
    }

    fn query(&mut self, test: &Test, negated: bool) -> Result<(), CompileError> {
        self.need(Needs::QUERY);
        for value in &test.values {
            let parsed = QueryTest::parse(value).ok_or_else(|| damaged(test.key.name(), value))?;
            let value = match parsed.value {
                QueryValue::Is(value) => CompiledValue::Is(value.as_bytes().into()),
                QueryValue::StartsWith(start) => CompiledValue::StartsWith(start.as_bytes().into()),
                QueryValue::Any => CompiledValue::Any,
                QueryValue::None => CompiledValue::None,
            };
            let kind = TestKind::Query(place(&self.queries)?);
            self.queries.push(CompiledQuery { name: parsed.name.as_bytes().into(), value });
            self.tests.push(CompiledTest { kind, negated, key: test.key });
        }
        Ok(())
    }

    fn referrer(&mut self, test: &Test) -> Result<TestKind, CompileError> {
        self.need(Needs::REFERRER);
        let mut channels = 0;
        let mut hosts: Vec<Box<str>> = Vec::new();
        for value in &test.values {
            match value.strip_prefix("channel:") {
                None => hosts.push(value.as_str().into()),
                Some(name) => {
                    let known = CHANNELS.iter().position(|channel| channel.name() == name);
                    channels |= 1 << known.ok_or_else(|| damaged(test.key.name(), value))?;
                }
            }
        }
        Ok(TestKind::Referrer(add(&mut self.hosts, hosts)?, channels))
    }

    fn schedule(&mut self, tests: &Tests) -> Result<TestKind, CompileError> {
        self.need(Needs::CLOCK);
        let days = tests.values(TestKey::Days).iter();
        let days = days.map(|day| Day::parse(day).ok_or_else(|| damaged("days", day)));
        let days: Vec<Day> = days.collect::<Result<_, _>>()?;
        let hours = tests.values(TestKey::Hours).first();
        let hours = hours.map(|text| Hours::parse(text).ok_or_else(|| damaged("hours", text)));
        let zone = tests.values(TestKey::Zone).first().map_or("UTC", String::as_str);
        let zone_id = self.zone(zone)?;
        let at = place(&self.schedules)?;
        self.schedules.push((DaySchedule::new(&days, hours.transpose()?), zone_id));
        Ok(TestKind::Schedule(at))
    }

    fn zone(&mut self, zone: &str) -> Result<u16, CompileError> {
        if let Some(known) = self.zones.iter().position(|(name, _)| name == zone) {
            return u16::try_from(known).map_err(|_| CompileError::TooLarge(known));
        }
        let offsets = ZoneOffsets::new(zone, self.now).ok_or_else(|| damaged("zone", zone))?;
        let id = place(&self.zones)?;
        self.zones.push((zone.to_owned(), offsets));
        Ok(id)
    }
}
