//! The editor of rules, the options and the simulator in a browser: by hand, without scripts, and as they look.

use kurz_test_support::{TestServer, links};
use serde_json::json;

use super::accessibility::look;
use super::browser::{Browser, Screen};

async fn with_link(name: &str) -> (TestServer, Browser) {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let server = TestServer::builder().accounts().from_now().settings(&settings).start().await;
    server.sign_up(name).await;
    let http = server.log_in(name).await;
    let link = json!({
        "original_url": "https://shop.example.com/sale/spring", "custom_code": "spring", "title": "Spring sale",
    });
    links::make(&http, "main", &link).await;
    let browser = Browser::open(&server.base_url(), Screen::Desk).await;
    browser.sign_in(name, kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    (server, browser)
}

/// The selector of a field by its name, which has brackets and dots.
fn named(name: &str) -> String {
    format!("[name='{name}']")
}

fn pressing(step: &str) -> String {
    format!("button[value='{step}']:not([hidden])")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_edited_without_scripts() {
    let (server, browser) = with_link("ada").await;
    browser.go("/app/w/main/l/spring").await;
    browser.without_scripts().await;
    browser.click("a[href$='/rules?new=1']").await;
    browser.fill(&named("rules[0].name"), "iPhone app").await;
    browser.click("select[name='add rules[0].when'] option[value=os]").await;
    browser.click(&pressing("add-test rules[0].when")).await;
    browser.click("input[name='rules[0].when.os'][value=ios]").await;
    browser.click("select[name='add rules[0].when'] option[value=country]").await;
    browser.click(&pressing("add-test rules[0].when")).await;
    browser.fill(&named("rules[0].when.country"), "UK").await;
    browser.fill(&named("rules[0].to"), "apps.example/de").await;
    browser.click(&pressing("save")).await;
    // What is wrong is said where it is wrong, and everything else is still there.
    browser.see("[id='rules[0].when.country-error']").await;
    let name = browser.see(&named("rules[0].name")).await;
    assert_eq!(name.value().await.unwrap().as_deref(), Some("iPhone app"));
    browser.fill(&named("rules[0].when.country"), "Germany, AT").await;
    browser.click(&pressing("add-rule")).await;
    browser.fill(&named("rules[1].name"), "test").await;
    browser.click("input[name='rules[1].action'][value=split]").await;
    for (at, variant) in ["old", "new"].iter().enumerate() {
        browser.fill(&named(&format!("rules[1].split[{at}].name")), variant).await;
        browser
            .fill(&named(&format!("rules[1].split[{at}].to")), &format!("example.com/{variant}"))
            .await;
    }
    browser.click(&pressing("save")).await;
    browser.at("/app/w/main/l/spring?note=rules").await;
    browser.see(".rule-list").await;
    let list = browser.see(".rule-list").await.text().await.unwrap();
    assert!(list.contains("iOS and Austria or Germany → apps.example/de"), "{list}");
    assert!(
        list.contains("Everybody → 50% old example.com/old, 50% new example.com/new"),
        "{list}"
    );
    browser.click(&pressing("up rules[1]")).await;
    // A rule for everybody cannot stand before others: the page says so, and nothing changed.
    browser.see("main h1").await;
    browser.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_and_options_are_fit_to_be_seen() {
    let (server, browser) = with_link("ada").await;
    let rules = json!([
        { "name": "iPhone app", "when": { "os": ["ios"], "language": ["de", "fr-CH"] }, "to": "https://apps.example/de" },
        { "name": "office hours", "when": { "days": ["mon", "tue", "wed", "thu", "fri"], "hours": "09:00-17:30",
          "zone": "Europe/Berlin", "query": { "ab": "1", "utm_source": "news*" } }, "to": "https://example.com/call" },
        { "name": "not here", "paused": true, "when": { "not": { "continent": ["EU"] } }, "unknown": "match", "block": 451 },
        { "name": "test", "when": { "any": [ { "query": { "ab": "1" } }, { "referrer": ["channel:social"] } ] },
          "split": [ { "name": "old", "weight": 80, "to": "https://example.com/a" },
                     { "name": "new", "weight": 20, "to": "https://example.com/b" } ] },
    ]);
    let split = json!([ { "name": "A", "weight": 50, "to": "https://shop.example.com/a" },
                        { "name": "B", "weight": 50, "to": "https://shop.example.com/b" } ]);
    let draft = json!({ "rules": rules, "split": split }).to_string();
    let mut faults = String::new();

    browser.go("/app/w/main/l/spring/rules").await;
    faults.push_str(&look(&browser, "rules-empty").await);
    browser.click(&pressing("json")).await;
    browser.see("#json").await;
    browser.script(&format!("document.querySelector('#json').value = {draft:?}")).await;
    faults.push_str(&look(&browser, "rules-json").await);
    browser.click(&pressing("save")).await;
    browser.at("/app/w/main/l/spring?note=rules").await;
    faults.push_str(&look(&browser, "link-rules").await);
    browser.go("/app/w/main/l/spring/rules?rule=2").await;
    faults.push_str(&look(&browser, "rules-clock").await);
    browser.go("/app/w/main/l/spring/rules?rule=4").await;
    faults.push_str(&look(&browser, "rules-split").await);
    browser.go("/app/w/main/l/spring/rules?rule=1").await;
    browser.fill(&named("rules[0].when.language"), "german-ish").await;
    browser.fill(&named("rules[0].to"), "javascript:alert(1)").await;
    browser.click(&pressing("save")).await;
    browser.see("[id='rules[0].when.language-error']").await;
    faults.push_str(&look(&browser, "rules-errors").await);

    browser.go("/app/w/main/l/spring/options").await;
    browser.fill(&named("card.title"), "Spring sale: up to half off").await;
    browser.fill(&named("card.description"), "Only this week, in all our shops.").await;
    browser.fill(&named("card.image_url"), "https://shop.example.com/sale.png").await;
    browser.fill(&named("password"), "correct horse").await;
    browser.fill(&named("utm.source"), "newsletter-{country}").await;
    browser.click(&pressing("preview")).await;
    browser.see(".bubble .image").await;
    faults.push_str(&look(&browser, "options").await);
    browser.fill(&named("password"), "correct horse").await;
    browser.click(&pressing("save")).await;
    browser.at("/app/w/main/l/spring?note=options").await;
    browser.go("/app/w/main/l/spring/try").await;
    browser.click("select[name=device] option[value=iphone]").await;
    browser.fill(&named("language"), "de").await;
    browser.click("form[action$='/try'] button").await;
    browser.read("Rule 1 decides: iPhone app").await;
    faults.push_str(&look(&browser, "try-result").await);
    browser.go("/app/w/main").await;
    browser.see(".mark").await;
    faults.push_str(&look(&browser, "links-marks").await);
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}

/// What visitors see before they are sent on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_before_the_target_are_fit_to_be_seen() {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let server = TestServer::builder().accounts().from_now().settings(&settings).start().await;
    server.sign_up("ada").await;
    let http = server.log_in("ada").await;
    let elsewhere = server.base_url();
    for (code, more) in [
        ("locked", json!({ "password": "correct horse" })),
        (
            "asks",
            json!({ "consent": { "text": "You leave our pages.\nMind the gap.", "button": "Go on" } }),
        ),
        (
            "shown",
            json!({ "card": { "title": "Spring sale", "description": "Only <this> week." }, "click_limit": 5 }),
        ),
        (
            "phone",
            json!({ "app": { "ios": { "app_id": "ABCDE12345.com.example.app", "path": "/x",
            "store_url": "https://apps.example/store" } } }),
        ),
    ] {
        let mut link = json!({ "original_url": "https://shop.example.com/", "custom_code": code });
        link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        links::make(&http, "main", &link).await;
    }
    let browser = Browser::open(&elsewhere, Screen::Desk).await;
    let mut faults = String::new();
    browser.go("/locked").await;
    faults.push_str(&look(&browser, "password").await);
    browser.fill("#password", "wrong horse").await;
    browser.click("button").await;
    browser.see(".error").await;
    faults.push_str(&look(&browser, "password-wrong").await);
    browser.go("/locked+").await;
    faults.push_str(&look(&browser, "preview-protected").await);
    browser.go("/asks").await;
    browser.read("Mind the gap.").await;
    faults.push_str(&look(&browser, "consent").await);
    let agent = |text: &str| json!({ "userAgent": text });
    let bot = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)";
    browser.tell("Network.setUserAgentOverride", agent(bot)).await;
    browser.go("/shown").await;
    browser.read("Spring sale").await;
    faults.push_str(&look(&browser, "card").await);
    let app = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
        Mobile/15E148 Instagram 390.0.0.28.85 (iPhone15,2; iOS 18_5; en_US; en; scale=3.00; 1179x2556; 1)";
    browser.tell("Network.setUserAgentOverride", agent(app)).await;
    browser.go("/phone").await;
    browser.see("main a").await;
    faults.push_str(&look(&browser, "app").await);
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}
