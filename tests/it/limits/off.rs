//! Limits that are off: all of them, one by one, and on servers that are open to everybody.

use serde_json::json;

use super::{limited, log_in, shorten};

#[tokio::test]
async fn limits_off_means_all_of_them() {
    let kurz = limited().setting("KURZ_LIMITS", "off").start().await;
    let anybody = kurz.at("192.0.2.1");
    for at in 0..120 {
        anybody.get(&format!("/none{at}")).await.expect(404);
        log_in(&anybody, "ada", "wrong").await.expect(401);
        shorten(&anybody, &format!("https://example.com/{at}")).await.expect(201);
    }
    kurz.stop().await;
}

#[tokio::test]
async fn each_limit_can_be_off_by_itself() {
    let cases: [(&[&str], [u16; 3]); 3] = [
        (&["KURZ_LIMIT_MISSES"], [404, 429, 429]),
        (&["KURZ_LIMIT_LOGINS_PER_ACCOUNT", "KURZ_LIMIT_LOGINS_PER_ADDRESS"], [429, 401, 429]),
        (&["KURZ_LIMIT_ANONYMOUS_LINKS", "KURZ_LIMIT_ANONYMOUS_LINKS_DAILY"], [429, 429, 201]),
    ];
    for (names, expected) in cases {
        let settings: Vec<_> = names.iter().map(|name| (*name, "0")).collect();
        let kurz = limited().settings(&settings).start().await;
        let anybody = kurz.at("192.0.2.1");
        let mut last = [0; 3];
        for at in 0..40 {
            last = [
                anybody.get(&format!("/none{at}")).await.status,
                log_in(&anybody, "ada", "wrong").await.status,
                shorten(&anybody, &format!("https://example.com/{at}")).await.status,
            ];
        }
        assert_eq!(last, expected, "{names:?}");
        kurz.stop().await;
    }
}

#[tokio::test]
async fn on_an_open_server_everybody_makes_links_and_still_nobody_scans() {
    let kurz = limited().setting("KURZ_OPEN", "on").start().await;
    let anybody = kurz.at("192.0.2.1");
    for at in 0..40 {
        shorten(&anybody, &format!("https://example.com/{at}")).await.expect(201);
        let body = json!({ "originalUrl": "https://example.com/" });
        anybody.post("/api/urls/public", &body).await.expect(201);
        anybody.get("/api/v1/workspaces/main/links/none").await.expect(404);
    }
    for _ in 0..30 {
        anybody.get("/none").await.expect(404);
    }
    anybody.get("/none").await.expect(429);
    kurz.stop().await;
}
