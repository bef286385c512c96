//! The pages without a browser: what they answer to plain requests, on both databases where the
//! store decides.

use std::time::Duration;

use kurz_test_support::pages::post_form;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::HeaderName;
use serde_json::{Value, json};

/// How many requests the front page takes, and how many bytes over the wire, heads included.
#[tokio::test]
async fn the_front_page_is_light() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let http = server.visitor();
    let page = http.get("/").await.expect(200);
    let text = page.text();
    let mut parts = vec![page];
    let links = text.split("href=\"/assets/").chain(text.split("src=\"/assets/").skip(1)).skip(1);
    for part in links {
        let name = part.split('"').next().unwrap();
        let asset = http.get(&format!("/assets/{name}")).await.expect(200);
        let cache = asset.header("cache-control").unwrap();
        assert!(cache.contains("immutable") && cache.contains("max-age=31536000"), "{cache}");
        parts.push(asset);
    }
    let head = |name: &str, value: &str| name.len() + value.len() + 4;
    let bytes: usize = parts
        .iter()
        .map(|part| {
            let heads = part.headers.iter();
            let heads = heads.map(|(name, value)| head(name.as_str(), value.to_str().unwrap()));
            part.body.len() + heads.sum::<usize>() + 20
        })
        .sum();
    assert!(parts.len() <= 4, "{} requests", parts.len());
    assert!(bytes < 60_000, "{bytes} bytes");
    assert!(!text.contains("http://www") && !text.contains("//cdn"), "nothing from elsewhere");
    server.stop().await;
}

#[tokio::test]
async fn pages_speak_the_language_of_the_browser_or_the_chosen_one() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let german =
        server.visitor().with(HeaderName::from_static("accept-language"), "de-AT,en;q=0.5");
    let page = german.get("/").await.expect(200).text();
    assert!(page.contains("<html lang=\"de\">") && page.contains("Mach’s kurz."), "{page}");
    let fields = [("language", "es"), ("next", "/login")];
    let chosen = post_form(&german, "/app/language", &fields).await.expect(303);
    assert_eq!(chosen.header("location"), Some("/login"));
    let cookie = kurz_test_support::pages::cookie(&chosen);
    let spanish = german.with(reqwest::header::COOKIE, &cookie);
    let page = spanish.get("/no/such/page").await.expect(404).text();
    assert!(page.contains("<html lang=\"es\">") && page.contains("No encontrado"), "{page}");
    server.stop().await;
}

/// A list finds by beginnings once it is long, and everywhere while it is short; the most followed
/// come first, and pages follow each other without a gap.
async fn lists_are_searched_sorted_and_paged(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let links: Vec<Value> = (0..120)
        .map(|at| {
            json!({
                "original_url": format!("https://host{}.example/{at}", at % 10),
                "custom_code": format!("code-{at:03}"), "title": format!("Number {at}"),
                "tags": if at % 2 == 0 { json!(["even", "all"]) } else { json!(["all"]) },
            })
        })
        .collect();
    let bulk = "/api/v1/workspaces/main/links/bulk";
    token.post(bulk, &json!({ "links": links })).await.expect(200);
    for (code, times) in [("code-007", 3), ("code-100", 5), ("code-042", 1)] {
        for _ in 0..times {
            server.http().get(&format!("/{code}")).await.expect(302);
        }
    }
    let counted = async || {
        let link = token.get("/api/v1/workspaces/main/links/code-100").await.json();
        link["redirect_count"] == 5
    };
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !counted().await {
        assert!(tokio::time::Instant::now() < deadline, "clicks are counted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let codes = |page: &str| -> Vec<String> {
        let rows = page.split("name=\"code\" value=\"").skip(1);
        rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
    };
    let walk = async |first: &str| {
        let (mut all, mut path) = (Vec::new(), first.to_owned());
        loop {
            let page = ada.get(&path).await.expect(200).text();
            all.extend(codes(&page));
            match page.split("rel=\"next\" href=\"").nth(1) {
                Some(next) => {
                    path = next.split('"').next().unwrap().replace("&#38;", "&");
                }
                None => return all,
            }
        }
    };
    let by_clicks = walk("/app/w/main?sort=-redirect_count").await;
    assert_eq!(by_clicks.len(), 120, "each once: {by_clicks:?}");
    assert_eq!(by_clicks[..3], ["code-100", "code-007", "code-042"]);
    let mut sorted = by_clicks.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 120);
    assert_eq!(walk("/app/w/main").await.len(), 120);
    assert_eq!(walk("/app/w/main?sort=created_at").await.len(), 120);
    assert_eq!(walk("/app/w/main?q=ode-11").await.len(), 10, "a short list is searched everywhere");
    assert_eq!(walk("/app/w/main?q=HOST3").await.len(), 12);
    assert_eq!(walk("/app/w/main?strategy=random").await.len(), 0);
    let even = walk("/app/w/main?tag=even&sort=-redirect_count").await;
    assert_eq!(even[..2], ["code-100", "code-042"]);
    for sort in ["-redirect_count", "-created_at", "created_at"] {
        let mut even = walk(&format!("/app/w/main?tag=even&sort={sort}")).await;
        even.sort();
        even.dedup();
        assert_eq!(even.len(), 60, "each once by {sort}");
    }
    assert_eq!(walk("/app/w/main?tag=all&q=ode-11").await.len(), 10);
    assert_eq!(walk("/app/w/main?tag=none").await.len(), 0);
    server.stop().await;
}

