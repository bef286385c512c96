//! A rule as a sentence in the reader's language: "iOS and German or French (Switzerland) → apps.example/de".

use serde_json::{Map, Value};

use crate::language::Language;
use crate::web::i18n::{RuleWords, Words, fill, formats};
use crate::web::links::rules::draft::variants;
use crate::web::links::rules::test_kinds::{DAYS, KINDS, RuleTest, Shape};
use crate::web::page;
use kurz_core::code::{Canonical, canonicalise};
use kurz_core::link::idn;
use kurz_core::time::Timestamp;

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::web::links) struct Sentence {
    pub(in crate::web::links) when: String,
    pub(in crate::web::links) then: Vec<RuleTarget>,
}

/// Where visitors go: an address, or a word for what they get instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::web::links) struct RuleTarget {
    /// The share and the name of a variant.
    pub(in crate::web::links) variant: Option<String>,
    pub(in crate::web::links) text: String,
    pub(in crate::web::links) url: Option<String>,
}

impl Sentence {
    pub(in crate::web::links) fn of(rule: &Value, language: Language) -> Self {
        let words = &Words::of(language).rules;
        let mut when = match rule.get("when").and_then(Value::as_object) {
            Some(when) => condition(when, language),
            None => String::new(),
        };
        if when.is_empty() {
            words.everybody.clone_into(&mut when);
        } else {
            if rule.get("unknown").and_then(Value::as_str) == Some("match") {
                when = format!("{when}, {}", words.also_unknown);
            }
            when = capitalised(&when);
        }
        Self { when, then: destinations(rule, language) }
    }

    /// The whole of it as plain text.
    #[cfg(test)]
    pub(in crate::web::links) fn text(&self) -> String {
        let then = self.then.iter().map(|one| match &one.variant {
            Some(variant) => format!("{variant} {}", one.text),
            None => one.text.clone(),
        });
        format!("{} → {}", self.when, then.collect::<Vec<_>>().join(", "))
    }
}

