//! Links with plans: the order of the steps, both ways of answering, passwords, pages, click limits and damage.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_core::analytics::TextColumn;
use kurz_core::link::Month;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::visitor::follow;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases, plans};
use serde_json::{Value, json};
use tokio::task::block_in_place;

on_both_databases!(
    every_pair_of_steps_is_answered_in_its_order,
    both_ways_give_the_same_bytes,
    a_click_limit_is_exact_for_a_thousand_visitors_at_once,
    bots_prefetches_and_head_use_nothing_of_a_click_limit,
    a_used_link_stays_used_after_a_restart_and_a_higher_limit_revives_it,
    a_turned_bit_in_a_plan_is_503_and_never_another_target,
    rules_splits_and_variants_reach_the_events,
);

/// A field that says nothing, and with which a request is not plain.
const FOR_HYPER: &str = "Content-Length: 0\r\n";
const PREVIEW_BOT: &str = "User-Agent: Slackbot-LinkExpanding 1.0\r\n";
const IPHONE: &str = "User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 \
    (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1\r\n";
const BROWSER: &str = "Accept: text/html\r\nAccept-Language: de\r\n";

/// The whole answer to a request, without its date.
fn ask(kurz: &TestServer, method: &str, path: &str, fields: &str, body: &str) -> String {
    block_in_place(|| {
        let mut stream = TcpStream::connect(kurz.base_url().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}Connection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let lines = answer.split("\r\n").filter(|line| !line.starts_with("date: "));
        lines.collect::<Vec<_>>().join("\r\n")
    })
}

fn get(kurz: &TestServer, path: &str, fields: &str) -> String {
    ask(kurz, "GET", path, fields, "")
}

fn post(kurz: &TestServer, path: &str, fields: &str, form: &str) -> String {
    let length = form.len();
    let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
    ask(kurz, "POST", path, &format!("{fields}{kind}Content-Length: {length}\r\n"), form)
}

fn status(answer: &str) -> u16 {
    answer.get(9..12).unwrap().parse().unwrap()
}

async fn planned(kurz: &TestServer, document: &Value) -> String {
    let fields = json!({ "original_url": "https://target.example/" });
    links::short_path(&plans::make(kurz, &fields, document).await)
}

/// A step of the contract: what makes it apply, and its answer.
struct Case {
    name: &'static str,
    document: Value,
    /// SQL with `{id}` and `{month}`.
    sql: &'static str,
    fields: &'static str,
    status: u16,
    text: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |name, document, sql, fields, status, text| Case {
        name,
        document,
        sql,
        fields,
        status,
        text,
    };
    vec![
        case(
            "withheld",
            json!({}),
            "update links set disabled_at = 1, disabled_reason = 'abuse' where id = {id};",
            "",
            410,
            "link-disabled",
        ),
        case("not yet", json!({ "valid_from": "2099-01-01T00:00:00Z" }), "", "", 404, "link-not-yet"),
        case("expired", json!({}), "update links set expires_at = 1 where id = {id};", "", 410, "link-expired"),
        case(
            "used up",
            json!({ "click_limit": 3 }),
            "insert into link_uses (link_id, uses, taken) values ({id}, 3, 1);",
            "",
            410,
            "link-used-up",
        ),
        case("card", json!({ "card": { "title": "Shown" } }), "", PREVIEW_BOT, 200, "og:title"),
        case("password", json!({ "password": "$2b$04$x" }), "", "", 401, "link-password-missing"),
        case(
            "rules",
            json!({ "rules": [{ "name": "nobody", "when": {}, "block": 403 }] }),
            "",
            "",
            403,
            "link-blocked",
        ),
        case(
            "monthly limit",
            json!({}),
            "update links set hit_limit = 5 where id = {id};
             insert into link_stats (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits,
                 others, list_scope)
             select id, 5, 0, 0, {month}, 5, 0, list_scope from links where id = {id};",
            "",
            429,
            "hit-limit-reached",
        ),
        case("consent", json!({ "consent": { "text": "Read this" } }), "", "", 200, "Read this"),
        case("target", json!({ "query": "merge" }), "", "", 302, "location: https://target.example/"),
    ]
}