/// A long list, too, is searched everywhere, by an index; and nobody else's.
async fn long_lists_are_searched_everywhere(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    server.sign_up("eve").await;
    let eve = server.log_in("eve").await;
    let bulk = "/api/v1/workspaces/main/links/bulk";
    for part in 0..6 {
        let links: Vec<Value> = (0..1000)
            .map(|at| json!({ "original_url": format!("https://www.shop.example/{part}/{at}") }))
            .collect();
        token.post(bulk, &json!({ "links": links })).await.expect(200);
    }
    let table = [
        ("Zebra-1", "https://other.example/a", "Stripes"),
        ("plain-1", "http://www.zebra.example/b", "Nothing"),
        ("plain-2", "https://other.example/zebra", "Zebras of the plain"),
        ("plain-3", "https://other.example/c", "A zebra inside"),
    ];
    for (code, url, title) in table {
        let link = json!({ "original_url": url, "custom_code": code, "title": title });
        links::make(&token, "main", &link).await;
    }
    let hers = json!({ "original_url": "https://zebra.example", "custom_code": "zebra-eve" });
    links::make(&eve, "main", &hers).await;
    let page = ada.get("/app/w/main?q=zEBRa").await.expect(200).text();
    for code in ["Zebra-1", "plain-1", "plain-2", "plain-3"] {
        assert!(page.contains(&format!("value=\"{code}\"")), "{code}");
    }
    assert!(!page.contains("value=\"zebra-eve\""), "it is somebody else's");
    let page =
        ada.get("/app/w/main?q=http%3A%2F%2Fwww.zebra&sort=-redirect_count").await.expect(200);
    assert!(page.text().contains("value=\"plain-1\""));
    let page = ada.get("/app/w/main?q=shop.example").await.expect(200).text();
    assert!(page.contains("rel=\"next\""), "many are found, a page at a time");
    // Old links, behind thousands of newer ones: in every order, changed and deleted ones included.
    let path = "/api/v1/workspaces/main/links";
    token.patch(&format!("{path}/plain-1"), &json!({ "title": "A giraffe" })).await.expect(200);
    token.delete(&format!("{path}/plain-2")).await.expect(200);
    for sort in ["created_at", "-updated_at", "short_code", "-redirect_count", "redirect_count"] {
        let found = token.get(&format!("{path}?q=GIRAFF&sort={sort}")).await.expect(200).json();
        assert_eq!(found["links"][0]["short_code"], "plain-1", "{sort}: {found}");
        assert_eq!(found["links"].as_array().unwrap().len(), 1, "{sort}");
        let found = token.get(&format!("{path}?q=zebra&sort={sort}")).await.expect(200).json();
        assert_eq!(found["links"].as_array().unwrap().len(), 3, "{sort}: {found}");
    }
    let gone = token.get(&format!("{path}?q=zebra&status=DELETED")).await.expect(200).json();
    assert_eq!(gone["links"][0]["short_code"], "plain-2");
    server.stop().await;
}

