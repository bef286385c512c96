//! The plan of a link on its page: rules as sentences with their shares of the clicks, results of its splits, and the
//! other options in short. Also the marks in lists of links.

use serde_json::Value;

use crate::app::{App, ShownLink, SplitResults, VariantResult};
use crate::language::Language;
use crate::web::i18n::{Words, fill, formats};
use crate::web::links::WorkspaceView;
use crate::web::links::form_fields::plain;
use crate::web::links::plan_page::{plan_of, version};
use crate::web::links::rules::{RuleTarget, Sentence, address, destinations, variants};
use crate::web::page;
use crate::web::visitor::Visitor;
use kurz_core::analytics::{AnalyticsReport, GroupRow};
use kurz_core::time::Timestamp;

#[derive(Debug)]
pub(super) struct PlanCard {
    pub(super) version: i64,
    pub(super) rules: Vec<RuleLine>,
    has_split: bool,
    pub(super) rest_name: &'static str,
    pub(super) rest: Vec<RuleTarget>,
    pub(super) rest_share: Option<String>,
    /// The other options: names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) results: Vec<SplitResult>,
}

#[derive(Debug)]
pub(super) struct RuleLine {
    pub(super) path: String,
    pub(super) number: usize,
    pub(super) name: String,
    /// What buttons call it.
    pub(super) called: String,
    pub(super) sentence: Sentence,
    pub(super) share: Option<String>,
    pub(super) is_paused: bool,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

/// How often each variant of a split was chosen.
#[derive(Debug)]
pub(super) struct SplitResult {
    pub(super) title: String,
    pub(super) rows: Vec<VariantRow>,
    /// Whether the shares differ from the weights by more than chance explains.
    pub(super) is_uneven: bool,
}

#[derive(Debug)]
pub(super) struct VariantRow {
    pub(super) name: String,
    pub(super) clicks: String,
    pub(super) visitors: String,
    pub(super) share: String,
    pub(super) aim: String,
}

impl PlanCard {
    pub(super) const fn has_rules(&self) -> bool {
        !self.rules.is_empty() || self.has_split
    }

    /// The card of a link. Shares are left out when the clicks cannot be read.
    pub(super) async fn read(
        app: &App,
        visitor: &Visitor,
        place: &WorkspaceView,
        shown: &ShownLink,
    ) -> Self {
        let (plan, has_password) = plan_of(shown);
        let has_choices = plan.get("rules").is_some() || plan.get("split").is_some();
        let report = if has_choices { clicks(app, visitor, place, shown).await } else { None };
        let (caller, code) = (&visitor.caller, shown.link.code.as_str());
        let splits = if has_splits(&plan) {
            app.split_results(caller, &place.workspace, code).await.unwrap_or_default()
        } else {
            Vec::new()
        };
        let result = |split: SplitResults| split_result(split, visitor.language);
        Self {
            results: splits.into_iter().map(result).collect(),
            facts: facts(&plan, has_password, visitor.words()),
            version: version(shown),
            ..Self::draw(&plan, shown, report.as_ref(), visitor.language)
        }
    }

    fn draw(
        plan: &Value,
        shown: &ShownLink,
        report: Option<&AnalyticsReport>,
        language: Language,
    ) -> Self {
        let w = &Words::of(language).rules;
        let rules = plan.get("rules").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let total = report.map_or(0, |report| report.total.clicks);
        let share = |clicks: u64| (total > 0).then(|| percent(language, clicks, total));
        let by_rule = |number: usize| {
            let name = rules.get(number - 1).map(|rule| plain(rule.get("name")));
            let named = name.filter(|name| !name.is_empty());
            row(report, &named.unwrap_or_else(|| format!("#{number}")))
        };
        let line = |(at, rule): (usize, &Value)| {
            let (number, name) = (at + 1, plain(rule.get("name")));
            RuleLine {
                path: format!("rules[{at}]"),
                number,
                called: if name.is_empty() { fill(w.rule_number, number) } else { name.clone() },
                name,
                sentence: Sentence::of(rule, language),
                share: share(by_rule(number).map_or(0, |row| row.clicks)),
                is_paused: rule.get("paused").and_then(Value::as_bool) == Some(true),
                is_first: at == 0,
                is_last: number == rules.len(),
            }
        };
        let decided: u64 = (1..=rules.len()).filter_map(by_rule).map(|row| row.clicks).sum();
        let has_split = !variants(plan.get("split")).is_empty();
        Self {
            version: 0,
            rules: rules.iter().enumerate().map(line).collect(),
            has_split,
            rest_name: if rules.is_empty() { w.everybody } else { w.otherwise },
            rest: if has_split {
                destinations(plan, language)
            } else {
                vec![address(&shown.link.target, None)]
            },
            rest_share: share(total.saturating_sub(decided)),
            facts: Vec::new(),
            results: Vec::new(),
        }
    }
}

fn has_splits(plan: &Value) -> bool {
    let rules = plan.get("rules").and_then(Value::as_array).into_iter().flatten();
    rules.chain([plan]).any(|rule| !variants(rule.get("split")).is_empty())
}

/// The clicks of the last 30 days by rule.
async fn clicks(
    app: &App,
    visitor: &Visitor,
    place: &WorkspaceView,
    shown: &ShownLink,
) -> Option<AnalyticsReport> {
    let pairs = [("from", "30d"), ("group", "rule"), ("limit", "100")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (caller, code) = (&visitor.caller, shown.link.code.as_str());
    let asked = app.analytics_question(caller, &place.workspace, Some(code), &pairs).await.ok()?;
    app.analytics(caller, &place.workspace, &asked).await.ok()
}

/// The clicks that a rule decided; events name it.
fn row<'a>(report: Option<&'a AnalyticsReport>, rule: &str) -> Option<&'a GroupRow> {
    report?.groups.first()?.rows.iter().find(|row| row.value == rule)
}

