//! A plan read from JSON: every error names the field it is at. Values come out in their canonical spelling; what
//! needs more than the plan itself to be judged is in `check`.

use super::document::{
    Action, PlanDocument, PlanField, Rule, Split, SplitKey, Test, Tests, Variant, When,
};
use super::json::PlanJson;
use super::names::nearest;
use super::plan_error::{PlanError, PlanProblem};
use super::test_key::{TestKey, ValueShape};
use crate::time::Timestamp;

pub const RULES: usize = 32;
pub const TESTS: usize = 16;
pub const VALUES: usize = 64;
pub const VARIANTS: usize = 8;
pub const WEIGHT: i64 = 10_000;
pub const NAME_CHARS: usize = 60;

/// Read all fields of a stored plan.
pub(super) fn read_document(tree: &PlanJson) -> Result<PlanDocument, Vec<PlanProblem>> {
    let mut document = PlanDocument::default();
    let mut reader = PlanReader::default();
    let PlanJson::Object(entries) = tree else {
        reader.invalid(PlanField::Rules, "", "a plan is an object".to_owned());
        return Err(reader.problems);
    };
    for (name, value) in entries {
        match PlanField::parse(name) {
            Some(PlanField::Password) => match value {
                PlanJson::Text(hash) => document.password = Some(hash.clone()),
                _ => reader.wrong(PlanField::Password, name, "a text", value),
            },
            Some(field) => reader.field(field, value, &mut document),
            None => reader.invalid(PlanField::Rules, name, "no such field is known".to_owned()),
        }
    }
    if reader.problems.is_empty() { Ok(document) } else { Err(reader.problems) }
}

/// Read one field into a plan; not the password. Null removes it.
pub fn read_field(
    field: PlanField,
    value: &PlanJson,
    document: &mut PlanDocument,
) -> Result<(), Vec<PlanProblem>> {
    let mut reader = PlanReader::default();
    reader.field(field, value, document);
    if reader.problems.is_empty() { Ok(()) } else { Err(reader.problems) }
}

/// Collects problems.
#[derive(Debug, Default)]
pub(super) struct PlanReader {
    pub(super) problems: Vec<PlanProblem>,
}

impl PlanReader {
    pub(super) fn problem(&mut self, path: &str, error: PlanError) {
        self.problems.push(PlanProblem { field: path.to_owned(), error });
    }

    pub(super) fn invalid(&mut self, field: PlanField, path: &str, message: String) {
        self.problem(path, PlanError::Invalid(field, message));
    }

    pub(super) fn wrong(&mut self, field: PlanField, path: &str, expected: &str, found: &PlanJson) {
        self.invalid(field, path, format!("{expected} is expected here, not {}", found.kind()));
    }

