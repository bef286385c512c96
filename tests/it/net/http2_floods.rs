//! HTTP/2 clients that send what costs the server more than them. They do not read, which is worst for
//! whoever has to answer. Each must be cut off, and must not make the server grow.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use kurz_test_support::{Process, Program, TestServer};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_mins(1);
/// How much memory a flood may cost.
const GROWTH_KIB: u64 = 10 * 1024;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// HPACK: `:method` (GET, or POST), `:scheme` http, `:path` /, `:authority` a.
fn block(post: bool) -> Vec<u8> {
    vec![if post { 0x83 } else { 0x82 }, 0x86, 0x84, 0x41, 0x01, b'a']
}

fn server() -> Process {
    let short = |program: Program, name: &str| program.env(name, "1s");
    let names = ["KURZ_HEADER_TIMEOUT", "KURZ_BODY_TIMEOUT", "KURZ_IDLE_TIMEOUT"];
    names.into_iter().fold(TestServer::builder().default_timeouts().process(), short).start()
}

fn resident_kib(server: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Send `opening`, then what `next` gives for 1, 2, 3, … until the server ends the connection.
#[track_caller]
fn flood(name: &str, opening: &[u8], next: impl Fn(u32) -> Vec<u8>) {
    let server = server();
    let address = server.base_url().trim_start_matches("http://");
    // The first connection makes the server grow to what it needs anyway.
    drop(TcpStream::connect(address).unwrap());
    let before = resident_kib(&server);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&[PREFACE, opening].concat()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a flood lasts for some real time")]
    let began = Instant::now();
    let (mut number, mut most) = (0, before);
    loop {
        let frames: Vec<u8> = (0..500).flat_map(|more| next(number + more)).collect();
        number += 500;
        if stream.write_all(&frames).is_err() {
            break;
        }
        most = most.max(resident_kib(&server));
        assert!(began.elapsed() < PATIENCE, "{name}: still open after {number} frames");
    }
    let grown = most.max(resident_kib(&server)) - before;
    assert!(grown < GROWTH_KIB, "{name}: {grown} KiB more after {number} frames");
}

/// The number of the next stream of a client: odd, and larger than those before.
fn stream_id(number: u32) -> u32 {
    2 * number + 1
}

// threats: G4
#[test]
fn a_flood_of_resets_is_cut() {
    let get = block(false);
    flood("rapid reset", &[], |number| {
        let id = stream_id(number);
        let flags = END_STREAM | END_HEADERS;
        [frame(1, flags, id, &get), frame(3, 0, id, &8_u32.to_be_bytes())].concat()
    });
}

// threats: G4
#[test]
fn a_head_without_an_end_is_cut() {
    let opening = frame(1, END_STREAM, 1, &block(false));
    // A field of 200 bytes that is never indexed: `x: yyy…`.
    let field = [&[0x10, 1, b'x', 0x7f, 73][..], &[b'y'; 200]].concat();
    flood("CONTINUATION", &opening, |_| frame(9, 0, 1, &field));
}

// threats: G4
#[test]
fn a_flood_of_empty_data_is_cut() {
    let opening = frame(1, END_HEADERS, 1, &block(true));
    flood("empty DATA", &opening, |_| frame(0, 0, 1, &[]));
}

// threats: G4
#[test]
fn a_flood_of_settings_is_cut() {
    flood("SETTINGS", &[], |_| frame(4, 0, 0, &[]));
}

// threats: G4
#[test]
fn a_flood_of_pings_is_cut() {
    flood("PING", &[], |_| frame(6, 0, 0, &[0; 8]));
}

// threats: G4
#[test]
fn a_flood_of_small_windows_and_priorities_is_cut() {
    flood("WINDOW_UPDATE", &[], |_| frame(8, 0, 0, &1_u32.to_be_bytes()));
    flood("PRIORITY", &[], |number| frame(2, 0, stream_id(number), &[0, 0, 0, 0, 1]));
}

// threats: G4
#[test]
fn a_head_that_unpacks_to_much_is_refused_and_costs_nothing() {
    // One field of 4,000 bytes goes into the table, and is named two thousand times by one byte.
    let field = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'y'; 4000]].concat();
    let bomb = [block(false), field, vec![0xbe; 2000]].concat();
    flood("HPACK bomb", &[], |number| frame(1, END_STREAM | END_HEADERS, stream_id(number), &bomb));
}
