//! TLS: the handshake in front of HTTP, and a certificate that is exchanged while it is in use. Not
//! the reading of certificates. Invariant: a client sees a pair that was whole and valid when it was
//! read; a new pair that is neither leaves the old one where it is.

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
use super::file_version::FileVersion;
use crate::clock::Clock;
use crate::config::Net;
use kurz_core::time::Timestamp;

/// How often the files are looked at. They are read once two looks in a row found the same, so that
/// of two files that are replaced one after the other the pair is read, not a half of each.
const LOOK: Duration = Duration::from_secs(1);

/// The pair that the next handshake shows.
#[derive(Debug)]
struct ServedCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// TLS as the settings want it, and the eye that is kept on its files.
#[derive(Debug)]
pub struct TlsReloader {
    files: Files,
    provider: Arc<CryptoProvider>,
    shown: Arc<ServedCertificate>,
    config: Arc<ServerConfig>,
    /// What the last look saw, and what the last reading read.
    seen: [FileVersion; 2],
    judged: [FileVersion; 2],
}

impl TlsReloader {
    /// What the settings ask for; `None` when that is plain HTTP.
    pub fn open(net: &Net, now: Timestamp) -> Result<Option<Self>, TlsError> {
        let Some(files) = Files::of(net)? else { return Ok(None) };
        // Named here, not installed for the process: it works whoever starts it.
        let provider = Arc::new(aws_lc_rs::default_provider());
        // Before they are read: whatever changes from now on differs from this.
        let judged = files.stamps();
        let pair = files.read(&provider, now)?;
        note_end(&pair);
        let shown = Arc::new(ServedCertificate(ArcSwap::new(pair.key)));
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(shown.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Who comes back is known by what he brings: nothing is kept here for each client.
        config.ticketer = aws_lc_rs::Ticketer::new()?;
        let config = Arc::new(config);
        Ok(Some(Self { files, provider, shown, config, seen: judged, judged }))
    }

    /// What handshakes are made with.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Hear SIGHUP, which would end the program otherwise.
    pub fn hangup() -> io::Result<Signal> {
        signal(SignalKind::hangup())
    }

    /// Take up each new pair, until `stop`: when its files have changed, or at once at a SIGHUP.
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
            // Disks hang, and with them whoever else is on the same thread.
            let looked = tokio::task::spawn_blocking(move || {
                self.look(asked, now);
                self
            });
            let Ok(back) = looked.await else { return };
            self = back;
        }
    }

    /// Read the files if they changed and rest since the last look, or if somebody `asked`.
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

/// For whoever watches over the end of certificates: seconds since 1970.
fn note_end(pair: &Pair) {
    let seconds = u32::try_from(pair.not_after.as_ms() / 1000).unwrap_or(u32::MAX);
    metrics::gauge!("kurz_tls_certificate_end_seconds").set(f64::from(seconds));
}

/// Shake hands over `stream`; `None` when that fails, or when the timeouts has another order for the
/// connection meanwhile: the time for a handshake is part of the time for the first head.
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
        metrics::counter!("kurz_tls_handshakes_failed_total").increment(1);
    }
    shaken
}
