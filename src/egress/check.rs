//! Whether a target still answers: looked up once a hop, vetted, dialled where it was vetted, asked,
//! and followed by hand. What is told is one word: no status, time or text of a stranger's server
//! reaches whoever named it.
//!
//! Invariant: each hop is judged anew, from its URL to its address, and nothing is attempted for one
//! that fails. A check ends: after three redirects, after five seconds, whatever the other end does.

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

use super::address::Vetted;
use super::ask::{RequestFailure, ResponseHead, ask};
use super::destination::{Destination, HostKind, UrlRefusal};
use super::net::{Internet, Lookup, Net};
use super::pacing::{HostKey, HostPermit, Pacing};
use super::tls;

const MAX_REDIRECTS: usize = 3;

/// All a check may take, once it is its turn.
const MAX_TIME: Duration = Duration::from_secs(5);

/// All that one address, and then HEAD, may take of that: some answer only the next, or only GET.
const MAX_STEP_TIME: Duration = Duration::from_secs(2);

/// Addresses of a host that are tried, of those that were all vetted.
const MAX_TRIES: usize = 3;

/// How a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It answers.
    Ok,
    /// It does not, or leads nowhere.
    Broken,
    /// It leads where kurz does not go.
    Blocked,
    /// It could not be told: no resolver, no network, or a server that tells only others.
    Unknown,
}

impl Health {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
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
            UrlRefusal::Unreadable => Self::Broken,
            UrlRefusal::OutOfBounds => Self::Blocked,
        }
    }
}

/// Checks targets; all clones share their turns.
pub struct Checker<N>(Arc<Shared<N>>);

struct Shared<N> {
    net: N,
    tls: TlsConnector,
    pacing: Pacing,
}

impl<N> Clone for Checker<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N> fmt::Debug for Checker<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("pacing", &self.0.pacing).finish_non_exhaustive()
    }
}

impl Checker<Internet> {
    /// A checker of what is out there, for at most `at_once` targets at a time.
    pub fn of_the_internet(at_once: NonZeroUsize) -> Self {
        Self::new(Internet::default(), at_once)
    }
}

impl<N: Net> Checker<N> {
    /// A checker that goes out by `net` and believes whom browsers believe.
    pub fn new(net: N, at_once: NonZeroUsize) -> Self {
        Self::with_roots(net, at_once, tls::public_roots())
    }

    /// A checker that goes out by `net` and believes `roots`.
    pub fn with_roots(net: N, at_once: NonZeroUsize, roots: RootCertStore) -> Self {
        let (tls, pacing) = (tls::connector(roots), Pacing::new(at_once));
        Self(Arc::new(Shared { net, tls, pacing }))
    }

    /// Check a target. This waits for its turn, and from then on takes five seconds at most. It can
    /// be dropped at any time.
    pub async fn check(&self, url: &str) -> Health {
        self.0.travel(url).await.unwrap_or_else(|end| end)
    }
}

/// What goes on, or else how the check ends.
type CheckStep<T> = Result<T, Health>;

impl<N: Net> Shared<N> {
    async fn travel(&self, url: &str) -> CheckStep<Health> {
        let mut destination = Destination::read(url)?;
        let (_visit, mut turn) = self.pacing.begin(HostKey::of(destination.host())).await;
        let deadline = Instant::now() + MAX_TIME;
        for _ in 0..MAX_REDIRECTS {
            let head = self.visit(&destination, deadline).await?;
            let Some(location) = head.redirect() else { return Ok(judge(head.status)) };
            destination = destination.follow(location)?;
            drop(turn);
            turn = self.turn(HostKey::of(destination.host()), deadline).await?;
        }
        let head = self.visit(&destination, deadline).await?;
        Ok(if head.redirect().is_some() { Health::Broken } else { judge(head.status) })
    }

