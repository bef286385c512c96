//! Checks over TLS, with generated certificates.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::fake_network::{FINE, FakeNetwork, moved};
use crate::egress::check::{Checker, Health};

/// The server names (SNI) that clients sent; `None` where a client sent none.
type ServerNames = Arc<Mutex<Vec<Option<String>>>>;

/// A network in which [`super::fake_network::PUBLIC`] serves TLS as `name`, and its certificate.
fn tls_network(
    name: &str,
    answer: String,
) -> (Arc<FakeNetwork>, CertificateDer<'static>, ServerNames) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let names = ServerNames::default();
    let received = Arc::clone(&names);
    let network = FakeNetwork::serving(move |network, stream| {
        let (acceptor, answer, received) =
            (acceptor.clone(), answer.clone(), Arc::clone(&received));
        Box::pin(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            received.lock().unwrap().push(stream.get_ref().1.server_name().map(ToOwned::to_owned));
            network.receive(&mut stream).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        })
    });
    (Arc::new(network), cert.der().clone(), names)
}

fn trusting(
    network: &Arc<FakeNetwork>,
    certificate: CertificateDer<'static>,
) -> Checker<Arc<FakeNetwork>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    Checker::with_roots(Arc::clone(network), NonZeroUsize::MIN, roots)
}

#[tokio::test(start_paused = true)]
async fn the_server_name_is_the_urls_host() {
    let (network, certificate, names) = tls_network("a.example", FINE.to_owned());
    let checker = trusting(&network, certificate);
    assert_eq!(checker.check("https://a.example./p").await, Health::Ok);
    assert_eq!(*names.lock().unwrap(), [Some("a.example".to_owned())]);
    assert_eq!(network.requested(), ["HEAD a.example. /p"]);
    assert_eq!(network.connected(), ["93.184.215.14:443"]);
}

#[tokio::test(start_paused = true)]
async fn an_address_sends_no_server_name_and_must_be_in_the_certificate() {
    let (network, certificate, names) = tls_network("93.184.215.14", FINE.to_owned());
    let checker = trusting(&network, certificate);
    assert_eq!(checker.check("https://93.184.215.14/").await, Health::Ok);
    assert_eq!(*names.lock().unwrap(), [None]);
}

#[tokio::test(start_paused = true)]
async fn a_host_without_a_valid_certificate_is_broken_and_gets_no_request() {
    let (network, certificate, _) = tls_network("other.example", FINE.to_owned());
    let wrong_name = trusting(&network, certificate).check("https://a.example/").await;
    assert_eq!(wrong_name, Health::Broken);
    let (self_signed, _, _) = tls_network("a.example", FINE.to_owned());
    assert_eq!(self_signed.checker().check("https://a.example/").await, Health::Broken);
    assert!(network.requested().is_empty() && self_signed.requested().is_empty());
    let (without_tls, _) = FakeNetwork::saying(FINE).check("https://a.example/").await;
    assert_eq!(without_tls, Health::Broken);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_over_tls_is_checked_like_any_other() {
    for (location, expected) in [
        ("http://169.254.169.254/", Health::Blocked),
        ("https://[::1]/", Health::Blocked),
        ("https://a.example:8443/", Health::Blocked),
        ("https://a.example/", Health::Broken),
    ] {
        let (network, certificate, _) = tls_network("a.example", moved(location));
        assert_eq!(trusting(&network, certificate).check("https://a.example/").await, expected);
        assert!(
            network.connected().iter().all(|socket| socket == "93.184.215.14:443"),
            "{location}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_handshake_is_cut_off() {
    let network = FakeNetwork::serving(|_, mut stream| {
        Box::pin(async move {
            // A handshake record of 16 KiB, again and again.
            let mut record = vec![0x16, 3, 3, 0x40, 0];
            record.resize(5 + 0x4000, 0);
            while stream.write_all(&record).await.is_ok() {}
        })
    });
    let (health, _) = network.check("https://a.example/").await;
    assert_eq!(health, Health::Broken);
}
