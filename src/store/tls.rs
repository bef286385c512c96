//! TLS of connections to PostgreSQL. `prefer` and `require` encrypt and check nothing, as libpq does; only
//! `verify` also authenticates the server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::StoreTls;
use crate::store::Error;

/// Tell `config` whether to encrypt, and make what does it. An address that asks for more than the
/// setting does gets it.
pub(super) fn protect(
    config: &mut Config,
    tls: StoreTls,
    authorities: Option<&Path>,
) -> Result<MakeRustlsConnect, Error> {
    match tls {
        StoreTls::Off => config.ssl_mode(SslMode::Disable),
        StoreTls::Prefer => config,
        StoreTls::Require | StoreTls::Verify => config.ssl_mode(SslMode::Require),
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of TLS 1.2 and 1.3");
    let client = if tls == StoreTls::Verify {
        builder.with_root_certificates(roots(authorities)?).with_no_client_auth()
    } else {
        let anybody = Arc::new(AcceptAnyCertificate(provider));
        builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth()
    };
    Ok(MakeRustlsConnect::new(client))
}

/// Those of the file, or the public ones.
fn roots(authorities: Option<&Path>) -> Result<RootCertStore, Error> {
    let Some(path) = authorities else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let refused = |why: &dyn std::fmt::Display| {
        Error::Open(format!(
            "the certificate authorities in {} (KURZ_TLS_CA) cannot be read: {why}",
            path.display()
        ))
    };
    let pem = fs::read(path).map_err(|error| refused(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| refused(&error))?;
        roots.add(certificate).map_err(|error| refused(&error))?;
    }
    if roots.is_empty() {
        return Err(refused(&"it holds no certificate"));
    }
    Ok(roots)
}

/// Accepts every certificate, and does not even read it: a check of the signature would refuse a certificate
/// that it cannot parse, such as one of version 1, and prove nothing about a server that is not known.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