async fn every_pair_of_steps_is_answered_in_its_order(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let cases = cases();
    for (at, first) in cases.iter().enumerate() {
        for second in &cases[at + 1..] {
            let mut document = first.document.as_object().unwrap().clone();
            document.extend(second.document.as_object().unwrap().clone());
            if document.is_empty() {
                document.insert("query".to_owned(), "merge".into());
            }
            let fields = json!({ "original_url": "https://target.example/" });
            let link = links::make(&kurz.http(), "main", &fields).await;
            plans::set(&store, &kurz.http(), &link, &Value::Object(document)).await;
            let id = plans::id(&store, &link).await.to_string();
            for sql in [first.sql, second.sql].into_iter().filter(|sql| !sql.is_empty()) {
                let month = Month::of(NOON).number().to_string();
                kurz.execute(&sql.replace("{id}", &id).replace("{month}", &month)).await;
            }
            let path = links::short_path(&link);
            for more in ["", FOR_HYPER] {
                let answer = get(&kurz, &path, &format!("{}{}{more}", first.fields, second.fields));
                let names = (first.name, second.name);
                assert_eq!(status(&answer), first.status, "{names:?}: {answer}");
                assert!(answer.contains(first.text), "{names:?}: {answer}");
            }
        }
    }
    kurz.stop().await;
}

async fn both_ways_give_the_same_bytes(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let split = json!([{ "name": "a", "weight": 1, "to": "https://a.example/" },
        { "name": "b", "weight": 1, "to": "https://b.example/?x=1#part" }]);
    let documents = [
        json!({ "rules": [
            { "name": "phones", "when": { "os": ["ios"] }, "to": "https://ios.example/" },
            { "name": "germans", "when": { "language": ["de"] }, "to": "https://de.example/" },
            { "name": "asked", "when": { "query": { "ab": "1" } }, "split": split },
            { "name": "never", "when": { "query": { "no": true } }, "block": 451 } ] }),
        json!({ "split": split, "query": "merge", "utm": { "source": "{code}", "content": "{variant}" } }),
        json!({ "robots": "index", "query": "merge" }),
        json!({ "valid_from": "2099-01-01T00:00:00Z", "pending_url": "https://soon.example/" }),
        json!({ "valid_from": "2099-01-01T00:00:00Z" }),
        json!({ "password": "$2b$04$x" }),
        json!({ "click_limit": 1_000 }),
        json!({ "consent": { "text": "Stop", "show": "always" } }),
        json!({ "card": { "title": "Card", "description": "Of a link" } }),
        json!({ "app": { "ios": { "app_id": "ABCDE12345.com.example.app", "store_url": "https://apps.example/1" } } }),
    ];
    for document in &documents {
        let path = planned(&kurz, document).await;
        for fields in ["", IPHONE, BROWSER, PREVIEW_BOT, "Sec-Purpose: prefetch\r\n"] {
            for query in ["", "?ab=1&x=2&y=%20", "?no=1", "?qr=1&no%22"] {
                let path = format!("{path}{query}");
                let fast = get(&kurz, &path, fields);
                let slow = get(&kurz, &path, &format!("{fields}{FOR_HYPER}"));
                assert_eq!(fast, slow, "{document} {path} {fields}");
            }
        }
    }
    kurz.stop().await;
}

