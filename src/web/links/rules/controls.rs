//! The editor's controls for a draft of rules: what each field shows, and which error stands beside it.

use serde_json::{Map, Value};

use crate::language::Language;
use crate::web::i18n::{RuleWords, Words, fill};
use crate::web::links::form_fields::{Field, Marks, local, plain};
use crate::web::links::rules::draft::variants;
use crate::web::links::rules::sentence::Sentence;
use crate::web::links::rules::test_kinds::{DAYS, KINDS, RuleTest, Shape, Typed};

/// Variants that a split has at least.
const FEWEST_VARIANTS: usize = 2;

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a box or a button of the form")]
pub(super) struct RuleView {
    pub(super) path: String,
    /// Its place in the list, from 1.
    pub(super) number: usize,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    pub(super) is_open: bool,
    pub(super) is_paused: bool,
    pub(super) sentence: Sentence,
    pub(super) heading: String,
    pub(super) name: Field,
    /// What is wrong with the rule as a whole.
    pub(super) fault: Option<String>,
    pub(super) has_focus: bool,
    pub(super) groups: Vec<GroupView>,
    pub(super) has_not: bool,
    pub(super) unknown_matches: bool,
    pub(super) action: &'static str,
    pub(super) to: Field,
    pub(super) block: Field,
    pub(super) split: SplitView,
}

#[derive(Debug)]
pub(super) struct GroupView {
    pub(super) path: String,
    pub(super) title: String,
    /// Whether it can be removed: an alternative or an exception.
    pub(super) is_extra: bool,
    pub(super) tests: Vec<TestView>,
    /// Tests that it does not have yet: key and name.
    pub(super) missing: Vec<(&'static str, &'static str)>,
    pub(super) fault: Option<String>,
    pub(super) has_focus: bool,
}

#[derive(Debug)]
pub(super) struct TestView {
    pub(super) path: String,
    pub(super) group: String,
    pub(super) label: &'static str,
    pub(super) hint: Option<&'static str>,
    /// What the entered codes stand for.
    pub(super) meaning: Option<String>,
    pub(super) control: Control,
    pub(super) fault: Option<String>,
    pub(super) has_focus: bool,
}

#[derive(Debug)]
pub(super) enum Control {
    Boxes(Vec<ValueChoice>),
    Switch(Vec<ValueChoice>),
    Texts(String),
    Query(Vec<QueryRow>),
    Period { from: String, until: String },
    Clock { days: Vec<ValueChoice>, from: String, until: String, zone: String },
}

#[derive(Debug)]
pub(super) struct ValueChoice {
    pub(super) value: &'static str,
    pub(super) name: String,
    pub(super) is_chosen: bool,
}

#[derive(Debug)]
pub(super) struct QueryRow {
    pub(super) path: String,
    pub(super) key: String,
    pub(super) kind: &'static str,
    pub(super) value: String,
}

#[derive(Debug)]
pub(super) struct SplitView {
    /// Where it is: `rules[2]`, or nothing for that of the link.
    pub(super) place: String,
    pub(super) path: String,
    pub(super) variants: Vec<VariantView>,
    pub(super) ends_at: Field,
    pub(super) winner: Field,
    pub(super) is_fresh: bool,
    pub(super) fault: Option<String>,
}

#[derive(Debug)]
pub(super) struct VariantView {
    pub(super) path: String,
    pub(super) number: usize,
    pub(super) name: Field,
    pub(super) weight: Field,
    pub(super) to: Field,
    pub(super) fault: Option<String>,
}

/// The rules of a draft. What is worked on is open, and what has faults.
pub(super) fn rule_views(draft: &Value, marks: &Marks, language: Language) -> Vec<RuleView> {
    let rules = draft.get("rules").and_then(Value::as_array);
    let rules = rules.map_or(&[][..], Vec::as_slice);
    let view = |(at, rule): (usize, &Value)| {
        let path = format!("rules[{at}]");
        let is_open = marks.below(&path).is_some() || marks.has_focus_in(&path);
        RuleView {
            number: at + 1,
            is_first: at == 0,
            is_last: at + 1 == rules.len(),
            is_open,
            ..rule_view(rule, path, marks, language)
        }
    };
    rules.iter().enumerate().map(view).collect()
}

