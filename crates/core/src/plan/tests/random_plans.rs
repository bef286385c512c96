//! Random plans and requests: a compiled plan does what the naive interpreter of its JSON does, the order of keys and
//! values does not matter, and the simulator agrees with the redirect.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{
    AgentClass, Browser, CheckContext, Device, InApp, Os, PlanDocument, PlanOutcome,
};
use super::interpreter::rule_for;
use super::{TestRequest, at, compile, document};

/// Random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())]
    }

    fn some<T: Copy>(&mut self, items: &[T]) -> Vec<T> {
        let count = 1 + self.roll(3);
        (0..count).map(|_| self.pick(items)).collect()
    }
}

const HOURS: [&str; 4] = ["09:00-17:30", "22:00-02:00", "00:00-24:00", "02:00-03:00"];
const ZONES: [&str; 4] = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"];
const TIMES: [&str; 5] = [
    "2026-03-29T01:00:00Z",
    "2026-10-25T00:30:00Z",
    "2026-11-18T12:00:00Z",
    "2026-12-31T23:59:59Z",
    "2031-07-01T05:30:00Z",
];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

fn random_value(dice: &mut Dice, key: &str) -> Value {
    match key {
        "device" => json!(dice.some(&["phone", "tablet", "desktop"])),
        "os" => json!(dice.some(&["ios", "android", "other"])),
        "browser" => json!(dice.some(&["safari", "chrome", "other"])),
        "in_app" if dice.chance(30) => json!(true),
        "in_app" => json!(dice.some(&["instagram", "x", "other"])),
        "language" => json!(dice.some(&["de", "de-AT", "fr-CH", "en"])),
        "country" => json!(dice.some(&["DE", "FR", "CH", "US", "JP"])),
        "region" => json!(dice.some(&["DE-BY", "DE-BE", "US-CA"])),
        "continent" => json!(dice.some(&["EU", "NA", "AS"])),
        "eu" | "qr" => json!(dice.chance(50)),
        "network" => {
            json!(dice.some(&["192.0.2.0/24", "2001:db8::/33", "198.51.100.7/32", "0.0.0.0/0"]))
        }
        "query" => {
            let mut pairs = Map::new();
            for name in dice.some(&["a", "b", "c d"]) {
                let value = dice.pick(&[0, 1, 2, 3]);
                let value = [json!("1"), json!(true), Value::Null, json!("x*")][value].clone();
                pairs.insert(name.to_owned(), value);
            }
            Value::Object(pairs)
        }
        "referrer" => json!(dice.some(&[
            "news.example",
            ".example",
            "search.example",
            "channel:search",
            "channel:referral",
            "channel:direct",
        ])),
        "from" | "to_time" => json!(dice.pick(&TIMES)),
        "days" => json!(dice.some(&DAYS)),
        "hours" => json!(dice.pick(&HOURS)),
        "visitor" => json!(dice.pick(&["first", "returning"])),
        other => panic!("{other}"),
    }
}

const KEYS: [&str; 18] = [
    "device",
    "os",
    "browser",
    "in_app",
    "language",
    "country",
    "region",
    "continent",
    "eu",
    "network",
    "query",
    "referrer",
    "from",
    "to_time",
    "days",
    "hours",
    "visitor",
    "qr",
];

fn random_tests(dice: &mut Dice, least: usize) -> Map<String, Value> {
    let mut tests = Map::new();
    for _ in 0..least + dice.roll(3) {
        let key = dice.pick(&KEYS);
        tests.insert(key.to_owned(), random_value(dice, key));
    }
    if (tests.contains_key("days") || tests.contains_key("hours")) && dice.chance(70) {
        tests.insert("zone".to_owned(), json!(dice.pick(&ZONES)));
    }
    tests
}

fn random_rules(dice: &mut Dice) -> Value {
    let mut rules = Vec::new();
    for at in 0..=dice.roll(8) {
        let mut when = random_tests(dice, 1);
        if dice.chance(30) {
            let groups: Vec<_> = (0..=dice.roll(2)).map(|_| random_tests(dice, 1)).collect();
            when.insert("any".to_owned(), json!(groups));
        }
        if dice.chance(30) {
            when.insert("not".to_owned(), Value::Object(random_tests(dice, 1)));
        }
        let mut rule = json!({ "when": when, "to": format!("https://example.com/{at}") });
        if dice.chance(25) {
            rule["unknown"] = json!("match");
        }
        if dice.chance(10) {
            rule["paused"] = json!(true);
        }
        rules.push(rule);
    }
    Value::Array(rules)
}

