//! The only module that connects to addresses that users name: it checks whether a target still
//! responds, and whether a host proves whose it is. It does not decide when to check, and knows nothing
//! of links.
//!
//! Invariant: no connection is attempted to an address that was not checked against the forbidden
//! ranges, and the checked address is the one that is connected to (no second DNS lookup):
//!
//! - `address`: the forbidden ranges. Only this module can construct an `AllowedAddress`.
//! - `destination`: which URLs are allowed: http and https, ports 80 and 443, no credentials.
//! - `transport`: DNS lookup and TCP, as a trait; `connect` takes an `AllowedAddress`.
//! - `tls`: the trusted roots. `request`: one request, and only the head of its response.
//! - `concurrency`: one check per host at a time, and a limit on all of them.
//! - `check`: puts it together, with at most three redirects and five seconds.
//! - `host_proof`: the token of a host's owner, as a file or, through `txt_lookup`, in the DNS.

mod address;
mod check;
mod concurrency;
mod destination;
mod host_proof;
mod target_request;
#[cfg(test)]
mod tests;
mod tls_client;
mod transport;
mod txt_lookup;

pub(crate) use check::{Checker, Health, TargetCheck};
pub(crate) use host_proof::{HostChallenge, HostProver};
pub(crate) use transport::Transport;