fn rule_view(rule: &Value, path: String, marks: &Marks, language: Language) -> RuleView {
    let w = &Words::of(language).rules;
    let empty = Map::new();
    let when = rule.get("when").and_then(Value::as_object).unwrap_or(&empty);
    let field = |name: &str| field(rule, &path, name, marks);
    let action = ["split", "block"].into_iter().find(|name| rule.get(name).is_some());
    let name = field("name");
    RuleView {
        number: 0,
        is_first: false,
        is_last: false,
        is_open: false,
        is_paused: rule.get("paused").and_then(Value::as_bool) == Some(true),
        sentence: Sentence::of(rule, language),
        heading: name.value.clone(),
        fault: marks.at(&path).or_else(|| marks.at(&format!("{path}.when"))),
        has_focus: marks.has_focus(&path),
        groups: group_views(when, &format!("{path}.when"), marks, w, language),
        has_not: when.contains_key("not"),
        unknown_matches: rule.get("unknown").and_then(Value::as_str) == Some("match"),
        action: action.unwrap_or("to"),
        to: field("to"),
        block: field("block"),
        split: split_view(rule, &format!("{path}."), marks),
        name,
        path,
    }
}

fn field(of: &Value, path: &str, name: &str, marks: &Marks) -> Field {
    marks.field(format!("{path}.{name}"), plain(of.get(name)))
}

/// The split of a rule or of the link; two empty variants where there is none.
pub(super) fn split_view(of: &Value, prefix: &str, marks: &Marks) -> SplitView {
    let none = Value::Null;
    let split = of.get("split").unwrap_or(&none);
    let variants = variants(Some(split));
    let count = if variants.is_empty() { FEWEST_VARIANTS } else { variants.len() };
    let path = format!("{prefix}split");
    let view = |at: usize| {
        let path = format!("{path}[{at}]");
        let variant = variants.get(at).unwrap_or(&none);
        let mut weight = field(variant, &path, "weight", marks);
        if variant.is_null() {
            "50".clone_into(&mut weight.value);
        }
        VariantView {
            number: at + 1,
            name: field(variant, &path, "name", marks),
            weight,
            to: field(variant, &path, "to", marks),
            fault: marks.at(&path),
            path,
        }
    };
    SplitView {
        place: prefix.trim_end_matches('.').to_owned(),
        variants: (0..count).map(view).collect(),
        ends_at: marks.field(format!("{path}.ends_at"), local(split.get("ends_at"))),
        winner: field(split, &path, "winner", marks),
        is_fresh: plain(split.get("seed")) == "fresh",
        fault: marks.at(&path),
        path,
    }
}

fn group_views(
    when: &Map<String, Value>,
    path: &str,
    marks: &Marks,
    w: &'static RuleWords,
    language: Language,
) -> Vec<GroupView> {
    let group =
        |tests: &Map<String, Value>, path: String, title: String, is_extra: bool| GroupView {
            tests: KINDS
                .iter()
                .filter_map(|kind| test_view(*kind, tests, &path, marks, language))
                .collect(),
            missing: KINDS
                .iter()
                .filter(|kind| !kind.keys().iter().any(|key| tests.contains_key(*key)))
                .map(|kind| (kind.key, kind.label(w)))
                .collect(),
            fault: marks.at(&path).filter(|_| is_extra),
            has_focus: marks.has_focus(&path),
            path,
            title,
            is_extra,
        };
    let mut views = vec![group(when, path.to_owned(), w.when_all.to_owned(), false)];
    let any = when.get("any").and_then(Value::as_array).into_iter().flatten();
    for (at, tests) in any.filter_map(Value::as_object).enumerate() {
        views.push(group(tests, format!("{path}.any[{at}]"), fill(w.when_any, at + 1), true));
    }
    if let Some(tests) = when.get("not").and_then(Value::as_object) {
        views.push(group(tests, format!("{path}.not"), w.when_not.to_owned(), true));
    }
    views
}

