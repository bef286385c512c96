//! A Redis database of its own for each test, empty, on the server of `TEST_REDIS_URL`. It is no
//! client: it speaks just enough to take a number. Keys are apart; channels are not, Redis has one set
//! of them for all its databases.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use url::Url;

/// The `redis://` address of an empty database that no other test is given.
pub fn database() -> Url {
    let mut url = crate::server_url("TEST_REDIS_URL");
    // The server itself counts, in database 0, so that test binaries that share it do not collide.
    let number = ask(&url, &["incr kurz:databases"]);
    let number = number.strip_prefix(':').expect("INCR answers with an integer");
    url.set_path(number);
    url
}

/// Send `commands` to the database of `url`; the answer to the last one, as one line of the protocol.
fn ask(url: &Url, commands: &[&str]) -> String {
    let address = (url.host_str().expect("a host"), url.port().expect("a port"));
    let mut stream = TcpStream::connect(address).expect("the server of TEST_REDIS_URL answers");
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let auth = format!("auth {} {}", url.username(), url.password().unwrap_or_default());
    let select = format!("select {}", url.path().trim_start_matches('/'));
    let select = if url.path().len() > 1 { select } else { "select 0".to_owned() };
    let mut answer = String::new();
    for command in [auth.as_str(), select.as_str()].iter().chain(commands) {
        stream.write_all(format!("{command}\r\n").as_bytes()).unwrap();
        answer = lines.next().expect("an answer to each command").unwrap();
        assert!(!answer.starts_with('-'), "Redis refuses `{command}`: {answer}");
    }
    answer
}

#[test]
fn every_test_gets_an_empty_redis_of_its_own() {
    let (one, two) = (database(), database());
    assert_ne!(one, two);
    assert_eq!(ask(&one, &["set key value", "dbsize"]), ":1");
    assert_eq!(ask(&two, &["dbsize"]), ":0");
}
