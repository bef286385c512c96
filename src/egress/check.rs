//! Whether a target still responds. Each hop is resolved once, its addresses are checked, and the
//! connection goes to a checked address; redirects are followed here, not by an HTTP client. The result
//! is one word and the HTTP status of the last response: no timing or text of the server reaches the user
//! who named it.
//!
//! Invariant: each hop is checked anew, from its URL to its address, and a hop that fails is not
//! contacted. A check ends after three redirects or five seconds, whatever the server does.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::address::AllowedAddress;
use super::concurrency::{ConcurrencyLimit, HostKey, HostPermit};
use super::destination::{Destination, HostKind, UrlRefusal};
use super::target_request::{self, RequestFailure, ResponseHead};
use super::tls_client;
use super::transport::{Lookup, SystemTransport, Transport};

const MAX_REDIRECTS: usize = 3;

/// For a whole check, after it was admitted.
const MAX_TIME: Duration = Duration::from_secs(5);

/// For connecting to one address, and for HEAD, so that there is time left to try the next address, and
/// GET.
const MAX_STEP_TIME: Duration = Duration::from_secs(2);

/// Addresses of a host that are tried.
const MAX_ADDRESSES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Ok,
    /// No valid response, an error status, or too many redirects.
    Broken,
    /// The URL, or one that it redirects to, is not allowed.
    Blocked,
    /// No resolver, no network, or a server that requires authorization or limits rates.
    Unknown,
}

impl Health {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Broken => "broken",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<UrlRefusal> for Health {
    fn from(refusal: UrlRefusal) -> Self {
        match refusal {
            UrlRefusal::Invalid => Self::Broken,
            UrlRefusal::NotAllowed => Self::Blocked,
        }
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetCheck {
    pub(crate) health: Health,
    /// The status of the last response; `None` when there was none.
    pub(crate) http_status: Option<u16>,
}

/// Checks targets; clones share the limit of concurrent checks.
pub(crate) struct Checker<N>(Arc<CheckerInner<N>>);

struct CheckerInner<N> {
    transport: N,
    tls: TlsConnector,
    limit: ConcurrencyLimit,
}

impl<N> Clone for Checker<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N> fmt::Debug for Checker<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("limit", &self.0.limit).finish_non_exhaustive()
    }
}

impl Checker<SystemTransport> {
    /// Runs at most `max_checks` checks at a time.
    pub(crate) fn with_system_transport(max_checks: NonZeroUsize) -> Self {
        Self::new(SystemTransport::default(), max_checks)
    }
}

impl<N: Transport> Checker<N> {
    pub(super) fn new(transport: N, max_checks: NonZeroUsize) -> Self {
        Self::with_roots(transport, max_checks, tls_client::public_roots())
    }

    pub(super) fn with_roots(transport: N, max_checks: NonZeroUsize, roots: RootCertStore) -> Self {
        let (tls, limit) = (tls_client::connector(roots), ConcurrencyLimit::new(max_checks));
        Self(Arc::new(CheckerInner { transport, tls, limit }))
    }

    /// Check a target. This waits until the limit admits it, and then takes five seconds at most. The
    /// future can be dropped at any time.
    pub(crate) async fn check_target(&self, url: &str) -> TargetCheck {
        let mut http_status = None;
        let health = self.0.check(url, &mut http_status).await.unwrap_or_else(|health| health);
        TargetCheck { health, http_status }
    }

    #[cfg(test)]
    pub(super) async fn check(&self, url: &str) -> Health {
        self.check_target(url).await.health
    }

    /// The text at `url`, which answers with 200; one redirect may lead from http to https, and nowhere
    /// else. This waits until the limit admits it, and then takes five seconds at most.
    pub(super) async fn fetch_text(&self, url: &str) -> Result<String, Health> {
        self.0.fetch_text(url).await
    }
}

/// `Err` ends the check with this result.
type CheckStep<T> = Result<T, Health>;

impl<N: Transport> CheckerInner<N> {
    /// Keeps the status of each response in `http_status`, also of those before a check that fails.
    async fn check(&self, url: &str, http_status: &mut Option<u16>) -> CheckStep<Health> {
        let mut destination = Destination::parse(url)?;
        let (_check, mut host) = self.limit.acquire(HostKey::of(destination.host())).await;
        let deadline = Instant::now() + MAX_TIME;
        for _ in 0..MAX_REDIRECTS {
            let head = self.request(&destination, deadline).await?;
            *http_status = Some(head.status.as_u16());
            let Some(location) = head.redirect() else { return Ok(health_of(head.status)) };
            destination = destination.follow(location)?;
            drop(host);
            host = self.acquire_host(HostKey::of(destination.host()), deadline).await?;
        }
        let head = self.request(&destination, deadline).await?;
        *http_status = Some(head.status.as_u16());
        Ok(if head.redirect().is_some() { Health::Broken } else { health_of(head.status) })
    }

    async fn fetch_text(&self, url: &str) -> CheckStep<String> {
        let destination = Destination::parse(url)?;
        let (_check, _host) = self.limit.acquire(HostKey::of(destination.host())).await;
        let deadline = Instant::now() + MAX_TIME;
        let (head, body) = self.get(&destination, deadline).await?;
        let Some(location) = head.redirect() else { return text_of(&head, &body) };
        let secure = destination.follow(location)?;
        let is_same =
            secure.host() == destination.host() && secure.resource() == destination.resource();
        if !is_same || destination.is_https() || !secure.is_https() {
            return Err(Health::Blocked);
        }
        let (head, body) = self.get(&secure, deadline).await?;
        text_of(&head, &body)
    }

