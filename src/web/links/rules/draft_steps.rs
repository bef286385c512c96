//! What the buttons of the editor do to a draft: each is a word and a path, such as `add-test rules[2].when`.

use serde_json::{Map, Value, json};

use crate::web::links::rules::test_kinds::{RuleTest, Shape};

/// A button that was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DraftStep {
    AddRule,
    Up(usize),
    Down(usize),
    DeleteRule(usize),
    /// Pause a rule, or go on with it.
    Pause(usize),
    /// A test of this key, in the group at this path.
    AddTest(String, String),
    RemoveTest(String, String),
    AddAny(usize),
    AddNot(usize),
    /// The group at this path.
    RemoveGroup(String),
    /// A variant of the split of what is at this path; of the link when it is empty.
    AddVariant(String),
    RemoveVariant(String, usize),
    StartSplit,
    EndSplit,
}

impl DraftStep {
    /// From the value of a button. `new_test` says which test was chosen to be added to a group.
    pub(super) fn parse(text: &str, new_test: impl Fn(&str) -> String) -> Option<Self> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rule = || rest.strip_prefix("rules[")?.strip_suffix(']')?.parse().ok();
        let dotted = || rest.rsplit_once('.').map(|(a, b)| (a.to_owned(), b.to_owned()));
        Some(match word {
            "add-rule" => Self::AddRule,
            "up" => Self::Up(rule()?),
            "down" => Self::Down(rule()?),
            "delete-rule" => Self::DeleteRule(rule()?),
            "pause" => Self::Pause(rule()?),
            "add-any" => Self::AddAny(rule()?),
            "add-not" => Self::AddNot(rule()?),
            "add-test" => Self::AddTest(rest.to_owned(), new_test(rest)),
            "remove-test" => {
                let (group, key) = dotted()?;
                Self::RemoveTest(group, key)
            }
            "remove-group" => Self::RemoveGroup(rest.to_owned()),
            "add-variant" => Self::AddVariant(rest.to_owned()),
            "remove-variant" => {
                let (place, at) = rest.strip_suffix(']')?.rsplit_once("split[")?;
                Self::RemoveVariant(place.trim_end_matches('.').to_owned(), at.parse().ok()?)
            }
            "start-split" => Self::StartSplit,
            "end-split" => Self::EndSplit,
            _ => return None,
        })
    }

    /// Do it. A step that leads nowhere, such as one up from the top, changes nothing. The path of what to look at
    /// afterwards.
    pub(super) fn take(&self, draft: &mut Value) -> Option<String> {
        match self {
            Self::AddRule => add_rule(draft),
            Self::Up(at) => swap(draft, at.checked_sub(1)?, *at, |low, _| low),
            Self::Down(at) => swap(draft, *at, at.checked_add(1)?, |_, high| high),
            Self::DeleteRule(at) => {
                let rules = rules(draft)?;
                if *at < rules.len() {
                    rules.remove(*at);
                }
                Some("rules".to_owned())
            }
            Self::Pause(at) => {
                let rule = rules(draft)?.get_mut(*at)?.as_object_mut()?;
                if rule.remove("paused") != Some(true.into()) {
                    rule.insert("paused".to_owned(), true.into());
                }
                Some(format!("rules[{at}]"))
            }
            Self::AddTest(group, key) => {
                let kind = RuleTest::find(key)?;
                let tests = find(draft, group)?.as_object_mut()?;
                if !kind.keys().iter().any(|key| tests.contains_key(*key)) {
                    tests.insert(kind.key.to_owned(), first_value(kind));
                }
                Some(format!("{group}.{}", kind.key))
            }
            Self::RemoveTest(group, key) => {
                let tests = find(draft, group)?.as_object_mut()?;
                for key in RuleTest::find(key)?.keys() {
                    tests.remove(*key);
                }
                Some(group.clone())
            }
            Self::AddAny(at) => {
                let when = when(draft, *at)?;
                let groups = when.entry("any").or_insert_with(|| json!([])).as_array_mut()?;
                groups.push(json!({}));
                Some(format!("rules[{at}].when.any[{}]", groups.len() - 1))
            }
            Self::AddNot(at) => {
                when(draft, *at)?.entry("not").or_insert_with(|| json!({}));
                Some(format!("rules[{at}].when.not"))
            }
            Self::RemoveGroup(path) => remove_group(draft, path),
            Self::AddVariant(place) => {
                let variants = variants(draft, place)?;
                variants.push(json!({ "name": "", "weight": 50, "to": "" }));
                let at = variants.len() - 1;
                Some(format!("{}split[{at}].name", dotted_prefix(place)))
            }
            Self::RemoveVariant(place, at) => {
                let variants = variants(draft, place)?;
                if *at < variants.len() {
                    variants.remove(*at);
                }
                Some(format!("{}split", dotted_prefix(place)))
            }
            Self::StartSplit => {
                let variants = [("A", 50), ("B", 50)]
                    .map(|(name, weight)| json!({ "name": name, "weight": weight, "to": "" }));
                draft.as_object_mut()?.insert("split".to_owned(), variants.to_vec().into());
                Some("split[0].to".to_owned())
            }
            Self::EndSplit => {
                draft.as_object_mut()?.remove("split");
                Some("split".to_owned())
            }
        }
    }
}

fn add_rule(draft: &mut Value) -> Option<String> {
    let rules = rules(draft)?;
    rules.push(json!({ "when": {}, "to": "" }));
    Some(format!("rules[{}].name", rules.len() - 1))
}