/// Whose a link becomes takes its clicks along, so that the order by clicks is right after a claim.
async fn a_claimed_link_is_in_its_place_by_clicks(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let made = json!({ "original_url": "https://example.com/claimed" });
    let made = server.http().post("/api/v1/links", &made).await.expect(201).json();
    let code = made["short_code"].as_str().unwrap();
    server.http().get(&format!("/{code}")).await.expect(302);
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while server.http().get("/api/v1/stats").await.json()["total_redirects"] != 1 {
        assert!(tokio::time::Instant::now() < deadline, "clicks are counted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let newer = json!({ "original_url": "https://example.com", "custom_code": "newer" });
    links::make(&token, "main", &newer).await;
    let claim = json!({ "links": [{ "short_code": code, "claim_token": made["claim_token"] }] });
    token.post("/api/v1/links/claim", &claim).await.expect(200);
    let page = ada.get("/app/w/main?sort=-redirect_count").await.expect(200).text();
    let place = |code: &str| page.find(&format!("value=\"{code}\"")).unwrap();
    assert!(place(code) < place("newer"), "one click comes before none");
    server.stop().await;
}

/// Who changed a link, by hand and by key, stands on its page; a link's clicks are there by the hour.
async fn a_links_page_has_its_history_and_its_hours(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let link = json!({ "original_url": "https://example.com/old", "custom_code": "promo" });
    links::make(&token, "main", &link).await;
    let key = json!({ "name": "robot", "scopes": ["read", "manage"] });
    let key = token.post("/api/v1/keys", &key).await.expect(201).json();
    let robot = server.http().bearer(key["key"].as_str().unwrap());
    let path = "/api/v1/workspaces/main/links/promo";
    robot.patch(path, &json!({ "original_url": "https://example.com/new" })).await.expect(200);
    token.patch(path, &json!({ "title": "New", "tags": ["a"] })).await.expect(200);
    token.delete(path).await.expect(200);
    token.post(&format!("{path}/restore"), &json!({})).await.expect(200);
    let page = ada.get("/app/w/main/l/promo").await.expect(200).text();
    let history = page.split("class=\"history\"").nth(1).unwrap();
    let mut rest = history;
    for part in [
        "restored",
        "deleted",
        "changed: title, tags",
        "with a key",
        "changed: address",
        "https://example.com/old",
    ] {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part} is missing or out of order: {history}"));
        rest = &rest[at..];
    }

    server.http().get("/promo").await.expect(302);
    let bot = HeaderName::from_static("user-agent");
    server.http().with(bot, "Googlebot/2.1").get("/promo").await.expect(302);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let stats = loop {
        let stats = token.get(&format!("{path}/stats?by=hour")).await.expect(200).json();
        let hour = &stats["periods"][47];
        let counts = [&stats["redirect_count"], &stats["others"], &hour["hits"], &hour["others"]];
        // Two redirects, one of them a bot's.
        if counts.map(|count| count.as_u64().unwrap()) == [2, 1, 2, 1] {
            break stats;
        }
        assert!(tokio::time::Instant::now() < deadline, "clicks are counted: {stats}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(stats["periods"].as_array().unwrap().len(), 48);
    let months = token.get(&format!("{path}/stats?by=month")).await.expect(200).json();
    assert_eq!(
        (&months["periods"][11]["hits"], &months["periods"][10]["hits"]),
        (&json!(2), &json!(0))
    );
    token.get(&format!("{path}/stats?by=year")).await.expect_problem(422, "query-invalid");
    let page = ada.get("/app/w/main/l/promo?by=hour").await.expect(200).text();
    assert!(page.contains("<svg class=\"chart\"") && page.contains(": 2 Clicks</title>"), "{page}");
    server.stop().await;
}

on_both_databases!(
    a_links_page_has_its_history_and_its_hours,
    after_a_deletion_the_page_says_until_when_it_can_be_undone,
    lists_are_searched_sorted_and_paged,
    long_lists_are_searched_everywhere,
    a_claimed_link_is_in_its_place_by_clicks,
);

// threats: H13
#[tokio::test]
async fn exports_hold_every_link_and_no_formula() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let titles = ["=1+1", "+1", "-1", "@SUM(A1)", "say \"hi\", you", "<script>"];
    for title in titles {
        let link =
            json!({ "original_url": "https://example.com/", "title": title, "tags": ["=x"] });
        links::make(&token, "main", &link).await;
    }
    let csv = ada.get("/app/w/main/export.csv").await.expect(200);
    assert!(csv.header("content-disposition").unwrap().contains("main.csv"));
    let text = csv.text();
    assert_eq!(text.matches("\r\n").count(), titles.len() + 1);
    for line in text.lines().skip(1) {
        for cell in line.trim_matches('"').split("\",\"") {
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell} in {line}");
        }
    }
    assert!(text.contains("\"'=1+1\"") && text.contains("\"say \"\"hi\"\", you\""), "{text}");
    let json = ada.get("/app/w/main/export.json").await.expect(200).json();
    assert_eq!(json.as_array().unwrap().len(), titles.len());
    assert_eq!(json[0]["title"], "<script>");
    let none = ada.get("/app/w/main/export.json?status=DELETED").await.expect(200).json();
    assert_eq!(none, json!([]));
    server.stop().await;
}

// threats: H14
#[tokio::test]
async fn a_qr_code_is_for_those_who_may_see_the_link_and_has_bounds() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&token, "main", &link).await;
    let path = "/api/v1/workspaces/main/links/promo/qr";
    let svg = token.get(path).await.expect(200);
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    assert_eq!(svg.header("content-security-policy"), Some("sandbox; default-src 'none'"));
    let look = "?format=png&size=300&dark=112233&light=%23ffffee";
    let png = token.get(&format!("{path}{look}")).await.expect(200);
    assert_eq!(png.header("content-type"), Some("image/png"));
    assert!(png.body.starts_with(b"\x89PNG"));
    for (query, code) in [
        ("?size=63", "qr-size-invalid"),
        ("?size=1025", "qr-size-invalid"),
        ("?dark=red", "qr-colour-invalid"),
        ("?light=%22%3E%3Cscript%3E", "qr-colour-invalid"),
        ("?format=gif", "qr-format-invalid"),
    ] {
        token.get(&format!("{path}{query}")).await.expect_problem(422, code);
    }
    server.http().get(path).await.expect_problem(401, "unauthenticated");
    server.sign_up("eve").await;
    server.log_in("eve").await.get(path).await.expect_problem(403, "not-owner");
    server.stop().await;
}