fn percent(language: Language, part: u64, whole: u64) -> String {
    formats::percent(language, part.saturating_mul(1000) / whole.max(1))
}

/// The results of a split, in the reader's language.
fn split_result(split: SplitResults, language: Language) -> SplitResult {
    let w = &Words::of(language).rules;
    let clicks: u64 = split.variants.iter().map(|variant| variant.clicks).sum();
    let weights: u64 = split.variants.iter().map(|variant| u64::from(variant.weight)).sum();
    let row = |variant: VariantResult| VariantRow {
        clicks: formats::number(language, variant.clicks),
        visitors: formats::number(language, variant.visitors),
        share: if clicks == 0 {
            "–".to_owned()
        } else {
            percent(language, variant.clicks, clicks)
        },
        aim: percent(language, variant.weight.into(), weights),
        name: variant.name,
    };
    let rule = split.rule.map(|(at, name)| name.unwrap_or_else(|| fill(w.rule_number, at + 1)));
    SplitResult {
        title: rule.map_or_else(|| w.results.to_owned(), |rule| format!("{}: {rule}", w.results)),
        is_uneven: split.is_doubtful,
        rows: split.variants.into_iter().map(row).collect(),
    }
}

/// The options beside the rules, in short.
fn facts(plan: &Value, has_password: bool, words: &Words) -> Vec<(&'static str, String)> {
    let w = &words.options;
    let mut facts = Vec::new();
    if has_password {
        facts.push((w.password, w.is_set.to_owned()));
    }
    let mut add = |name: &'static str, value: Option<String>| {
        facts.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    };
    let text = |name: &str| plan.get(name).map(|value| plain(Some(value)));
    let from = text("valid_from").and_then(|text| Timestamp::parse_rfc3339(&text));
    add(w.starts, from.map(page::time));
    let limit = plan.get("click_limit").and_then(Value::as_u64);
    add(w.click_limit_short, limit.map(page::number));
    for (name, label) in [
        ("pending_url", w.pending_url),
        ("expired_url", w.expired_url),
        ("fallback_url", w.fallback_url),
    ] {
        add(label, text(name).map(|url| address(&url, None).text));
    }
    let query = match text("query").as_deref() {
        Some("merge") => Some(w.query_merged.to_owned()),
        Some("drop") => Some(w.query_drop.to_owned()),
        _ => None,
    };
    add(w.query, query);
    let utm = plan.get("utm").and_then(Value::as_object).map(|utm| {
        let pair = |(key, value): (&String, &Value)| format!("{key}={}", plain(Some(value)));
        utm.iter().map(pair).collect::<Vec<_>>().join(", ")
    });
    add("UTM", utm);
    let consent = plan.get("consent").map(|consent| match plain(consent.get("show")).as_str() {
        "once" => w.consent_once.to_owned(),
        _ if consent.as_str() == Some("once") => w.consent_once.to_owned(),
        _ => w.consent_always.to_owned(),
    });
    add(w.consent, consent);
    let card = plan.get("card").map(|card| match plain(card.get("title")) {
        title if title.is_empty() => w.is_set.to_owned(),
        title => title,
    });
    add(w.card, card);
    let app = plan.get("app").and_then(Value::as_object).map(|app| {
        let names = app.keys().map(|name| if name == "ios" { "iOS" } else { "Android" });
        names.collect::<Vec<_>>().join(", ")
    });
    add(w.app, app);
    let robots = text("robots").filter(|robots| robots == "index");
    add(w.robots, robots.map(|_| w.robots_index.to_owned()));
    facts
}

/// Marks of a link in a list: which sign, and what it means.
pub(super) fn marks(shown: &ShownLink, words: &Words) -> Vec<(&'static str, &'static str)> {
    if shown.link.plan.is_none() {
        return Vec::new();
    }
    let (plan, has_password) = plan_of(shown);
    let w = &words.rules;
    let all = [
        (plan.get("rules").is_some(), "rules", w.rules),
        (plan.get("split").is_some(), "split", w.split),
        (has_password, "password", w.password),
    ];
    all.into_iter().filter(|(has, ..)| *has).map(|(_, sign, name)| (sign, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_told_in_short() {
        let plan = json!({ "valid_from": "2026-11-18T12:00:00.000Z", "click_limit": 1, "consent": "once",
            "expired_url": "https://a.example/", "utm": { "source": "x" }, "app": { "ios": {} } });
        let told = facts(&plan, true, Words::of(Language::English));
        let values: Vec<&str> = told.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(
            values,
            [
                "yes",
                "2026-11-18 12:00 UTC",
                "1",
                "a.example",
                "source=x",
                "once to each visitor",
                "iOS"
            ]
        );
        assert!(facts(&json!({}), false, Words::of(Language::German)).is_empty());
    }
}
