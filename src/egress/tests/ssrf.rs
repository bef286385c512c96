//! No forbidden connection is ever attempted: every trial, and the oracle over what it did.

use std::collections::HashSet;

use crate::egress::address::is_forbidden;

use super::trials;
use super::world::{Answer, FINE, OTHER, PUBLIC, World, ip, moved};
use crate::egress::Health;

// threats: H1
#[tokio::test]
async fn no_forbidden_connection_is_ever_attempted() {
    let trials = trials::all();
    let distinct = trials.iter().map(|trial| trial.what.as_str()).collect::<HashSet<_>>().len();
    assert!(distinct >= 1_500, "only {distinct} trials");
    for trial in trials {
        let (health, world) = trial.world.check(&trial.url).await;
        assert_eq!(health, trial.expected, "{}", trial.what);
        for socket in world.dials.lock().unwrap().iter() {
            assert!(!is_forbidden(socket.ip()), "{}: {socket} was dialled", trial.what);
            assert_eq!(socket.ip(), ip(PUBLIC), "{}", trial.what);
            assert!([80, 443].contains(&socket.port()), "{}: {socket} was dialled", trial.what);
        }
        let dials = world.dials.lock().unwrap().len();
        assert!(dials <= 8, "{}: {dials} connections", trial.what);
    }
}

// threats: H2
#[tokio::test]
async fn a_name_is_looked_up_once_a_hop_and_an_address_never() {
    let (health, world) = World::answering(|request| {
        if request.contains("host: a.example") { moved("http://b.example/") } else { FINE.into() }
    })
    .check("http://a.example/")
    .await;
    assert_eq!(health, Health::Ok);
    assert_eq!(*world.lookups.lock().unwrap(), ["a.example", "b.example"]);

    let (health, world) = World::saying(FINE).check(&format!("http://{PUBLIC}/")).await;
    assert_eq!(health, Health::Ok);
    assert_eq!(world.dialled(), ["93.184.215.14:80"]);
    assert!(world.lookups.lock().unwrap().is_empty());
}

#[tokio::test]
async fn names_of_the_neighbourhood_are_not_even_looked_up() {
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
        let (health, world) = World::saying(FINE).check(&format!("http://{host}/")).await;
        assert_eq!(health, Health::Blocked, "{host}");
        assert!(world.lookups.lock().unwrap().is_empty(), "{host}");
        assert!(world.dialled().is_empty(), "{host}");
    }
}

// threats: H2
#[tokio::test]
async fn a_connection_that_leads_elsewhere_than_it_was_dialled_is_not_used() {
    for peer in ["127.0.0.1:80", "93.184.215.15:80", "93.184.215.14:8080"] {
        let mut world = World::saying(FINE);
        world.peer = Some(peer.parse().unwrap());
        let (health, world) = world.check("http://a.example/").await;
        assert_eq!(health, Health::Blocked, "{peer}");
        assert!(world.asked().is_empty(), "nothing is said to {peer}");
    }
}

// threats: H4
#[tokio::test]
async fn one_bad_address_among_many_refuses_the_host() {
    let mut addresses = vec![ip(PUBLIC); 300];
    addresses.extend([ip(OTHER), ip("169.254.169.254")]);
    let answer = Answer::Addresses(vec![addresses]);
    let (health, world) =
        World::saying(FINE).name("a.example", answer).check("http://a.example/").await;
    assert_eq!(health, Health::Blocked);
    assert!(world.dialled().is_empty());
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
        let (health, world) = World::saying(&moved(location)).check("http://a.example/").await;
        assert_eq!(health, Health::Blocked, "{location}");
        assert_eq!(world.dialled(), ["93.184.215.14:80"], "{location}");
    }
}
