//! Rules between the fields of a form and JSON. A field is named by the path of what it says
//! (`rules[2].when.any[0].country`), so that an error of the rules leads to its field.
//!
//! Invariant: what was entered is kept, valid or not. A draft is JSON that need not make sense; what is wrong with it is
//! said by the reader of plans, once, for the form and for the API alike.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::language::Language;
use crate::web::analytics::names;
use crate::web::form::FormData;
use crate::web::front::with_scheme;
use crate::web::links::form_fields::{number, time};
use crate::web::links::rules::test_kinds::{KINDS, RuleTest, Shape, Typed};

/// Parts of a field's name that are followed.
const DEEPEST: usize = 10;

/// The fields of a form as the tree that their names describe.
#[derive(Debug, Default)]
pub(super) struct Branch {
    values: BTreeMap<String, Vec<String>>,
    below: BTreeMap<String, Self>,
}

impl Branch {
    pub(super) fn of(form: &FormData) -> Self {
        let mut root = Self::default();
        for (name, value) in form.pairs() {
            let mut parts: Vec<String> = parts(name).take(DEEPEST).collect();
            let Some(last) = parts.pop() else { continue };
            let mut at = &mut root;
            for part in parts {
                at = at.below.entry(part).or_default();
            }
            at.values.entry(last).or_default().push(value.to_owned());
        }
        root
    }

    /// The first value of a field, without the space around it.
    pub(super) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.values.get(name).into_iter().flatten().map(|value| value.trim())
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(super) fn part(&self, name: &str) -> Option<&Self> {
        self.below.get(name)
    }

    /// The parts `name[0]`, `name[1]`, … in order.
    pub(super) fn items<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Self> {
        self.below.get(name).into_iter().flat_map(|list| list.below.values())
    }
}

/// `rules[2].name` is `rules`, `0002`, `name`: numbers are padded so that they sort.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let parts = name.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.map(|part| match part.parse::<u16>() {
        Ok(number) => format!("{number:05}"),
        Err(_) => part.to_owned(),
    })
}

/// The rules and the split of a form.
pub(super) fn read(form: &FormData, language: Language) -> Value {
    let fields = Branch::of(form);
    let rules: Value = fields.items("rules").map(|rule| read_rule(rule, language)).collect();
    let mut draft = Map::new();
    draft.insert("rules".to_owned(), rules);
    if fields.part("split").is_some() {
        draft.insert("split".to_owned(), split(&fields));
    }
    Value::Object(draft)
}

fn read_rule(fields: &Branch, language: Language) -> Value {
    let mut rule = Map::new();
    let mut set = |name: &str, value: Value| rule.insert(name.to_owned(), value);
    if !fields.text("name").is_empty() {
        set("name", fields.text("name").into());
    }
    if fields.text("paused") == "on" {
        set("paused", true.into());
    }
    if fields.text("unknown") == "match" {
        set("unknown", "match".into());
    }
    set("when", Value::Object(fields.part("when").map_or_else(Map::new, |w| when(w, language))));
    match fields.text("action") {
        "split" => set("split", split(fields)),
        "block" => set("block", number(fields.text("block"))),
        _ => set("to", with_scheme(fields.text("to")).into()),
    };
    Value::Object(rule)
}

/// The split of a rule or of the link: a list of variants, or an object when there is more to say.
pub(super) fn split(fields: &Branch) -> Value {
    let variant = |fields: &Branch| {
        let mut variant = Map::new();
        variant.insert("name".to_owned(), fields.text("name").into());
        variant.insert("weight".to_owned(), number(fields.text("weight")));
        variant.insert("to".to_owned(), with_scheme(fields.text("to")).into());
        Value::Object(variant)
    };
    let variants: Value = fields.items("split").map(variant).collect();
    let mut more = Map::new();
    if let Some(fields) = fields.part("split") {
        if !fields.text("ends_at").is_empty() {
            more.insert("ends_at".to_owned(), time(fields.text("ends_at")));
        }
        if !fields.text("winner").is_empty() {
            more.insert("winner".to_owned(), fields.text("winner").into());
        }
        if fields.text("seed") == "fresh" {
            more.insert("seed".to_owned(), "fresh".into());
        }
    }
    if more.is_empty() {
        return variants;
    }
    more.insert("variants".to_owned(), variants);
    Value::Object(more)
}

