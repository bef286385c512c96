//! What the editor shows of rules, sent back as it is, gives the same rules.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::language::Language;
use crate::web::form::FormData;
use crate::web::links::form_fields::Marks;
use crate::web::links::rules::controls::{
    Control, RuleView, SplitView, TestView, VariantView, rule_views, split_view,
};
use crate::web::links::rules::draft::read;
use crate::web::links::rules::test_kinds::{DAYS, KINDS, RuleTest, Shape, Typed};

type Pairs = Vec<(String, String)>;

/// What a browser sends of the form of a rule when nothing was touched.
fn sent(rule: &RuleView) -> Pairs {
    let path = &rule.path;
    let own = |name: &str, value: &str| (format!("{path}.{name}"), value.to_owned());
    let mut pairs = vec![own("name", &rule.name.value), own("action", rule.action)];
    if rule.is_paused {
        pairs.push(own("paused", "on"));
    }
    if rule.unknown_matches {
        pairs.push(own("unknown", "match"));
    }
    pairs.extend([own("to", &rule.to.value), own("block", &rule.block.value)]);
    pairs.extend(sent_split(&rule.split));
    for group in &rule.groups {
        if group.is_extra {
            pairs.push((format!("{}.here", group.path), String::new()));
        }
        pairs.extend(group.tests.iter().flat_map(sent_test));
    }
    pairs
}

fn sent_split(split: &SplitView) -> Pairs {
    let mut pairs: Pairs = split.variants.iter().flat_map(sent_variant).collect();
    let fields = [&split.ends_at, &split.winner];
    pairs.extend(fields.map(|field| (field.path.clone(), field.value.clone())));
    if split.is_fresh {
        pairs.push((format!("{}.seed", split.path), "fresh".to_owned()));
    }
    pairs
}

fn sent_variant(variant: &VariantView) -> Pairs {
    let fields = [&variant.name, &variant.weight, &variant.to];
    fields.map(|field| (field.path.clone(), field.value.clone())).to_vec()
}

fn sent_test(test: &TestView) -> Pairs {
    let path = &test.path;
    let beside = |key: &str, value: &str| (format!("{}.{key}", test.group), value.to_owned());
    let mut pairs = Vec::new();
    match &test.control {
        Control::Boxes(choices) => {
            pairs.push((path.clone(), String::new()));
            let chosen = choices.iter().filter(|choice| choice.is_chosen);
            pairs.extend(chosen.map(|choice| (path.clone(), choice.value.to_owned())));
        }
        Control::Switch(choices) => {
            let chosen = choices.iter().find(|choice| choice.is_chosen);
            pairs.push((path.clone(), chosen.map(|one| one.value).unwrap_or_default().to_owned()));
        }
        Control::Texts(lines) => pairs.push((path.clone(), lines.clone())),
        Control::Query(rows) => {
            pairs.push((path.clone(), String::new()));
            for row in rows {
                let fields = [("key", row.key.as_str()), ("kind", row.kind), ("value", &row.value)];
                pairs.extend(
                    fields.map(|(name, value)| (format!("{}.{name}", row.path), value.to_owned())),
                );
            }
        }
        Control::Period { from, until } => {
            pairs.extend([beside("from", from), beside("to_time", until)]);
        }
        Control::Clock { days, from, until, zone } => {
            pairs.push(beside("days", ""));
            let chosen = days.iter().filter(|choice| choice.is_chosen);
            pairs.extend(chosen.map(|choice| beside("days", choice.value)));
            pairs.extend([beside("hours", from), beside("hours", until), beside("zone", zone)]);
        }
    }
    pairs
}

fn sent_back(draft: &Value, language: Language) -> Value {
    let views = rule_views(draft, &Marks::default(), language);
    let mut pairs: Pairs = views.iter().flat_map(sent).collect();
    if draft.get("split").is_some() {
        pairs.extend(sent_split(&split_view(draft, "", &Marks::default())));
    }
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(pairs);
    let form = FormData::parse(body.finish().as_bytes());
    read(&form, language)
}

fn some_of(values: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    let most = values.len();
    proptest::sample::subsequence(values.to_vec(), 0..=most)
}

