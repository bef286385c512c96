//! Request ids, spans, the access log and the OTLP export, on running servers.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer, on_both_databases};
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderName};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const LINKS: &str = "/api/v1/workspaces/main/links";
const LINKS_ROUTE: &str = "/api/v1/workspaces/{workspace}/links";

fn start(kind: Kind, settings: &[(&str, &str)]) -> Process {
    let server = TestServer::builder().database(kind).setting("KURZ_LOG_FORMAT", "json");
    server.settings(settings).process().start()
}

fn with_accounts(settings: &[(&str, &str)]) -> Process {
    TestServer::builder().accounts().settings(settings).process().start()
}

fn line(process: &Process, text: &str) -> Value {
    serde_json::from_str(&process.wait_for_log(text)).unwrap()
}

/// The lines of the access log.
fn access_lines(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "kurz::access").collect()
}

fn is_made(id: &str) -> bool {
    id.len() == 16 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
}

on_both_databases!(a_failed_statement_is_traced_to_its_request);

async fn a_failed_statement_is_traced_to_its_request(kind: Kind) {
    let process = start(kind, &[("KURZ_LOG", "error")]);
    let http = process.http();
    http.get(LINKS).await.expect(200);
    process.home().execute("alter table links rename to links_gone").await;
    let answer = http.get(LINKS).await;
    let id = answer.header("x-request-id").unwrap().to_owned();
    assert!(is_made(&id), "{id}");
    let problem = answer.expect_problem(500, "internal-error");
    assert_eq!(problem["request_id"], id.as_str());

    let line = line(&process, &id);
    assert_eq!(line["message"], "the request failed", "{line}");
    assert_eq!((&line["level"], &line["status"]), (&json!("ERROR"), &json!(500)), "{line}");
    let span = &line["span"];
    assert_eq!(span["request_id"], id.as_str(), "{line}");
    assert_eq!((&span["method"], &span["route"]), (&json!("GET"), &json!(LINKS_ROUTE)), "{line}");
    assert_eq!((&span["caller"], &span["client"]), (&json!("open"), &json!("127.0.0.1")), "{line}");
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("links") && error.contains("the database refused"), "cause: {error}");
    assert!(error.contains("statement kurz::store::"), "statement: {error}");
    let lines = process.log().lines().filter(|line| line.contains(&id)).count();
    assert_eq!(lines, 1, "a failure is logged once");

    // A redirect has an id only where its look-up fails.
    let answer = http.get("/unknown").await.expect(503);
    let id = answer.header("x-request-id").unwrap().to_owned();
    let line = self::line(&process, &id);
    assert_eq!((&line["key"], &line["status"]), (&json!("unknown"), &json!(503)), "{line}");
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("links") && error.contains("statement kurz::store::"), "{error}");
}

#[tokio::test]
async fn every_answer_of_the_control_plane_has_an_id_and_redirects_have_none() {
    let server = with_accounts(&[]);
    let ada = server.register("ada").await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let made = ada.post("/api/v1/links", &body).await.expect(201);
    let mut ids = vec![made.header("x-request-id").unwrap().to_owned()];
    let html = server.http().with(ACCEPT, "text/html");
    for path in ["/", "/healthz", "/api/v1/me", "/api/v1/nothing", "/assets/none", "/promo+"] {
        for http in [&server.http(), &html] {
            let answer = http.get(path).await;
            let id = answer.header("x-request-id").unwrap_or_else(|| panic!("{path}")).to_owned();
            if answer.status >= 400 && answer.header("content-type").unwrap().contains("problem") {
                assert_eq!(answer.json()["request_id"], id.as_str(), "{path}");
            }
            ids.push(id);
        }
    }
    assert!(ids.iter().all(|id| is_made(id)), "{ids:?}");
    let number = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), number, "each id is new");
    for path in ["/promo", "/nothing-here"] {
        let answer = server.http().get(path).await;
        assert_eq!(answer.header("x-request-id"), None, "{path}");
    }
}

#[tokio::test]
async fn an_error_page_shows_the_id_in_the_visitors_language() {
    let server = with_accounts(&[]);
    let html = server.http().with(ACCEPT, "text/html");
    for (language, words) in
        [("en", "Request id"), ("de", "Anfrage-ID"), ("es", "ID de la solicitud")]
    {
        let answer = html.with(ACCEPT_LANGUAGE, language).get("/app/nothing").await.expect(404);
        let id = answer.header("x-request-id").unwrap();
        let shown = format!("{words} <code>{id}</code>");
        assert!(answer.text().contains(&shown), "{shown} in {}", answer.text());
    }
}

