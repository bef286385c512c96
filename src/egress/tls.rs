//! Who is believed to be the host that a URL names: the roots that browsers trust, compiled in, so
//! that a verdict does not depend on the machine. Not the platform's verifier: on some platforms it
//! fetches what a certificate names, which would be a second way out.
//!
//! Invariant: one visit leaves nothing behind that the next one could be known by.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::destination::{Destination, HostKind};

/// The roots of Mozilla's program.
pub(super) fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// A client that believes `roots`.
pub(super) fn connector(roots: RootCertStore) -> TlsConnector {
    // Named here, not installed for the process: a check works whoever starts it.
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

/// Whom the certificate must name; `None` for a name that no certificate can hold.
pub(super) fn server_name(destination: &Destination) -> Option<ServerName<'static>> {
    match destination.host() {
        HostKind::Name(name) => ServerName::try_from(name.clone()).ok(),
        HostKind::Address(address) => Some(ServerName::from(*address)),
    }
}
