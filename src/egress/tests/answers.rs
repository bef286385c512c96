//! Responses, missing responses, and the resulting health. The clock is paused: it advances when all
//! tasks wait.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};

use super::fake_network::{
    Answer, FINE, FOREVER, FakeNetwork, Line, OTHER, PUBLIC, ip, moved, summary,
};
use crate::egress::check::Health;

fn plain(status: u16) -> String {
    format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test(start_paused = true)]
async fn the_status_of_the_last_response_is_kept_and_none_where_there_was_no_response() {
    let hops = FakeNetwork::answering(|request| {
        if request.contains("/p") { moved("http://a.example/end") } else { plain(410) }
    });
    let cases = [
        (FakeNetwork::saying(FINE), (Health::Ok, Some(200))),
        (FakeNetwork::saying(&plain(403)), (Health::Unknown, Some(403))),
        (hops, (Health::Broken, Some(410))),
        (FakeNetwork::saying(""), (Health::Broken, None)),
        // The redirect leads to an address that is not visited: the redirect is the last response.
        (FakeNetwork::saying(&moved("http://127.0.0.1/")), (Health::Blocked, Some(302))),
    ];
    for (network, expected) in cases {
        let found = Arc::new(network).checker().check_target("http://a.example/p").await;
        assert_eq!((found.health, found.http_status), expected);
    }
}

/// The health, which must be found within five seconds, and the requests.
async fn check(network: FakeNetwork) -> (Health, Vec<String>) {
    let started = Instant::now();
    let (health, network) = network.check("http://a.example/p?q=1#f").await;
    assert!(started.elapsed() <= Duration::from_millis(5_010), "{:?}", started.elapsed());
    (health, network.requested())
}

