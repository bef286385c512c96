//! Many connections at once: those that dawdle are closed, and the others do not notice. What it does
//! to waiting times is measured by `benches/crowd`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::TestServer;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

const CROWD: usize = 1_000;

#[tokio::test]
async fn a_crowd_that_dawdles_is_closed_while_others_are_served() {
    let settings = [("KURZ_HEADER_TIMEOUT", "3s"), ("KURZ_LIMITS", "off"), ("KURZ_HIT_LIMIT", "0")];
    let program = TestServer::builder().default_timeouts().process();
    let program = settings.iter().fold(program, |program, (name, text)| program.env(name, text));
    let server = program.start();
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "crowd" });
    http.post("/api/v1/links", &body).await.expect(201);

    let address = server.base_url().trim_start_matches("http://").to_owned();
    let mut crowd: Vec<TcpStream> =
        (0..CROWD).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for byte in b"GET /crowd HTTP/1.1\r\nX:" {
        for stream in &mut crowd {
            // It may have had its time already.
            let _ = stream.write_all(&[*byte]);
        }
        http.get("/crowd").await.expect(302);
    }
    for mut stream in crowd {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => assert!(answer.starts_with(b"HTTP/1.1 408"), "{answer:?}"),
            // A reset is an end as well; only one that is still open is not.
            Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        http.get("/crowd").await.expect(302);
    }
}

#[test]
fn the_program_takes_all_descriptors_that_it_may_have() {
    let before = getrlimit(Resource::Nofile);
    let mut less = before;
    less.current = before.current.map(|most| most - 1);
    setrlimit(Resource::Nofile, less).unwrap();
    let server = TestServer::builder().default_timeouts().process().start();
    setrlimit(Resource::Nofile, before).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let mut words = line.split_whitespace().skip(3);
    let (soft, hard) = (words.next().unwrap(), words.next().unwrap());
    assert_eq!(soft, hard, "{line}");
}