    /// The response to a GET, with the start of its body.
    async fn get(
        &self,
        destination: &Destination,
        deadline: Instant,
    ) -> CheckStep<(ResponseHead, Vec<u8>)> {
        let addresses = self.resolve(destination, deadline).await?;
        for address in addresses.into_iter().take(MAX_ADDRESSES) {
            let ConnectOutcome::Connected(stream) = self.connect(address, deadline).await? else {
                continue;
            };
            let response = target_request::fetch(stream, &self.tls, destination);
            let response = timeout_at(deadline, response).await;
            return response.ok().and_then(Result::ok).ok_or(Health::Broken);
        }
        Err(Health::Broken)
    }

    /// Request one destination with HEAD, and with GET where HEAD gives no success and no redirect.
    async fn request(
        &self,
        destination: &Destination,
        deadline: Instant,
    ) -> CheckStep<ResponseHead> {
        let mut health = Health::Unknown;
        let addresses = self.resolve(destination, deadline).await?;
        for address in addresses.into_iter().take(MAX_ADDRESSES) {
            // The name is locked already; its address may also have other names.
            let _address = match destination.host() {
                HostKind::Name(_) => {
                    Some(self.acquire_host(HostKey::at(address.socket().ip()), deadline).await?)
                }
                HostKind::Address(_) => None,
            };
            let stream = match self.connect(address, deadline).await? {
                ConnectOutcome::Connected(stream) => stream,
                ConnectOutcome::Failed => {
                    health = Health::Broken;
                    continue;
                }
                ConnectOutcome::LocalError => continue,
            };
            let step_deadline = deadline.min(Instant::now() + MAX_STEP_TIME);
            let head = target_request::send(stream, &self.tls, destination, Method::HEAD);
            match timeout_at(step_deadline, head).await {
                Ok(Ok(head)) if head.status.is_success() || head.redirect().is_some() => {
                    return Ok(head);
                }
                Ok(Err(RequestFailure::TlsFailed)) => return Err(Health::Broken),
                _ => {}
            }
            // The same address: a second lookup could return a forbidden one.
            let ConnectOutcome::Connected(stream) = self.connect(address, deadline).await? else {
                return Err(Health::Broken);
            };
            let head = target_request::send(stream, &self.tls, destination, Method::GET);
            return timeout_at(deadline, head)
                .await
                .ok()
                .and_then(Result::ok)
                .ok_or(Health::Broken);
        }
        Err(health)
    }

    /// The addresses of a destination, if all of them are allowed.
    async fn resolve(
        &self,
        destination: &Destination,
        deadline: Instant,
    ) -> CheckStep<Vec<AllowedAddress>> {
        let addresses: Vec<IpAddr> = match destination.host() {
            HostKind::Address(address) => vec![*address],
            HostKind::Name(name) => {
                match timeout_at(deadline, self.transport.resolve(name)).await {
                    Ok(Lookup::Found(addresses)) => addresses,
                    Ok(Lookup::NoSuchHost) => return Err(Health::Broken),
                    Ok(Lookup::Unavailable) | Err(_) => return Err(Health::Unknown),
                }
            }
        };
        if addresses.is_empty() {
            return Err(Health::Broken);
        }
        AllowedAddress::all(&addresses, destination.port()).ok_or(Health::Blocked)
    }

    async fn connect(
        &self,
        address: AllowedAddress,
        deadline: Instant,
    ) -> CheckStep<ConnectOutcome<N::Stream>> {
        let step_deadline = deadline.min(Instant::now() + MAX_STEP_TIME);
        let connection = match timeout_at(step_deadline, self.transport.connect(address)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) if is_local_error(&error) => return Ok(ConnectOutcome::LocalError),
            Ok(Err(_)) | Err(_) => return Ok(ConnectOutcome::Failed),
        };
        let expected = address.socket();
        let peer = connection.peer;
        if (peer.ip(), peer.port()) != (expected.ip(), expected.port()) {
            return Err(Health::Blocked);
        }
        Ok(ConnectOutcome::Connected(connection.stream))
    }

    /// Wait for a host while enough time is left for a request. A timeout here says nothing about the
    /// target, so the result is `Unknown`.
    async fn acquire_host(&self, key: HostKey, deadline: Instant) -> CheckStep<HostPermit<'_>> {
        let latest = deadline - MAX_STEP_TIME;
        timeout_at(latest, self.limit.acquire_host(key)).await.map_err(|_| Health::Unknown)
    }
}

enum ConnectOutcome<S> {
    Connected(S),
    Failed,
    LocalError,
}

/// Whether a connection failed on this machine: no route for its address family, no file descriptor, a
/// firewall rule. That says nothing about the target.
fn is_local_error(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let remote_errors = [
        Kind::ConnectionRefused,
        Kind::ConnectionReset,
        Kind::ConnectionAborted,
        Kind::HostUnreachable,
        Kind::TimedOut,
    ];
    !remote_errors.contains(&error.kind())
}

fn text_of(head: &ResponseHead, body: &[u8]) -> CheckStep<String> {
    if head.status != StatusCode::OK {
        return Err(Health::Broken);
    }
    Ok(String::from_utf8_lossy(body).into_owned())
}

/// A page that is only served to some (authorization, rate limit, region) is not known to be broken.
fn health_of(status: StatusCode) -> Health {
    match status.as_u16() {
        200..=299 => Health::Ok,
        401 | 403 | 429 | 451 => Health::Unknown,
        _ => Health::Broken,
    }
}
