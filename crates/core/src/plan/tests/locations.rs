//! The `Location` of a plan: parameters of campaigns and of the request.

use proptest::prelude::*;

use super::super::{
    AgentClass, Country, Device, PlanDefaults, PlanDocument, PlanOutcome, Robots, TargetId,
};
use super::{TestRequest, compile, document};
use crate::plan::prepared_url::{LONGEST, MOST_FORWARDED};

/// The `Location` of the only rule for a request with this query.
fn location(url: &str, settings: &str, request: &TestRequest) -> String {
    let json = format!(r#"{{"rules":[{{"to":{}}}]{settings}}}"#, serde_json::json!(url));
    let plan = compile(&document(&json));
    let choice = plan.choose(request);
    let PlanOutcome::Target(target) = choice.outcome else { panic!("{choice:?}") };
    let mut buffer = Vec::new();
    String::from_utf8(plan.location(target, &choice, request, &mut buffer).to_vec()).unwrap()
}

fn merged(url: &str, query: &str) -> String {
    let request = TestRequest { query: query.to_owned(), ..TestRequest::default() };
    location(url, r#","query":"merge""#, &request)
}

#[test]
fn parameters_of_the_request_are_appended_and_never_win() {
    for (url, query, expected) in [
        ("https://e.example/", "", "https://e.example/"),
        ("https://e.example/", "a=1&b", "https://e.example/?a=1&b"),
        ("https://e.example/?x=1", "a=1", "https://e.example/?x=1&a=1"),
        ("https://e.example/?x=1#part", "a=1", "https://e.example/?x=1&a=1#part"),
        ("https://e.example/#part", "a=1", "https://e.example/?a=1#part"),
        ("https://e.example/?a=0", "a=1&b=2", "https://e.example/?a=0&b=2"),
        ("https://e.example/?%61=0", "a=1&b=2", "https://e.example/?%61=0&b=2"),
        ("https://e.example/?a=0", "%61=1", "https://e.example/?a=0"),
        ("https://e.example/?a", "a=1", "https://e.example/?a"),
        ("https://e.example/", "qr&notrack=1&b=2&%71r=1", "https://e.example/?b=2"),
        ("https://e.example/", "a=1&&&b=2&", "https://e.example/?a=1&b=2"),
        ("https://e.example/", "a=ü&b=x y", "https://e.example/?a=%C3%BC&b=x%20y"),
        ("https://e.example/", "a=1#evil", "https://e.example/?a=1%23evil"),
        ("https://e.example/", "a=1&a=2", "https://e.example/?a=1&a=2"),
    ] {
        assert_eq!(merged(url, query), expected, "{url} {query}");
        let request = TestRequest { query: query.to_owned(), ..TestRequest::default() };
        assert_eq!(location(url, "", &request), url, "dropped unless it is asked for");
    }
}

#[test]
fn no_more_than_2_kib_are_forwarded() {
    let long = format!("a=1&b={}&c=2", "x".repeat(3_000));
    assert_eq!(merged("https://e.example/", &long), "https://e.example/?a=1");
    let many = vec!["k=v"; 2_000].join("&");
    let location = merged("https://e.example/", &many);
    assert!(location.len() <= "https://e.example/".len() + MOST_FORWARDED);
    assert!(location.len() > MOST_FORWARDED && location.ends_with("&k=v"));
}

#[test]
fn campaigns_are_added_where_the_target_has_none() {
    let utm = r#","utm":{"source":"news letter","campaign":"{code}-{workspace}"}"#;
    let request = TestRequest::default();
    for (url, expected) in [
        ("https://e.example/", "https://e.example/?utm_source=news%20letter&utm_campaign=abc-main"),
        (
            "https://e.example/?a=1&utm_source=own#part",
            "https://e.example/?a=1&utm_source=own&utm_campaign=abc-main#part",
        ),
    ] {
        assert_eq!(location(url, utm, &request), expected);
    }
    let merge = r#","query":"merge","utm":{"source":"letter"}"#;
    let request = TestRequest { query: "utm_source=evil&b=1".to_owned(), ..request };
    let expected = "https://e.example/?utm_source=letter&b=1";
    assert_eq!(location("https://e.example/", merge, &request), expected);
}

#[test]
fn placeholders_are_filled_and_empty_ones_leave_their_parameter_out() {
    let utm = r#","utm":{"source":"{host}","medium":"{qr}","campaign":"{country}-{device}","term":"{variant}"}"#;
    let request = TestRequest {
        query: "qr".to_owned(),
        country: "DE".to_owned(),
        agent: AgentClass { device: Some(Device::Phone), is_known: true, ..AgentClass::default() },
        ..TestRequest::default()
    };
    assert_eq!(
        location("https://e.example/#x", utm, &request),
        "https://e.example/?utm_source=go.example&utm_medium=qr&utm_campaign=DE-phone#x"
    );
    assert_eq!(
        location("https://e.example/", utm, &TestRequest::default()),
        "https://e.example/?utm_source=go.example&utm_campaign=-"
    );
    assert_eq!(Country::from_text("de").text(), "DE");
}

#[test]
fn a_variant_is_named_in_its_campaign_and_the_own_target_gets_one_too() {
    let plan = compile(&document(
        r#"{"split":[{"name":"old one","weight":0,"to":"https://e.example/a"},
                     {"name":"new","weight":1,"to":"https://e.example/b"}],
            "utm":{"content":"{variant}","source":"s"},"fallback_url":"https://e.example/down",
            "expired_url":"https://e.example/over"}"#,
    ));
    let request = TestRequest::default();
    let choice = plan.choose(&request);
    assert_eq!((choice.variant, plan.variant_name(&choice)), (Some(1), "new"));
    let PlanOutcome::Target(target) = choice.outcome else { panic!("{choice:?}") };
    let mut buffer = Vec::new();
    let mut location = |target| {
        let location = plan.location(target, &choice, &request, &mut buffer);
        String::from_utf8(location.to_vec()).unwrap()
    };
    assert_eq!(location(target), "https://e.example/b?utm_source=s&utm_content=new");
    assert_eq!(location(TargetId::OWN), "https://example.com/own?utm_source=s&utm_content=new");
    let fallback = plan.fallback().unwrap();
    assert_eq!(location(fallback), "https://e.example/down?utm_source=s&utm_content=new");
    assert_eq!(plan.expired_location(), Some("https://e.example/over"), "as it was written");
    let hosts: Vec<_> = plan.destinations().collect();
    assert_eq!(hosts.len(), 3, "{hosts:?}");
}