fn random_request(dice: &mut Dice) -> TestRequest {
    let agent = AgentClass {
        device: dice.pick(&[None, Some(Device::Phone), Some(Device::Desktop)]),
        os: dice.pick(&[None, Some(Os::Ios), Some(Os::Other)]),
        browser: dice.pick(&[None, Some(Browser::Safari), Some(Browser::Other)]),
        in_app: dice.pick(&[None, Some(InApp::Instagram), Some(InApp::Other)]),
        bot: None,
        is_known: true,
    };
    let minutes = i64::try_from(dice.roll(3 * 24 * 60)).unwrap() - 24 * 60;
    let now = at(dice.pick(&TIMES)).as_ms() + minutes * 60_000;
    let addresses =
        [None, Some(0xFFFF_C000_0209), Some(0xFFFF_C633_6407), Some(0x2001_0DB8 << 96 | 5)];
    TestRequest {
        now: crate::time::Timestamp::from_ms(now),
        agent: if dice.chance(20) { AgentClass::default() } else { agent },
        agent_hash: 3,
        language: dice
            .pick(&["", "de", "de-AT,de;q=0.9", "fr-CH;q=0.9,en", "en;q=0,*", "en;q=0.1,de;q=0.2"])
            .to_owned(),
        country: dice.pick(&["", "DE", "FR", "CH", "US", "JP"]).to_owned(),
        region: dice.pick(&["", "DE-BY", "US-CA"]).to_owned(),
        address: dice.pick(&addresses),
        query: dice
            .pick(&["", "a=1", "a", "b=x1&a=", "c+d=1&qr", "c%20d=%78y&b", "qr=1&a=2&a=1"])
            .to_owned(),
        referrer: dice
            .pick(&[
                "",
                "https://www.news.example/x",
                "https://search.example/",
                "http://a.example:8080/y",
            ])
            .to_owned(),
        returning: dice.pick(&[None, Some(true), Some(false)]),
    }
}

/// The same JSON with keys and values in another order, and values twice.
fn shuffled(dice: &mut Dice, value: &Value, is_rules: bool) -> String {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            for at in 0..entries.len() {
                let other = dice.roll(entries.len());
                entries.swap(at, other);
            }
            let entries = entries.iter().map(|(key, value)| {
                format!("{}:{}", json!(key), shuffled(dice, value, *key == "rules"))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().collect();
            // A group twice would be a test too many for some.
            if !is_rules && items.iter().all(|item| item.is_string()) {
                items.push(items[dice.roll(items.len())]);
                let last = items.len() - 1;
                items.swap(0, last);
            }
            let items = items.iter().map(|item| shuffled(dice, item, false));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

fn expected_target(rule: Option<usize>) -> String {
    rule.map_or_else(|| super::TARGET.to_owned(), |at| format!("https://example.com/{at}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_compiled_plan_does_what_its_json_says(seed in 1_u64..) {
        let mut dice = Dice(seed);
        dice.roll(2);
        let rules = random_rules(&mut dice);
        let json = json!({ "rules": rules }).to_string();
        let document = document(&json);
        let plan = compile(&document);
        let shuffled = compile(&super::document(&shuffled(&mut dice, &json!({ "rules": rules }), false)));
        let stored = PlanDocument::from_stored(&document.to_json(), &document.keys()).unwrap();
        prop_assert_eq!(&stored, &document, "it is stored as it was read");
        for _ in 0..3 {
            let request = random_request(&mut dice);
            let rule = rule_for(&rules, &request);
            let choice = plan.choose(&request);
            prop_assert_eq!(choice.rule.map(usize::from), rule, "{} {:?}", rules, request);
            let PlanOutcome::Target(target) = choice.outcome else { panic!("a block") };
            let location = plan.target(target).unwrap().as_str();
            prop_assert_eq!(location, expected_target(rule));
            prop_assert_eq!(plan.explain(&request).choice, choice, "the simulator agrees");
            prop_assert_eq!(shuffled.choose(&request), choice, "the order does not matter");
        }
    }

    #[test]
    fn whatever_is_read_can_be_checked_stored_and_compiled(json in ".{0,60}|\\{\"rules\":\\[\\{\"when\":\\{\"[a-z_]{2,9}\":\\[?\"?[a-zA-Z0-9/.:-]{0,20}\"?\\]?\\},\"to\":\"https://e.example\"\\}\\]\\}") {
        if let Ok(document) = PlanDocument::from_json(&json) {
            let context = CheckContext {
                expires_at: None,
                redirect_status: 302,
                health_checks: true,
                knows_visitors: true,
            };
            prop_assert!(document.check(&context).is_empty());
            compile(&document);
            prop_assert_eq!(PlanDocument::from_json(&document.to_json()), Ok(document));
        }
    }
}
