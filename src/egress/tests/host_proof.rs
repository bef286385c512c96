//! The token of a host's owner as a file: who proves, and what proves nothing.

use std::sync::Arc;

use super::fake_network::{Answer, FakeNetwork, PUBLIC, ip, moved};
use crate::egress::host_proof::{HostChallenge, HostProof, HostProver};

/// A port of this machine that nothing listens on: the DNS has no answer here.
const NO_RESOLVER: &str = "127.0.0.1:1";

async fn prove(network: FakeNetwork) -> (Result<HostProof, String>, Arc<FakeNetwork>) {
    let network = Arc::new(network);
    let prover = HostProver::new(network.checker(), Some(NO_RESOLVER.parse().unwrap()));
    let proof = prover.prove(&HostChallenge::new("go.acme.example", "token")).await;
    (proof, network)
}

fn page(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn the_text_at_the_well_known_address_proves_a_host() {
    for body in ["kurz-host=token", "kurz-host=token\n", " kurz-host=token \r\n"] {
        let (proof, network) = prove(FakeNetwork::saying(&page("200 OK", body))).await;
        assert_eq!(proof, Ok(HostProof::Http), "{body:?}");
        assert_eq!(network.requested(), ["GET go.acme.example /.well-known/kurz-host"]);
    }
    let close = "HTTP/1.1 200 OK\r\n\r\nkurz-host=token";
    assert_eq!(prove(FakeNetwork::saying(close)).await.0, Ok(HostProof::Http));
}

#[tokio::test]
async fn other_texts_statuses_and_long_pages_prove_nothing() {
    let long = format!("kurz-host=token{}", " ".repeat(5000));
    for (answer, said) in [
        (page("200 OK", "kurz-host=other"), "has another text"),
        (page("200 OK", "kurz-host=token kurz-host=other"), "has another text"),
        (page("200 OK", ""), "has another text"),
        (page("404 Not Found", "kurz-host=token"), "does not answer with 200"),
        (page("203 Fine", "kurz-host=token"), "does not answer with 200"),
        (page("200 OK", &long), "does not answer with 200"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nkurz-host=token".into(), "with 200"),
        ("nonsense".to_owned(), "does not answer with 200"),
    ] {
        let (proof, _) = prove(FakeNetwork::saying(&answer)).await;
        let found = proof.unwrap_err();
        assert!(found.contains(said), "{answer:?}: {found}");
        assert!(found.starts_with("the DNS server did not answer, and "), "{found}");
    }
}

#[tokio::test]
async fn a_redirect_leads_to_https_at_the_same_address_and_nowhere_else() {
    for location in [
        "https://evil.example/.well-known/kurz-host",
        "http://go.acme.example/.well-known/kurz-host",
        "https://go.acme.example/elsewhere",
        "https://go.acme.example:444/.well-known/kurz-host",
    ] {
        let (proof, network) = prove(FakeNetwork::saying(&moved(location))).await;
        assert!(proof.unwrap_err().contains("leads to another place"), "{location}");
        assert_eq!(network.requested().len(), 1, "{location}");
    }
    // To the same place over TLS, which the fake server does not speak: it is asked there.
    let (proof, network) =
        prove(FakeNetwork::saying(&moved("https://go.acme.example/.well-known/kurz-host"))).await;
    assert!(proof.unwrap_err().contains("does not answer with 200"));
    assert_eq!(network.connected(), [format!("{PUBLIC}:80"), format!("{PUBLIC}:443")]);
}

// threats: H1
#[tokio::test]
async fn a_host_that_leads_into_the_own_network_is_not_contacted() {
    for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"] {
        let network = FakeNetwork::saying(&page("200 OK", "kurz-host=token"));
        let network =
            network.name("go.acme.example", Answer::Addresses(vec![vec![ip(address), ip(PUBLIC)]]));
        let (proof, network) = prove(network).await;
        assert!(proof.unwrap_err().contains("not public"), "{address}");
        assert!(network.connected().is_empty(), "{address}");
    }
}
