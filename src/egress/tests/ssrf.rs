//! No forbidden connection is ever attempted: runs all cases and checks the recorded connections.

use std::collections::HashSet;

use crate::egress::address::is_forbidden;

use super::fake_network::{Answer, FINE, FakeNetwork, OTHER, PUBLIC, ip, moved};
use super::ssrf_cases;
use crate::egress::check::Health;

// threats: H1
#[tokio::test]
async fn no_forbidden_connection_is_ever_attempted() {
    let cases = ssrf_cases::all();
    let distinct = cases.iter().map(|case| case.what.as_str()).collect::<HashSet<_>>().len();
    assert!(distinct >= 1_500, "only {distinct} cases");
    for case in cases {
        let (health, network) = case.network.check(&case.url).await;
        assert_eq!(health, case.expected, "{}", case.what);
        for socket in network.connections.lock().unwrap().iter() {
            assert!(!is_forbidden(socket.ip()), "{}: {socket} was connected to", case.what);
            assert_eq!(socket.ip(), ip(PUBLIC), "{}", case.what);
            assert!([80, 443].contains(&socket.port()), "{}: {socket} was connected to", case.what);
        }
        let count = network.connections.lock().unwrap().len();
        assert!(count <= 8, "{}: {count} connections", case.what);
    }
}

// threats: H2
#[tokio::test]
async fn a_name_is_looked_up_once_a_hop_and_an_address_never() {
    let (health, network) = FakeNetwork::answering(|request| {
        if request.contains("host: a.example") { moved("http://b.example/") } else { FINE.into() }
    })
    .check("http://a.example/")
    .await;
    assert_eq!(health, Health::Ok);
    assert_eq!(*network.lookups.lock().unwrap(), ["a.example", "b.example"]);

    let (health, network) = FakeNetwork::saying(FINE).check(&format!("http://{PUBLIC}/")).await;
    assert_eq!(health, Health::Ok);
    assert_eq!(network.connected(), ["93.184.215.14:80"]);
    assert!(network.lookups.lock().unwrap().is_empty());
}

#[tokio::test]
async fn non_public_names_are_not_looked_up() {
    for host in [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "metadata",
        "metadata.google.internal",
        "printer.local",
        "router.home.arpa",
        "intranet",
        "a.onion",
    ] {
        let (health, network) = FakeNetwork::saying(FINE).check(&format!("http://{host}/")).await;
        assert_eq!(health, Health::Blocked, "{host}");
        assert!(network.lookups.lock().unwrap().is_empty(), "{host}");
        assert!(network.connected().is_empty(), "{host}");
    }
}

// threats: H2
#[tokio::test]
async fn a_connection_that_leads_elsewhere_than_it_was_dialled_is_not_used() {
    for peer in ["127.0.0.1:80", "93.184.215.15:80", "93.184.215.14:8080"] {
        let mut network = FakeNetwork::saying(FINE);
        network.peer = Some(peer.parse().unwrap());
        let (health, network) = network.check("http://a.example/").await;
        assert_eq!(health, Health::Blocked, "{peer}");
        assert!(network.requested().is_empty(), "nothing is said to {peer}");
    }
}

// threats: H4
#[tokio::test]
async fn one_bad_address_among_many_refuses_the_host() {
    let mut addresses = vec![ip(PUBLIC); 300];
    addresses.extend([ip(OTHER), ip("169.254.169.254")]);
    let answer = Answer::Addresses(vec![addresses]);
    let (health, network) =
        FakeNetwork::saying(FINE).name("a.example", answer).check("http://a.example/").await;
    assert_eq!(health, Health::Blocked);
    assert!(network.connected().is_empty());
}

// threats: H3, H5
#[tokio::test]
async fn a_redirect_to_any_other_scheme_or_port_is_not_followed() {
    for location in [
        "ftp://b.example/",
        "file:///etc/passwd",
        "gopher://b.example:80/_GET",
        "ws://b.example/",
        "data:text/html,x",
        "javascript:alert(1)",
        "http://b.example:6379/",
        "//b.example:8443/",
        "https://user:word@b.example/",
        "dict://b.example:80/",
    ] {
        let (health, network) =
            FakeNetwork::saying(&moved(location)).check("http://a.example/").await;
        assert_eq!(health, Health::Blocked, "{location}");
        assert_eq!(network.connected(), ["93.184.215.14:80"], "{location}");
    }
}
