//! The options of a link, and the defaults of a workspace, between the fields of a form and JSON. A field is named by
//! its path in the plan (`utm.source`), as errors name it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::language::Language;
use crate::web::form::FormData;
use crate::web::front::with_scheme;
use crate::web::i18n::{OptionWords, Words, fill};
use crate::web::links::form_fields::{Field, Marks, local, number, plain, time};

/// What a field of the form is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionKind {
    Text,
    Url,
    Time,
    Number,
    Lines,
}

/// The fields of the form beside those of every link. `consent` and `app` are made of several.
const FIELDS: [(&str, OptionKind); 27] = [
    ("valid_from", OptionKind::Time),
    ("click_limit", OptionKind::Number),
    ("expired_url", OptionKind::Url),
    ("pending_url", OptionKind::Url),
    ("fallback_url", OptionKind::Url),
    ("query", OptionKind::Text),
    ("robots", OptionKind::Text),
    ("utm.source", OptionKind::Text),
    ("utm.medium", OptionKind::Text),
    ("utm.campaign", OptionKind::Text),
    ("utm.term", OptionKind::Text),
    ("utm.content", OptionKind::Text),
    ("consent.show", OptionKind::Text),
    ("consent.text", OptionKind::Text),
    ("consent.button", OptionKind::Text),
    ("card.title", OptionKind::Text),
    ("card.description", OptionKind::Text),
    ("card.image_url", OptionKind::Url),
    ("app.ios.app_id", OptionKind::Text),
    ("app.ios.path", OptionKind::Text),
    ("app.ios.store_url", OptionKind::Url),
    ("app.android.package", OptionKind::Text),
    ("app.android.sha256", OptionKind::Lines),
    ("app.android.path", OptionKind::Text),
    ("app.android.store_url", OptionKind::Url),
    // Of the link itself.
    ("expires_at", OptionKind::Time),
    ("hit_limit", OptionKind::Number),
];

/// The form as it was filled in.
#[derive(Clone, Debug)]
pub(in crate::web) struct OptionForm {
    values: BTreeMap<&'static str, String>,
    marks: Marks,
    /// What the workspace says, for links that follow it; `None` in the form of the workspace itself.
    inherited: Option<Value>,
    language: Language,
}

impl OptionForm {
    /// The form of a plan as it is.
    pub(in crate::web) fn of(plan: &Value, language: Language) -> Self {
        let text = |(path, kind): (&'static str, OptionKind)| {
            let found = path.split('.').try_fold(plan, |at, part| at.get(part));
            // `"consent": "once"` is short for an object.
            let found = if path == "consent.show" {
                found.or_else(|| plan.get("consent").filter(|consent| consent.is_string()))
            } else {
                found
            };
            let text = match (kind, found) {
                (OptionKind::Time, found) => local(found),
                (OptionKind::Lines, Some(Value::Array(lines))) => {
                    lines.iter().map(|line| plain(Some(line))).collect::<Vec<_>>().join("\n")
                }
                (_, found) => plain(found),
            };
            (path, text)
        };
        let mut values: BTreeMap<_, _> = FIELDS.into_iter().map(text).collect();
        let has_consent = plan.get("consent").is_some_and(|consent| !consent.is_null());
        if has_consent && values.get("consent.show").is_some_and(String::is_empty) {
            values.insert("consent.show", "always".to_owned());
        }
        Self { values, marks: Marks::default(), inherited: None, language }
    }

    pub(in crate::web) fn read(form: &FormData, language: Language) -> Self {
        let text = |(path, kind): (&'static str, OptionKind)| {
            let text = form.text(path).trim();
            (
                path,
                if kind == OptionKind::Url {
                    with_scheme(text)
                } else {
                    text.replace("\r\n", "\n")
                },
            )
        };
        let values = FIELDS.into_iter().map(text).collect();
        Self { values, marks: Marks::default(), inherited: None, language }
    }

    /// The same with what is wrong with it.
    pub(in crate::web) fn marked(self, faults: Vec<(String, String)>) -> Self {
        Self { marks: Marks::of(faults), ..self }
    }

    /// The same for a link that follows these defaults.
    pub(in crate::web) fn following(self, defaults: Value) -> Self {
        Self { inherited: Some(defaults), ..self }
    }

    pub(in crate::web) const fn is_clean(&self) -> bool {
        self.marks.is_clean()
    }

    /// A field; the password is never shown again.
    pub(in crate::web) fn field(&self, path: &str) -> Field {
        self.marks.field(path.to_owned(), self.text(path).to_owned())
    }

    pub(in crate::web) fn text(&self, path: &str) -> &str {
        self.values.get(path).map_or("", String::as_str)
    }

    /// A field of the plan as the API takes it; null when it is not set.
    pub(in crate::web) fn json(&self, name: &str) -> Value {
        let value = |path: &str, kind: OptionKind| {
            let text = self.text(path);
            match kind {
                _ if text.is_empty() => Value::Null,
                OptionKind::Text | OptionKind::Url => text.into(),
                OptionKind::Time => time(text),
                OptionKind::Number => number(text),
                OptionKind::Lines => {
                    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
                }
            }
        };
        let mut tree = Value::Null;
        for (path, kind) in FIELDS {
            let is_part = path
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let value = if is_part { value(path, kind) } else { Value::Null };
            if !value.is_null() {
                insert(&mut tree, path, value);
            }
        }
        // What is said about a page that is not shown says nothing.
        if name == "consent" && self.text("consent.show").is_empty() {
            return Value::Null;
        }
        tree.get(name).cloned().unwrap_or(Value::Null)
    }