    /// Ask at one destination: HEAD, and GET where HEAD does not settle it.
    async fn visit(&self, destination: &Destination, deadline: Instant) -> CheckStep<ResponseHead> {
        let mut end = Health::Unknown;
        for address in self.vet(destination, deadline).await?.into_iter().take(MAX_TRIES) {
            // A name has its turn already; the address behind it may have other names.
            let _turn = match destination.host() {
                HostKind::Name(_) => {
                    Some(self.turn(HostKey::at(address.socket().ip()), deadline).await?)
                }
                HostKind::Address(_) => None,
            };
            let stream = match self.dial(address, deadline).await? {
                Reached::Yes(stream) => stream,
                Reached::No => {
                    end = Health::Broken;
                    continue;
                }
                Reached::CannotTell => continue,
            };
            let soon = deadline.min(Instant::now() + MAX_STEP_TIME);
            match timeout_at(soon, ask(stream, &self.tls, destination, Method::HEAD)).await {
                Ok(Ok(head)) if head.status.is_success() || head.redirect().is_some() => {
                    return Ok(head);
                }
                Ok(Err(RequestFailure::Untrusted)) => return Err(Health::Broken),
                _ => {}
            }
            // Where it was vetted: a second lookup could say anything.
            let Reached::Yes(stream) = self.dial(address, deadline).await? else {
                return Err(Health::Broken);
            };
            let head = timeout_at(deadline, ask(stream, &self.tls, destination, Method::GET)).await;
            return head.ok().and_then(Result::ok).ok_or(Health::Broken);
        }
        Err(end)
    }

    /// The addresses of a destination, if every one of them may be dialled.
    async fn vet(&self, destination: &Destination, deadline: Instant) -> CheckStep<Vec<Vetted>> {
        let addresses: Vec<IpAddr> = match destination.host() {
            HostKind::Address(address) => vec![*address],
            HostKind::Name(name) => match timeout_at(deadline, self.net.resolve(name)).await {
                Ok(Lookup::Found(addresses)) => addresses,
                Ok(Lookup::NoSuchHost) => return Err(Health::Broken),
                Ok(Lookup::Unavailable) | Err(_) => return Err(Health::Unknown),
            },
        };
        if addresses.is_empty() {
            return Err(Health::Broken);
        }
        Vetted::all(&addresses, destination.port()).ok_or(Health::Blocked)
    }

    async fn dial(&self, address: Vetted, deadline: Instant) -> CheckStep<Reached<N::Stream>> {
        let soon = deadline.min(Instant::now() + MAX_STEP_TIME);
        let dialled = match timeout_at(soon, self.net.connect(address)).await {
            Ok(Ok(dialled)) => dialled,
            Ok(Err(error)) if is_of_this_side(&error) => return Ok(Reached::CannotTell),
            Ok(Err(_)) | Err(_) => return Ok(Reached::No),
        };
        let asked = address.socket();
        if (dialled.peer.ip(), dialled.peer.port()) != (asked.ip(), asked.port()) {
            return Err(Health::Blocked);
        }
        Ok(Reached::Yes(dialled.stream))
    }

    /// A turn within the time of a check. Whoever does not get one while there is time left to use it
    /// has seen nothing: it is not the target that was slow.
    async fn turn(&self, key: HostKey, deadline: Instant) -> CheckStep<HostPermit<'_>> {
        let last_call = deadline - MAX_STEP_TIME;
        timeout_at(last_call, self.pacing.turn(key)).await.map_err(|_| Health::Unknown)
    }
}

enum Reached<S> {
    Yes(S),
    No,
    CannotTell,
}

/// Whether a connection failed before it left this machine: no route for its kind of address, no
/// descriptor, a rule of the firewall. That says nothing about the target.
fn is_of_this_side(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let other_side = [
        Kind::ConnectionRefused,
        Kind::ConnectionReset,
        Kind::ConnectionAborted,
        Kind::HostUnreachable,
        Kind::TimedOut,
    ];
    !other_side.contains(&error.kind())
}

/// What the last answer means. A page that shows itself to some only is not known to be broken.
fn judge(status: StatusCode) -> Health {
    match status.as_u16() {
        200..=299 => Health::Ok,
        401 | 403 | 429 | 451 => Health::Unknown,
        _ => Health::Broken,
    }
}