/// The variants of a split, whichever way it is written.
pub(in crate::web::links) fn variants(split: Option<&Value>) -> &[Value] {
    let list = match split {
        Some(Value::Object(split)) => split.get("variants"),
        other => other,
    };
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn when(fields: &Branch, language: Language) -> Map<String, Value> {
    let mut when = tests(fields, language);
    let groups: Vec<Value> =
        fields.items("any").map(|group| Value::Object(tests(group, language))).collect();
    if !groups.is_empty() {
        when.insert("any".to_owned(), groups.into());
    }
    if let Some(group) = fields.part("not") {
        when.insert("not".to_owned(), Value::Object(tests(group, language)));
    }
    when
}

/// The tests of a group.
fn tests(fields: &Branch, language: Language) -> Map<String, Value> {
    let mut tests = Map::new();
    for kind in KINDS {
        test(fields, kind, language, &mut tests);
    }
    tests
}

fn test(fields: &Branch, kind: RuleTest, language: Language, into: &mut Map<String, Value>) {
    if !fields.has(kind.key) {
        return;
    }
    let key = kind.key;
    let value = match kind.shape {
        Shape::Boxes(_) => {
            let chosen: Vec<&str> = fields.all(key).filter(|value| !value.is_empty()).collect();
            if chosen.contains(&"true") { true.into() } else { chosen.into() }
        }
        Shape::Texts(typed) => {
            fields.all(key).flat_map(|text| values(typed, text, language)).collect()
        }
        Shape::Switch(_) => match fields.text(key) {
            "true" => true.into(),
            "false" => false.into(),
            word => word.into(),
        },
        Shape::Query => query(fields),
        Shape::Period => return period(fields, into),
        Shape::Clock => return clock(fields, into),
    };
    into.insert(key.to_owned(), value);
}

/// Values with commas, semicolons or lines between. What is no name may also be several words with spaces between.
fn values(typed: Typed, text: &str, language: Language) -> Vec<Value> {
    let mut values = Vec::new();
    let items = text.split([',', ';', '\n']).map(str::trim).filter(|item| !item.is_empty());
    for item in items {
        let code = match typed {
            Typed::Country => names::country_code(item, language),
            Typed::Language => names::language_code(item, language),
            Typed::Plain => None,
        };
        let word = |word: &str| match typed {
            Typed::Country => word.to_ascii_uppercase().into(),
            Typed::Language | Typed::Plain => Value::from(word),
        };
        match code {
            Some(code) => values.push(code.into()),
            None => values.extend(item.split_whitespace().map(word)),
        }
    }
    values
}

fn query(fields: &Branch) -> Value {
    let rows = fields.items("query").filter(|row| !row.text("key").is_empty());
    let row = |row: &Branch| {
        let value = match row.text("kind") {
            "any" => true.into(),
            "none" => Value::Null,
            "starts" => format!("{}*", row.text("value")).into(),
            _ => row.text("value").into(),
        };
        (row.text("key").to_owned(), value)
    };
    Value::Object(rows.map(row).collect())
}

fn period(fields: &Branch, into: &mut Map<String, Value>) {
    for key in ["from", "to_time"] {
        if !fields.text(key).is_empty() {
            into.insert(key.to_owned(), time(fields.text(key)));
        }
    }
    // A test that says nothing yet is there all the same.
    if !into.contains_key("from") && !into.contains_key("to_time") {
        into.insert("from".to_owned(), "".into());
    }
}

fn clock(fields: &Branch, into: &mut Map<String, Value>) {
    let days: Vec<&str> = fields.all("days").filter(|day| !day.is_empty()).collect();
    let hours: Vec<&str> = fields.all("hours").collect();
    if hours.iter().any(|hour| !hour.is_empty()) {
        into.insert("hours".to_owned(), hours.join("-").into());
    }
    if !fields.text("zone").is_empty() {
        into.insert("zone".to_owned(), fields.text("zone").into());
    }
    if !days.is_empty() || !into.contains_key("hours") {
        into.insert("days".to_owned(), days.into());
    }
}