async fn a_click_limit_is_exact_for_a_thousand_visitors_at_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let address = [kurz.base_url().trim_start_matches("http://").to_owned()];
    for limit in [1_u64, 50] {
        let path = planned(&kurz, &json!({ "click_limit": limit })).await;
        let answers = follow(&address, &path, 250, 1_000).await;
        assert_eq!(answers.count(302), limit, "{:?}", answers.0);
        assert_eq!(answers.count(410), 1_000 - limit, "{:?}", answers.0);
    }
    // Both limits: the smaller one counts, and a hit that was not used is given back.
    let fields = json!({ "original_url": "https://target.example/", "hit_limit": 30 });
    let link = plans::make(&kurz, &fields, &json!({ "click_limit": 20 })).await;
    let answers = follow(&address, &links::short_path(&link), 100, 200).await;
    assert_eq!(answers.count(302), 20, "{:?}", answers.0);
    plans::set(&kurz.open_store().await, &kurz.http(), &link, &json!({ "click_limit": 1_000 }))
        .await;
    let answers = follow(&address, &links::short_path(&link), 50, 100).await;
    assert_eq!(answers.count(302), 10, "{:?}", answers.0);
    assert_eq!(answers.count(429), 90, "{:?}", answers.0);
    kurz.stop().await;
}

async fn bots_prefetches_and_head_use_nothing_of_a_click_limit(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let fields = json!({ "original_url": "https://target.example/", "title": "Only once" });
    let link = plans::make(&kurz, &fields, &json!({ "click_limit": 1 })).await;
    let path = links::short_path(&link);
    for _ in 0..3 {
        for fields in
            [PREVIEW_BOT, "User-Agent: bingbot/2.0\r\n", "Sec-Purpose: prefetch;prerender\r\n"]
        {
            let answer = get(&kurz, &path, fields);
            assert_eq!(status(&answer), 200, "{answer}");
            assert!(answer.contains("og:title") && !answer.contains("target.example"), "{answer}");
        }
        assert_eq!(status(&ask(&kurz, "HEAD", &path, "", "")), 302);
    }
    assert_eq!(status(&get(&kurz, &path, IPHONE)), 302);
    assert_eq!(status(&get(&kurz, &path, IPHONE)), 410);
    assert_eq!(status(&ask(&kurz, "HEAD", &path, "", "")), 410);
    kurz.stop().await;
}

async fn a_used_link_stays_used_after_a_restart_and_a_higher_limit_revives_it(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let document = json!({ "click_limit": 1, "expired_url": "https://over.example/" });
    let fields = json!({ "original_url": "https://target.example/" });
    let link = plans::make(&kurz, &fields, &document).await;
    let path = links::short_path(&link);
    assert!(get(&kurz, &path, "").contains("location: https://target.example/\r\n"));
    let kurz = kurz.restart().await;
    let over = get(&kurz, &path, "");
    assert!(over.starts_with("HTTP/1.1 302") && over.contains("https://over.example/"), "{over}");
    let more = json!({ "click_limit": 2 });
    plans::set(&kurz.open_store().await, &kurz.http(), &link, &more).await;
    assert_eq!(status(&get(&kurz, &path, "")), 302);
    assert!(get(&kurz, &path, "").contains("link-used-up"));
    kurz.stop().await;
}

async fn a_turned_bit_in_a_plan_is_503_and_never_another_target(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let document = json!({ "rules": [{ "name": "all", "when": {}, "to": "https://a.example/" }] });
    let store = kurz.open_store().await;
    let fields = json!({ "original_url": "https://target.example/" });
    for damage in [
        "update link_plans set plan = replace(plan, 'a.example', 'c.example') where link_id = {id}",
        "update link_plans set plan = replace(plan, '{\"', '[\"') where link_id = {id}",
        "delete from link_plans where link_id = {id}",
        "update links set plan_at = null where id = {id}",
    ] {
        let link = plans::make(&kurz, &fields, &document).await;
        let id = plans::id(&store, &link).await.to_string();
        kurz.execute(&damage.replace("{id}", &id)).await;
        for fields in ["", FOR_HYPER, BROWSER] {
            let answer = get(&kurz, &links::short_path(&link), fields);
            assert_eq!(status(&answer), 503, "{damage}: {answer}");
            assert!(!answer.contains(".example"), "{answer}");
        }
    }
    kurz.stop().await;
}

