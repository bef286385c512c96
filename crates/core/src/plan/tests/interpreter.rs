//! A naive interpreter of the JSON of rules, to compare compiled plans with. It reads every value again for every
//! test, with the standard library and the calendar of `jiff`, and shares nothing with what it checks but the names.

use serde_json::Value;

use super::super::{Browser, Device, InApp, Os};
use super::TestRequest;

/// What applies: the place of the rule, if one does.
pub(super) fn rule_for(rules: &Value, request: &TestRequest) -> Option<usize> {
    let rules = rules.as_array().map(Vec::as_slice).unwrap_or_default();
    rules.iter().position(|rule| {
        let holds = when_holds(&rule["when"], request);
        let unknown = rule["unknown"] == "match";
        rule["paused"] != true && holds.unwrap_or(unknown)
    })
}

fn all(mut items: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut whole = Some(true);
    items.find_map(|item| {
        whole = if item == Some(false) { item } else { whole.and(item) };
        (item == Some(false)).then_some(())
    });
    whole
}

fn any(items: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(items.map(not)).map(|holds| !holds)
}

fn not(item: Option<bool>) -> Option<bool> {
    item.map(|holds| !holds)
}

fn when_holds(when: &Value, request: &TestRequest) -> Option<bool> {
    let groups = when["any"].as_array();
    let groups = groups.map(|groups| any(groups.iter().map(|group| tests_hold(group, request))));
    let without = when.get("not").map(|tests| not(tests_hold(tests, request)));
    all([Some(tests_hold(when, request)), groups, without].into_iter().flatten())
}

fn tests_hold(tests: &Value, request: &TestRequest) -> Option<bool> {
    let Some(tests) = tests.as_object() else { return Some(true) };
    all(tests.iter().map(|(key, value)| match key.as_str() {
        "any" | "not" | "zone" => Some(true),
        "days" if tests.contains_key("hours") => Some(true),
        "days" | "hours" => Some(scheduled(tests, request)),
        key => test_holds(key, value, request),
    }))
}

fn list(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn test_holds(key: &str, value: &Value, request: &TestRequest) -> Option<bool> {
    let agent = request.agent;
    let is_one = |known: Option<&str>| known.map(|known| list(value).any(|it| it == known));
    let country = Some(request.country.as_str()).filter(|country| !country.is_empty());
    match key {
        "device" => is_one(agent.device.map(Device::name)),
        "os" => is_one(agent.os.map(Os::name)),
        "browser" => is_one(agent.browser.map(Browser::name)),
        "in_app" if !agent.is_known => None,
        "in_app" if *value == true => Some(agent.in_app.is_some()),
        "in_app" => is_one(Some(agent.in_app.map_or("", InApp::name))),
        "language" => speaks(value, &request.language),
        "country" => is_one(country),
        "region" => is_one(Some(request.region.as_str()).filter(|region| !region.is_empty())),
        "continent" => is_one(country.map(continent)),
        "eu" => country.map(|country| ["DE", "FR"].contains(&country) == *value),
        "network" => request.address.map(|address| list(value).any(|it| is_inside(address, it))),
        "query" => all(value
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| Some(asks(&request.query, name, value)))),
        "referrer" => refers(value, &request.referrer),
        "from" => Some(request.now >= super::at(value.as_str().unwrap())),
        "to_time" => Some(request.now < super::at(value.as_str().unwrap())),
        "visitor" => request.returning.map(|returning| (*value == "returning") == returning),
        "qr" => {
            let is_qr = request.query.split('&').any(|pair| pair.split('=').next() == Some("qr"));
            Some(*value == is_qr)
        }
        other => panic!("{other}"),
    }
}

fn continent(country: &str) -> &'static str {
    match country {
        "DE" | "FR" | "CH" => "EU",
        "US" => "NA",
        "JP" => "AS",
        other => panic!("{other}"),
    }
}

fn speaks(ranges: &Value, field: &str) -> Option<bool> {
    let mut tags: Vec<(f64, &str)> = Vec::new();
    for part in field.split(',') {
        let (tag, weight) = part.split_once(";q=").unwrap_or((part, "1"));
        let weight: f64 = weight.parse().unwrap();
        if !tag.is_empty() && tag != "*" && weight > 0.0 {
            tags.push((weight, tag));
        }
    }
    tags.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (_, tag) = tags.first()?;
    Some(list(ranges).any(|range| tag == &range || tag.starts_with(&format!("{range}-"))))
}

/// Bit by bit.
fn is_inside(address: u128, network: &str) -> bool {
    let (start, length) = network.split_once('/').unwrap();
    let (start, most): (u128, u32) = match start.parse().unwrap() {
        std::net::IpAddr::V4(start) => (start.to_ipv6_mapped().to_bits(), 32),
        std::net::IpAddr::V6(start) => (start.to_bits(), 128),
    };
    let length: u32 = length.parse().unwrap();
    (0..128).all(|bit| bit < most - length || (address ^ start) >> bit & 1 == 0)
}

fn asks(query: &str, name: &str, wanted: &Value) -> bool {
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let Some(found) = pairs.into_iter().find(|(key, _)| key == name).map(|(_, value)| value) else {
        return false;
    };
    match wanted {
        Value::Null => found.is_empty(),
        Value::Bool(_) => true,
        Value::String(text) => match text.strip_suffix('*') {
            Some(start) => found.starts_with(start),
            None => found == *text,
        },
        other => panic!("{other}"),
    }
}

fn refers(wanted: &Value, referrer: &str) -> Option<bool> {
    let url = url::Url::parse(referrer).ok();
    let host = url.as_ref().and_then(|url| url.host_str());
    let Some(host) = host.map(|host| host.strip_prefix("www.").unwrap_or(host)) else {
        return list(wanted).any(|it| it == "channel:direct").then_some(true);
    };
    let channel = if host == "search.example" { "channel:search" } else { "channel:referral" };
    Some(list(wanted).any(|it| {
        it == host
            || it == channel
            || it.strip_prefix('.').is_some_and(|suffix| host == suffix || host.ends_with(it))
    }))
}

fn scheduled(tests: &serde_json::Map<String, Value>, request: &TestRequest) -> bool {
    let zone = tests.get("zone").map_or("UTC", |zone| zone.as_str().unwrap());
    let now = jiff::Timestamp::from_millisecond(request.now.as_ms()).unwrap();
    let now = now.in_tz(zone).unwrap().datetime();
    let day_is_listed = |date: jiff::civil::Date| {
        let name = date.strftime("%a").to_string().to_lowercase();
        tests.get("days").is_none_or(|days| list(days).any(|day| day == name))
    };
    let hours = tests.get("hours").map_or("00:00-24:00", |hours| hours.as_str().unwrap());
    let (from, to) = hours.split_once('-').unwrap();
    let clock = now.strftime("%H:%M").to_string();
    let today = now.date();
    if from < to {
        day_is_listed(today) && from <= clock.as_str() && clock.as_str() < to
    } else {
        clock.as_str() >= from && day_is_listed(today)
            || clock.as_str() < to && day_is_listed(today.yesterday().unwrap())
    }
}