#[tokio::test]
async fn an_id_is_taken_from_a_trusted_proxy_alone_and_only_when_it_is_valid() {
    let id_of = async |http: &Http, sent: &str| {
        let http = http.with(HeaderName::from_static("x-request-id"), sent);
        let answer = http.get("/api/v1/nothing").await.expect(404);
        let id = answer.header("x-request-id").unwrap().to_owned();
        assert_eq!(answer.json()["request_id"], id.as_str());
        id
    };
    let behind = with_accounts(&[("KURZ_TRUSTED_PROXIES", "127.0.0.1")]);
    assert_eq!(id_of(&behind.http(), "edge-1.Req_7").await, "edge-1.Req_7");
    for bad in ["", "with space", "quote\"", "a/b", &"x".repeat(129)] {
        let id = id_of(&behind.http(), bad).await;
        assert!(is_made(&id), "{bad:?} became {id}");
    }
    let alone = with_accounts(&[("KURZ_TRUSTED_PROXIES", "192.0.2.0/24")]);
    assert!(is_made(&id_of(&alone.http(), "edge-1.Req_7").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_access_log_is_off_or_lists_requests_or_redirects_too() {
    for (setting, requests, redirects) in [("off", 0, 0), ("control", 2, 0), ("all", 2, 3)] {
        let settings = [("KURZ_ACCESS_LOG", setting), ("KURZ_LOG", "error")];
        let process = start(Kind::Sqlite, &settings);
        let http = process.http();
        let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
        let made = http.post("/api/v1/links", &body).await.expect(201);
        let id = made.header("x-request-id").unwrap().to_owned();
        http.get("/app/nothing?secret=1").await.expect(404);
        for (path, status) in [("/promo?secret=1", 302), ("/promo", 302), ("/absent", 404)] {
            http.get(path).await.expect(status);
        }
        let (status, log) = process.terminate();
        assert!(status.success() && !log.contains("secret"), "{log}");
        let lines = access_lines(&log);
        let of = |message: &str| {
            lines.iter().filter(|line| line["message"] == message).cloned().collect::<Vec<_>>()
        };
        let (seen, sent_on) = (of("request"), of("redirect"));
        assert_eq!((seen.len(), sent_on.len()), (requests, redirects), "{setting}: {log}");
        if let [first, second] = seen.as_slice() {
            assert_eq!((&first["method"], &first["status"]), (&json!("POST"), &json!(201)));
            assert_eq!((&first["request_id"], &first["caller"]), (&json!(id), &json!("open")));
            assert_eq!((&first["route"], &first["path"]), (&first["path"], &first["route"]));
            assert!(first["duration_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{first}");
            assert_eq!(second["path"], "/app/nothing", "{second}");
        }
        if let [first, .., last] = sent_on.as_slice() {
            assert_eq!((&first["path"], &first["status"]), (&json!("/promo"), &json!(302)));
            assert_eq!((&last["path"], &last["status"]), (&json!("/absent"), &json!(404)));
            assert_eq!(first["client"], "127.0.0.1", "{first}");
        }
    }
}

/// A collector that takes OTLP/HTTP and hands on what it got.
async fn collector() -> (String, mpsc::Receiver<Value>) {
    let (sender, received) = mpsc::channel(100);
    let take = async |State(sender): State<mpsc::Sender<Value>>, Json(body): Json<Value>| {
        sender.send(body).await.unwrap();
        Json(json!({}))
    };
    let router = axum::Router::new().route("/v1/traces", post(take)).with_state(sender);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::runtime::Handle::current().spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}"), received)
}

fn attribute(span: &Value, key: &str) -> Value {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    found.unwrap_or_else(|| panic!("{key} in {span}"))["value"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_are_exported_to_the_collector_and_the_rest_of_them_at_the_end() {
    let (url, mut received) = collector().await;
    let settings = [("KURZ_OTLP", url.as_str()), ("KURZ_TRUSTED_PROXIES", "127.0.0.1")];
    let process = start(Kind::Sqlite, &settings);
    let http = process.http();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let traced = http.with(HeaderName::from_static("traceparent"), parent);
    let answer = traced.get(LINKS).await.expect(200);
    let id = answer.header("x-request-id").unwrap();
    let body = received.recv().await.unwrap();
    let resource = &body["resourceSpans"][0];
    assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "kurz", "{body}");
    let span = &resource["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], format!("GET {LINKS_ROUTE}"), "{span}");
    assert_eq!(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736", "{span}");
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7", "{span}");
    assert_eq!(attribute(span, "kurz.request_id"), json!({ "stringValue": id }));
    assert_eq!(attribute(span, "http.route"), json!({ "stringValue": LINKS_ROUTE }));
    assert_eq!(attribute(span, "http.response.status_code"), json!({ "intValue": "200" }));

    http.get("/healthz").await.expect(200);
    let (status, log) = process.terminate();
    assert!(status.success(), "{log}");
    let last = received.recv().await.unwrap();
    let span = &last["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], "GET /healthz", "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_is_logged_once_and_holds_up_nothing() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let process = start(Kind::Sqlite, &[("KURZ_OTLP", url.as_str())]);
    let http = process.http();
    http.get("/healthz").await.expect(200);
    process.wait_for_log("the OTLP collector does not take spans");
    http.get("/healthz").await.expect(200);
    let (status, log) = process.terminate();
    assert!(status.success(), "{log}");
    assert_eq!(log.matches("the OTLP collector does not take spans").count(), 1, "{log}");
}
