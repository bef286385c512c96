//! TLS for checks, with Mozilla's root certificates compiled in, so that a result does not depend on the
//! machine. Not the platform's verifier: on some platforms it fetches URLs from certificates, which would
//! be requests outside of this module's control.
//!
//! Invariant: sessions are not resumed, so that a server cannot link one check to another.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::destination::{Destination, HostKind};

pub(super) fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

pub(super) fn connector(roots: RootCertStore) -> TlsConnector {
    // Passed here, so that it does not depend on a default provider of the process.
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

/// The name that the certificate must have; `None` for a name that no certificate can have.
pub(super) fn server_name(destination: &Destination) -> Option<ServerName<'static>> {
    match destination.host() {
        HostKind::Name(name) => ServerName::try_from(name.clone()).ok(),
        HostKind::Address(address) => Some(ServerName::from(*address)),
    }
}
