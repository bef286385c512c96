//! No address of a visitor is in the memory of the process two seconds after the click, nor in anything that it
//! writes or gives out: all its bytes are searched.

use std::fs::File;
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::process::Process;
use kurz_test_support::{TestServer, links};
use serde_json::json;
use tokio::task::block_in_place;

/// Marked addresses: of peers on the loopback network, and of clients of a trusted proxy.
const PROXIED: Ipv4Addr = Ipv4Addr::new(198, 51, 217, 143);
const PROXIED_V6: Ipv6Addr =
    Ipv6Addr::new(0x2001, 0xdb8, 0x71c3, 0x5e78, 0x9abc, 0xd3f0, 0x1f2e, 0x3d4c);
const CLICKS: u64 = 20;

/// The forms in which an address could stand somewhere.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let backwards = |bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<u8>>();
    let (v4, v6) = (PROXIED.octets(), PROXIED_V6.octets());
    vec![
        ("the text of the IPv4 address", PROXIED.to_string().into_bytes()),
        ("the text of the IPv6 address", PROXIED_V6.to_string().into_bytes()),
        ("the IPv4 address", v4.to_vec()),
        ("the IPv4 address backwards", backwards(&v4)),
        ("the IPv6 address", v6.to_vec()),
        ("the IPv6 address backwards", backwards(&v6)),
        ("the network of the IPv6 address", v6[..8].to_vec()),
        ("the network backwards", backwards(&v6[..8])),
    ]
}

/// Whether some bytes stand in others, of which there are very many.
fn has(mut bytes: &[u8], form: &[u8]) -> bool {
    let (first, rest) = form.split_first().unwrap();
    while bytes.skip_until(*first).unwrap() > 0 {
        if bytes.starts_with(rest) {
            return true;
        }
    }
    false
}

/// The forms that stand in some bytes.
fn found(bytes: &[u8], place: &str) -> Vec<String> {
    let forms = forms().into_iter().filter(|(_, form)| has(bytes, form));
    forms.map(|(name, _)| format!("{name} in {place}")).collect()
}

/// Everything that a process can write to, as a core would hold it.
fn memory(process: &Process) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new("/proc").join(process.pid().to_string());
    let maps = std::fs::read_to_string(folder.join("maps")).unwrap();
    let mut memory = File::open(folder.join("mem")).unwrap();
    let mut parts = Vec::new();
    for line in maps.lines().filter(|line| line.split(' ').nth(1).unwrap().starts_with("rw")) {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(end - start).unwrap()];
        memory.seek(SeekFrom::Start(start)).unwrap();
        // Some mappings of the kernel cannot be read.
        if memory.read_exact(&mut bytes).is_ok() {
            parts.push((line.to_owned(), bytes));
        }
    }
    parts
}

fn click(address: SocketAddr, path: &str, client: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {client}\r\n\
         User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 302 "), "{answer}");
}

// threats: H10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_address_is_in_the_memory_of_the_process_two_seconds_after_its_click() {
    let settings = [("KURZ_TRUSTED_PROXIES", "127.0.0.1"), ("KURZ_LOG", "debug")];
    let process = block_in_place(|| TestServer::builder().settings(&settings).process().start());
    let http = process.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let path = links::short_path(&links::make(&http, "team", &body).await);
    block_in_place(|| {
        for _ in 0..CLICKS / 2 {
            click(process.address(), &path, &PROXIED.to_string());
            click(process.address(), &path, &PROXIED_V6.to_string());
        }
    });
    // Other visitors come as well, to this link and to one that is not in memory: what is left of the last one on a
    // stack and in buffers is theirs.
    let watch = Stopwatch::start();
    let store = kurz_test_support::events::open_store(process.home()).await;
    let mut number = 0;
    while watch.elapsed() < Duration::from_secs(2)
        || StoredEvents::read(&store).await.total() < CLICKS
    {
        assert!(watch.elapsed() < Duration::from_mins(1), "clicks are not written");
        number += 1;
        let url = format!("https://example.com/{number}");
        let other = links::make(&http, "team", &json!({ "original_url": url })).await;
        block_in_place(|| {
            for path in [&links::short_path(&other), &path] {
                click(process.address(), path, "203.0.113.9");
                click(process.address(), path, "2001:db8::9");
            }
        });
    }
    drop(store);
    let parts = block_in_place(|| memory(&process));
    let is_known = parts.iter().any(|(_, bytes)| has(bytes, b"https://example.com/"));
    assert!(is_known, "the search finds what is there");
    let mut faults: Vec<String> =
        parts.iter().flat_map(|(place, bytes)| found(bytes, place)).collect();
    for file in ["kurz.db", "kurz.db-wal"] {
        let bytes = std::fs::read(process.home().folder().join(file)).unwrap_or_default();
        faults.extend(found(&bytes, file));
    }
    for part in ["", "/events?format=csv", "/events?format=ndjson", "/events", "/export"] {
        let answer = http.get(&format!("/api/v1/workspaces/team/analytics{part}")).await;
        faults.extend(found(answer.expect(200).text().as_bytes(), part));
    }
    let (_, log) = block_in_place(|| process.terminate());
    faults.extend(found(log.as_bytes(), "the log"));
    assert_eq!(faults, [""; 0]);
}