// threats: D4, D12
#[tokio::test]
async fn strangers_do_not_learn_what_there_is() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    token.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo", "title": "Top secret" });
    links::make(&token, "acme", &link).await;
    let eve = server.sign_up("eve").await;
    for path in [
        "/app/w/acme",
        "/app/w/acme/l/promo",
        "/app/w/acme/settings",
        "/app/w/acme/export.csv",
        "/app/w/nothing",
        "/app/admin",
    ] {
        let answer = eve.get(path).await.expect(404);
        assert!(!answer.text().contains("secret"), "{path}");
    }
    let preview = server.visitor().get("/w/acme/promo+").await.expect(200).text();
    assert!(!preview.contains("ada@example.com"));
    server.stop().await;
}

/// The page after a deletion names the time; after the purge it is said that the link was purged.
async fn after_a_deletion_the_page_says_until_when_it_can_be_undone(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now();
    let server = server.setting("KURZ_CLEANUP_DELAY", "1d").setting("KURZ_PURGE_GRACE", "3d");
    let server = server.start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let link = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&token, "main", &link).await;
    let page = "/app/w/main/l/promo";
    let deleted = post_form(&ada, &format!("{page}/delete"), &[]).await.expect(303);
    let shown = token.get("/api/v1/workspaces/main/links/promo").await.expect(200).json();
    let until = shown["restorable_until"].as_str().unwrap();
    let (day, time) = until.split_once('T').unwrap();
    // Without a place for a line to break.
    let at = format!("{day} {} UTC", &time[..5]).replace('-', "\u{2011}").replace(' ', "\u{a0}");
    let sentence = format!("This can be undone until {at}.");
    let text = ada.get(deleted.header("location").unwrap()).await.expect(200).text();
    assert!(text.contains("promo was deleted.") && text.contains(&sentence), "{sentence}: {text}");
    assert!(text.contains("/app/w/main/l/promo/restore"), "{text}");
    let text = ada.get(page).await.expect(200).text();
    assert!(text.contains(&sentence), "{text}");
    // A name in the address that no link was deleted under says nothing.
    post_form(&ada, &format!("{page}/restore"), &[]).await.expect(303);
    let text = ada.get("/app/w/main?deleted=promo").await.expect(200).text();
    assert!(!text.contains("was deleted"), "{text}");

    post_form(&ada, &format!("{page}/delete"), &[]).await.expect(303);
    server.execute("update links set purged_at = deleted_at where code = 'promo'").await;
    let text = post_form(&ada, &format!("{page}/restore"), &[]).await.expect(410).text();
    assert!(text.contains("Too late to restore") && text.contains("/app/logout"), "{text}");
    server.stop().await;
}

