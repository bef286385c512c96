//! Why a request leads where it leads: the same comparisons as for a redirect, each with the visitor's value.

use super::agent_class::{Browser, Device, InApp, Os};
use super::choose::{AskedInputs, Inputs, PlanChoice};
use super::compiled::{CompiledRule, CompiledTest, Needs, Plan, TestKind};
use super::query_pairs::first_value;
use super::test_key::TestKey;

/// One test of a rule that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedCondition {
    /// The place of the rule in the document.
    pub rule: u8,
    pub test: TestKey,
    /// The name of the parameter, of a test of the query.
    pub parameter: Option<String>,
    /// It stands in `any` or `not`.
    pub within: Option<&'static str>,
    /// What the visitor has; empty when it is unknown.
    pub value: String,
    /// Whether what is tested holds, `not` worked in; `None`: unknown.
    pub holds: Option<bool>,
}

/// A choice with its reasons: all tests of every rule up to the one that applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub choice: PlanChoice,
    pub reasons: Vec<TestedCondition>,
}

impl Plan {
    /// What [`Plan::choose`] gives, with reasons.
    pub fn explain<I: Inputs>(&self, inputs: &I) -> Explanation {
        let mut asked = AskedInputs::new(inputs);
        let mut reasons = Vec::new();
        for rule in &self.rules {
            self.add_reasons(rule, &mut asked, &mut reasons);
            if self.holds(rule, &mut asked) {
                let choice = self.act(rule.action, Some(rule.number), inputs);
                return Explanation { choice, reasons };
            }
        }
        Explanation { choice: self.default_choice(inputs), reasons }
    }

    fn add_reasons<I: Inputs>(
        &self,
        rule: &CompiledRule,
        asked: &mut AskedInputs<'_, I>,
        reasons: &mut Vec<TestedCondition>,
    ) {
        let groups = self.groups.get(rule.any.range()).unwrap_or_default();
        let spans = [(None, rule.all)].into_iter();
        let spans = spans.chain(groups.iter().map(|group| (Some("any"), *group)));
        for (within, span) in spans.chain([(Some("not"), rule.not)]) {
            for test in self.tests_of(span) {
                let holds = self.compare(test.kind, asked).map(|holds| holds != test.negated);
                reasons.push(TestedCondition {
                    rule: rule.number,
                    test: test.key,
                    parameter: self.parameter(test),
                    within,
                    value: self.value(test, asked),
                    holds,
                });
            }
        }
    }

    fn parameter(&self, test: &CompiledTest) -> Option<String> {
        match test.kind {
            TestKind::Query(at) => {
                let query = self.queries.get(usize::from(at))?;
                Some(String::from_utf8_lossy(&query.name).into_owned())
            }
            _ => None,
        }
    }

    /// The visitor's value that a test compares.
    fn value<I: Inputs>(&self, test: &CompiledTest, asked: &mut AskedInputs<'_, I>) -> String {
        let known = |name: Option<&'static str>| name.unwrap_or_default().to_owned();
        match test.kind {
            TestKind::Device(_) => known(asked.agent().device.map(Device::name)),
            TestKind::Os(_) => known(asked.agent().os.map(Os::name)),
            TestKind::Browser(_) => known(asked.agent().browser.map(Browser::name)),
            TestKind::InApp(_) => {
                let agent = asked.agent();
                let app = agent.in_app.map_or("none", InApp::name);
                known(agent.is_known.then_some(app))
            }
            TestKind::Language(_) => asked.language().text(),
            TestKind::Country(_) => {
                let country = asked.place().country;
                match test.key {
                    TestKey::Continent => known(country.continent()),
                    _ => country.text(),
                }
            }
            TestKind::Region(_) => asked.place().region.text(),
            TestKind::Network(_) => asked.inputs.address().map_or_else(String::new, |address| {
                std::net::Ipv6Addr::from_bits(address).to_canonical().to_string()
            }),
            TestKind::Query(at) => {
                let query = self.queries.get(usize::from(at));
                let value = query.and_then(|query| first_value(asked.inputs.query(), &query.name));
                String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
            }
            TestKind::Referrer(..) => {
                let host = asked.referrer();
                if host.is_empty() {
                    return String::new();
                }
                let host = String::from_utf8_lossy(host).to_ascii_lowercase();
                format!("{host} ({})", asked.channel().name())
            }
            TestKind::From(_) | TestKind::Until(_) | TestKind::Schedule(_) => {
                asked.inputs.now().to_rfc3339()
            }
            TestKind::Returning => known(
                asked.returning().map(|returning| if returning { "returning" } else { "first" }),
            ),
            TestKind::Qr => asked.is_qr().to_string(),
        }
    }

    /// How much a redirect by this plan costs, by what it looks at: `plain`, `light`, `place` or `page`.
    pub fn cost_class(&self) -> &'static str {
        if self.has_pages() {
            "page"
        } else if self.needs.has(Needs::PLACE) {
            "place"
        } else if self.has_choices() {
            "light"
        } else {
            "plain"
        }
    }
}
