//! How long the page with the list of links takes at a million links, over HTTP, including session, query
//! and template: every order with every filter and with searches, of a large list, of a small list beside
//! it, and of all of `main`. On both databases.
//!
//! `./scripts/with-servers cargo bench --bench lists`, optionally with `-- sqlite` or `-- postgres`, and
//! with a number of links, such as `-- 100000`. With `-- short` each is asked for five times.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench: the table is the result")]

use std::time::Duration;

use kurz::clock::{Clock, Stopwatch};
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz_test_support::many_links::{execute, fill_postgres, fill_sqlite};
use kurz_test_support::{Home, Kind};
use reqwest::header::{COOKIE, HeaderMap, HeaderValue, ORIGIN, SET_COOKIE};

/// Links of the first user, unless the command says otherwise.
const MANY: u64 = 1_000_000;
/// Links of the second user, in the same tables.
const FEW: u64 = 1_000;
/// Requests of each kind, and those before them that do not count.
const REQUESTS: usize = 100;
const WARM_UP: usize = 5;
const PASSWORD: &str = "a-password-for-the-bench";
/// The limit for the 99th percentile.
const AIM: Duration = Duration::from_millis(50);

const SORTS: [&str; 8] = [
    "-created_at",
    "created_at",
    "-updated_at",
    "updated_at",
    "-redirect_count",
    "redirect_count",
    "-short_code",
    "short_code",
];
const FILTERS: [&str; 9] = [
    "",
    "status=ACTIVE",
    "status=EXPIRED",
    "status=DELETED",
    "status=DISABLED",
    "strategy=random",
    "strategy=custom",
    "tag=rare",
    "tag=common",
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let many = words.iter().find_map(|word| word.parse().ok()).unwrap_or(MANY);
    let has = |kind: &str| words.iter().any(|word| word == kind);
    let requests = if has("short") { 5 } else { REQUESTS };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        println!("| list of {many} links, {requests} requests each | p50 | p99 |");
        println!("|---|---|---|");
        for (kind, name) in [(Kind::Sqlite, "sqlite"), (Kind::Postgres, "postgres")] {
            if has(name) || !(has("sqlite") || has("postgres")) {
                measure(kind, name, many, requests).await;
            }
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// A server with accounts on a store.
async fn start(store: &str) -> RunningServer {
    let env = [
        ("KURZ_STORE", store),
        ("KURZ_LISTEN", "127.0.0.1:0"),
        ("KURZ_ADMIN_LISTEN", "off"),
        ("KURZ_LIMITS", "off"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let nowhere = tempfile::tempdir().unwrap();
    let config = Config::load(&Overrides::default(), env, nowhere.path()).unwrap();
    RunningServer::start(&config, Clock::system(), Entropy::os()).await.unwrap()
}

/// A client that is signed in, registered if necessary.
async fn sign_in(program: &RunningServer, path: &str, email: &str) -> reqwest::Client {
    let base = format!("http://{}", program.address());
    let mut headers = HeaderMap::new();
    headers.insert(ORIGIN, HeaderValue::from_str(&base).unwrap());
    let plain = || {
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        builder.no_proxy().tls_certs_only([])
    };
    let client = plain().default_headers(headers.clone()).build().unwrap();
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("email", email)
        .append_pair("password", PASSWORD)
        .finish();
    let request = client.post(format!("{base}{path}")).body(body);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let answer = request.send().await.unwrap();
    let cookie = answer.headers().get(SET_COOKIE).expect("signed in").to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap_or_default();
    headers.insert(COOKIE, HeaderValue::from_str(cookie).unwrap());
    plain().default_headers(headers).build().unwrap()
}

async fn measure(kind: Kind, name: &str, many: u64, requests: usize) {
    let row = async |name: &str, client: &reqwest::Client, url: &dyn Fn(usize) -> String| {
        measure_row(requests, name, client, url).await;
    };
    let home = Home::new(kind);
    let store = home.store();
    let program = start(&store).await;
    sign_in(&program, "/register", "many@example.com").await;
    sign_in(&program, "/register", "few@example.com").await;
    program.shutdown().await.unwrap();
    let admin = "update users set admin_at = 1 where id = 1";
    match kind {
        Kind::Sqlite => {
            fill_sqlite(&home.sqlite_file(), many, FEW);
            rusqlite::Connection::open(home.sqlite_file()).unwrap().execute(admin, []).unwrap();
        }
        Kind::Postgres => {
            fill_postgres(&store, many, FEW).await;
            execute(&store, admin).await;
        }
    }
    let program = start(&store).await;
    let base = format!("http://{}/app/w/main", program.address());
    let many = sign_in(&program, "/login", "many@example.com").await;
    let few = sign_in(&program, "/login", "few@example.com").await;
    let lists =
        [("large list", &many, ""), ("small list", &few, ""), ("all of main", &many, "all=1&")];
    for (list, client, prefix) in lists {
        for sort in SORTS {
            for filter in FILTERS {
                let url = format!("{base}?{prefix}{filter}&sort={sort}");
                row(&format!("{name}, {list}: {filter} {sort}"), client, &|_| url.clone()).await;
            }
            for (what, text) in searches() {
                let row_name = format!("{name}, {list}: q ({what}) {sort}");
                let url = |at| format!("{base}?{prefix}q={}&sort={sort}", text(at));
                row(&row_name, client, &url).await;
            }
        }
    }
    let next = next_page(&many, &base).await;
    row(&format!("{name}, large list: second page"), &many, &|_| next.clone()).await;
    let next = next_page(&many, &format!("{base}?sort=-redirect_count")).await;
    row(&format!("{name}, large list: second page by clicks"), &many, &|_| next.clone()).await;
    program.shutdown().await.unwrap();
}

type Text = fn(usize) -> String;

/// Texts to search for: rare, common and absent ones, in codes, titles and targets, and short ones.
fn searches() -> [(&'static str, Text); 8] {
    [
        ("beginning of a code", |at| code(at, 5)),
        ("inside a code", |at| code(at + 1000, 4)),
        ("a host of 1000", |at| format!("host{}.", at % 1000)),
        ("in every target", |_| "example%2Fsome".to_owned()),
        ("a title of 100", |at| format!("title+{}", at % 100)),
        ("nowhere", |at| format!("nowhere{at}")),
        ("one letter", |at| format!("{:x}", at % 16)),
        ("two letters, nowhere", |_| "zz".to_owned()),
    ]
}

/// Hexadecimal digits, which codes are made of.
fn code(at: usize, digits: usize) -> String {
    let number = at.wrapping_mul(0x9e37_79b9) & 0xf_ffff;
    format!("{number:05x}").chars().take(digits).collect()
}

async fn next_page(client: &reqwest::Client, url: &str) -> String {
    let page = client.get(url).send().await.unwrap().text().await.unwrap();
    let next = page.split("rel=\"next\" href=\"").nth(1).expect("there is a next page");
    let next = next.split('"').next().unwrap_or_default().replace("&#38;", "&");
    let origin = url.split("/app/").next().unwrap_or_default();
    format!("{origin}{next}")
}

async fn measure_row(
    requests: usize,
    name: &str,
    client: &reqwest::Client,
    url: &dyn Fn(usize) -> String,
) {
    let mut times = Vec::with_capacity(requests);
    for at in 0..requests + WARM_UP {
        let watch = Stopwatch::start();
        let answer = client.get(url(at)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{name}");
        let text = answer.text().await.unwrap();
        assert!(text.trim_end().ends_with("</html>"), "{name}: a whole page");
        if at >= WARM_UP {
            times.push(watch.elapsed());
        }
    }
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let mark = if at(99) < AIM { "" } else { " (over the aim)" };
    println!("| {name} | {:.1?} | {:.1?}{mark} |", at(50), at(99));
}
