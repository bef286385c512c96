//! Rules and options of a link on its pages, without a browser: what forms send, and what is said about it.

use kurz_test_support::accounts::PASSWORD;
use kurz_test_support::http::{Answer, Http};
use kurz_test_support::pages::{cookie, post_form};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::{ACCEPT_LANGUAGE, COOKIE};
use serde_json::json;

on_both_databases!(
    rules_are_written_in_a_form_and_read_as_sentences,
    what_is_wrong_stands_at_its_field_and_nothing_is_lost,
    options_are_set_and_a_password_is_never_shown,
    a_visitor_is_tried_with_rules_that_are_saved_and_that_are_not,
    a_workspace_has_defaults_for_its_links,
    rules_and_variants_show_their_shares_of_the_clicks,
);

const LINK: &str = "/app/w/main/l/spring";

async fn with_link(kind: Kind) -> (TestServer, Http) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    server.sign_up("ada").await;
    let http = server.log_in("ada").await;
    let link = json!({ "original_url": "https://shop.example.com/", "custom_code": "spring" });
    links::make(&http, "main", &link).await;
    let login = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = post_form(&server.visitor(), "/login", &login).await.expect(303);
    let browser = server.visitor().with(COOKIE, &cookie(&answer));
    (server, browser)
}

/// The value of the hidden field that says which version of the link a form was shown for.
fn version(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"version\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Send the form of the editor as it was shown last, with these fields.
async fn send(http: &Http, fields: &[(&str, &str)]) -> Answer {
    let page = http.get(&format!("{LINK}/rules")).await.expect(200).text();
    let version = version(&page);
    let mut all = vec![("version", version.as_str())];
    all.extend(fields);
    post_form(http, &format!("{LINK}/rules"), &all).await
}

const IOS: &[(&str, &str)] = &[
    ("rules[0].name", "iPhone app"),
    ("rules[0].when.os", ""),
    ("rules[0].when.os", "ios"),
    ("rules[0].when.language", "German, fr-CH"),
    ("rules[0].action", "to"),
    ("rules[0].to", "apps.example/de"),
];

const FENCE: &[(&str, &str)] = &[
    ("rules[1].name", "not here"),
    ("rules[1].when.not.here", ""),
    ("rules[1].when.not.continent", ""),
    ("rules[1].when.not.continent", "EU"),
    ("rules[1].unknown", "match"),
    ("rules[1].action", "block"),
    ("rules[1].block", "451"),
];

async fn rules_are_written_in_a_form_and_read_as_sentences(kind: Kind) {
    let (server, http) = with_link(kind).await;
    let page = http.get(LINK).await.expect(200).text();
    assert!(page.contains("Everybody is sent to the target"), "{page}");
    let saved = send(&http, &[IOS, FENCE, &[("do", "save")]].concat()).await.expect(303);
    assert_eq!(saved.header("location"), Some("/app/w/main/l/spring?note=rules#rules"));
    for (language, sentences) in [
        (
            "en",
            ["iOS and German or French (Switzerland) → ", "Not Europe, or unknown → blocked (451)"],
        ),
        (
            "de",
            [
                "iOS und Deutsch oder Französisch (Schweiz) → ",
                "Nicht Europa, oder unbekannt → gesperrt (451)",
            ],
        ),
        ("es", ["iOS y alemán o francés (Suiza) → ", "No Europa, o desconocido → bloqueado (451)"]),
    ] {
        let reader = http.with(ACCEPT_LANGUAGE, language);
        let page = reader.get(LINK).await.expect(200).text();
        for sentence in sentences {
            assert!(page.contains(sentence), "{sentence} is not in {page}");
        }
        assert!(page.contains(">apps.example/de</a>"), "{page}");
    }
    // The list of links marks it, for eyes and for ears.
    let list = http.get("/app/w/main").await.expect(200).text();
    assert!(
        list.contains("title=\"Rules\"") && list.contains("<span class=\"heard\">Rules</span>")
    );
    // The form shows what was saved.
    let editor = http.get(&format!("{LINK}/rules?rule=1")).await.expect(200).text();
    assert!(
        editor.contains("value=\"de, fr-CH\"") && editor.contains("= German, French (Switzerland)")
    );
    assert!(editor.contains("name=\"rules[0].when.os\" value=\"ios\" checked"), "{editor}");

    change_rules(&http).await;
    server.stop().await;
}

/// Move, pause and delete, each with the version of the page it was pressed on.
async fn change_rules(http: &Http) {
    let change = format!("{LINK}/rules/change");
    let first = version(&http.get(LINK).await.expect(200).text());
    let up = [("version", first.as_str()), ("do", "up rules[1]")];
    post_form(http, &change, &up).await.expect(303);
    let page = http.get(LINK).await.expect(200).text();
    let place = |name: &str| page.find(&format!("<strong>{name}</strong>")).unwrap();
    assert!(place("not here") < place("iPhone app"), "{page}");
    // A page that is out of date would pause another rule than the one it shows.
    post_form(http, &change, &[("version", "1"), ("do", "pause rules[0]")]).await.expect(409);
    let now = version(&page);
    post_form(http, &change, &[("version", &now), ("do", "pause rules[0]")]).await.expect(303);
    let page = http.get(LINK).await.expect(200).text();
    assert!(page.contains("paused") && page.contains("Resume"), "{page}");
    let now = version(&page);
    post_form(http, &change, &[("version", &now), ("do", "delete-rule rules[0]")])
        .await
        .expect(303);
    let page = http.get(LINK).await.expect(200).text();
    assert!(
        !page.contains("<strong>not here</strong>") && page.contains("<strong>iPhone app</strong>")
    );
    // Removing all rules makes a plain link of it again.
    send(http, &[("do", "save")]).await.expect(303);
    let page = http.get(LINK).await.expect(200).text();
    assert!(page.contains("Everybody is sent to the target"), "{page}");
}

async fn what_is_wrong_stands_at_its_field_and_nothing_is_lost(kind: Kind) {
    let (server, http) = with_link(kind).await;
    let wrong = [
        ("rules[0].name", "a & b"),
        ("rules[0].when.country", "DE, UK"),
        ("rules[0].action", "to"),
        ("rules[0].to", "javascript:alert(1)"),
        ("do", "save"),
    ];
    let page = send(&http, &wrong).await.expect(422).text();
    let country = page.split("<input id=\"rules[0].when.country\"").nth(1).unwrap();
    let country = country.split('>').next().unwrap();
    assert!(
        country.contains("value=\"DE, UK\"") && country.contains("aria-invalid=\"true\""),
        "{country}"
    );
    assert!(country.contains("autofocus"), "{country}");
    let said = "<p class=\"error\" id=\"rules[0].when.country-error\">This value is not known. Did you mean GB?";
    assert!(page.contains(said), "{page}");
    assert!(page.contains("value=\"a &#38; b\"") && page.contains("open"), "{page}");

    // "Add a test" shows the form again with what was entered.
    let adding = [
        ("rules[0].name", "half done"),
        ("rules[0].when.country", "Germany"),
        ("rules[0].action", "split"),
        ("rules[0].split[0].name", "old"),
        ("rules[0].split[0].weight", "many"),
        ("rules[0].split[0].to", "example.com/a"),
        ("add rules[0].when", "query"),
        ("do", "add-test rules[0].when"),
    ];
    let page = send(&http, &adding).await.expect(200).text();
    assert!(
        page.contains("name=\"rules[0].when.query[0].key\"")
            && page.contains("value=\"half done\"")
    );
    assert!(page.contains("value=\"DE\"") && page.contains("value=\"many\""), "{page}");
    assert!(
        page.contains("value=\"split\" checked")
            && page.contains("value=\"https://example.com/a\"")
    );

    // The same as JSON, which is refused when it is none, and kept.
    let json = send(&http, &[IOS, &[("do", "json")]].concat()).await.expect(200).text();
    assert!(json.contains("\"fr-CH\"") || json.contains("&#34;fr-CH&#34;"), "{json}");
    let bad = send(&http, &[("json", "{ \"rules\": [ }"), ("do", "save")]).await.expect(422).text();
    assert!(bad.contains("This is not valid JSON") && bad.contains("rules&#34;: [ }"), "{bad}");
    let twice = r#"{"rules": [], "rules": []}"#;
    send(&http, &[("json", twice), ("do", "save")]).await.expect(422);
    let other = send(&http, &[("json", r#"{"cloak": true}"#), ("do", "save")]).await.expect(422);
    assert!(other.text().contains("<code>cloak</code>"));
    let unknown = r#"{"rules": [{"when": {"weather": ["rain"]}, "to": "https://a.example/"}]}"#;
    let unknown = send(&http, &[("json", unknown), ("do", "save")]).await.expect(422).text();
    assert!(unknown.contains("<code>rules[0].when.weather</code>"), "{unknown}");
    // Nothing of all that was saved.
    assert!(http.get(LINK).await.expect(200).text().contains("Everybody is sent to the target"));
    let good = r#"[{"when": {"qr": true}, "to": "https://a.example/"}]"#;
    send(&http, &[("json", good), ("do", "save")]).await.expect(303);
    assert!(http.get(LINK).await.expect(200).text().contains("By QR code → "));
    server.stop().await;
}

async fn options_are_set_and_a_password_is_never_shown(kind: Kind) {
    let (server, http) = with_link(kind).await;
    let options = format!("{LINK}/options");
    let fields = [
        ("click_limit", "50"),
        ("expired_url", "example.com/over"),
        ("password", "correct horse"),
        ("query", "merge"),
        ("utm.source", "{code}"),
        ("consent.show", "once"),
        ("consent.text", "First line\r\nsecond"),
        ("card.title", "Spring <sale>"),
        ("robots", "index"),
        ("do", "save"),
    ];
    let saved = post_form(&http, &options, &fields).await.expect(303);
    assert_eq!(saved.header("location"), Some("/app/w/main/l/spring?note=options#rules"));
    let page = http.get(LINK).await.expect(200).text();
    for fact in ["<dd>50</dd>", "example.com/over", "source={code}", "Spring &#60;sale&#62;"] {
        assert!(page.contains(fact), "{fact} is not in {page}");
    }
    let form = http.get(&options).await.expect(200).text();
    assert!(
        form.contains("This link has a password") && form.contains("second</textarea>"),
        "{form}"
    );
    for (name, page) in [("link", &page), ("form", &form)] {
        assert!(
            !page.contains("correct horse") && !page.contains("$2"),
            "{name} shows the password"
        );
    }
    let list = http.get("/app/w/main").await.expect(200).text();
    assert!(list.contains("title=\"Password\""), "{list}");

    // What is wrong stands at its field, with what was entered; nothing is changed.
    let wrong = [("utm.source", "{nothing}"), ("click_limit", "51"), ("do", "save")];
    let refused = post_form(&http, &options, &wrong).await.expect(422).text();
    assert!(
        refused.contains("id=\"utm.source-error\"") && refused.contains("value=\"51\""),
        "{refused}"
    );
    let time = [("expires_at", "soon"), ("do", "save")];
    let refused = post_form(&http, &options, &time).await.expect(422).text();
    assert!(refused.contains("id=\"expires_at-error\""), "{refused}");
    assert!(http.get(LINK).await.expect(200).text().contains("<dd>50</dd>"));

    // The password goes with a tick; everything else with an empty field.
    let empty = [("password.remove", "on"), ("do", "save")];
    post_form(&http, &options, &empty).await.expect(303);
    let page = http.get(LINK).await.expect(200).text();
    assert!(!page.contains("plan-facts"), "{page}");
    server.stop().await;
}

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
    Version/18.5 Mobile/15E148 Safari/604.1";

async fn a_visitor_is_tried_with_rules_that_are_saved_and_that_are_not(kind: Kind) {
    let (server, http) = with_link(kind).await;
    send(&http, &[IOS, &[("do", "save")]].concat()).await.expect(303);
    let page = format!("{LINK}/try");
    // Whoever asks is the first visitor.
    let phone =
        http.with(reqwest::header::USER_AGENT, IPHONE).with(ACCEPT_LANGUAGE, "de-AT,en;q=0.5");
    let own = phone.get(&page).await.expect(200).text();
    assert!(own.contains("Regel 1 entscheidet: iPhone app"), "{own}");
    assert!(
        own.contains("https://apps.example/de") && own.contains("Deutsch (Österreich)"),
        "{own}"
    );
    let other =
        post_form(&http, &page, &[("device", "android"), ("language", "de")]).await.expect(200);
    let other = other.text();
    assert!(
        other.contains("No rule holds") && other.contains("https://shop.example.com/"),
        "{other}"
    );
    let bad = post_form(&http, &page, &[("ip", "nowhere")]).await.expect(422).text();
    assert!(bad.contains("id=\"ip-error\"") && bad.contains("value=\"nowhere\""), "{bad}");

    // Rules of the editor that nobody saved, and back to it.
    let unsaved = [
        ("rules[0].name", "draft"),
        ("rules[0].when.language", "en"),
        ("rules[0].action", "to"),
        ("rules[0].to", "unsaved.example"),
        ("do", "try"),
    ];
    let english = http.with(ACCEPT_LANGUAGE, "en");
    let tried = post_form(&english, &page, &unsaved).await.expect(200).text();
    assert!(tried.contains("not saved yet") && tried.contains("Rule 1 decides: draft"), "{tried}");
    let (_, draft) = tried.split_once("name=\"draft\" value=\"").unwrap();
    let draft = draft.split('"').next().unwrap().replace("&#34;", "\"").replace("&#38;", "&");
    let again = [("draft", draft.as_str()), ("device", "own"), ("language", "fr")];
    let again = post_form(&english, &page, &again).await.expect(200).text();
    assert!(again.contains("No rule holds") && again.contains("not saved yet"), "{again}");
    let back =
        post_form(&english, &format!("{LINK}/rules"), &[("draft", &draft), ("do", "form")]).await;
    let back = back.expect(200).text();
    assert!(back.contains("value=\"https://unsaved.example\""), "{back}");
    assert!(!http.get(LINK).await.expect(200).text().contains("unsaved.example"));
    // What is wrong with them is said, and nothing is tried.
    let wrong = [("rules[0].when.country", "UK"), ("rules[0].to", "a.example"), ("do", "try")];
    let wrong = post_form(&english, &page, &wrong).await.expect(422).text();
    assert!(wrong.contains("rules[0].when.country[0]: This value is not known"), "{wrong}");
    server.stop().await;
}

async fn a_workspace_has_defaults_for_its_links(kind: Kind) {
    let (server, http) = with_link(kind).await;
    let token = server.log_in("ada").await;
    token.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let link = json!({ "original_url": "https://shop.example.com/", "custom_code": "spring" });
    links::make(&token, "acme", &link).await;
    let form = "/app/w/acme/settings/defaults";
    let wrong = [("query", "merge"), ("utm.source", "{nothing}")];
    let refused = post_form(&http, form, &wrong).await.expect(422).text();
    assert!(
        refused.contains("id=\"utm.source-error\"") && refused.contains("value=\"{nothing}\""),
        "{refused}"
    );
    let fields =
        [("query", "merge"), ("utm.source", "kurz"), ("expired_url", "shop.example.com/over")];
    post_form(&http, form, &fields).await.expect(303);
    let page = http.get("/app/w/acme/settings").await.expect(200).text();
    assert!(
        page.contains("value=\"kurz\"") && page.contains("value=\"https://shop.example.com/over\""),
        "{page}"
    );
    let options = http.get("/app/w/acme/l/spring/options").await.expect(200).text();
    assert!(options.contains("as the workspace says (is added"), "{options}");
    // An empty form removes them.
    post_form(&http, form, &[]).await.expect(303);
    let page = http.get("/app/w/acme/settings").await.expect(200).text();
    assert!(!page.contains("value=\"kurz\""), "{page}");
    server.stop().await;
}

#[tokio::test]
async fn a_preview_lists_hosts_and_says_nothing_of_what_is_protected() {
    let (server, http) = with_link(Kind::Sqlite).await;
    send(&http, &[IOS, &[("do", "save")]].concat()).await.expect(303);
    let preview = server.visitor().get("/spring+").await.expect(200).text();
    assert!(preview.contains("different places:") && preview.contains("apps.example"), "{preview}");
    assert!(
        preview.contains("shop.example.com") && !preview.contains("apps.example/de"),
        "{preview}"
    );
    let password = [("password", "correct horse"), ("do", "save")];
    post_form(&http, &format!("{LINK}/options"), &password).await.expect(303);
    let preview = server.visitor().get("/spring+").await.expect(200).text();
    assert!(preview.contains("protected by a password"), "{preview}");
    assert!(!preview.contains("shop.example") && !preview.contains("apps.example"), "{preview}");
    server.stop().await;
}

async fn rules_and_variants_show_their_shares_of_the_clicks(kind: Kind) {
    let (server, http) = with_link(kind).await;
    let plan = r#"{
        "rules": [{ "name": "asked", "when": { "query": { "ab": "1" } }, "to": "https://a.example/" },
                  { "when": { "query": { "ab": "2" } }, "to": "https://b.example/" }],
        "split": [{ "name": "always", "weight": 1, "to": "https://c.example/" },
                  { "name": "never", "weight": 0, "to": "https://d.example/" }] }"#;
    send(&http, &[("json", plan), ("do", "save")]).await.expect(303);
    let person = server.http().with(reqwest::header::USER_AGENT, IPHONE);
    for (query, times) in [("?ab=1", 5), ("?ab=2", 3), ("", 2)] {
        for _ in 0..times {
            person.get(&format!("/spring{query}")).await.expect(302);
        }
    }
    server.app().flush_all().await.unwrap();
    let page = http.get(LINK).await.expect(200).text();
    let shares: Vec<&str> = page
        .split("Share of clicks: </span>")
        .skip(1)
        .map(|rest| rest.split('<').next().unwrap())
        .collect();
    assert_eq!(shares, ["50%", "30%", "20%"], "{page}");
    let row = "<td>always</td><td class=\"number\">2</td><td class=\"number\">1</td><td class=\"number\">100%</td>";
    assert!(page.contains(row), "{page}");
    assert!(!page.contains("class=\"warning\""), "two clicks say nothing");
    server.stop().await;
}