fn test_view(
    kind: RuleTest,
    tests: &Map<String, Value>,
    group: &str,
    marks: &Marks,
    language: Language,
) -> Option<TestView> {
    if !kind.keys().iter().any(|key| tests.contains_key(*key)) {
        return None;
    }
    let w = &Words::of(language).rules;
    let path = format!("{group}.{}", kind.key);
    let values = texts(tests.get(kind.key));
    let control = match kind.shape {
        Shape::Boxes(known) => Control::Boxes(choices(kind, known, &values, language)),
        Shape::Switch(known) => Control::Switch(choices(kind, known, &values, language)),
        Shape::Texts(_) => Control::Texts(values.join(", ")),
        Shape::Query => Control::Query(query_rows(tests.get(kind.key), &path)),
        Shape::Period => {
            Control::Period { from: local(tests.get("from")), until: local(tests.get("to_time")) }
        }
        Shape::Clock => {
            let hours = plain(tests.get("hours"));
            let (from, until) = hours.split_once('-').unwrap_or((&hours, ""));
            Control::Clock {
                days: choices(kind, &DAYS, &values, language),
                from: from.to_owned(),
                until: until.to_owned(),
                zone: plain(tests.get("zone")),
            }
        }
    };
    let meaning = match kind.shape {
        Shape::Texts(Typed::Country | Typed::Language) if !values.is_empty() => {
            let names: Vec<String> =
                values.iter().map(|value| kind.value(value, language)).collect();
            (names != values).then(|| names.join(", "))
        }
        _ => None,
    };
    let mut paths = kind.keys().iter().map(|key| format!("{group}.{key}"));
    let has_focus = paths.clone().any(|path| marks.has_focus_below(&path));
    Some(TestView {
        group: group.to_owned(),
        label: kind.label(w),
        hint: kind.hint(w),
        meaning,
        control,
        fault: paths.find_map(|path| marks.below(&path)),
        has_focus,
        path,
    })
}

/// The values of a test, as far as they are texts.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(values)) => values.iter().map(|value| plain(Some(value))).collect(),
        Some(Value::Null) | None => Vec::new(),
        one => vec![plain(one)],
    }
}

fn choices(
    kind: RuleTest,
    known: &'static [&'static str],
    values: &[String],
    language: Language,
) -> Vec<ValueChoice> {
    let choice = |value: &&'static str| ValueChoice {
        value,
        name: kind.value(value, language),
        is_chosen: values.iter().any(|one| one.eq_ignore_ascii_case(value)),
    };
    known.iter().map(choice).collect()
}

fn query_rows(value: Option<&Value>, path: &str) -> Vec<QueryRow> {
    let empty = Map::new();
    let tests = value.and_then(Value::as_object).unwrap_or(&empty);
    let row = |(at, (key, value)): (usize, (&String, &Value))| {
        let (kind, value) = match value {
            Value::Bool(_) => ("any", String::new()),
            Value::Null => ("none", String::new()),
            other => {
                let text = plain(Some(other));
                match text.strip_suffix('*') {
                    Some(start) => ("starts", start.to_owned()),
                    None => ("is", text),
                }
            }
        };
        QueryRow { path: format!("{path}[{at}]"), key: key.clone(), kind, value }
    };
    let mut rows: Vec<QueryRow> = tests.iter().enumerate().map(row).collect();
    // One more than are filled in, so that nothing has to be pressed to add one.
    let path = format!("{path}[{}]", rows.len());
    rows.push(QueryRow { path, key: String::new(), kind: "is", value: String::new() });
    rows
}
