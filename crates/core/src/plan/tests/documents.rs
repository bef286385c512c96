//! What is refused, with the field and the code of each error, and what a stored plan looks like.

use super::super::{
    CheckContext, PlanChanges, PlanDocument, PlanError, PlanField, PlanJson, PlanProblem, SplitKey,
};
use super::{at, document};
use crate::link::Change;

fn context() -> CheckContext {
    CheckContext {
        expires_at: Some(at("2027-01-01T00:00:00Z")),
        redirect_status: 302,
        health_checks: true,
        knows_visitors: true,
    }
}

/// The changes of a request with these fields.
fn changes(json: &str) -> PlanChanges {
    let PlanJson::Object(entries) = PlanJson::parse(json).unwrap() else { panic!("{json}") };
    let mut changes = PlanChanges::default();
    for (name, value) in entries {
        changes.set(PlanField::parse(&name).unwrap(), value);
    }
    changes
}

fn problems(json: &str, context: &CheckContext) -> Vec<PlanProblem> {
    let applied = changes(json).apply(&PlanDocument::default(), || [1; SplitKey::BYTES]);
    applied.map_or_else(|problems| problems, |document| document.check(context))
}

fn refused(json: &str) -> Vec<(String, &'static str)> {
    let problems = problems(json, &context());
    problems.iter().map(|problem| (problem.field.clone(), problem.error.code())).collect()
}

/// Each is refused for this one reason.
fn assert_refused(json: &str, field: &str, code: &'static str) {
    assert_eq!(refused(json), [(field.to_owned(), code)], "{json}");
}

