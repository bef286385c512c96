//! TLS: handshakes, and reloading of the certificate while the server runs.
//!
//! Invariant: clients get a pair that was valid when it was read; a new pair that is not valid leaves
//! the old one in use.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::net::TcpStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use super::certificate::{Files, Pair, TlsError};
use super::connection_state::{CloseOrder, ConnectionState};
use crate::clock::Clock;
use crate::config::Net;
use crate::file_version::FileVersion;
use kurz_core::time::Timestamp;

/// How often the files are checked. They are read once two checks in a row saw the same versions, so
/// that a certificate and a key that are replaced one after the other are read together.
const LOOK: Duration = Duration::from_secs(1);

/// The certificate that the next handshake uses.
#[derive(Debug)]
struct ServedCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// The TLS configuration, and the reloader of its files.
#[derive(Debug)]
pub struct TlsReloader {
    files: Files,
    provider: Arc<CryptoProvider>,
    shown: Arc<ServedCertificate>,
    config: Arc<ServerConfig>,
    /// The versions at the last check, and those that were last read.
    seen: [FileVersion; 2],
    judged: [FileVersion; 2],
}

impl TlsReloader {
    /// Read the files that the settings name; `None` without TLS.
    pub fn open(net: &Net, now: Timestamp) -> Result<Option<Self>, TlsError> {
        let Some(files) = Files::of(net) else { return Ok(None) };
        // Passed explicitly, so that no process-wide default is needed.
        let provider = Arc::new(aws_lc_rs::default_provider());
        // Taken before reading, so that a change from now on is seen.
        let judged = files.stamps();
        let pair = files.read(&provider, now)?;
        note_end(&pair);
        let shown = Arc::new(ServedCertificate(ArcSwap::new(pair.key)));
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(shown.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Session tickets; no server-side resumption cache.
        config.ticketer = aws_lc_rs::Ticketer::new()?;
        let config = Arc::new(config);
        Ok(Some(Self { files, provider, shown, config, seen: judged, judged }))
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Handle SIGHUP, whose default action ends the process.
    pub fn hangup() -> io::Result<Signal> {
        signal(SignalKind::hangup())
    }

    /// Reload the pair when its files change, or immediately at SIGHUP, until `stop`.
    pub async fn follow(mut self, mut hangup: Signal, clock: Clock, stop: CancellationToken) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let asked = tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => false,
                heard = hangup.recv() => heard.is_some(),
            };
            let now = clock.now();
            // A file system may block.
            let looked = tokio::task::spawn_blocking(move || {
                self.look(asked, now);
                self
            });
            let Ok(back) = looked.await else { return };
            self = back;
        }
    }

    /// Read the files if they changed and then stayed the same for one check, or if `asked`.
    pub(super) fn look(&mut self, asked: bool, now: Timestamp) {
        let stamps = self.files.stamps();
        let rest = stamps == self.seen;
        self.seen = stamps;
        if !asked && (!rest || stamps == self.judged) {
            return;
        }
        self.judged = stamps;
        let outcome = match self.files.read(&self.provider, now) {
            Ok(pair) => {
                note_end(&pair);
                let until = pair.not_after;
                self.shown.0.store(pair.key);
                tracing::info!(%until, "new connections get the new certificate");
                "taken"
            }
            Err(error) => {
                let advice = "the new certificate is not used and the old one stays; put a good \
                              pair in place, and it is taken up by itself";
                tracing::error!(%error, "{advice}");
                "refused"
            }
        };
        metrics::counter!("kurz_tls_reloads_total", "outcome" => outcome).increment(1);
    }
}

/// The end of validity as a metric, for alerts on expiry: seconds since 1970.
fn note_end(pair: &Pair) {
    let seconds = u32::try_from(pair.not_after.as_ms() / 1000).unwrap_or(u32::MAX);
    metrics::gauge!("kurz_tls_certificate_expiry_timestamp_seconds").set(f64::from(seconds));
}

/// The TLS handshake; `None` when it fails, or when `timeouts` orders the connection closed: the
/// handshake counts towards the timeout of the first head.
pub(super) async fn handshake(
    config: Arc<ServerConfig>,
    stream: TcpStream,
    state: &ConnectionState,
) -> Option<TlsStream<TcpStream>> {
    let mut accept = pin!(TlsAcceptor::from(config).accept(stream));
    let mut heeded = false;
    let shaken = poll_fn(|cx| {
        if !heeded {
            heeded = true;
            state.heed(cx.waker());
        }
        if state.order() != CloseOrder::Serve {
            return Poll::Ready(None);
        }
        accept.as_mut().poll(cx).map(Result::ok)
    })
    .await;
    if shaken.is_none() {
        metrics::counter!("kurz_tls_handshake_errors_total").increment(1);
    }
    shaken
}
