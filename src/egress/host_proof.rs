//! Whether somebody who named a host controls it: they publish a token, as a TXT record or as a file,
//! and it is looked for here.
//!
//! The token is bound to one workspace: what one team publishes proves nothing for another. kurz never
//! serves the file itself, so a name that merely points at this server proves nothing either.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use tokio::time::timeout;

use super::check::{Checker, Health};
use super::transport::{SystemTransport, Transport};
use super::txt_lookup::{TxtLookup, look_up_txt};

/// Hosts that are checked at the same time.
const CHECKS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not 0");

/// For the file, the wait for other checks of the same host included.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What stands before the token, so that its reader knows what it is for.
const PREFIX: &str = "kurz-host=";

/// What the owner of a host publishes: one of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostChallenge {
    /// The name of a TXT record. Below the host itself, which may be an alias and then has no records of
    /// its own.
    pub(crate) txt_name: String,
    /// The URL of a file.
    pub(crate) http_url: String,
    /// The record, or the content of the file.
    pub(crate) text: String,
}

impl HostChallenge {
    pub(crate) fn new(host: &str, token: &str) -> Self {
        Self {
            txt_name: format!("_kurz.{host}"),
            http_url: format!("http://{host}/.well-known/kurz-host"),
            text: format!("{PREFIX}{token}"),
        }
    }
}

/// Where the token was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostProof {
    Dns,
    Http,
}

impl HostProof {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Http => "http",
        }
    }
}

/// Looks for tokens.
pub(crate) struct HostProver<N = SystemTransport> {
    checker: Checker<N>,
    resolver: Option<SocketAddr>,
}

impl<N> fmt::Debug for HostProver<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostProver").field("resolver", &self.resolver).finish_non_exhaustive()
    }
}

impl HostProver<SystemTransport> {
    /// Asks `resolver` for TXT records; `None`: the machine's.
    pub(crate) fn with_system_transport(resolver: Option<SocketAddr>) -> Self {
        Self::new(Checker::with_system_transport(CHECKS_AT_ONCE), resolver)
    }
}

impl<N: Transport> HostProver<N> {
    pub(super) fn new(checker: Checker<N>, resolver: Option<SocketAddr>) -> Self {
        Self { checker, resolver }
    }

    /// Look in the DNS, and then for the file; where the token was found, or what was there instead.
    pub(crate) async fn prove(&self, challenge: &HostChallenge) -> Result<HostProof, String> {
        let name = &challenge.txt_name;
        let txt = match look_up_txt(self.resolver, name).await {
            TxtLookup::Found(records) if records.contains(&challenge.text) => {
                return Ok(HostProof::Dns);
            }
            TxtLookup::Found(records) if records.is_empty() => format!("{name} has no TXT record"),
            TxtLookup::Found(_) => format!("the TXT records of {name} are others"),
            TxtLookup::Unavailable => "the DNS server did not answer".to_owned(),
        };
        let url = &challenge.http_url;
        let file = timeout(MAX_TIME, self.checker.fetch_text(url)).await;
        let file = match file.unwrap_or(Err(Health::Unknown)) {
            Ok(body) if body.trim() == challenge.text => return Ok(HostProof::Http),
            Ok(_) => format!("{url} has another text"),
            Err(Health::Blocked) => {
                format!("{url} leads to another place or to an address that is not public")
            }
            Err(_) => format!("{url} does not answer with 200"),
        };
        Err(format!("{txt}, and {file}"))
    }
}