#[test]
fn every_error_in_rules_names_its_field_and_code() {
    let rule = |when: &str| format!(r#"{{"rules":[{{"when":{when},"to":"https://e.example"}}]}}"#);
    for (json, field, code) in [
        (rule(r#"{"contry":["DE"]}"#), "rules[0].when.contry", "rules-invalid"),
        (rule(r#"{"country":"DE"}"#), "rules[0].when.country", "rules-invalid"),
        (rule(r#"{"country":[]}"#), "rules[0].when.country", "rules-invalid"),
        (rule(r#"{"country":["DE",5]}"#), "rules[0].when.country[1]", "rules-invalid"),
        (rule(r#"{"country":["DE","XX"]}"#), "rules[0].when.country[1]", "rules-invalid"),
        (rule(r#"{"zone":"UTC"}"#), "rules[0].when.zone", "rules-invalid"),
        (rule(r#"{"hours":"09:00-17:00","zone":"Europe/Berln"}"#), "rules[0].when.zone", "rules-invalid"),
        (rule(r#"{"any":[]}"#), "rules[0].when.any", "rules-invalid"),
        (rule(r#"{"any":[{}]}"#), "rules[0].when.any[0]", "rules-invalid"),
        (rule(r#"{"not":{}}"#), "rules[0].when.not", "rules-invalid"),
        (rule(r#"{"any":[{"any":[{"qr":true}]}]}"#), "rules[0].when.any[0].any", "rules-invalid"),
        (rule(r#"{"not":{"not":{"qr":true}}}"#), "rules[0].when.not.not", "rules-invalid"),
        (rule(r#"{"any":[{"os":["ois"]}]}"#), "rules[0].when.any[0].os[0]", "rules-invalid"),
        (rule(r#"{"query":{"a":5}}"#), "rules[0].when.query.a", "rules-invalid"),
        (rule(r#"{"query":{"a=b":"1"}}"#), "rules[0].when.query.a=b", "rules-invalid"),
        (rule(r#"{"in_app":false}"#), "rules[0].when.in_app", "rules-invalid"),
        (r#"{"rules":[{"when":{}}]}"#.into(), "rules[0]", "rule-action"),
        (r#"{"rules":[{"to":"https://e.example","block":404}]}"#.into(), "rules[0]", "rule-action"),
        (r#"{"rules":[{"block":500}]}"#.into(), "rules[0].block", "rules-invalid"),
        (r#"{"rules":[{"block":404,"then":1}]}"#.into(), "rules[0].then", "rules-invalid"),
        (r#"{"rules":[{"block":404,"name":""}]}"#.into(), "rules[0].name", "rules-invalid"),
        (r#"{"rules":[{"block":404,"unknown":"skip"}]}"#.into(), "rules[0].unknown", "rules-invalid"),
        (r#"{"rules":{}}"#.into(), "rules", "rules-invalid"),
        (r#"{"rules":[{"block":404},{"when":{"qr":true},"block":403}]}"#.into(), "rules[1]", "rule-unreachable"),
        (
            r#"{"rules":[{"name":"a","when":{"qr":true},"block":404},{"name":"a","block":404}]}"#.into(),
            "rules[1].name",
            "rule-name-taken",
        ),
        (r#"{"split":[{"name":"a","weight":1,"to":"https://e.example"}]}"#.into(), "split", "rules-invalid"),
        (
            r#"{"split":[{"name":"a","weight":0,"to":"x"},{"name":"b","weight":0,"to":"x"}]}"#.into(),
            "split",
            "rules-invalid",
        ),
        (
            r#"{"split":[{"name":"a","weight":1,"to":"x"},{"name":"a","weight":10001,"to":"x"}]}"#.into(),
            "split[1].weight",
            "rules-invalid",
        ),
        (
            r#"{"split":[{"name":"a","weight":1,"to":"x"},{"name":"a","weight":1,"to":"x"}]}"#.into(),
            "split[1].name",
            "rules-invalid",
        ),
        (
            r#"{"split":{"variants":[{"name":"a","weight":1,"to":"x"},{"name":"b","weight":1,"to":"x"}],"winner":"c"}}"#.into(),
            "split.winner",
            "rules-invalid",
        ),
    ] {
        assert_refused(&json, field, code);
    }
}

#[test]
fn every_error_in_a_setting_names_its_field_and_code() {
    for (json, field, code) in [
        (r#"{"click_limit":-1}"#, "click_limit", "click-limit-invalid"),
        (r#"{"click_limit":1.5}"#, "click_limit", "click-limit-invalid"),
        (r#"{"valid_from":"2027-01-01T00:00:00Z"}"#, "valid_from", "valid-from-after-end"),
        (r#"{"valid_from":"soon"}"#, "valid_from", "valid-from-invalid"),
        (r#"{"query":"keep"}"#, "query", "query-mode-invalid"),
        (r#"{"robots":"all"}"#, "robots", "robots-invalid"),
        (r#"{"utm":{"source":"{city}"}}"#, "utm.source", "placeholder-unknown"),
        (r#"{"utm":{"source":"{code"}}"#, "utm.source", "placeholder-unknown"),
        (r#"{"utm":{"sourc":"x"}}"#, "utm.sourc", "utm-invalid"),
        (r#"{"consent":"never"}"#, "consent", "consent-invalid"),
        (r#"{"card":{"title":5}}"#, "card.title", "card-invalid"),
        (r#"{"app":{"ios":{"app_id":"x"}}}"#, "app.ios.app_id", "app-invalid"),
        (
            r#"{"app":{"android":{"package":"a.b","path":"javascript://x"}}}"#,
            "app.android.path",
            "app-invalid",
        ),
        (
            r#"{"app":{"android":{"package":"a.b","sha256":["AB"]}}}"#,
            "app.android.sha256[0]",
            "app-invalid",
        ),
        (r#"{"password":"abc"}"#, "password", "link-password-invalid"),
        (r#"{"password":"ab\u0000cd"}"#, "password", "link-password-invalid"),
    ] {
        assert_refused(json, field, code);
    }
}

#[test]
fn bounds_are_kept() {
    let too_large = |json: &str, field: &str| {
        assert_eq!(refused(json), [(field.to_owned(), "rules-too-large")], "{json:.200}");
    };
    let rules = |count| {
        let rules: Vec<_> = (0..count).map(|_| r#"{"when":{"qr":true},"block":404}"#).collect();
        format!(r#"{{"rules":[{}]}}"#, rules.join(","))
    };
    assert!(refused(&rules(32)).is_empty());
    too_large(&rules(33), "rules");
    let values = |count| {
        let values: Vec<_> = (0..count).map(|at| format!(r#""10.0.0.{at}/32""#)).collect();
        format!(r#"{{"rules":[{{"when":{{"network":[{}]}},"block":404}}]}}"#, values.join(","))
    };
    assert!(refused(&values(64)).is_empty());
    too_large(&values(65), "rules[0].when.network");
    let tests = |count| {
        let tests: Vec<_> =
            (0..count).map(|at| format!(r#"{{"query":{{"k{at}":"1"}}}}"#)).collect();
        format!(r#"{{"rules":[{{"when":{{"any":[{}]}},"block":404}}]}}"#, tests.join(","))
    };
    assert!(refused(&tests(16)).is_empty());
    too_large(&tests(17), "rules[0].when");
    let variants = |count| {
        let variant = |at| format!(r#"{{"name":"v{at}","weight":1,"to":"https://e.example"}}"#);
        let variants: Vec<_> = (0..count).map(variant).collect();
        format!(r#"{{"split":[{}]}}"#, variants.join(","))
    };
    assert!(refused(&variants(8)).is_empty());
    too_large(&variants(9), "split");
    let long = format!(r#"{{"expired_url":"https://e.example/{}"}}"#, "x".repeat(17_000));
    too_large(&long, "rules");
}

#[test]
fn a_plan_is_checked_against_the_rest_of_the_link() {
    let with = |context: &CheckContext, json: &str| -> Vec<&'static str> {
        problems(json, context).iter().map(|problem| problem.error.code()).collect()
    };
    let permanent = CheckContext { redirect_status: 301, ..context() };
    assert_eq!(with(&permanent, r#"{"click_limit":5}"#), ["status-permanent"]);
    assert_eq!(with(&permanent, r#"{"click_limit":0}"#), [""; 0], "nothing is set");
    let blind = CheckContext { knows_visitors: false, health_checks: false, ..context() };
    let visitor = r#"{"rules":[{"when":{"not":{"visitor":"first"}},"block":404}]}"#;
    assert_eq!(with(&blind, visitor), ["visitor-unknown"]);
    assert_eq!(with(&blind, r#"{"fallback_url":"https://e.example"}"#), ["health-off"]);
    let document = document(
        r#"{"rules":[{"when":{"any":[{"country":["DE"]},{"region":["DE-BY"]}]},"block":404}]}"#,
    );
    let codes = |countries, regions| -> Vec<&str> {
        document.warnings(countries, regions).iter().map(|warning| warning.code).collect()
    };
    assert_eq!(codes(true, true), [""; 0]);
    assert_eq!(codes(true, false), ["region-unknown"]);
    assert_eq!(codes(false, false), ["country-unknown", "region-unknown"]);
}

const WHOLE: &str = r#"{"rules":[{"name":"app","when":{"os":["ios"],"language":["de","fr-CH"],"any":[{"query":{"a":"1","b":true,"c":null,"d":"x*"}},{"in_app":true}],"not":{"eu":false}},"unknown":"match","to":"https://a.example/"},{"paused":true,"when":{},"split":{"variants":[{"name":"old","weight":80,"to":"https://b.example/"},{"name":"new","weight":20,"to":"https://c.example/"}],"ends_at":"2026-12-01T00:00:00.000Z","winner":"new"}},{"when":{"from":"2026-01-01T00:00:00.000Z","days":["mon","sun"],"hours":"22:00-02:00","zone":"Europe/Berlin"},"block":451}],"split":[{"name":"a","weight":1,"to":"https://d.example/"},{"name":"b","weight":0,"to":"https://e.example/"}],"password":"$2b$10$hash","valid_from":"2026-11-18T12:00:00.000Z","click_limit":50,"expired_url":"https://f.example/","pending_url":"https://g.example/","fallback_url":"https://h.example/","query":"merge","utm":{"source":"{code}","content":"x"},"consent":{"text":"Careful\nplease","button":"Go","show":"once"},"app":{"ios":{"app_id":"ABCDE12345.com.example.app","path":"myapp://x","store_url":"https://i.example/"},"android":{"package":"com.example.app","sha256":[],"path":"/x","store_url":"https://j.example/"}},"card":{"title":"T","description":"D","image_url":"https://k.example/x.png"},"robots":"index"}"#;

#[test]
fn a_plan_with_everything_is_stored_in_one_spelling() {
    let document = document(WHOLE);
    assert_eq!(document.to_json(), WHOLE);
    assert_eq!(document.keys().len(), 2 * SplitKey::BYTES);
    let stored = PlanDocument::from_stored(WHOLE, &document.keys()).unwrap();
    assert_eq!(stored, document);
    let urls: Vec<_> = document.urls().into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        urls,
        [
            "rules[0].to",
            "rules[1].split.variants[0].to",
            "rules[1].split.variants[1].to",
            "split[0].to",
            "split[1].to",
            "expired_url",
            "pending_url",
            "fallback_url",
            "app.ios.store_url",
            "app.android.store_url",
            "card.image_url",
        ]
    );
    assert!(super::compile(&document).bytes() < 8 * 1024);
    assert!(PlanDocument::default().is_empty() && !document.is_empty());
    assert_eq!(PlanDocument::default().to_json(), "{}");
}

#[test]
fn a_damaged_plan_is_refused_and_never_half_read() {
    let keys = document(WHOLE).keys();
    assert!(PlanDocument::from_stored(WHOLE, keys.get(1..).unwrap()).is_err(), "a key is cut");
    assert!(PlanDocument::from_stored("{}", &keys).is_err(), "keys without splits");
    for (from, to) in
        [("rules", "rulez"), ("ios", "iox"), ("\"click_limit\":50", "\"click_limit\":\"50\"")]
    {
        assert!(PlanDocument::from_json(&WHOLE.replacen(from, to, 1)).is_err(), "{from}");
    }
    assert!(PlanDocument::from_json(r#"{"query":"drop","query":"merge"}"#).is_err(), "twice");
    assert!(PlanDocument::from_json("").is_err() && PlanDocument::from_json("[]").is_err());
}

#[test]
fn a_request_changes_what_it_names_and_splits_keep_their_keys() {
    let old = document(WHOLE);
    let mut made = 0_u8;
    let mut random = || {
        made += 1;
        [100 + made; SplitKey::BYTES]
    };
    let new =
        changes(r#"{"click_limit":null,"robots":"noindex"}"#).apply(&old, &mut random).unwrap();
    assert_eq!((new.click_limit, new.rules == old.rules), (0, true));
    assert_eq!(new.keys(), old.keys());
    assert_eq!(new.differing(&old), ["click_limit", "robots"]);

    let weights = r#"{"split":[{"name":"a","weight":5,"to":"https://d.example/"},{"name":"b","weight":5,"to":"https://e.example/"}]}"#;
    let new = changes(weights).apply(&old, &mut random).unwrap();
    assert_eq!(new.keys(), old.keys(), "other weights keep visitors on their sides");
    let fresh = weights.replace("[{", r#"{"seed":"fresh","variants":[{"#).replace("}]}", "}]}}");
    let new = changes(&fresh).apply(&old, &mut random).unwrap();
    assert_eq!(new.split.as_ref().unwrap().key, SplitKey([101; 16]));
    assert_eq!(new.to_json(), changes(weights).apply(&old, || [0; 16]).unwrap().to_json());

    let new = changes(r#"{"rules":null,"split":null}"#).apply(&old, &mut random).unwrap();
    assert!(new.rules.is_empty() && new.keys().is_empty());
    let names = new.differing(&old);
    assert_eq!(names, ["split", "rules[0] (app)", "rules[1]", "rules[2]"]);
    let removed = changes(r#"{"password":null}"#).apply(&old, &mut random).unwrap();
    assert_eq!(removed.password, None);
    let set = changes(r#"{"password":"secret"}"#);
    let Change::To(Some(password)) = &set.password else { panic!("{set:?}") };
    assert_eq!(password.as_str(), "secret");
    assert!(!format!("{set:?}").contains("secret"), "it is not printed");
    assert!(set.apply(&old, || [0; 16]).is_err(), "not without its hash");
    let mut hashed = set;
    hashed.set_hash("$2b$10$other".to_owned());
    let new = hashed.apply(&old, || [0; 16]).unwrap();
    assert_eq!(new.password.as_deref(), Some("$2b$10$other"));
    let mut framed = PlanChanges::default();
    framed.refuse("cloak", PlanError::CloakingRefused);
    assert_eq!(framed.apply(&old, random).unwrap_err()[0].error.code(), "cloaking-refused");
}
