//! Three instances on one database: whichever is asked, the answer is about all clicks, and a stream of one
//! tells of clicks on another.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::http::Http;
use kurz_test_support::{TestServer, links};
use reqwest::header::{HeaderName, USER_AGENT};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::api::read_until;

const ANALYTICS: &str = "/api/v1/workspaces/team/analytics";
const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
/// Clicks on the first, second and third.
const CLICKS: [usize; 3] = [7, 5, 11];
const ALL: u64 = 23;

async fn ask(http: &Http, query: &str) -> Value {
    http.get(&format!("{ANALYTICS}?from=7d&{query}")).await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_instance_shows_the_clicks_of_all_and_tells_of_them_as_they_come() {
    let builder = TestServer::builder().setting("KURZ_TRUSTED_PROXIES", "127.0.0.1");
    let three = tokio::task::block_in_place(|| builder.start_instances(3));
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let link = links::make(&three.http(0), "team", &body).await;
    let path = links::short_path(&link);
    // A stream of the first, which gets no more clicks once it is open.
    let click = async |instance: usize, visitor: usize| {
        let address = format!("198.51.100.{visitor}");
        let http = three.http(instance).with(USER_AGENT, AGENT);
        let http = http.with(HeaderName::from_static("x-forwarded-for"), &address);
        http.get(&path).await.expect(302);
    };
    for _ in 0..CLICKS[0] {
        click(0, 1).await;
    }
    let address = three.address(0);
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET {ANALYTICS}/live HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut told = String::new();
    read_until(&mut stream, &mut told, "event: now").await;
    for instance in [1, 2] {
        // One visitor came to the first as well, the other one is new.
        for _ in 0..CLICKS[instance] {
            click(instance, instance).await;
        }
    }
    let mut told = String::new();
    read_until(&mut stream, &mut told, "event: click").await;
    read_until(&mut stream, &mut told, "\"link\":\"promo\"").await;
    read_until(&mut stream, &mut told, &format!("\"clicks\":{ALL}")).await;

    let mut answers = Vec::new();
    for instance in 0..3 {
        let http = three.http(instance);
        let watch = Stopwatch::start();
        let answer = loop {
            let answer = ask(&http, "group=link,browser&class=person").await;
            if answer["total"]["clicks"] == ALL {
                break answer;
            }
            assert!(watch.elapsed() < Duration::from_secs(30), "{answer}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(answer["groups"]["link"]["rows"][0]["clicks"], ALL);
        assert_eq!(answer["groups"]["browser"]["rows"][0]["value"], "Firefox");
        let page = http.get("/app/w/team/analytics?from=7d").await.expect(200).text();
        assert!(page.contains(&format!("<strong>{ALL}</strong>")), "{page}");
        answers.push((answer["total"].clone(), answer["series"].clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "one dashboard: {answers:?}");
    let visitors = answers[0].0["visitors"].as_u64().unwrap();
    // At midnight each of the two is one more.
    assert!((2..=4).contains(&visitors), "{visitors}");
    drop(three);
}