    fn words(&self) -> &'static OptionWords {
        &Words::of(self.language).options
    }

    /// The first choice: nothing said here. It names what holds then.
    fn unsaid(&self, inherited: &str) -> (&'static str, String) {
        let w = self.words();
        let text = if self.inherited.is_some() { w.as_workspace } else { w.server_default };
        ("", fill(text, inherited))
    }

    fn inherited(&self, name: &str) -> String {
        let value = self.inherited.as_ref().and_then(|defaults| defaults.get(name));
        match value {
            Some(Value::Object(consent)) => match plain(consent.get("show")) {
                show if show.is_empty() => "always".to_owned(),
                show => show,
            },
            value => plain(value),
        }
    }

    pub(in crate::web) fn query_choices(&self) -> Vec<(&'static str, String)> {
        let w = self.words();
        let usual = if self.inherited("query") == "merge" { w.query_merge } else { w.query_drop };
        vec![
            self.unsaid(usual),
            ("drop", w.query_drop.to_owned()),
            ("merge", w.query_merge.to_owned()),
        ]
    }

    pub(in crate::web) fn robots_choices(&self) -> Vec<(&'static str, String)> {
        let w = self.words();
        let usual =
            if self.inherited("robots") == "index" { w.robots_index } else { w.robots_noindex };
        let (noindex, index) = (w.robots_noindex.to_owned(), w.robots_index.to_owned());
        vec![self.unsaid(usual), ("noindex", noindex), ("index", index)]
    }

    pub(in crate::web) fn consent_choices(&self) -> Vec<(&'static str, String)> {
        let w = self.words();
        let usual = match self.inherited("consent").as_str() {
            "always" => w.consent_always,
            "once" => w.consent_once,
            _ => w.consent_none,
        };
        let (always, once) = (w.consent_always.to_owned(), w.consent_once.to_owned());
        vec![self.unsaid(usual), ("always", always), ("once", once)]
    }
}

fn insert(tree: &mut Value, path: &str, value: Value) {
    let mut at = tree;
    for part in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(fields) = at else { return };
        at = fields.entry(part).or_insert(Value::Null);
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NAMES: [&str; 10] = [
        "valid_from",
        "click_limit",
        "expired_url",
        "pending_url",
        "fallback_url",
        "query",
        "robots",
        "utm",
        "consent",
        "card",
    ];

    #[test]
    fn options_come_back_from_the_form_as_they_were() {
        let plan = json!({
            "valid_from": "2026-11-18T12:00:00.000Z", "click_limit": 50, "expired_url": "https://a.example/",
            "query": "merge", "robots": "index", "utm": { "source": "{code}", "term": "x y" },
            "consent": { "show": "once", "text": "one\ntwo", "button": "Go" },
            "card": { "title": "T", "image_url": "https://a.example/i.png" },
            "app": { "ios": { "app_id": "ABCDE12345.com.example.app" },
                     "android": { "package": "com.example.app", "sha256": ["AB:CD", "EF:01"], "path": "/x" } },
        });
        let form = OptionForm::of(&plan, Language::English);
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        for (path, _) in FIELDS {
            body.append_pair(path, &form.field(path).value.replace('\n', "\r\n"));
        }
        let back = OptionForm::read(&FormData::parse(body.finish().as_bytes()), Language::English);
        for name in NAMES.iter().chain(&["app"]) {
            assert_eq!(back.json(name), plan.get(name).cloned().unwrap_or_default(), "{name}");
        }
        // A short form, and nothing at all.
        let once = OptionForm::of(&json!({ "consent": "once" }), Language::English);
        assert_eq!(once.json("consent"), json!({ "show": "once" }));
        let empty = OptionForm::of(&json!({}), Language::English);
        assert!(NAMES.iter().all(|name| empty.json(name).is_null()));
    }

    #[test]
    fn what_was_entered_wrong_is_kept_to_be_refused() {
        let form = OptionForm::read(
            &FormData::parse(b"click_limit=many&valid_from=soon&consent.text=x"),
            Language::English,
        );
        assert_eq!(form.json("click_limit"), json!("many"));
        assert_eq!(form.json("valid_from"), json!("soon"));
        // The page is not shown, so that its text is not kept.
        assert_eq!(form.json("consent"), Value::Null);
    }

    #[test]
    fn a_choice_says_what_holds_when_nothing_is_said() {
        let form = OptionForm::of(&json!({}), Language::English);
        assert_eq!(form.query_choices()[0].1, "default (is dropped)");
        let form = form.following(json!({ "query": "merge", "consent": { "text": "x" } }));
        assert!(form.query_choices()[0].1.starts_with("as the workspace says (is added"));
        assert_eq!(form.consent_choices()[0].1, "as the workspace says (every time)");
    }
}