async fn rules_splits_and_variants_reach_the_events(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let document = json!({ "rules": [
        { "name": "first time", "when": { "visitor": "first" }, "to": "https://first.example/" },
        { "name": "tested", "when": { "query": { "ab": "1" } }, "split": [
            { "name": "old", "weight": 0, "to": "https://a.example/" },
            { "name": "new", "weight": 1, "to": "https://b.example/" }] },
        { "when": { "query": { "no": true } }, "block": 403 } ] });
    let path = planned(&kurz, &document).await;
    assert!(get(&kurz, &path, IPHONE).contains("https://first.example/"));
    assert!(
        get(&kurz, &path, IPHONE).contains("https://target.example/"),
        "they were there before"
    );
    assert!(get(&kurz, &format!("{path}?ab=1"), IPHONE).contains("https://b.example/"));
    assert_eq!(status(&get(&kurz, &format!("{path}?no=1"), IPHONE)), 403);
    kurz.app().flush_all().await.unwrap();
    let stored = StoredEvents::read(&kurz.open_store().await).await;
    let mut choices: Vec<(String, String, String)> = stored
        .batches()
        .flat_map(|batch| {
            (0..batch.len()).map(move |event| {
                let text = |column| batch.text(column, event).to_owned();
                (text(TextColumn::Rule), text(TextColumn::Variant), text(TextColumn::Answer))
            })
        })
        .collect();
    choices.sort();
    let expected =
        [("", "", "30x"), ("#3", "", "403"), ("first time", "", "30x"), ("tested", "new", "30x")];
    let expected = expected
        .map(|(rule, variant, answer)| (rule.to_owned(), variant.to_owned(), answer.to_owned()));
    assert_eq!(choices, expected);
    kurz.stop().await;
}

const SECRET: &str = "correct horse";