#[tokio::test(start_paused = true)]
async fn head_is_enough_where_it_succeeds() {
    let (health, asked) = check(FakeNetwork::saying(FINE)).await;
    assert_eq!((health, asked), (Health::Ok, vec!["HEAD a.example /p?q=1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn get_follows_a_head_that_fails() {
    for status in [400, 401, 403, 404, 405, 410, 429, 500, 501, 503] {
        let (health, asked) = check(FakeNetwork::answering(move |request| {
            if request.starts_with("HEAD") { plain(status) } else { FINE.to_owned() }
        }))
        .await;
        assert_eq!(health, Health::Ok, "{status}");
        assert_eq!(asked, ["HEAD a.example /p?q=1", "GET a.example /p?q=1"], "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn get_follows_a_head_without_a_valid_response() {
    for head in ["", "220 smtp ready\r\n", "HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"] {
        let (health, asked) = check(FakeNetwork::answering(move |request| {
            if request.starts_with("HEAD") { head.to_owned() } else { FINE.to_owned() }
        }))
        .await;
        assert_eq!((health, asked.len()), (Health::Ok, 2), "{head:?}");
    }
    let silent = FakeNetwork::serving(|network, mut stream| {
        Box::pin(async move {
            if network.receive(&mut stream).await.starts_with("HEAD") {
                sleep(FOREVER).await;
            }
            let _ = stream.write_all(FINE.as_bytes()).await;
        })
    });
    assert_eq!(check(silent).await.0, Health::Ok);
}

#[tokio::test(start_paused = true)]
async fn the_last_status_decides() {
    for (status, expected) in [
        (204, Health::Ok),
        (206, Health::Ok),
        (304, Health::Broken),
        (404, Health::Broken),
        (410, Health::Broken),
        (500, Health::Broken),
        (401, Health::Unknown),
        (403, Health::Unknown),
        (429, Health::Unknown),
    ] {
        assert_eq!(check(FakeNetwork::saying(&plain(status))).await.0, expected, "{status}");
    }
}

// threats: H3
#[tokio::test(start_paused = true)]
async fn three_redirects_are_followed_and_no_fourth() {
    let chain = |hops: usize| {
        FakeNetwork::answering(move |request| {
            let at = summary(request).rsplit('/').next().unwrap().parse().unwrap_or(0);
            if at < hops { moved(&format!("/{}", at + 1)) } else { FINE.to_owned() }
        })
    };
    for (hops, expected) in [(1, Health::Ok), (3, Health::Ok), (4, Health::Broken)] {
        let (health, asked) = check(chain(hops)).await;
        assert_eq!((health, asked.len()), (expected, hops.min(3) + 1), "{hops}");
    }
}

// threats: A12
#[tokio::test(start_paused = true)]
async fn redirects_in_a_circle_and_to_nowhere_are_broken() {
    let (health, asked) = check(FakeNetwork::saying(&moved("/p?q=1"))).await;
    assert_eq!((health, asked.len()), (Health::Broken, 4));
    let (health, asked) = check(FakeNetwork::answering(|request| {
        let at_a = request.contains("host: a.example");
        moved(if at_a { "http://b.example/" } else { "http://a.example/" })
    }))
    .await;
    assert_eq!((health, asked.len()), (Health::Broken, 4));
    for nowhere in ["http://", "http://[::1/", "http://a..example/", "http://x.example:99999/"] {
        assert_eq!(
            check(FakeNetwork::saying(&moved(nowhere))).await.0,
            Health::Broken,
            "{nowhere}"
        );
    }
    assert_eq!(check(FakeNetwork::saying(&plain(302))).await.0, Health::Broken);
}

// threats: H5
#[tokio::test(start_paused = true)]
async fn the_request_says_who_asks_and_nothing_about_whom_for() {
    let (_, network) = FakeNetwork::answering(|request| {
        let first = request.contains("host: a.example");
        let cookie = "HTTP/1.1 302 Found\r\nset-cookie: id=1\r\nwww-authenticate: Basic\r\n\
                      location: http://b.example:443/\r\ncontent-length: 0\r\n\r\n";
        if first { cookie.to_owned() } else { FINE.to_owned() }
    })
    .check("http://a.example./p")
    .await;
    let rest = "user-agent: kurz-health/1\r\naccept: */*\r\naccept-encoding: identity\r\n\
                connection: close\r\n\r\n";
    let first = format!("HEAD /p HTTP/1.1\r\nhost: a.example.\r\n{rest}");
    let second = format!("HEAD / HTTP/1.1\r\nhost: b.example:443\r\n{rest}");
    assert_eq!(*network.requests.lock().unwrap(), [first, second]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_or_missing_response_head_times_out() {
    let dribble = FakeNetwork::serving(|network, mut stream| {
        Box::pin(async move {
            network.receive(&mut stream).await;
            for byte in FINE.bytes().cycle() {
                sleep(Duration::from_millis(300)).await;
                if stream.write_u8(byte).await.is_err() {
                    break;
                }
            }
        })
    });
    assert_eq!(check(dribble).await.0, Health::Broken);
    let silent = FakeNetwork::serving(|_, stream| {
        Box::pin(async move {
            sleep(FOREVER).await;
            drop(stream);
        })
    });
    assert_eq!(check(silent).await.0, Health::Broken);
}

/// A network that answers GET with `head`, then sends `chunk` forever, `pause` apart; and the number of
/// bytes sent.
fn endless(head: &'static str, chunk: Vec<u8>, pause: Duration) -> (FakeNetwork, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let network = FakeNetwork::serving(move |network, mut stream| {
        let (chunk, count) = (chunk.clone(), Arc::clone(&count));
        Box::pin(async move {
            if network.receive(&mut stream).await.starts_with("HEAD") {
                return;
            }
            let _ = stream.write_all(head.as_bytes()).await;
            while let Ok(written) = stream.write(&chunk).await {
                count.fetch_add(written, SeqCst);
                sleep(pause).await;
            }
        })
    });
    (network, sent)
}

/// Sent but not read: the buffers of a connection in memory.
const IN_BUFFERS: usize = 8 * 1024;

// threats: H6
#[tokio::test(start_paused = true)]
async fn a_body_may_be_endless_slow_or_a_bomb_and_is_not_looked_at() {
    let zipped = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9999999999\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n";
    let bare = "HTTP/1.1 200 OK\r\n\r\n";
    for (head, pause) in [(zipped, 0), (chunked, 0), (bare, 0), (bare, 900)] {
        let pause = Duration::from_millis(pause);
        let (network, sent) = endless(head, vec![0x1f; 1024], pause);
        let started = Instant::now();
        assert_eq!(check(network).await.0, Health::Ok, "{head}");
        assert!(started.elapsed() < Duration::from_secs(1), "{head}");
        let sent = sent.load(SeqCst);
        assert!(sent <= 64 * 1024 + IN_BUFFERS, "{sent} bytes behind {head}");
    }
}

// threats: H6
#[tokio::test(start_paused = true)]
async fn a_head_without_an_end_is_cut_off() {
    let lines = [
        (b"x-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".to_vec(), "HTTP/1.1 200 OK\r\n"),
        (vec![b'a'; 1000], "HTTP/1.1 200 OK\r\nx: "),
        (vec![b'a'; 1000], "HTTP/1.1 200 "),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec(), ""),
        (vec![b'\n'; 1000], ""),
    ];
    for (chunk, head) in lines {
        let (network, sent) = endless(head, chunk, Duration::ZERO);
        assert_eq!(check(network).await.0, Health::Broken, "{head:?}");
        let sent = sent.load(SeqCst);
        assert!(sent <= 64 * 1024 + IN_BUFFERS, "{sent} bytes behind {head:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn too_many_or_too_long_headers_are_broken() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101));
    assert_eq!(check(FakeNetwork::saying(&many)).await.0, Health::Broken);
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(40 * 1024));
    assert_eq!(check(FakeNetwork::saying(&long)).await.0, Health::Broken);
    let usual = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(8 * 1024));
    assert_eq!(check(FakeNetwork::saying(&usual)).await.0, Health::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_missing_name_is_broken_and_a_failed_lookup_is_unknown() {
    let (health, network) = FakeNetwork::saying(FINE).check("http://gone.invalid/").await;
    assert_eq!((health, network.connected().len()), (Health::Broken, 0));
    for answer in [Answer::Down, Answer::Hangs] {
        assert_eq!(
            check(FakeNetwork::saying(FINE).name("a.example", answer)).await.0,
            Health::Unknown
        );
    }
    let empty = Answer::Addresses(vec![vec![]]);
    assert_eq!(check(FakeNetwork::saying(FINE).name("a.example", empty)).await.0, Health::Broken);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_host_is_broken_and_a_local_error_is_unknown() {
    let only = |line| {
        FakeNetwork::default()
            .name("a.example", Answer::Addresses(vec![vec![ip(OTHER)]]))
            .line(OTHER, line)
    };
    for (line, expected) in [
        (Line::Fails(ErrorKind::ConnectionRefused), Health::Broken),
        (Line::Fails(ErrorKind::HostUnreachable), Health::Broken),
        (Line::Hangs, Health::Broken),
        (Line::Fails(ErrorKind::NetworkUnreachable), Health::Unknown),
        (Line::Fails(ErrorKind::PermissionDenied), Health::Unknown),
        (Line::Fails(ErrorKind::Other), Health::Unknown),
    ] {
        assert_eq!(check(only(line)).await.0, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_three_addresses_are_tried() {
    for line in [Line::Fails(ErrorKind::NetworkUnreachable), Line::Hangs] {
        let answer = Answer::Addresses(vec![vec![ip(OTHER), ip(PUBLIC)]]);
        let network = FakeNetwork::saying(FINE).name("a.example", answer).line(OTHER, line);
        assert_eq!(check(network).await.0, Health::Ok);
    }
    let dead = (1..=200).map(|last| ip(&format!("8.8.8.{last}"))).collect();
    let network = FakeNetwork::default().name("a.example", Answer::Addresses(vec![dead]));
    let (health, network) = network.check("http://a.example/").await;
    assert_eq!(health, Health::Broken);
    assert_eq!(network.connected(), ["8.8.8.1:80", "8.8.8.2:80", "8.8.8.3:80"]);
}

#[tokio::test(start_paused = true)]
async fn five_seconds_are_for_all_hops_together() {
    let slow = FakeNetwork::serving(|network, mut stream| {
        Box::pin(async move {
            network.receive(&mut stream).await;
            sleep(Duration::from_millis(1_900)).await;
            let _ = stream.write_all(moved("/next").as_bytes()).await;
            let _ = stream.read_u8().await;
        })
    });
    assert_eq!(check(slow).await.0, Health::Broken);
}