/// Where a rule, or a split, sends its visitors.
pub(in crate::web::links) fn destinations(rule: &Value, language: Language) -> Vec<RuleTarget> {
    if let Some(url) = rule.get("to").and_then(Value::as_str) {
        return vec![address(url, None)];
    }
    if let Some(status) = rule.get("block") {
        let status = status.as_u64().map(|status| status.to_string()).unwrap_or_default();
        let text = fill(Words::of(language).rules.blocked, status);
        return vec![RuleTarget { variant: None, text, url: None }];
    }
    let variants = variants(rule.get("split"));
    let weight = |variant: &Value| variant.get("weight").and_then(Value::as_u64).unwrap_or(0);
    let sum: u64 = variants.iter().map(weight).fold(0, u64::saturating_add).max(1);
    let text = |variant: &Value, name: &str| {
        variant.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let variant = |one: &Value| {
        let share = formats::percent(language, weight(one).saturating_mul(1000) / sum);
        address(&text(one, "to"), Some(format!("{share} {}", text(one, "name"))))
    };
    variants.iter().map(variant).collect()
}

pub(in crate::web::links) fn address(url: &str, variant: Option<String>) -> RuleTarget {
    let visible = visible_url(url);
    let text = visible.split_once("://").map_or(visible.as_str(), |(_, rest)| rest);
    let text = text.strip_suffix('/').unwrap_or(text).to_owned();
    RuleTarget { variant, text, url: Some(url.to_owned()) }
}

/// An address as it is safe to be looked at: in punycode when its host may be taken for another.
pub(in crate::web::links) fn visible_url(url: &str) -> String {
    match canonicalise(url) {
        Ok(canonical) if idn::is_suspicious(canonical.host()) => Canonical::into_string(canonical),
        _ => url.to_owned(),
    }
}

/// What must hold.
fn condition(when: &Map<String, Value>, language: Language) -> String {
    let words = &Words::of(language).rules;
    let mut parts = phrases(when, language);
    if let Some(groups) = when.get("any").and_then(Value::as_array) {
        let groups: Vec<Vec<String>> = groups
            .iter()
            .filter_map(Value::as_object)
            .map(|group| phrases(group, language))
            .filter(|group| !group.is_empty())
            .collect();
        let is_single = groups.len() == 1;
        let group = |group: &Vec<String>| {
            let text = listed(group, words.and, language);
            if group.len() > 1 && !is_single { format!("({text})") } else { text }
        };
        let text = listed(&groups.iter().map(group).collect::<Vec<_>>(), words.or, language);
        if !text.is_empty() {
            parts.push(if parts.is_empty() || is_single { text } else { format!("({text})") });
        }
    }
    if let Some(group) = when.get("not").and_then(Value::as_object) {
        let group = phrases(group, language);
        let text = listed(&group, words.and, language);
        let or = format!(" {} ", words.or);
        let is_compound = group.len() > 1 || text.contains(&or);
        if !text.is_empty() {
            let text = if is_compound { format!("({text})") } else { text };
            parts.push(fill(words.not, text));
        }
    }
    parts.join(&format!(" {} ", words.and))
}

/// A phrase for each test of a group, in the order of the editor.
fn phrases(group: &Map<String, Value>, language: Language) -> Vec<String> {
    KINDS.iter().filter_map(|kind| phrase(*kind, group, language)).collect()
}

fn phrase(kind: RuleTest, group: &Map<String, Value>, language: Language) -> Option<String> {
    let words = &Words::of(language).rules;
    let value = || group.get(kind.key);
    Some(match kind.shape {
        Shape::Period => period(words, group)?,
        Shape::Clock => clock(group, language)?,
        Shape::Query => query(words, value()?.as_object()?),
        Shape::Switch(_) => match value()? {
            Value::Bool(true) if kind.key == "eu" => words.in_eu.to_owned(),
            Value::Bool(yes) => kind.value(if *yes { "true" } else { "false" }, language),
            other => chosen(kind, other, language),
        },
        Shape::Boxes(_) if value()?.as_bool() == Some(true) => words.inside_app.to_owned(),
        Shape::Boxes(_) | Shape::Texts(_) => {
            let text = chosen(kind, value()?, language);
            match kind.key {
                "in_app" => fill(words.inside, text),
                "network" => fill(words.from_network, text),
                "referrer" => fill(words.came_from, text),
                _ => text,
            }
        }
    })
}

/// The names of the values of a test: "German or French (Switzerland)".
fn chosen(kind: RuleTest, value: &Value, language: Language) -> String {
    let name = |value: &Value| {
        let name = kind.value(value.as_str().unwrap_or_default(), language);
        // Common nouns inside of a sentence.
        let is_common = match language {
            Language::English => matches!(kind.key, "device" | "referrer"),
            Language::German => false,
            Language::Spanish => matches!(kind.key, "device" | "referrer" | "language"),
        };
        let is_word = name.chars().nth(1).is_some_and(char::is_lowercase);
        if is_common && is_word { lowered(&name) } else { name }
    };
    let names: Vec<String> = match value {
        Value::Array(values) => values.iter().map(name).collect(),
        one => vec![name(one)],
    };
    listed(&names, Words::of(language).rules.or, language)
}

fn query(words: &RuleWords, tests: &Map<String, Value>) -> String {
    let test = |(key, value): (&String, &Value)| match value {
        Value::Bool(_) => fill(words.query_any, key),
        Value::Null => fill(words.query_none, key),
        Value::String(text) => match text.strip_suffix('*') {
            Some(start) => fill(&fill(words.query_starts, key), start),
            None => fill(words.query_any, format!("{key}={text}")),
        },
        other => fill(words.query_any, format!("{key}={other}")),
    };
    tests.iter().map(test).collect::<Vec<_>>().join(&format!(" {} ", words.and))
}

fn period(words: &RuleWords, group: &Map<String, Value>) -> Option<String> {
    let time = |key: &str| {
        let text = group.get(key)?.as_str()?;
        Some(Timestamp::parse_rfc3339(text).map_or_else(|| text.to_owned(), page::time))
    };
    let from = time("from").map(|at| fill(words.time_from, at));
    let until = time("to_time").map(|at| fill(words.time_until, at));
    let parts: Vec<String> = from.into_iter().chain(until).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// "Mon–Fri, 09:00–17:30 (Europe/Berlin)"
fn clock(group: &Map<String, Value>, language: Language) -> Option<String> {
    let days = group.get("days").and_then(Value::as_array).map(|days| week(days, language));
    let hours = group.get("hours").and_then(Value::as_str).map(|hours| hours.replace('-', "–"));
    let parts: Vec<String> =
        days.into_iter().chain(hours).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return None;
    }
    let zone = group.get("zone").and_then(Value::as_str).unwrap_or("UTC");
    Some(format!("{} ({zone})", parts.join(", ")))
}

/// Days of the week, with three or more in a row as a range.
fn week(days: &[Value], language: Language) -> String {
    let has = |day: &str| days.iter().any(|one| one.as_str() == Some(day));
    let name = |at: usize| formats::weekday(language, u8::try_from(at).unwrap_or_default());
    let mut parts = Vec::new();
    let mut at = 0;
    while at < DAYS.len() {
        let run = DAYS.iter().skip(at).take_while(|day| has(day)).count();
        match run {
            0 => at += 1,
            1 | 2 => parts.extend((at..at + run).map(|day| name(day).to_owned())),
            _ => parts.push(format!("{}–{}", name(at), name(at + run - 1))),
        }
        at += run;
    }
    parts.join(", ")
}

/// "A, B or C", in Spanish with the forms that go before the same sound.
fn listed(items: &[String], word: &str, language: Language) -> String {
    let Some((last, others)) = items.split_last() else { return String::new() };
    if others.is_empty() {
        return last.clone();
    }
    let start = last.to_lowercase();
    let word = match (language, word) {
        (Language::Spanish, "o") if start.starts_with('o') || start.starts_with("ho") => "u",
        (Language::Spanish, "y") if start.starts_with('i') && !start.starts_with("ia") => "e",
        _ => word,
    };
    format!("{} {word} {last}", others.join(", "))
}

fn capitalised(text: &str) -> String {
    // Names such as iOS and macOS keep their own case.
    let is_name = ["iOS", "macOS"].iter().any(|name| text.starts_with(name));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !is_name => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn say(rule: &Value) -> [String; 3] {
        Language::ALL.map(|language| Sentence::of(rule, language).text())
    }

    #[test]
    fn a_rule_is_a_sentence_in_three_languages() {
        let rule = json!({ "when": { "os": ["ios"], "language": ["de", "fr-CH"] }, "to": "https://apps.example/de" });
        assert_eq!(
            say(&rule),
            [
                "iOS and German or French (Switzerland) → apps.example/de",
                "iOS und Deutsch oder Französisch (Schweiz) → apps.example/de",
                "iOS y alemán o francés (Suiza) → apps.example/de",
            ]
        );
        let fence =
            json!({ "when": { "not": { "continent": ["EU"] } }, "unknown": "match", "block": 451 });
        assert_eq!(
            say(&fence),
            [
                "Not Europe, or unknown → blocked (451)",
                "Nicht Europa, oder unbekannt → gesperrt (451)",
                "No Europa, o desconocido → bloqueado (451)",
            ]
        );
        let hours = json!({ "when": { "days": ["mon", "tue", "wed", "thu", "fri", "sun"], "hours": "09:00-17:30", "zone": "Europe/Berlin" }, "to": "https://example.com/" });
        assert_eq!(
            say(&hours),
            [
                "Mon–Fri, Sun, 09:00–17:30 (Europe/Berlin) → example.com",
                "Mo–Fr, So, 09:00–17:30 (Europe/Berlin) → example.com",
                "Lun–vie, dom, 09:00–17:30 (Europe/Berlin) → example.com",
            ]
        );
    }

    #[test]
    fn alternatives_exceptions_and_splits_are_said() {
        let rule = json!({
            "when": { "device": ["phone", "tablet"], "any": [
                { "query": { "ab": "1" } },
                { "referrer": ["channel:social", "t.co"], "visitor": "first" } ],
                "not": { "country": ["DE", "OM"], "qr": true } },
            "split": [
                { "name": "old", "weight": 80, "to": "https://example.com/a" },
                { "name": "new", "weight": 20, "to": "https://example.com/b" } ] });
        assert_eq!(
            Sentence::of(&rule, Language::English).text(),
            "Phone or tablet and (with ?ab=1 or (coming from social networks or t.co and first visit)) \
             and not (Germany or Oman and by QR code) → 80% old example.com/a, 20% new example.com/b"
        );
        // Spanish has another "or" before the same sound.
        let oman = json!({ "when": { "country": ["DE", "OM"] }, "to": "https://example.com/x/" });
        assert_eq!(say(&oman)[2], "Alemania u Omán → example.com/x");
        let all = json!({ "when": {}, "to": "https://example.com" });
        assert_eq!(say(&all)[1], "Alle → example.com");
    }

    #[test]
    fn what_a_draft_has_wrong_is_no_obstacle() {
        for rule in
            [json!({}), json!({ "when": { "os": "x", "from": 3, "query": [] }, "split": 7 })]
        {
            assert!(!Sentence::of(&rule, Language::English).text().is_empty());
        }
        let unknown = json!({ "when": { "country": ["XQ"], "from": "soon" }, "to": "nowhere" });
        assert_eq!(say(&unknown)[0], "XQ and from soon → nowhere");
    }
}