async fn protected(kurz: &TestServer, more: Value) -> String {
    let hash = bcrypt::non_truncating_hash(SECRET, 4).unwrap();
    let mut document = json!({ "password": hash });
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    planned(kurz, &document).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_asked_for_compared_and_limited() {
    let kurz = TestServer::builder().limits().start().await;
    let path = protected(&kurz, json!({})).await;
    let says_nothing = |answer: &str| assert!(!answer.contains("target.example"), "{answer}");
    let page = get(&kurz, &path, BROWSER);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("type=\"password\""), "{page}");
    assert!(page.contains("lang=\"de\"") && page.contains("cache-control: no-store"), "{page}");
    says_nothing(&page);
    let missing = get(&kurz, &path, "");
    assert!(
        missing.starts_with("HTTP/1.1 401") && missing.contains("link-password-missing"),
        "{missing}"
    );
    says_nothing(&missing);
    says_nothing(&get(&kurz, &format!("{path}?pw={SECRET}").replace(' ', "+"), BROWSER));
    let right = post(&kurz, &path, BROWSER, "password=correct+horse");
    assert!(
        right.starts_with("HTTP/1.1 303") && right.contains("location: https://target.example/"),
        "{right}"
    );
    assert!(
        right.contains("referrer-policy: no-referrer") && !right.contains("set-cookie"),
        "{right}"
    );
    let program = get(&kurz, &path, &format!("X-Link-Password: {SECRET}\r\n"));
    assert!(program.starts_with("HTTP/1.1 302"), "{program}");
    let long = "x".repeat(72);
    for wrong in ["wrong", "", "correct+horse%00", "%ff", &long] {
        let answer = post(&kurz, &path, BROWSER, &format!("password={wrong}"));
        assert!(
            answer.starts_with("HTTP/1.1 401") && answer.contains("role=\"alert\""),
            "{wrong}: {answer}"
        );
        says_nothing(&answer);
    }
    let sixth = post(&kurz, &path, "", "password=correct+horse");
    assert!(sixth.starts_with("HTTP/1.1 429") && sixth.contains("retry-after: 60"), "{sixth}");
    says_nothing(&sixth);
    let other = protected(&kurz, json!({})).await;
    assert_eq!(status(&post(&kurz, &other, "", "password=correct+horse")), 303, "another link");
    kurz.advance(Duration::from_secs(61));
    assert_eq!(status(&post(&kurz, &path, "", "password=correct+horse")), 303);
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_without_a_form_takes_none_and_an_address_without_a_link_tells_nothing() {
    let kurz = TestServer::builder().start().await;
    let plain =
        links::make(&kurz.http(), "main", &json!({ "original_url": "https://target.example/" }))
            .await;
    let ruled = planned(&kurz, &json!({ "query": "merge" })).await;
    let locked = protected(&kurz, json!({})).await;
    for path in [links::short_path(&plain), ruled, "/never-made".to_owned()] {
        let answer = post(&kurz, &path, "", "password=x");
        assert!(
            answer.starts_with("HTTP/1.1 405") && answer.contains("allow: GET, HEAD"),
            "{answer}"
        );
    }
    let answer = ask(
        &kurz,
        "POST",
        &locked,
        "Content-Type: application/json\r\nContent-Length: 2\r\n",
        "{}",
    );
    assert_eq!(status(&answer), 405, "{answer}");
    let huge = format!("password={}", "x".repeat(5_000));
    assert_eq!(status(&post(&kurz, &locked, "", &huge)), 413);
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consent_page_is_passed_by_its_button_alone() {
    let kurz = TestServer::builder().start().await;
    let fields = json!({ "original_url": "https://target.example/", "hit_limit": 1 });
    let document = json!({ "consent": { "text": "<b>Mind</b> the gap", "button": "OK" } });
    let path = links::short_path(&plans::make(&kurz, &fields, &document).await);
    let token = |page: &str| {
        let (_, rest) = page.split_once("name=\"consent\" value=\"").expect("the page has a token");
        rest.split('"').next().unwrap().to_owned()
    };
    let page = get(&kurz, &path, BROWSER);
    assert!(page.contains("&lt;b&gt;Mind&lt;/b&gt;") && page.contains("target.example"), "{page}");
    assert!(page.contains("form-action 'self' http: https:"), "{page}");
    let again = post(&kurz, &path, BROWSER, "consent=0000000000000000");
    assert!(again.starts_with("HTTP/1.1 200") && again.contains("name=\"consent\""), "{again}");
    let on = post(&kurz, &path, BROWSER, &format!("consent={}", token(&page)));
    assert!(on.starts_with("HTTP/1.1 303") && on.contains("https://target.example/"), "{on}");
    // The pages used nothing of the limit, the button did.
    assert_eq!(status(&get(&kurz, &path, BROWSER)), 429);

    // After a password the page's token stands for it, and one from before does not.
    let path = protected(&kurz, json!({ "consent": { "text": "Mind" } })).await;
    let page = post(&kurz, &path, BROWSER, "password=correct+horse");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Mind"), "{page}");
    let on = post(&kurz, &path, BROWSER, &format!("consent={}", token(&page)));
    assert!(on.starts_with("HTTP/1.1 303"), "{on}");
    let off = post(&kurz, &path, BROWSER, "consent=0123456789abcdef");
    assert!(off.contains("type=\"password\"") && !off.contains("target.example"), "{off}");
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_without_the_app_get_the_store_and_apps_two_ways_on() {
    let kurz = TestServer::builder().start().await;
    let document = json!({ "app": { "ios": { "app_id": "ABCDE12345.com.example.app", "path": "example://open",
        "store_url": "https://apps.example/1" } } });
    let path = planned(&kurz, &document).await;
    assert!(get(&kurz, &path, IPHONE).contains("location: https://apps.example/1\r\n"));
    assert!(get(&kurz, &path, "").contains("location: https://target.example/\r\n"));
    let inside = IPHONE.replace("Safari/604.1", "Instagram 330.0.0.0");
    let page = get(&kurz, &path, &inside);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("href=\"example://open\""), "{page}");
    assert!(page.contains("href=\"https://target.example/\""), "{page}");
    kurz.stop().await;
}
