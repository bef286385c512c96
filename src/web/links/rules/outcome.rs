//! What came of trying a link, in the reader's language.

use crate::app::Simulation;
use crate::language::Language;
use crate::web::i18n::{SimulateWords, Words, fill};
use crate::web::links::rules::sentence::visible_url;
use crate::web::links::rules::test_kinds::RuleTest;
use crate::web::page;
use kurz_core::plan::{TestKey, TestedCondition};
use kurz_core::time::Timestamp;

#[derive(Debug)]
pub(super) struct OutcomeView {
    /// What decides.
    pub(super) verdict: String,
    pub(super) location: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) status: u16,
    /// What the visitor sees on the way.
    pub(super) step: String,
    pub(super) counts: bool,
    pub(super) why: Vec<ReasonLine>,
}

#[derive(Debug)]
pub(super) struct ReasonLine {
    pub(super) rule: String,
    pub(super) test: String,
    pub(super) value: String,
    pub(super) holds: &'static str,
    pub(super) tone: &'static str,
    /// Whether its rule is the one that decided.
    pub(super) fires: bool,
}

impl OutcomeView {
    /// `names` are those of the rules that were tried.
    pub(super) fn of(outcome: Simulation, names: &[String], language: Language) -> Self {
        let w = &Words::of(language).simulate;
        let fired = outcome.rule.as_ref().map(|(rule, _)| *rule);
        let line = |reason: &TestedCondition| reason_line(reason, names, fired, language);
        Self {
            verdict: verdict(&outcome, w),
            step: steps(&outcome, w),
            location: outcome.location.as_deref().map(visible_url),
            variant: outcome.variant,
            status: outcome.status,
            counts: outcome.would_count,
            why: outcome.why.iter().map(line).collect(),
        }
    }
}

fn verdict(outcome: &Simulation, w: &SimulateWords) -> String {
    let before = match outcome.step {
        1 => Some(w.step_not_found),
        2 => Some(w.step_withheld),
        3 => Some(w.step_pending),
        4 => Some(w.step_expired),
        5 => Some(w.step_used_up),
        6 => Some(w.step_card),
        _ => None,
    };
    match (before, &outcome.rule) {
        (Some(before), _) => before.to_owned(),
        (None, Some((rule, Some(name)))) => fill(&fill(w.rule_fires, u16::from(*rule) + 1), name),
        (None, Some((rule, None))) => fill(w.rule_fires_unnamed, u16::from(*rule) + 1),
        (None, None) if outcome.variant.is_some() => w.no_rule_split.to_owned(),
        (None, None) => w.no_rule.to_owned(),
    }
}

/// What the visitor meets after the choice.
fn steps(outcome: &Simulation, w: &SimulateWords) -> String {
    let page = |name: &&'static str| match *name {
        "password" => w.step_password,
        "consent" => w.step_consent,
        _ => w.step_app,
    };
    let last = match outcome.step {
        8 => Some(w.step_blocked),
        9 => Some(w.step_quota),
        10 => Some(w.step_fallback),
        11.. => Some(w.step_redirect),
        _ => None,
    };
    outcome.pages.iter().map(page).chain(last).collect::<Vec<_>>().join(" ")
}

fn reason_line(
    reason: &TestedCondition,
    names: &[String],
    fired: Option<u8>,
    language: Language,
) -> ReasonLine {
    let words = Words::of(language);
    let w = &words.simulate;
    let number = usize::from(reason.rule) + 1;
    let name = names.get(usize::from(reason.rule)).filter(|name| !name.is_empty());
    let kind = RuleTest::find(reason.test.name());
    let mut test = kind.map_or(reason.test.name(), |kind| kind.label(&words.rules)).to_owned();
    if let Some(parameter) = &reason.parameter {
        test = format!("{test} {parameter}");
    }
    match reason.within {
        Some("not") => test = fill(words.rules.not, test),
        Some(_) => test = format!("{} {test}", words.rules.or),
        None => {}
    }
    let (holds, tone) = match reason.holds {
        Some(true) => (w.yes, "live"),
        Some(false) => (w.no, "gone"),
        None => (w.unknown, "late"),
    };
    ReasonLine {
        rule: name.map_or_else(|| number.to_string(), |name| format!("{number} · {name}")),
        test,
        value: value(reason, kind, language),
        holds,
        tone,
        fires: fired == Some(reason.rule),
    }
}

/// What the visitor has, as people call it.
fn value(reason: &TestedCondition, kind: Option<RuleTest>, language: Language) -> String {
    let unknown = Words::of(language).simulate.unknown;
    match reason.test {
        // A parameter that is not there is not unknown.
        TestKey::Query if reason.value.is_empty() => "–".to_owned(),
        _ if reason.value.is_empty() => unknown.to_owned(),
        TestKey::From | TestKey::ToTime | TestKey::Days | TestKey::Hours | TestKey::Zone => {
            let at = Timestamp::parse_rfc3339(&reason.value);
            at.map_or_else(|| reason.value.clone(), page::time)
        }
        TestKey::InApp if reason.value == "none" => "–".to_owned(),
        _ => kind.map_or_else(|| reason.value.clone(), |kind| kind.value(&reason.value, language)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(step: u8) -> Simulation {
        Simulation {
            step,
            rule: None,
            variant: None,
            status: 302,
            location: Some("https://example.com/".to_owned()),
            pages: Vec::new(),
            why: Vec::new(),
            would_count: true,
        }
    }

    #[test]
    fn an_outcome_says_which_rule_decides_and_why() {
        let reason = |rule, test, value: &str, holds| TestedCondition {
            rule,
            test,
            parameter: None,
            within: None,
            value: value.to_owned(),
            holds,
        };
        let why = vec![
            reason(0, TestKey::Country, "", None),
            reason(1, TestKey::Os, "ios", Some(true)),
            TestedCondition {
                within: Some("not"),
                ..reason(1, TestKey::Language, "de-AT", Some(true))
            },
        ];
        let names = ["a".to_owned(), String::new()];
        let rule = Some((1, Some("app".to_owned())));
        let shown =
            OutcomeView::of(Simulation { rule, why, ..outcome(13) }, &names, Language::English);
        assert_eq!(shown.verdict, "Rule 2 decides: app");
        let lines: Vec<_> = shown
            .why
            .iter()
            .map(|line| (&*line.rule, &*line.test, &*line.value, line.holds))
            .collect();
        assert_eq!(
            lines,
            [
                ("1 · a", "Country", "unknown", "unknown"),
                ("2", "Operating system", "iOS", "yes"),
                ("2", "not Language", "German (Austria)", "yes"),
            ]
        );
        assert!(!shown.why[0].fires && shown.why[1].fires);
    }

    #[test]
    fn every_step_has_a_sentence_in_every_language() {
        for (step, language) in
            (1..=13).flat_map(|step| Language::ALL.map(|language| (step, language)))
        {
            let shown = OutcomeView::of(outcome(step), &[], language);
            assert!(!shown.verdict.is_empty(), "{step}");
        }
        let pages = Simulation { pages: vec!["password", "consent"], ..outcome(13) };
        let shown = OutcomeView::of(pages, &[], Language::German);
        assert!(shown.step.contains("Passwort") && shown.step.contains("Seite vor dem Ziel"));
    }
}
