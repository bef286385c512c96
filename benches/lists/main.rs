//! How long the page with the list of links takes at a million links, over HTTP, including
//! session, query and template. On both databases; first page, next page, search by
//! prefix, sort by clicks, and a small list beside the large one.
//!
//! `./scripts/with-servers cargo bench --bench lists`, optionally with `-- sqlite` or `-- postgres`.

#![expect(clippy::print_stdout, reason = "the table is the result")]

mod fill;

use std::time::Duration;

use kurz::clock::{Clock, Stopwatch};
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use reqwest::header::{COOKIE, HeaderMap, HeaderValue, ORIGIN, SET_COOKIE};

/// Links of the first user.
const MANY: u64 = 1_000_000;
/// Links of the second user, in the same tables.
const FEW: u64 = 1_000;
/// Requests of each kind.
const REQUESTS: usize = 400;
const PASSWORD: &str = "a-password-for-the-bench";
/// The limit for the 99th percentile.
const AIM: Duration = Duration::from_millis(50);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a process may have a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo made it");
        let file = folder.path().join("kurz.db");
        println!("| list of {MANY} links, {REQUESTS} requests each | median | 99th percentile |");
        println!("|---|---|---|");
        for kind in ["sqlite", "postgres"] {
            if !words.is_empty() && !words.iter().any(|word| word == kind) {
                continue;
            }
            let store = match kind {
                "sqlite" => fill::Store::Sqlite(file.clone()),
                _ => fill::Store::postgres().await,
            };
            measure(kind, &store).await;
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// A server with accounts on a store.
async fn start(store: &fill::Store) -> RunningServer {
    let env = [
        ("KURZ_STORE", store.url()),
        ("KURZ_LISTEN", "127.0.0.1:0".to_owned()),
        ("KURZ_ADMIN_LISTEN", "off".to_owned()),
        ("KURZ_LIMITS", "off".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let nowhere = tempfile::tempdir().expect("there is room");
    let config = Config::load(&Overrides::default(), env, nowhere.path()).expect("in bounds");
    RunningServer::start(&config, Clock::system(), Entropy::os()).await.expect("the store is fresh")
}

/// A client that is signed in, registered if necessary.
async fn sign_in(program: &RunningServer, path: &str, email: &str) -> reqwest::Client {
    let base = format!("http://{}", program.address());
    let mut headers = HeaderMap::new();
    headers.insert(ORIGIN, HeaderValue::from_str(&base).expect("an origin"));
    let plain = || {
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        builder.no_proxy().tls_certs_only([])
    };
    let client = plain().default_headers(headers.clone()).build().expect("a client");
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("email", email)
        .append_pair("password", PASSWORD)
        .finish();
    let request = client.post(format!("{base}{path}")).body(body);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let answer = request.send().await.expect("it answers");
    let cookie = answer.headers().get(SET_COOKIE).expect("signed in").to_str().expect("ASCII");
    let cookie = cookie.split(';').next().unwrap_or_default();
    headers.insert(COOKIE, HeaderValue::from_str(cookie).expect("ASCII"));
    plain().default_headers(headers).build().expect("a client")
}

async fn measure(kind: &str, store: &fill::Store) {
    let program = start(store).await;
    sign_in(&program, "/register", "many@example.com").await;
    sign_in(&program, "/register", "few@example.com").await;
    program.shutdown().await.expect("nothing is under way");
    store.fill(MANY, FEW).await;
    let program = start(store).await;
    let base = format!("http://{}/app/w/main", program.address());
    let many = sign_in(&program, "/login", "many@example.com").await;
    let few = sign_in(&program, "/login", "few@example.com").await;

    row(kind, "first page", &many, |_| base.clone()).await;
    let next = next_page(&many, &base).await;
    row(kind, "second page", &many, |_| next.clone()).await;
    row(kind, "oldest first", &many, |_| format!("{base}?sort=created_at")).await;
    row(kind, "sort by clicks", &many, |_| format!("{base}?sort=-redirect_count")).await;
    let next = next_page(&many, &format!("{base}?sort=-redirect_count")).await;
    row(kind, "sort by clicks, second page", &many, |_| next.clone()).await;
    row(kind, "search by prefix of the code", &many, |at| format!("{base}?q={}", prefix(at))).await;
    let host = |at: usize| format!("{base}?q=host{}", at % 1000);
    row(kind, "search by prefix of the host", &many, host).await;
    let title = |at: usize| format!("{base}?q=title+{}", at % 100);
    row(kind, "search by prefix of the title", &many, title).await;
    let common = |at: usize| format!("{base}?q={:x}&sort=-redirect_count", at % 16);
    row(kind, "search by one letter, sorted by clicks", &many, common).await;
    row(kind, "a tag of one in a thousand", &many, |_| format!("{base}?tag=rare")).await;
    row(kind, "a tag of one in ten", &many, |_| format!("{base}?tag=common")).await;
    row(kind, "a list of 1000 beside it, search", &few, |at| format!("{base}?q={}", prefix(at)))
        .await;
    program.shutdown().await.expect("nothing is under way");
}

/// Two to five hexadecimal digits, which codes begin with.
fn prefix(at: usize) -> String {
    let number = at.wrapping_mul(0x9e37_79b9) & 0xf_ffff;
    let text = format!("{number:05x}");
    text.chars().take(2 + at % 4).collect()
}

async fn next_page(client: &reqwest::Client, url: &str) -> String {
    let page = client.get(url).send().await.expect("it answers").text().await.expect("text");
    let next = page.split("rel=\"next\" href=\"").nth(1).expect("there is a next page");
    let next = next.split('"').next().unwrap_or_default().replace("&#38;", "&");
    let origin = url.split("/app/").next().unwrap_or_default();
    format!("{origin}{next}")
}

async fn row(kind: &str, name: &str, client: &reqwest::Client, url: impl Fn(usize) -> String) {
    let mut times = Vec::with_capacity(REQUESTS);
    for at in 0..REQUESTS + 20 {
        let watch = Stopwatch::start();
        let answer = client.get(url(at)).send().await.expect("it answers");
        assert_eq!(answer.status(), 200, "{name}");
        let text = answer.text().await.expect("text");
        assert!(text.ends_with("</html>\n") || text.ends_with("</html>"), "{name}: a whole page");
        // The first requests are a warm-up.
        if at >= 20 {
            times.push(watch.elapsed());
        }
    }
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let mark = if at(99) < AIM { "" } else { " (over the aim)" };
    println!("| {kind}: {name} | {:.1?} | {:.1?}{mark} |", at(50), at(99));
}
