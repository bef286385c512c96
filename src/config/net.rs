//! Listeners, TLS, timeouts, and limits of connections and requests.
//!
//! Invariant: every timeout and every number of connections has an upper bound.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use ipnet::IpNet;

use super::public_url::{self, PublicUrl};
use super::setting::{Declaration, DefaultValue, settings};
use super::value_parser::{address, address_or_off, bytes, networks, number, path, span, switch};

const SHORTEST: Duration = Duration::from_millis(10);
const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// The port of the admin listener unless another is named. Not 9090, which is Prometheus' own.
const ADMIN_PORT: u16 = 9580;

/// Where `/metrics` is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminListen {
    /// At the default address, if that is free.
    Default,
    /// At this address, or the start fails.
    Named(SocketAddr),
    /// Nowhere.
    Off,
}

impl AdminListen {
    /// The address to listen on, if there is one.
    pub fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Default => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, ADMIN_PORT))),
            Self::Named(address) => Some(address),
            Self::Off => None,
        }
    }
}

fn admin_listen() -> Declaration<AdminListen> {
    let parser = address_or_off().map(|at| at.map_or(AdminListen::Off, AdminListen::Named));
    let description = "127.0.0.1:9580, if it is free";
    Declaration {
        parser,
        default: DefaultValue::Absent { value: AdminListen::Default, description },
    }
}

settings! {
    /// Listeners, timeouts and connection limits.
    pub struct Net {
        /// The address for links, API and pages; port 0 takes a free port.
        "listen" => listen: SocketAddr = address().or("127.0.0.1:8080"),
        /// The address for `/metrics`; keep it private.
        "admin_listen" => admin_listen: AdminListen = admin_listen(),
        /// The address that users see: every `short_url` begins with it, and its host is the main
        /// host.
        "public_url" => public_url: Option<PublicUrl> =
            public_url::parser().or_none("http://{listen}, or https://{listen} with TLS"),
        /// The server certificate in PEM, followed by the intermediate certificates.
        "tls_cert" => tls_cert: Option<PathBuf> = path().or_none("none: plain HTTP"),
        /// The private key of the certificate in PEM; both files are read again when they change.
        "tls_key" => tls_key: Option<PathBuf> = path().or_none("none: plain HTTP"),
        /// Number of threads that serve requests; 0 means one per core.
        "threads" => threads: usize = number(0..=1024).or("0"),
        /// How long a client may take to send a request's headers.
        "header_timeout" => header_timeout: Duration = span(SHORTEST..=10 * MINUTE).or("5s"),
        /// How long a client may take to send a request's body.
        "body_timeout" => body_timeout: Duration = span(SHORTEST..=HOUR).or("10s"),
        /// How long a connection may stay open without a request.
        "idle_timeout" => idle_timeout: Duration = span(SHORTEST..=24 * HOUR).or("60s"),
        /// How long requests in flight may continue after SIGTERM; 0 ends them at once.
        "drain_timeout" => drain_timeout: Duration = span(Duration::ZERO..=HOUR).or("10s"),
        /// Maximum number of open connections.
        "max_connections" => max_connections: usize = number(1..=1_000_000).or("10000"),
        /// Maximum number of open connections from one address; 0 means no limit.
        "max_connections_per_ip" => max_connections_per_ip: usize =
            number(0..=1_000_000).or("200"),
        /// Maximum length of a request target (path and query).
        "max_target_bytes" => max_target_bytes: u64 = bytes(256..=64 << 10).or("8KiB"),
        /// Maximum length of a request head.
        "max_head_bytes" => max_head_bytes: u64 = bytes(1 << 10..=1 << 20).or("16KiB"),
        /// Maximum number of header fields in a request.
        "max_header_fields" => max_header_fields: usize = number(8..=1000).or("64"),
        /// The proxies whose `X-Forwarded-For` is trusted: addresses or networks.
        "trusted_proxies" => trusted_proxies: Option<Vec<IpNet>> =
            networks().or_none("none: the connection's address counts"),
        /// Limits per address, on connections and rates; off is for closed networks and load tests.
        "limits" => limits: bool = switch().or("on"),
    }
}

impl Net {
    /// The public URL: the setting, or else the URL of the bound address.
    pub fn public_url_at(&self, bound: SocketAddr) -> PublicUrl {
        self.public_url.clone().unwrap_or_else(|| PublicUrl::of(self.scheme(), bound))
    }

    /// How many threads serve requests: as many as were set, or one for each core.
    pub fn workers(&self) -> NonZeroUsize {
        let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
        NonZeroUsize::new(self.threads).unwrap_or_else(cores)
    }

    /// What is spoken on the main address: `http`, or `https` with a certificate.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }
}
