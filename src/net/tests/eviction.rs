//! All connections are taken: the longest idle one makes room, and none with a request under way.

use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use super::{Running, connect, get, patient, read_head, read_to_close, send_get, start};
use crate::net::HttpLimits;

fn at_most(connections: usize) -> HttpLimits {
    HttpLimits { max_connections: connections, max_connections_per_ip: 0, ..patient() }
}

/// A new connection with its first answer; `None` when it is refused.
fn served(server: &Running, path: &str) -> Option<TcpStream> {
    let mut stream = server.connect();
    let _ = send_get(&mut stream, path);
    let mut first = [0];
    let answered = stream.read(&mut first).is_ok_and(|read| read == 1);
    answered.then(|| {
        read_head(&mut stream);
        stream
    })
}

/// Sweeps see when a connection was used: wait until one has seen those so far.
fn let_sweeps_pass() {
    std::thread::sleep(Duration::from_millis(1500));
}

// threats: G5
#[test]
fn the_longest_idle_connection_makes_room_whoever_answered_it() {
    let server = start(at_most(4));
    let mut open = Vec::new();
    for path in ["/fast", "/x", "/fast", "/x"] {
        open.push(served(&server, path).unwrap());
        let_sweeps_pass();
    }
    // The first is used again, so the second is the longest idle.
    assert!(get(&mut open[0], "/fast").starts_with("HTTP/1.1 204"));
    let_sweeps_pass();
    for longest in [1, 2] {
        let new = served(&server, "/x").expect("there is room for a new client");
        assert_eq!(read_to_close(&mut open[longest]), "", "closed without an answer");
        open.push(new);
        let_sweeps_pass();
    }
    for at in [0, 3, 4, 5] {
        assert!(get(&mut open[at], "/fast").starts_with("HTTP/1.1 204"), "{at} stays");
    }
}

// threats: G5
#[test]
fn a_client_that_says_nothing_makes_room() {
    let server = start(at_most(2));
    let mut silent: Vec<_> = (0..2).map(|_| server.connect()).collect();
    // Accepted after the silent ones by its worker; the other worker may not have accepted yet.
    for _ in 0..50 {
        assert!(served(&server, "/fast").is_some());
    }
    for stream in &mut silent {
        assert_eq!(read_to_close(stream), "");
    }
}

// threats: G5
#[test]
fn a_request_under_way_is_never_cut_for_another_client() {
    for path in ["/hang", "/fast-later"] {
        let server = start(at_most(3));
        let mut busy: Vec<_> = (0..3).map(|_| server.connect()).collect();
        for stream in &mut busy {
            send_get(stream, path).unwrap();
        }
        while server.calls() + server.fast() < 3 {
            std::thread::yield_now();
        }
        for _ in 0..20 {
            assert!(served(&server, "/fast").is_none(), "all connections are in use");
        }
        server.site.release.add_permits(3);
        for stream in &mut busy {
            assert!(read_head(stream).starts_with("HTTP/1.1 20"), "{path}");
            assert!(get(stream, "/fast").starts_with("HTTP/1.1 204"), "it lives on");
        }
        while served(&server, "/fast").is_none() {
            std::thread::yield_now();
        }
    }
}

/// Many clients on few connections, over both workers: whatever is closed under them, each request that
/// the service saw is answered.
// threats: G5
#[test]
fn no_answer_is_lost_while_connections_make_room() {
    const CLIENTS: usize = 12;
    const ROUNDS: usize = 150;
    let server = start(at_most(5));
    let (answered, address) = (AtomicUsize::new(0), server.handle.address());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let answered = &answered;
            scope.spawn(move || {
                let mut stream = None::<TcpStream>;
                let mut round = 0;
                while round < ROUNDS {
                    // Some connections are used again, so that idle and busy ones alternate.
                    let mut open = stream.take().unwrap_or_else(|| connect(address));
                    let path = if (client + round) % 2 == 0 { "/fast" } else { "/x" };
                    let sent = send_get(&mut open, path).is_ok();
                    if sent && open.read(&mut [0]).is_ok_and(|read| read == 1) {
                        read_head(&mut open);
                        answered.fetch_add(1, SeqCst);
                        round += 1;
                        stream = (round % 3 > 0).then_some(open);
                    }
                }
            });
        }
    });
    assert_eq!(answered.load(SeqCst), server.calls() + server.fast());
}