fn test_values(kind: RuleTest) -> BoxedStrategy<Vec<(String, Value)>> {
    let key = kind.key.to_owned();
    let with_key = move |value: Value| vec![(key.clone(), value)];
    match kind.shape {
        Shape::Boxes(known) => some_of(known)
            .prop_map(|values| if values.contains(&"true") { true.into() } else { values.into() })
            .prop_map(with_key)
            .boxed(),
        Shape::Switch(known) => (0..2_usize)
            .prop_map(|at| match known[at] {
                "true" => true.into(),
                "false" => false.into(),
                word => word.into(),
            })
            .prop_map(with_key)
            .boxed(),
        Shape::Texts(typed) => {
            let values: &'static [&'static str] = match typed {
                Typed::Country => &["DE", "AT", "CH", "QQ"],
                Typed::Language => &["de", "fr-CH", "zh-Hant", "notalanguage"],
                Typed::Plain => &["192.0.2.0/24", "t.co", ".example", "channel:search", "DE-BE"],
            };
            some_of(values).prop_map(Value::from).prop_map(with_key).boxed()
        }
        Shape::Query => {
            let value = prop_oneof![
                Just(Value::Null),
                Just(Value::Bool(true)),
                "[a-z0-9&= ]{0,6}[a-z]".prop_map(|text| Value::from(text.trim())),
                "[a-z]{1,4}".prop_map(|text| format!("{text}*").into()),
            ];
            proptest::collection::btree_map("[a-z.\\[\\]é]{1,8}", value, 0..4)
                .prop_map(|tests| Value::Object(tests.into_iter().collect()))
                .prop_map(with_key)
                .boxed()
        }
        Shape::Period => {
            let times = ["2026-11-18T12:00:00.000Z", "2026-11-18T12:30:05.000Z"];
            (0..3_usize)
                .prop_map(move |which| {
                    let from = (which != 1).then(|| ("from".to_owned(), times[0].into()));
                    let until = (which != 0).then(|| ("to_time".to_owned(), times[1].into()));
                    from.into_iter().chain(until).collect()
                })
                .boxed()
        }
        Shape::Clock => (some_of(&DAYS), any::<bool>(), any::<bool>())
            .prop_map(|(days, has_hours, has_zone)| {
                let hours = has_hours.then(|| ("hours".to_owned(), "22:00-02:30".into()));
                let zone = has_zone.then(|| ("zone".to_owned(), "Europe/Berlin".into()));
                let days =
                    (!days.is_empty() || !has_hours).then(|| ("days".to_owned(), days.into()));
                days.into_iter().chain(hours).chain(zone).collect()
            })
            .boxed(),
    }
}

fn group() -> impl Strategy<Value = Map<String, Value>> {
    let kinds = proptest::sample::subsequence(KINDS.to_vec(), 0..5);
    kinds
        .prop_flat_map(|kinds| kinds.into_iter().map(test_values).collect::<Vec<_>>())
        .prop_map(|tests| tests.into_iter().flatten().collect())
}

fn url() -> impl Strategy<Value = String> {
    "https://[a-z]{1,9}\\.example/[a-z?=&%.\\[\\]é]{0,9}"
}

fn split() -> impl Strategy<Value = Value> {
    let variant = (".{0,9}", 0..10_000_u64, url()).prop_map(|(name, weight, to)| {
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        json!({ "name": name.trim(), "weight": weight, "to": to })
    });
    let more = prop_oneof![
        Just(json!({})),
        Just(json!({ "ends_at": "2026-11-18T12:00:00.000Z", "winner": "a" })),
        Just(json!({ "seed": "fresh" })),
    ];
    (proptest::collection::vec(variant, 2..5), more).prop_map(|(variants, mut more)| {
        if more == json!({}) {
            return variants.into();
        }
        more["variants"] = variants.into();
        more
    })
}

fn action() -> impl Strategy<Value = (String, Value)> {
    prop_oneof![
        url().prop_map(|url| ("to".to_owned(), url.into())),
        proptest::sample::select(vec![403_u64, 404, 451])
            .prop_map(|status| ("block".to_owned(), status.into())),
        split().prop_map(|split| ("split".to_owned(), split)),
    ]
}

fn rule() -> impl Strategy<Value = Value> {
    let any_group = proptest::collection::vec(group(), 0..3);
    let not = proptest::option::of(group());
    let name = "[a-zA-Z.\\[\\]é]{0,9}";
    (name, group(), any_group, not, action(), any::<bool>(), any::<bool>()).prop_map(
        |(name, mut when, any, not, (key, then), is_paused, matches)| {
            if !any.is_empty() {
                when.insert("any".to_owned(), any.into_iter().map(Value::Object).collect());
            }
            if let Some(not) = not {
                when.insert("not".to_owned(), Value::Object(not));
            }
            let mut rule = json!({ "when": when });
            rule[key] = then;
            if !name.is_empty() {
                rule["name"] = name.into();
            }
            if is_paused {
                rule["paused"] = true.into();
            }
            if matches {
                rule["unknown"] = "match".into();
            }
            rule
        },
    )
}

proptest! {
    #[test]
    fn rules_come_back_from_the_form_as_they_were(
        rules in proptest::collection::vec(rule(), 0..13),
        split in proptest::option::of(split()),
        language in proptest::sample::select(Language::ALL.to_vec()),
    ) {
        let mut draft = json!({ "rules": rules });
        if let Some(split) = split {
            draft["split"] = split;
        }
        prop_assert_eq!(sent_back(&draft, language), draft);
    }

    /// Whatever is sent, a draft comes of it, and what the form then shows stays the same.
    #[test]
    fn any_form_is_a_draft(pairs in proptest::collection::vec(("(rules|split|\\[0\\]|\\[70000\\]|\\.when|\\.any|\\.os|\\.to|\\.){0,6}", ".{0,9}"), 0..20)) {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(&pairs);
        let form = FormData::parse(body.finish().as_bytes());
        let shown = sent_back(&read(&form, Language::English), Language::English);
        prop_assert_eq!(sent_back(&shown, Language::English), shown);
    }
}

#[test]
fn names_of_countries_and_languages_become_codes() {
    let body = "rules[0].name=x&rules[0].when.country=Deutschland, at Fr;Vereinigte arabische Emirate\
                &rules[0].when.language=Deutsch, fr-CH&rules[0].to=example.com";
    let form = FormData::parse(body.as_bytes());
    assert_eq!(
        read(&form, Language::German)["rules"],
        json!([{ "name": "x", "to": "https://example.com",
            "when": { "country": ["DE", "AT", "FR", "AE"], "language": ["de", "fr-CH"] } }])
    );
}