#[test]
fn a_link_wins_over_its_workspace_field_by_field() {
    let defaults = PlanDefaults::from_json(
        r#"{"query":"merge","utm":{"source":"w","medium":"w"},"expired_url":"https://w.example/","robots":"index"}"#,
    )
    .unwrap();
    let own = document(r#"{"utm":{"source":"l"},"query":"drop"}"#);
    let whole = defaults.complete(&own);
    let expected = document(
        r#"{"query":"drop","utm":{"source":"l","medium":"w"},"expired_url":"https://w.example/","robots":"index"}"#,
    );
    assert_eq!(whole, expected);
    assert_eq!(compile(&whole).robots(), Robots::Index);
    assert!(PlanDefaults::default().complete(&PlanDocument::default()).is_empty());
    assert!(PlanDefaults::from_json(r#"{"click_limit":5}"#).is_err(), "not for a workspace");
}

proptest! {
    #[test]
    fn a_location_is_always_a_legal_header_that_keeps_the_target(
        query in "([a-z#&=%+ü \\x00-\\x20]{0,60}&?){0,60}",
        path in "[a-z?&=#]{0,30}",
    ) {
        let url = format!("https://e.example/{path}");
        let settings = r#","query":"merge","utm":{"source":"{host}","term":"ü {qr}"}"#;
        let request = TestRequest { query, ..TestRequest::default() };
        let location = location(&url, settings, &request);
        prop_assert!(location.bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert!(location.len() <= LONGEST);
        let (base, fragment) = url.split_once('#').map_or((&*url, None), |(base, it)| (base, Some(it)));
        prop_assert!(location.starts_with(base));
        let found = location.split_once('#').map(|(_, fragment)| fragment);
        prop_assert_eq!(found, fragment);
    }
}
