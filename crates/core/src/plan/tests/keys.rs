//! A table for each key of `when`: holds, does not, unknown; as it is, under `not` and under `any`.

use super::super::{AgentClass, Browser, Device, InApp, Os, PlanOutcome, TestKey};
use super::{TestRequest, at, compile, document};

/// Whether a rule with this `when` applies.
fn applies(when: &str, unknown: &str, request: &TestRequest) -> bool {
    let json = format!(r#"{{"rules":[{{"when":{when},{unknown}"block":451}}]}}"#);
    let plan = compile(&document(&json));
    let explanation = plan.explain(request);
    assert_eq!(plan.choose(request), explanation.choice, "{when}");
    explanation.choice.outcome == PlanOutcome::Block(451)
}

/// `expected`: true, false or unknown.
fn check(when: &str, request: &TestRequest, expected: Option<bool>) {
    let holds = expected == Some(true);
    assert_eq!(applies(when, "", request), holds, "{when} {request:?}");
    let any = format!(r#"{{"any":[{{"query":{{"no":"such"}}}},{when}]}}"#);
    assert_eq!(applies(&any, "", request), holds, "{any}");
    let not = format!(r#"{{"not":{when}}}"#);
    assert_eq!(applies(&not, "", request), expected == Some(false), "{not} {request:?}");
    // With `"unknown": "match"` it holds either way.
    let matching = r#""unknown":"match","#;
    assert_eq!(applies(when, matching, request), expected != Some(false), "{when}");
    assert_eq!(applies(&any, matching, request), expected != Some(false), "{any}");
    assert_eq!(applies(&not, matching, request), expected != Some(true), "{not}");
}

fn by_agent(agent: AgentClass) -> TestRequest {
    TestRequest { agent: AgentClass { is_known: true, ..agent }, ..TestRequest::default() }
}

#[test]
fn the_class_of_the_user_agent() {
    let nothing = TestRequest::default();
    let phone = by_agent(AgentClass {
        device: Some(Device::Phone),
        os: Some(Os::Ios),
        browser: Some(Browser::Safari),
        in_app: Some(InApp::Instagram),
        ..AgentClass::default()
    });
    let plain = by_agent(AgentClass::default());
    for (when, of_phone, of_plain) in [
        (r#"{"device":["phone","tablet"]}"#, Some(true), None),
        (r#"{"device":["desktop"]}"#, Some(false), None),
        (r#"{"os":["ios"]}"#, Some(true), None),
        (r#"{"os":["android","other"]}"#, Some(false), None),
        (r#"{"browser":["safari"]}"#, Some(true), None),
        (r#"{"browser":["chrome"]}"#, Some(false), None),
        (r#"{"in_app":["instagram","x"]}"#, Some(true), Some(false)),
        (r#"{"in_app":["other"]}"#, Some(false), Some(false)),
        (r#"{"in_app":true}"#, Some(true), Some(false)),
    ] {
        check(when, &phone, of_phone);
        check(when, &plain, of_plain);
        check(when, &nothing, None);
    }
}

#[test]
fn languages() {
    let speaks =
        |language: &str| TestRequest { language: language.to_owned(), ..TestRequest::default() };
    for (when, language, expected) in [
        (r#"{"language":["de"]}"#, "de-AT,en;q=0.5", Some(true)),
        (r#"{"language":["de-AT"]}"#, "de", Some(false)),
        (r#"{"language":["fr","fr-CH"]}"#, "en;q=0.5,fr-CH", Some(true)),
        (r#"{"language":["en"]}"#, "en;q=0.5,fr-CH", Some(false)),
        (r#"{"language":["en"]}"#, "", None),
        (r#"{"language":["en"]}"#, "*", None),
    ] {
        check(when, &speaks(language), expected);
    }
}

#[test]
fn places() {
    let from = |country: &str, region: &str| TestRequest {
        country: country.to_owned(),
        region: region.to_owned(),
        ..TestRequest::default()
    };
    for (when, country, region, expected) in [
        (r#"{"country":["DE","AT"]}"#, "AT", "", Some(true)),
        (r#"{"country":["DE","AT"]}"#, "US", "", Some(false)),
        (r#"{"country":["DE"]}"#, "", "", None),
        (r#"{"region":["DE-BY"]}"#, "DE", "DE-BY", Some(true)),
        (r#"{"region":["DE-BY"]}"#, "DE", "DE-BE", Some(false)),
        (r#"{"region":["DE-BY"]}"#, "DE", "", None),
        (r#"{"continent":["EU","AF"]}"#, "ZA", "", Some(true)),
        (r#"{"continent":["EU"]}"#, "US", "", Some(false)),
        (r#"{"continent":["EU"]}"#, "", "", None),
        (r#"{"eu":true}"#, "FR", "", Some(true)),
        (r#"{"eu":true}"#, "CH", "", Some(false)),
        (r#"{"eu":true}"#, "", "", None),
        (r#"{"eu":false}"#, "CH", "", Some(true)),
        (r#"{"eu":false}"#, "FR", "", Some(false)),
        (r#"{"eu":false}"#, "", "", None),
    ] {
        check(when, &from(country, region), expected);
    }
}

#[test]
fn networks_and_referrers() {
    let address = |text: &str| {
        let address: std::net::IpAddr = text.parse().unwrap();
        let bits = match address {
            std::net::IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
            std::net::IpAddr::V6(address) => address.to_bits(),
        };
        TestRequest { address: Some(bits), ..TestRequest::default() }
    };
    let networks = r#"{"network":["192.0.2.0/24","2001:db8::/32"]}"#;
    check(networks, &address("192.0.2.9"), Some(true));
    check(networks, &address("2001:db8:1::5"), Some(true));
    check(networks, &address("192.0.3.9"), Some(false));
    check(networks, &TestRequest::default(), None);

    let from = |field: &str| TestRequest { referrer: field.to_owned(), ..TestRequest::default() };
    for (when, field, expected) in [
        (r#"{"referrer":["news.example"]}"#, "https://www.News.example/x", Some(true)),
        (r#"{"referrer":["news.example"]}"#, "https://a.news.example/x", Some(false)),
        (r#"{"referrer":[".news.example"]}"#, "https://a.news.example/x", Some(true)),
        (r#"{"referrer":[".news.example"]}"#, "https://news.example/x", Some(true)),
        (r#"{"referrer":[".news.example"]}"#, "https://badnews.example/x", Some(false)),
        (r#"{"referrer":["channel:search"]}"#, "https://search.example/", Some(true)),
        (r#"{"referrer":["channel:search"]}"#, "https://other.example/", Some(false)),
        (r#"{"referrer":["channel:search"]}"#, "", None),
        (r#"{"referrer":["channel:direct"]}"#, "", Some(true)),
        (r#"{"referrer":["channel:direct"]}"#, "https://other.example/", Some(false)),
        (r#"{"referrer":["news.example"]}"#, "", None),
        (r#"{"referrer":["news.example","channel:direct"]}"#, "", Some(true)),
    ] {
        check(when, &from(field), expected);
    }
}

#[test]
fn queries_and_codes_that_are_scanned() {
    let asks = |query: &str| TestRequest { query: query.to_owned(), ..TestRequest::default() };
    for (when, query, expected) in [
        (r#"{"query":{"ab":"1"}}"#, "x=2&ab=1", true),
        (r#"{"query":{"ab":"1"}}"#, "ab=2&ab=1", false),
        (r#"{"query":{"ab":"1"}}"#, "%61b=%31", true),
        (r#"{"query":{"ab":"a b"}}"#, "ab=a+b", true),
        (r#"{"query":{"ab":"1"}}"#, "", false),
        (r#"{"query":{"ab":true}}"#, "ab=7", true),
        (r#"{"query":{"ab":true}}"#, "ab", true),
        (r#"{"query":{"ab":true}}"#, "abc=1", false),
        (r#"{"query":{"ab":null}}"#, "ab", true),
        (r#"{"query":{"ab":null}}"#, "ab=", true),
        (r#"{"query":{"ab":null}}"#, "ab=1", false),
        (r#"{"query":{"ab":null}}"#, "x", false),
        (r#"{"query":{"ab":"pre*"}}"#, "ab=prefix", true),
        (r#"{"query":{"ab":"pre*"}}"#, "ab=pr", false),
        (r#"{"query":{"a":"1","b":"2"}}"#, "b=2&a=1", true),
        (r#"{"query":{"a":"1","b":"2"}}"#, "a=1", false),
        (r#"{"qr":true}"#, "qr", true),
        (r#"{"qr":true}"#, "qr=1", true),
        (r#"{"qr":true}"#, "", false),
        (r#"{"qr":false}"#, "", true),
        (r#"{"qr":false}"#, "qr", false),
    ] {
        check(when, &asks(query), Some(expected));
    }
}

#[test]
fn times_and_visitors() {
    let now = |text: &str| TestRequest { now: at(text), ..TestRequest::default() };
    let new_year = r#"{"from":"2026-12-31T23:00:00Z","to_time":"2027-01-01T00:00:00Z"}"#;
    check(new_year, &now("2026-12-31T22:59:59.999Z"), Some(false));
    check(new_year, &now("2026-12-31T23:00:00Z"), Some(true));
    check(new_year, &now("2026-12-31T23:59:59.999Z"), Some(true));
    check(new_year, &now("2027-01-01T00:00:00Z"), Some(false));
    let office = r#"{"days":["mon","tue","wed"],"hours":"09:00-17:30","zone":"Europe/Berlin"}"#;
    check(office, &now("2026-11-18T08:00:00Z"), Some(true));
    check(office, &now("2026-11-18T16:30:00Z"), Some(false));
    check(office, &now("2026-11-19T10:00:00Z"), Some(false));
    check(r#"{"days":["wed"]}"#, &now("2026-11-18T23:59:59Z"), Some(true));
    check(r#"{"days":["wed"]}"#, &now("2026-11-19T00:00:00Z"), Some(false));
    check(r#"{"hours":"22:00-02:00"}"#, &now("2026-11-19T01:59:59Z"), Some(true));

    let seen = |returning| TestRequest { returning, ..TestRequest::default() };
    check(r#"{"visitor":"first"}"#, &seen(Some(false)), Some(true));
    check(r#"{"visitor":"first"}"#, &seen(Some(true)), Some(false));
    check(r#"{"visitor":"first"}"#, &seen(None), None);
    check(r#"{"visitor":"returning"}"#, &seen(Some(true)), Some(true));
    check(r#"{"visitor":"returning"}"#, &seen(Some(false)), Some(false));
    check(r#"{"visitor":"returning"}"#, &seen(None), None);
}

#[test]
fn all_keys_must_hold_one_of_any_and_not_all_of_not() {
    let request =
        TestRequest { country: "DE".to_owned(), query: "a=1".to_owned(), ..TestRequest::default() };
    for (when, expected) in [
        ("{}", true),
        (r#"{"country":["DE"],"query":{"a":"1"}}"#, true),
        (r#"{"country":["DE"],"query":{"a":"2"}}"#, false),
        (r#"{"country":["DE"],"device":["phone"]}"#, false),
        (r#"{"any":[{"country":["FR"]},{"query":{"a":"1"},"country":["DE"]}]}"#, true),
        (r#"{"any":[{"country":["FR"]},{"query":{"a":"1"},"country":["FR"]}]}"#, false),
        (r#"{"any":[{"device":["phone"]},{"country":["DE"]}]}"#, true),
        (r#"{"not":{"country":["DE"],"query":{"a":"2"}}}"#, true),
        (r#"{"not":{"country":["DE"],"query":{"a":"1"}}}"#, false),
        // One of two is false, so both together are false, whatever the unknown one is.
        (r#"{"not":{"device":["phone"],"query":{"a":"2"}}}"#, true),
        (r#"{"not":{"device":["phone"],"query":{"a":"1"}}}"#, false),
        (r#"{"country":["DE"],"any":[{"query":{"a":"1"}}],"not":{"country":["FR"]}}"#, true),
        (r#"{"country":["DE"],"any":[{"query":{"a":"1"}}],"not":{"country":["DE"]}}"#, false),
    ] {
        assert_eq!(applies(when, "", &request), expected, "{when}");
    }
}

#[test]
fn reasons_name_the_values_of_every_rule_up_to_the_one_that_applied() {
    let plan = compile(&document(
        r#"{"rules":[
            {"name":"away","when":{"not":{"continent":["EU"]}},"block":451},
            {"paused":true,"when":{},"block":404},
            {"when":{"any":[{"query":{"ab":"1"}},{"device":["phone"]}]},"to":"https://example.com/b"},
            {"when":{},"to":"https://example.com/c"}]}"#,
    ));
    let request = TestRequest {
        country: "DE".to_owned(),
        query: "ab=1".to_owned(),
        ..TestRequest::default()
    };
    let explanation = plan.explain(&request);
    assert_eq!(explanation.choice.rule, Some(2));
    let reasons = explanation.reasons.iter();
    let reasons: Vec<_> = reasons
        .map(|it| {
            (it.rule, it.test, it.parameter.as_deref(), it.within, it.value.as_str(), it.holds)
        })
        .collect();
    assert_eq!(
        reasons,
        [
            (0, TestKey::Continent, None, Some("not"), "EU", Some(false)),
            (2, TestKey::Query, Some("ab"), Some("any"), "1", Some(true)),
            (2, TestKey::Device, None, Some("any"), "", None),
        ]
    );
    assert_eq!((plan.rule_name(0), plan.rule_name(2)), (Some("away"), None));
}