#[tokio::test]
async fn a_page_that_does_not_exist_keeps_the_header_of_who_is_signed_in() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let paths = ["/app/nothing/here", "/app/w/none", "/app/w/main/l/none", "/app/admin", "/app/x"];
    for path in paths {
        let page = ada.get(path).await.expect(404).text();
        assert!(
            page.contains("/app/logout") && page.contains("href=\"/app/account\""),
            "{path}: {page}"
        );
        assert!(!page.contains("href=\"/register\""), "{path}: {page}");
    }
    // Others see what everybody sees.
    let page = server.visitor().get("/app/nothing/here").await.expect(404).text();
    assert!(page.contains("href=\"/register\"") && !page.contains("/app/logout"), "{page}");
    let page = ada.get("/no/such/page").await.expect(404).text();
    assert!(
        !page.contains("/app/logout"),
        "a short address tells nothing about its visitor: {page}"
    );
    server.stop().await;
}

#[tokio::test]
async fn the_totals_of_the_front_page_can_be_switched_off() {
    for (setting, shown) in [("on", true), ("off", false)] {
        let server = TestServer::builder().accounts().from_now();
        let server = server.setting("KURZ_FRONT_TOTALS", setting).start().await;
        let page = server.visitor().get("/").await.expect(200).text();
        assert_eq!(page.contains("class=\"totals\""), shown, "{page}");
        assert_eq!(page.contains("live links"), shown, "{page}");
        // The words of the countdown are there all the same.
        assert!(page.contains("data-hours="), "{page}");
        server.stop().await;
    }
}

#[tokio::test]
async fn bulk_lines_with_commas_semicolons_or_tabs_are_columns() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let ada = server.sign_up("ada").await;
    let token = server.log_in("ada").await;
    let lines = "https://example.com/a,code-a,First title\n\
        https://example.com/b;code-b\n\
        https://example.com/c\tcode-c\tThird title\tx, y\n\
        \"https://example.com/d,d\",code-d\n\
        javascript:alert(1)";
    let page = post_form(&ada, "/app/w/main/bulk", &[("lines", lines)]).await.expect(200).text();
    assert!(page.contains("4 links, 1 refused"), "{page}");
    assert!(page.contains("cannot lead to a javascript address"), "{page}");
    let show = async |code: &str| {
        let path = format!("/api/v1/workspaces/main/links/{code}");
        token.get(&path).await.expect(200).json()
    };
    let (a, c) = (show("code-a").await, show("code-c").await);
    assert_eq!(
        (&a["original_url"], &a["title"]),
        (&json!("https://example.com/a"), &json!("First title"))
    );
    assert_eq!(show("code-b").await["original_url"], "https://example.com/b");
    assert_eq!((&c["title"], &c["tags"]), (&json!("Third title"), &json!(["x", "y"])));
    assert_eq!(show("code-d").await["original_url"], "https://example.com/d,d");

    // As the script sends them: in parts, each with the line that names the columns.
    let script = ada.with(reqwest::header::CONTENT_TYPE, "application/json");
    let header = "title;url;code";
    for (first, lines) in
        [(1, json!([header, "E;example.com/e;code-e"])), (3, json!(["F;example.com/f,f;"]))]
    {
        let part = json!({ "lines": lines, "first": first, "header": header });
        let results = script.post("/app/w/main/bulk.json", &part).await.expect(200).json();
        assert_eq!(results.as_array().unwrap().len(), 1, "{results}");
        assert!(results[0]["short_url"].is_string(), "{results}");
    }
    assert_eq!(show("code-e").await["title"], "E");
    let list = token.get("/api/v1/workspaces/main/links?q=/f,f").await.expect(200).json();
    assert_eq!(list["links"][0]["original_url"], "https://example.com/f,f");
    server.stop().await;
}