fn dotted_prefix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}.") }
}

/// What a new test says before anything is entered.
fn first_value(kind: RuleTest) -> Value {
    match kind.shape {
        Shape::Switch(&["true", _]) => true.into(),
        Shape::Switch(&[first, _]) => first.into(),
        Shape::Query => json!({}),
        Shape::Period => "".into(),
        Shape::Boxes(_) | Shape::Texts(_) | Shape::Clock => json!([]),
    }
}

fn rules(draft: &mut Value) -> Option<&mut Vec<Value>> {
    draft.as_object_mut()?.entry("rules").or_insert_with(|| json!([])).as_array_mut()
}

fn when(draft: &mut Value, at: usize) -> Option<&mut Map<String, Value>> {
    let rule = rules(draft)?.get_mut(at)?.as_object_mut()?;
    rule.entry("when").or_insert_with(|| json!({})).as_object_mut()
}

/// The variants of what is at `place`.
fn variants<'a>(draft: &'a mut Value, place: &str) -> Option<&'a mut Vec<Value>> {
    let place = if place.is_empty() { Some(draft) } else { find(draft, place) };
    match place?.get_mut("split")? {
        Value::Object(split) => split.get_mut("variants")?.as_array_mut(),
        list => list.as_array_mut(),
    }
}

fn swap(
    draft: &mut Value,
    low: usize,
    high: usize,
    follow: impl Fn(usize, usize) -> usize,
) -> Option<String> {
    let rules = rules(draft)?;
    if high >= rules.len() {
        return None;
    }
    rules.swap(low, high);
    Some(format!("rules[{}]", follow(low, high)))
}

fn remove_group(draft: &mut Value, path: &str) -> Option<String> {
    let (when, group) = path.rsplit_once('.')?;
    let tests = find(draft, when)?.as_object_mut()?;
    if group == "not" {
        tests.remove("not");
    } else {
        let at: usize = group.strip_prefix("any[")?.strip_suffix(']')?.parse().ok()?;
        let groups = tests.get_mut("any")?.as_array_mut()?;
        if at < groups.len() {
            groups.remove(at);
        }
        if groups.is_empty() {
            tests.remove("any");
        }
    }
    Some(when.to_owned())
}

/// What is at a path such as `rules[2].when.any[0]`.
fn find<'a>(draft: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.into_iter().try_fold(draft, |at, part| match at {
        Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?),
        Value::Object(fields) => fields.get_mut(part),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(draft: Value, steps: &[&str]) -> Value {
        let mut draft = draft;
        for step in steps {
            let step = DraftStep::parse(step, |_| "os".to_owned()).expect("a step");
            step.take(&mut draft);
        }
        draft
    }

    #[test]
    fn rules_are_added_moved_paused_and_deleted() {
        let two = json!({ "rules": [{ "name": "a" }, { "name": "b" }] });
        assert_eq!(
            after(two.clone(), &["up rules[1]"]),
            json!({ "rules": [{ "name": "b" }, { "name": "a" }] })
        );
        assert_eq!(after(two.clone(), &["up rules[0]", "down rules[1]"]), two);
        assert_eq!(
            after(two.clone(), &["down rules[0]", "pause rules[0]", "delete-rule rules[1]"]),
            json!({ "rules": [{ "name": "b", "paused": true }] })
        );
        assert_eq!(after(two.clone(), &["pause rules[0]", "pause rules[0]"]), two);
        assert_eq!(after(json!({}), &["add-rule"]), json!({ "rules": [{ "when": {}, "to": "" }] }));
        // Beyond the end nothing happens.
        assert_eq!(after(two.clone(), &["delete-rule rules[7]", "pause rules[7]"]), two);
    }

    #[test]
    fn tests_and_groups_are_added_and_removed() {
        let one = json!({ "rules": [{ "when": { "days": ["mon"], "zone": "UTC" } }] });
        let steps = ["add-test rules[0].when", "add-not rules[0]", "add-test rules[0].when.not"];
        assert_eq!(
            after(one.clone(), &steps),
            json!({ "rules": [{ "when": { "days": ["mon"], "zone": "UTC", "os": [], "not": { "os": [] } } }] })
        );
        assert_eq!(
            after(one.clone(), &["remove-test rules[0].when.days"]),
            json!({ "rules": [{ "when": {} }] })
        );
        let groups = ["add-any rules[0]", "add-any rules[0]", "add-test rules[0].when.any[1]"];
        let added = after(one.clone(), &groups);
        assert_eq!(added["rules"][0]["when"]["any"], json!([{}, { "os": [] }]));
        let removed = ["remove-group rules[0].when.any[1]", "remove-group rules[0].when.any[0]"];
        assert_eq!(after(added, &removed), one);
    }

    #[test]
    fn variants_are_added_and_removed() {
        let started = after(json!({}), &["start-split", "add-variant", "remove-variant split[0]"]);
        assert_eq!(
            started["split"],
            json!([{ "name": "B", "weight": 50, "to": "" }, { "name": "", "weight": 50, "to": "" }])
        );
        assert_eq!(after(started, &["end-split"]), json!({}));
        let rule = json!({ "rules": [{ "split": [] }] });
        let added = after(rule, &["add-variant rules[0]", "add-variant rules[0]"]);
        assert_eq!(added["rules"][0]["split"].as_array().map(Vec::len), Some(2));
        let removed = after(added, &["remove-variant rules[0].split[1]"]);
        assert_eq!(removed["rules"][0]["split"].as_array().map(Vec::len), Some(1));
    }
}
