//! Notes, the archive, aliases, other codes, tags and other addresses of hosts, on the pages.

use kurz_test_support::http::Http;
use kurz_test_support::pages::post_form;
use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};

/// The whole form of a link as it stands, with these fields filled in otherwise.
async fn edit(
    page: &Http,
    link: &Value,
    changes: &[(&str, &str)],
) -> kurz_test_support::http::Answer {
    let mut fields = vec![
        ("original_url", link["original_url"].as_str().unwrap()),
        ("custom_code", links::code(link)),
        ("redirect_status", "302"),
        ("note", link["note"].as_str().unwrap_or_default()),
    ];
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push((name, value));
    }
    post_form(page, &format!("/app/w/main/l/{}/edit", links::code(link)), &fields).await
}

#[tokio::test]
async fn a_link_is_noted_archived_renamed_and_given_aliases_on_its_page() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let page = server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let link = links::make(&ada, "main", &body).await;

    let noted = edit(&page, &link, &[("note", "one\r\n<b>two</b>"), ("archived_at", "true")]).await;
    assert_eq!(noted.expect(303).header("location"), Some("/app/w/main/l/promo?note=saved"));
    let shown = links::show(&ada, &link).await;
    assert_eq!(shown["note"], "one\n<b>two</b>");
    assert!(shown["archived_at"].is_string(), "{shown}");
    let text = page.get("/app/w/main/l/promo").await.expect(200).text();
    assert!(text.contains("&#60;b&#62;two") && text.contains("Unarchive"), "{text}");
    assert!(!page.get("/app/w/main").await.expect(200).text().contains("/app/w/main/l/promo"));
    let only = page.get("/app/w/main?archived=only").await.expect(200).text();
    assert!(only.contains("/app/w/main/l/promo"), "{only}");
    // A form that is sent as it is changes nothing.
    let version = "select version from links where code = 'promo'";
    let before = server.home.number(version).await;
    edit(&page, &shown, &[("archived_at", "true")]).await.expect(303);
    assert_eq!(links::show(&ada, &link).await["note"], shown["note"]);
    assert!(server.home.number(version).await >= before);
    let unarchived = [("archived", "false")];
    post_form(&page, "/app/w/main/l/promo/archive", &unarchived).await.expect(303);
    assert_eq!(links::show(&ada, &link).await["archived_at"], Value::Null);

    let alias = [("alias", "spring")];
    post_form(&page, "/app/w/main/l/promo/aliases", &alias).await.expect(303);
    server.http().get("/spring").await.expect(302);
    let text = page.get("/app/w/main/l/spring").await.expect(200).text();
    assert!(text.contains("<code>spring</code>") && text.contains("alias added: spring"), "{text}");
    post_form(&page, "/app/w/main/l/promo/aliases", &[("alias", "api")]).await.expect(422);
    let renamed = edit(&page, &link, &[("custom_code", "summer")]).await.expect(303);
    assert_eq!(renamed.header("location"), Some("/app/w/main/l/summer?note=saved"));
    server.http().get("/promo").await.expect(302);
    let taken = edit(&page, &link, &[("custom_code", "a b")]).await.expect(422).text();
    assert!(taken.contains("id=\"code-error\""), "{taken}");
    let removed = [("alias", "spring")];
    post_form(&page, "/app/w/main/l/summer/aliases/remove", &removed).await.expect(303);
    server.http().get("/spring").await.expect(404);

    let csv = page.get("/app/w/main/export.csv").await.expect(200).text();
    let (head, row) = csv.split_once("\r\n").unwrap();
    assert!(head.ends_with(",note,aliases,archived_at"), "{head}");
    assert!(row.contains("\"promo\",\"\""), "{row}");
    server.stop().await;
}

#[tokio::test]
async fn tags_and_hosts_have_forms_of_their_own() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("root").await;
    let page = {
        let fields =
            [("email", "root@example.com"), ("password", kurz_test_support::accounts::PASSWORD)];
        let answer = post_form(&server.visitor(), "/login", &fields).await.expect(303);
        let cookie = kurz_test_support::pages::cookie(&answer);
        server.visitor().with(reqwest::header::COOKIE, &cookie)
    };
    let root = server.log_in("root").await;
    root.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let body = json!({ "original_url": "https://example.com/", "tags": ["red", "<i>"] });
    let link = links::make(&root, "acme", &body).await;
    let text = page.get("/app/w/acme/tags").await.expect(200).text();
    assert!(text.contains("&#60;i&#62;") && text.contains("tag=red\">red</a>"), "{text}");
    let rename = [("tag", "red"), ("name", "blue"), ("action", "rename")];
    post_form(&page, "/app/w/acme/tags", &rename).await.expect(303);
    assert_eq!(links::show(&root, &link).await["tags"], json!(["blue", "<i>"]));
    let taken = [("tag", "blue"), ("name", "<i>"), ("action", "rename")];
    let refused = post_form(&page, "/app/w/acme/tags", &taken).await.expect(409).text();
    assert!(refused.contains("Links have this tag already"), "{refused}");
    let delete = [("tag", "<i>"), ("name", "<i>"), ("action", "delete")];
    post_form(&page, "/app/w/acme/tags", &delete).await.expect(303);
    assert_eq!(links::show(&root, &link).await["tags"], json!(["blue"]));

    let hosts = "/api/v1/workspaces/acme/hosts";
    root.post(hosts, &json!({ "host": "go.example.com" })).await.expect(201);
    let urls =
        [("host", "go.example.com"), ("home_url", "acme.example/start"), ("not_found_url", "")];
    post_form(&page, "/app/w/acme/hosts/edit", &urls).await.expect(303);
    let shown = &root.get(hosts).await.expect(200).json()["hosts"][0];
    assert_eq!(
        (&shown["home_url"], &shown["not_found_url"]),
        (&json!("https://acme.example/start"), &Value::Null)
    );
    let own = format!("{}/a/b", server.base_url());
    let urls = [("host", "go.example.com"), ("home_url", own.as_str())];
    let refused = post_form(&page, "/app/w/acme/hosts/edit", &urls).await.expect(422).text();
    assert!(refused.contains("on a host of this server"), "{refused}");
    server.stop().await;
}
