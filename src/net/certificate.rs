//! Reads and checks a certificate and its key from two PEM files.
//!
//! Invariant: the certificate and the key of a [`Pair`] belong together, and were valid when read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, InconsistentKeys, RootCertStore};
use thiserror::Error;

use crate::config::Net;
use crate::file_version::{self, FileVersion};
use kurz_core::time::Timestamp;

/// A chain takes a few KiB; a larger file is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;

const CERT: &str = "KURZ_TLS_CERT";
const KEY: &str = "KURZ_TLS_KEY";

/// Why TLS cannot be served. Each text says what to do.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The file does not exist or cannot be read.
    #[error(
        "cannot read {} ({setting}): {source}; name a file that is there and that this user may read",
        .path.display()
    )]
    Unreadable {
        /// The setting that names the file.
        setting: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The file holds no readable certificate.
    #[error(
        "{} ({CERT}) is not a certificate: {reason}; it takes PEM with the server's own certificate \
         first, then those between it and its root",
        .path.display()
    )]
    NoCertificate { path: PathBuf, reason: String },
    /// The file holds no usable private key.
    #[error(
        "{} ({KEY}) is not a private key: {reason}; it takes PEM with one key, without a passphrase",
        .path.display()
    )]
    NoKey { path: PathBuf, reason: String },
    /// The key is not the certificate's.
    #[error(
        "the key in {} ({KEY}) is not that of the first certificate in {} ({CERT}): give the two that \
         were made together",
        .key.display(), .cert.display()
    )]
    Mismatch { cert: PathBuf, key: PathBuf },
    /// The certificate has expired or is not valid yet.
    #[error(
        "the certificate in {} ({CERT}) is valid from {from} to {to}, and it is {now} now: renew it, \
         or set the clock right",
        .path.display()
    )]
    OutOfTime {
        path: PathBuf,
        /// When it begins to be valid.
        from: Timestamp,
        to: Timestamp,
        /// The time that it was checked for.
        now: Timestamp,
    },
    #[error("TLS cannot be set up: {0}")]
    Library(#[from] rustls::Error),
}

/// A checked certificate chain with its key.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) not_after: Timestamp,
}

#[derive(Clone, Debug)]
pub(super) struct Files {
    cert: PathBuf,
    key: PathBuf,
}

impl Files {
    /// Those that the settings name; `None` without TLS.
    pub(super) fn of(net: &Net) -> Option<Self> {
        Some(Self { cert: net.tls_cert.clone()?, key: net.tls_key.clone()? })
    }

    /// The current versions of both files.
    pub(super) fn stamps(&self) -> [FileVersion; 2] {
        [&self.cert, &self.key].map(|path| file_version::of(path))
    }

    /// Read both files and check what a client would check, except names and issuer.
    pub(super) fn read(&self, provider: &CryptoProvider, now: Timestamp) -> Result<Pair, TlsError> {
        let no_certificate = |reason: &dyn ToString| TlsError::NoCertificate {
            path: self.cert.clone(),
            reason: reason.to_string(),
        };
        let text = read(&self.cert, CERT)?;
        let chain = CertificateDer::pem_slice_iter(&text)
            .collect::<Result<Vec<_>, pem::Error>>()
            .map_err(|error| no_certificate(&error))?;
        let leaf = chain.first().ok_or_else(|| no_certificate(&"there is none in it"))?;
        let (from, to) = validity(leaf, provider).map_err(|error| no_certificate(&error))?;
        if now < from || to < now {
            return Err(TlsError::OutOfTime { path: self.cert.clone(), from, to, now });
        }
        let key = self.read_key()?;
        let key = CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                TlsError::Mismatch { cert: self.cert.clone(), key: self.key.clone() }
            }
            error => TlsError::NoKey { path: self.key.clone(), reason: error.to_string() },
        })?;
        Ok(Pair { key: Arc::new(key), not_after: to })
    }

    fn read_key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        let text = read(&self.key, KEY)?;
        PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
            let locked = text.windows(9).any(|word| word == b"ENCRYPTED");
            let reason = match error {
                pem::Error::NoItemsFound if locked => "it is locked with a passphrase".to_owned(),
                pem::Error::NoItemsFound => "there is none in it".to_owned(),
                error => error.to_string(),
            };
            TlsError::NoKey { path: self.key.clone(), reason }
        })
    }
}

fn read(path: &Path, setting: &'static str) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text))
        .map_err(|source| TlsError::Unreadable { setting, path: path.to_owned(), source })?;
    Ok(text)
}

/// The validity period. rustls has no accessor for it, but its verifier checks the period first and
/// names the bound that is violated: so it is asked about the first and the last second.
fn validity(
    leaf: &CertificateDer<'_>,
    provider: &CryptoProvider,
) -> Result<(Timestamp, Timestamp), rustls::Error> {
    let leaf = ParsedCertificate::try_from(leaf)?;
    let roots = RootCertStore::empty();
    let algorithms = provider.signature_verification_algorithms.all;
    let ask = |seconds| {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        verify_server_cert_signed_by_trust_anchor(&leaf, &roots, &[], at, algorithms)
    };
    let at = |time: UnixTime| Timestamp::from_ms(0).plus(Duration::from_secs(time.as_secs()));
    let from = match ask(0) {
        Err(rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before,
            ..
        })) => at(not_before),
        _ => Timestamp::from_ms(0),
    };
    match ask(u64::MAX) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
            not_after,
            ..
        })) => Ok((from, at(not_after))),
        Err(error) => Err(error),
        Ok(()) => Err(CertificateError::BadEncoding.into()),
    }
}
