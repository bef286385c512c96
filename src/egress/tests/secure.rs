//! Checks over TLS, with certificates made for the occasion.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::world::{FINE, World, moved};
use crate::egress::{Checker, Health};

/// The names that a server was called by; none where it was called by its address.
type Called = Arc<Mutex<Vec<Option<String>>>>;

/// A world in which [`super::world::PUBLIC`] speaks TLS as `name`, and its certificate.
fn secure_world(name: &str, answer: String) -> (Arc<World>, CertificateDer<'static>, Called) {
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
    let called = Called::default();
    let calls = Arc::clone(&called);
    let world = World::serving(move |world, stream| {
        let (acceptor, answer, calls) = (acceptor.clone(), answer.clone(), Arc::clone(&calls));
        Box::pin(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            calls.lock().unwrap().push(stream.get_ref().1.server_name().map(ToOwned::to_owned));
            world.receive(&mut stream).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        })
    });
    (Arc::new(world), cert.der().clone(), called)
}

fn believing(world: &Arc<World>, certificate: CertificateDer<'static>) -> Checker<Arc<World>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    Checker::with_roots(Arc::clone(world), NonZeroUsize::MIN, roots)
}

#[tokio::test(start_paused = true)]
async fn a_trusted_host_is_asked_by_the_name_of_the_url() {
    let (world, certificate, called) = secure_world("a.example", FINE.to_owned());
    let checker = believing(&world, certificate);
    assert_eq!(checker.check("https://a.example./p").await, Health::Ok);
    assert_eq!(*called.lock().unwrap(), [Some("a.example".to_owned())]);
    assert_eq!(world.asked(), ["HEAD a.example. /p"]);
    assert_eq!(world.dialled(), ["93.184.215.14:443"]);
}

#[tokio::test(start_paused = true)]
async fn an_address_is_asked_without_a_name_and_must_be_in_the_certificate() {
    let (world, certificate, called) = secure_world("93.184.215.14", FINE.to_owned());
    let checker = believing(&world, certificate);
    assert_eq!(checker.check("https://93.184.215.14/").await, Health::Ok);
    assert_eq!(*called.lock().unwrap(), [None]);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_show_who_it_is_is_broken_and_told_nothing() {
    let (world, certificate, _) = secure_world("other.example", FINE.to_owned());
    let wrong_name = believing(&world, certificate).check("https://a.example/").await;
    assert_eq!(wrong_name, Health::Broken);
    let (self_signed, _, _) = secure_world("a.example", FINE.to_owned());
    assert_eq!(self_signed.checker().check("https://a.example/").await, Health::Broken);
    assert!(world.asked().is_empty() && self_signed.asked().is_empty());
    let (without_tls, _) = World::saying(FINE).check("https://a.example/").await;
    assert_eq!(without_tls, Health::Broken);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_inside_of_tls_is_vetted_like_any_other() {
    for (location, expected) in [
        ("http://169.254.169.254/", Health::Blocked),
        ("https://[::1]/", Health::Blocked),
        ("https://a.example:8443/", Health::Blocked),
        ("https://a.example/", Health::Broken),
    ] {
        let (world, certificate, _) = secure_world("a.example", moved(location));
        assert_eq!(believing(&world, certificate).check("https://a.example/").await, expected);
        assert!(world.dialled().iter().all(|socket| socket == "93.184.215.14:443"), "{location}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_handshake_is_cut_off() {
    let world = World::serving(|_, mut stream| {
        Box::pin(async move {
            // A handshake record of 16 KiB, again and again.
            let mut record = vec![0x16, 3, 3, 0x40, 0];
            record.resize(5 + 0x4000, 0);
            while stream.write_all(&record).await.is_ok() {}
        })
    });
    let (health, _) = world.check("https://a.example/").await;
    assert_eq!(health, Health::Broken);
}