    /// The entries of an object whose keys are all known.
    pub(super) fn object<'a>(
        &mut self,
        field: PlanField,
        path: &str,
        value: &'a PlanJson,
        keys: &[&'static str],
    ) -> Option<&'a [(String, PlanJson)]> {
        let PlanJson::Object(entries) = value else {
            self.wrong(field, path, "an object", value);
            return None;
        };
        for (key, _) in entries {
            if !keys.contains(&key.as_str()) {
                let near = nearest(key, keys.iter().copied()).unwrap_or_default();
                let message = format!("no such key is known here; the nearest is {near}");
                self.invalid(field, &join(path, key), message);
            }
        }
        Some(entries)
    }

    fn field(&mut self, field: PlanField, value: &PlanJson, document: &mut PlanDocument) {
        match field {
            PlanField::Rules => document.rules = self.rules(value),
            PlanField::Split => {
                document.split = match value {
                    PlanJson::Null => None,
                    value => self.split("split", value),
                };
            }
            other => self.setting(other, value, document),
        }
    }

    fn rules(&mut self, value: &PlanJson) -> Vec<Rule> {
        const PATH: &str = "rules";
        let rules = match value {
            PlanJson::Null => return Vec::new(),
            PlanJson::List(rules) => rules,
            other => {
                self.wrong(PlanField::Rules, PATH, "a list of rules", other);
                return Vec::new();
            }
        };
        if rules.len() > RULES {
            self.problem(PATH, PlanError::TooLarge(format!("a link has at most {RULES} rules")));
            return Vec::new();
        }
        let rules = rules.iter().enumerate();
        rules.filter_map(|(at, rule)| self.rule(&format!("{PATH}[{at}]"), rule)).collect()
    }

    fn rule(&mut self, path: &str, value: &PlanJson) -> Option<Rule> {
        const KEYS: [&str; 7] = ["name", "paused", "when", "unknown", "to", "split", "block"];
        let entries = self.object(PlanField::Rules, path, value, &KEYS)?;
        let mut rule = Rule {
            name: None,
            paused: false,
            when: When::default(),
            unknown_matches: false,
            action: Action::Block(404),
        };
        let mut actions = 0;
        for (key, value) in entries.iter().filter(|(_, value)| *value != PlanJson::Null) {
            let path = join(path, key);
            match key.as_str() {
                "name" => rule.name = self.name(&path, value),
                "paused" => match value {
                    PlanJson::Bool(paused) => rule.paused = *paused,
                    other => self.wrong(PlanField::Rules, &path, "true or false", other),
                },
                "when" => rule.when = self.when(&path, value),
                "unknown" => match value {
                    PlanJson::Text(text) if text == "match" => rule.unknown_matches = true,
                    _ => {
                        self.invalid(PlanField::Rules, &path, "it is \"match\" or left out".into());
                    }
                },
                "to" | "split" | "block" => {
                    actions += 1;
                    rule.action = self.action(key, &path, value).unwrap_or(rule.action);
                }
                _ => {}
            }
        }
        if actions != 1 {
            self.problem(path, PlanError::Action);
        }
        Some(rule)
    }

    fn action(&mut self, key: &str, path: &str, value: &PlanJson) -> Option<Action> {
        match (key, value) {
            ("to", PlanJson::Text(to)) => Some(Action::To(to.clone())),
            ("to", other) => {
                self.wrong(PlanField::Rules, path, "a URL", other);
                None
            }
            ("split", value) => self.split(path, value).map(Action::Split),
            (_, PlanJson::Integer(403)) => Some(Action::Block(403)),
            (_, PlanJson::Integer(404)) => Some(Action::Block(404)),
            (_, PlanJson::Integer(451)) => Some(Action::Block(451)),
            _ => {
                self.invalid(PlanField::Rules, path, "a block is 403, 404 or 451".to_owned());
                None
            }
        }
    }

    /// The name of a rule or of a variant.
    fn name(&mut self, path: &str, value: &PlanJson) -> Option<String> {
        let name = match value {
            PlanJson::Text(text) => text.trim(),
            _ => "",
        };
        let is_name = !name.is_empty()
            && name.chars().count() <= NAME_CHARS
            && !name.chars().any(char::is_control);
        if is_name {
            return Some(name.to_owned());
        }
        let message = format!("a name is 1 to {NAME_CHARS} characters without control characters");
        self.invalid(PlanField::Rules, path, message);
        None
    }

    fn when(&mut self, path: &str, value: &PlanJson) -> When {
        let mut when = When::default();
        let PlanJson::Object(entries) = value else {
            self.wrong(PlanField::Rules, path, "an object of tests", value);
            return when;
        };
        when.tests = self.tests(path, entries, true);
        for (key, value) in entries {
            let path = join(path, key);
            match (key.as_str(), value) {
                ("any", PlanJson::List(items)) if !items.is_empty() => {
                    for (at, item) in items.iter().enumerate() {
                        when.any.extend(self.inner_tests(&format!("{path}[{at}]"), item));
                    }
                }
                ("any", _) => {
                    let message = "any is a list of objects, at least one".to_owned();
                    self.invalid(PlanField::Rules, &path, message);
                }
                ("not", value) => when.not = self.inner_tests(&path, value),
                _ => {}
            }
        }
        let tests: usize = when.all().map(Tests::count).sum();
        if tests > TESTS {
            let message = format!("a rule has at most {TESTS} tests; this one has {tests}");
            self.problem(path, PlanError::TooLarge(message));
        }
        when
    }

    /// Tests inside of `any` or `not`.
    fn inner_tests(&mut self, path: &str, value: &PlanJson) -> Option<Tests> {
        match value {
            PlanJson::Object(entries) if !entries.is_empty() => {
                Some(self.tests(path, entries, false))
            }
            _ => {
                let message = "an object with at least one test is expected here".to_owned();
                self.invalid(PlanField::Rules, path, message);
                None
            }
        }
    }

    fn tests(&mut self, path: &str, entries: &[(String, PlanJson)], is_outer: bool) -> Tests {
        let mut tests = Vec::new();
        for (key, value) in entries {
            let path = join(path, key);
            let is_list = matches!(key.as_str(), "any" | "not");
            match TestKey::parse(key) {
                Some(key) => {
                    let values = self.values(&path, key, value);
                    tests.push(Test { key, values });
                }
                None if is_list && is_outer => {}
                None if is_list => {
                    let message =
                        "any and not contain neither each other nor themselves".to_owned();
                    self.invalid(PlanField::Rules, &path, message);
                }
                None => {
                    let keys = TestKey::ALL.iter().map(|key| key.name()).chain(["any", "not"]);
                    let near = nearest(key, keys).unwrap_or_default();
                    let message =
                        format!("a rule cannot go by this; the nearest known key is {near}");
                    self.invalid(PlanField::Rules, &path, message);
                }
            }
        }
        tests.sort_by_key(|test| test.key);
        let tests = Tests(tests);
        if tests.has(TestKey::Zone) && !tests.has(TestKey::Days) && !tests.has(TestKey::Hours) {
            let message = "a zone goes with days or hours".to_owned();
            self.invalid(PlanField::Rules, &join(path, "zone"), message);
        }
        tests
    }

    fn values(&mut self, path: &str, key: TestKey, value: &PlanJson) -> Vec<String> {
        let mut values = match (key.shape(), value) {
            (ValueShape::List | ValueShape::ListOrTrue, PlanJson::List(items))
                if !items.is_empty() =>
            {
                self.list(path, key, items)
            }
            (ValueShape::ListOrTrue, PlanJson::Bool(true)) => vec!["true".to_owned()],
            (ValueShape::Text, PlanJson::Text(text)) => {
                self.value(path, key, text).into_iter().collect()
            }
            (ValueShape::Bool, PlanJson::Bool(value)) => vec![value.to_string()],
            (ValueShape::Pairs, PlanJson::Object(pairs)) if !pairs.is_empty() => {
                self.pairs(path, key, pairs)
            }
            (shape, other) => {
                let expected = match shape {
                    ValueShape::List => "a list of at least one text",
                    ValueShape::ListOrTrue => "true, or a list of at least one text,",
                    ValueShape::Text => "a text",
                    ValueShape::Bool => "true or false",
                    ValueShape::Pairs => "an object of at least one parameter",
                };
                self.wrong(PlanField::Rules, path, expected, other);
                Vec::new()
            }
        };
        if values.len() > VALUES {
            let message =
                format!("a test has at most {VALUES} values; this one has {}", values.len());
            self.problem(path, PlanError::TooLarge(message));
            values.clear();
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    fn list(&mut self, path: &str, key: TestKey, items: &[PlanJson]) -> Vec<String> {
        let mut values = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let path = format!("{path}[{at}]");
            match item {
                PlanJson::Text(text) => values.extend(self.value(&path, key, text)),
                other => self.wrong(PlanField::Rules, &path, "a text", other),
            }
        }
        values
    }

    fn pairs(&mut self, path: &str, key: TestKey, pairs: &[(String, PlanJson)]) -> Vec<String> {
        let mut values = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            let path = join(path, name);
            let text = match value {
                _ if name.contains('=') => "=".to_owned(),
                PlanJson::Text(value) => format!("{name}={value}"),
                PlanJson::Bool(true) => name.clone(),
                PlanJson::Null => format!("{name}="),
                other => {
                    let expected = "a text, true (any value) or null (no value)";
                    self.wrong(PlanField::Rules, &path, expected, other);
                    continue;
                }
            };
            values.extend(self.value(&path, key, &text));
        }
        values
    }

    fn value(&mut self, path: &str, key: TestKey, text: &str) -> Option<String> {
        match key.canonical_value(text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.invalid(PlanField::Rules, path, message);
                None
            }
        }
    }

    fn split(&mut self, path: &str, value: &PlanJson) -> Option<Split> {
        let (variants, variants_path) = match value {
            PlanJson::List(variants) => (variants, path.to_owned()),
            PlanJson::Object(_) => {
                const KEYS: [&str; 4] = ["variants", "ends_at", "winner", "seed"];
                let entries = self.object(PlanField::Split, path, value, &KEYS)?;
                let path = join(path, "variants");
                let found = entries.iter().find(|(key, _)| key == "variants").map(|it| &it.1);
                let Some(PlanJson::List(variants)) = found else {
                    let message = "a split has a list of variants".to_owned();
                    self.invalid(PlanField::Split, &path, message);
                    return None;
                };
                (variants, path)
            }
            other => {
                self.wrong(PlanField::Split, path, "a list of variants", other);
                return None;
            }
        };
        if variants.len() > VARIANTS {
            let message = format!("a split has at most {VARIANTS} variants");
            self.problem(&variants_path, PlanError::TooLarge(message));
            return None;
        }
        let read = variants.iter().enumerate();
        let read =
            read.filter_map(|(at, value)| self.variant(&format!("{variants_path}[{at}]"), value));
        let mut split = Split { variants: read.collect(), ..Split::default() };
        self.check_variants(&variants_path, &split.variants, variants.len());
        if let PlanJson::Object(entries) = value {
            self.split_end(path, entries, &mut split);
        }
        Some(split)
    }

    fn check_variants(&mut self, path: &str, variants: &[Variant], given: usize) {
        if given < 2 {
            self.invalid(PlanField::Split, path, "a split has at least two variants".to_owned());
        }
        let is_drawn = variants.iter().any(|variant| variant.weight > 0);
        if variants.len() == given && given > 0 && !is_drawn {
            let message = "the weights are all 0: one of them must be more".to_owned();
            self.invalid(PlanField::Split, path, message);
        }
        for (at, variant) in variants.iter().enumerate() {
            if variants.iter().take(at).any(|other| other.name == variant.name) {
                let message = "another variant of this split has this name".to_owned();
                self.invalid(PlanField::Split, &format!("{path}[{at}].name"), message);
            }
        }
    }

    fn variant(&mut self, path: &str, value: &PlanJson) -> Option<Variant> {
        const KEYS: [&str; 3] = ["name", "weight", "to"];
        let entries = self.object(PlanField::Split, path, value, &KEYS)?;
        let get =
            |key| entries.iter().find(|(name, _)| name == key).map_or(&PlanJson::Null, |it| &it.1);
        let name = self.name(&join(path, "name"), get("name"));
        let weight = match get("weight") {
            PlanJson::Integer(weight) if (0..=WEIGHT).contains(weight) => {
                u16::try_from(*weight).ok()
            }
            _ => {
                let message = format!("a weight is a whole number from 0 (paused) to {WEIGHT}");
                self.invalid(PlanField::Split, &join(path, "weight"), message);
                None
            }
        };
        let to = match get("to") {
            PlanJson::Text(to) => Some(to.clone()),
            other => {
                self.wrong(PlanField::Split, &join(path, "to"), "a URL", other);
                None
            }
        };
        Some(Variant { name: name?, weight: weight?, to: to? })
    }

    fn split_end(&mut self, path: &str, entries: &[(String, PlanJson)], split: &mut Split) {
        for (key, value) in entries.iter().filter(|(_, value)| *value != PlanJson::Null) {
            let path = join(path, key);
            match (key.as_str(), value) {
                ("ends_at", value) => split.ends_at = self.time(PlanField::Split, &path, value),
                ("winner", PlanJson::Text(name))
                    if split.variants.iter().any(|variant| variant.name == *name) =>
                {
                    split.winner = Some(name.clone());
                }
                ("winner", _) => {
                    let message = "the winner is the name of a variant of this split".to_owned();
                    self.invalid(PlanField::Split, &path, message);
                }
                ("seed", PlanJson::Text(seed)) if seed == "fresh" => split.fresh = true,
                ("seed", _) => {
                    let message = "a seed is \"fresh\", which draws all visitors again".to_owned();
                    self.invalid(PlanField::Split, &path, message);
                }
                _ => {}
            }
        }
        if split.ends_at.is_some() && split.winner.is_none() {
            let message = "a split that ends has a winner".to_owned();
            self.invalid(PlanField::Split, &join(path, "winner"), message);
        }
        split.key = SplitKey::default();
    }

    pub(super) fn time(
        &mut self,
        field: PlanField,
        path: &str,
        value: &PlanJson,
    ) -> Option<Timestamp> {
        let time = match value {
            PlanJson::Text(text) => Timestamp::parse_rfc3339(text),
            _ => None,
        };
        if time.is_none() {
            let message = "a time is written as in RFC 3339: 2026-11-18T12:00:00Z".to_owned();
            self.invalid(field, path, message);
        }
        time
    }
}

/// `path.key`
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
