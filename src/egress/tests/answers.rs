//! What servers answer, or do not, and what is made of it. The clock is paused: it jumps whenever
//! everybody waits.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};

use super::world::{AGES, Answer, FINE, Line, OTHER, PUBLIC, World, ip, moved, summary};
use crate::egress::Health;

fn plain(status: u16) -> String {
    format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n")
}

/// The verdict, with at most five seconds for it, and what was asked.
async fn check(world: World) -> (Health, Vec<String>) {
    let started = Instant::now();
    let (health, world) = world.check("http://a.example/p?q=1#f").await;
    assert!(started.elapsed() <= Duration::from_millis(5_010), "{:?}", started.elapsed());
    (health, world.asked())
}

#[tokio::test(start_paused = true)]
async fn head_settles_it_where_it_is_answered() {
    let (health, asked) = check(World::saying(FINE)).await;
    assert_eq!((health, asked), (Health::Ok, vec!["HEAD a.example /p?q=1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn get_is_asked_where_head_does_not_settle_it() {
    for status in [400, 401, 403, 404, 405, 410, 429, 500, 501, 503] {
        let (health, asked) = check(World::answering(move |request| {
            if request.starts_with("HEAD") { plain(status) } else { FINE.to_owned() }
        }))
        .await;
        assert_eq!(health, Health::Ok, "{status}");
        assert_eq!(asked, ["HEAD a.example /p?q=1", "GET a.example /p?q=1"], "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn get_is_asked_where_head_is_not_understood_or_not_answered() {
    for head in ["", "220 smtp ready\r\n", "HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"] {
        let (health, asked) = check(World::answering(move |request| {
            if request.starts_with("HEAD") { head.to_owned() } else { FINE.to_owned() }
        }))
        .await;
        assert_eq!((health, asked.len()), (Health::Ok, 2), "{head:?}");
    }
    let silent = World::serving(|world, mut stream| {
        Box::pin(async move {
            if world.receive(&mut stream).await.starts_with("HEAD") {
                sleep(AGES).await;
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
        assert_eq!(check(World::saying(&plain(status))).await.0, expected, "{status}");
    }
}

// threats: H3
#[tokio::test(start_paused = true)]
async fn three_redirects_are_followed_and_no_fourth() {
    let chain = |hops: usize| {
        World::answering(move |request| {
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
    let (health, asked) = check(World::saying(&moved("/p?q=1"))).await;
    assert_eq!((health, asked.len()), (Health::Broken, 4));
    let (health, asked) = check(World::answering(|request| {
        let at_a = request.contains("host: a.example");
        moved(if at_a { "http://b.example/" } else { "http://a.example/" })
    }))
    .await;
    assert_eq!((health, asked.len()), (Health::Broken, 4));
    for nowhere in ["http://", "http://[::1/", "http://a..example/", "http://x.example:99999/"] {
        assert_eq!(check(World::saying(&moved(nowhere))).await.0, Health::Broken, "{nowhere}");
    }
    assert_eq!(check(World::saying(&plain(302))).await.0, Health::Broken);
}

// threats: H5
#[tokio::test(start_paused = true)]
async fn the_request_says_who_asks_and_nothing_about_whom_for() {
    let (_, world) = World::answering(|request| {
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
    assert_eq!(*world.requests.lock().unwrap(), [first, second]);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let dribble = World::serving(|world, mut stream| {
        Box::pin(async move {
            world.receive(&mut stream).await;
            for byte in FINE.bytes().cycle() {
                sleep(Duration::from_millis(300)).await;
                if stream.write_u8(byte).await.is_err() {
                    break;
                }
            }
        })
    });
    assert_eq!(check(dribble).await.0, Health::Broken);
    let silent = World::serving(|_, stream| {
        Box::pin(async move {
            sleep(AGES).await;
            drop(stream);
        })
    });
    assert_eq!(check(silent).await.0, Health::Broken);
}

/// A world that answers GET with `head`, then pours `chunk` for ever, `pause` apart; and how much of
/// it went through.
fn pouring(head: &'static str, chunk: Vec<u8>, pause: Duration) -> (World, Arc<AtomicUsize>) {
    let poured = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&poured);
    let world = World::serving(move |world, mut stream| {
        let (chunk, count) = (chunk.clone(), Arc::clone(&count));
        Box::pin(async move {
            if world.receive(&mut stream).await.starts_with("HEAD") {
                return;
            }
            let _ = stream.write_all(head.as_bytes()).await;
            while let Ok(written) = stream.write(&chunk).await {
                count.fetch_add(written, SeqCst);
                sleep(pause).await;
            }
        })
    });
    (world, poured)
}

/// What may be on its way beside what was read: the buffers of a connection in memory.
const ON_THE_WAY: usize = 8 * 1024;

// threats: H6
#[tokio::test(start_paused = true)]
async fn a_body_may_be_endless_slow_or_a_bomb_and_is_not_looked_at() {
    let zipped = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9999999999\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n";
    let bare = "HTTP/1.1 200 OK\r\n\r\n";
    for (head, pause) in [(zipped, 0), (chunked, 0), (bare, 0), (bare, 900)] {
        let pause = Duration::from_millis(pause);
        let (world, poured) = pouring(head, vec![0x1f; 1024], pause);
        let started = Instant::now();
        assert_eq!(check(world).await.0, Health::Ok, "{head}");
        assert!(started.elapsed() < Duration::from_secs(1), "{head}");
        let poured = poured.load(SeqCst);
        assert!(poured <= 64 * 1024 + ON_THE_WAY, "{poured} bytes behind {head}");
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
        let (world, poured) = pouring(head, chunk, Duration::ZERO);
        assert_eq!(check(world).await.0, Health::Broken, "{head:?}");
        let poured = poured.load(SeqCst);
        assert!(poured <= 64 * 1024 + ON_THE_WAY, "{poured} bytes behind {head:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn more_headers_than_anybody_needs_are_broken() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101));
    assert_eq!(check(World::saying(&many)).await.0, Health::Broken);
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(40 * 1024));
    assert_eq!(check(World::saying(&long)).await.0, Health::Broken);
    let usual = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(8 * 1024));
    assert_eq!(check(World::saying(&usual)).await.0, Health::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_gone_is_broken_and_one_nobody_could_look_up_is_unknown() {
    let (health, world) = World::saying(FINE).check("http://gone.invalid/").await;
    assert_eq!((health, world.dialled().len()), (Health::Broken, 0));
    for answer in [Answer::Down, Answer::Hangs] {
        assert_eq!(check(World::saying(FINE).name("a.example", answer)).await.0, Health::Unknown);
    }
    let empty = Answer::Addresses(vec![vec![]]);
    assert_eq!(check(World::saying(FINE).name("a.example", empty)).await.0, Health::Broken);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_nobody_reaches_is_broken_and_one_that_only_we_do_not_is_unknown() {
    let only = |line| {
        World::default()
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
async fn the_next_address_is_tried_and_few_of_them() {
    for line in [Line::Fails(ErrorKind::NetworkUnreachable), Line::Hangs] {
        let answer = Answer::Addresses(vec![vec![ip(OTHER), ip(PUBLIC)]]);
        let world = World::saying(FINE).name("a.example", answer).line(OTHER, line);
        assert_eq!(check(world).await.0, Health::Ok);
    }
    let dead = (1..=200).map(|last| ip(&format!("8.8.8.{last}"))).collect();
    let world = World::default().name("a.example", Answer::Addresses(vec![dead]));
    let (health, world) = world.check("http://a.example/").await;
    assert_eq!(health, Health::Broken);
    assert_eq!(world.dialled(), ["8.8.8.1:80", "8.8.8.2:80", "8.8.8.3:80"]);
}

#[tokio::test(start_paused = true)]
async fn five_seconds_are_for_all_hops_together() {
    let slow = World::serving(|world, mut stream| {
        Box::pin(async move {
            world.receive(&mut stream).await;
            sleep(Duration::from_millis(1_900)).await;
            let _ = stream.write_all(moved("/next").as_bytes()).await;
            let _ = stream.read_u8().await;
        })
    });
    assert_eq!(check(slow).await.0, Health::Broken);
}
