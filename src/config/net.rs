//! Sockets: where kurz listens, under which name, how long it waits and how many it lets in.
//!
//! Invariant: every wait and every number of connections has an upper bound.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use ipnet::IpNet;

use super::public_url::{self, PublicUrl};
use super::rule::{address, address_or_off, bytes, networks, number, path, span, switch};
use super::setting::settings;

const SHORTEST: Duration = Duration::from_millis(10);
const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

settings! {
    /// Where and how the server listens.
    pub struct Net {
        /// The address that answers links, API and pages; port 0 takes a free port.
        "listen" => listen: SocketAddr = address().or("127.0.0.1:8080"),
        /// The address that answers `/metrics`; keep it away from the public.
        "admin_listen" => admin_listen: Option<SocketAddr> =
            address_or_off().or("127.0.0.1:9090"),
        /// The address that users see: it begins every `short_url`, and its host is the main host.
        "public_url" => public_url: Option<PublicUrl> =
            public_url::rule().or_none("http://{listen}, or https://{listen} with TLS"),
        /// The certificate that TLS shows, in PEM, followed by those between it and its root.
        "tls_cert" => tls_cert: Option<PathBuf> = path().or_none("none: plain HTTP"),
        /// The private key of that certificate, in PEM; both files are read again when they change.
        "tls_key" => tls_key: Option<PathBuf> = path().or_none("none: plain HTTP"),
        /// How many threads serve requests; 0 takes one for each core.
        "threads" => threads: usize = number(0..=1024).or("0"),
        /// How long a client may take to send a request's headers.
        "header_timeout" => header_timeout: Duration = span(SHORTEST..=10 * MINUTE).or("5s"),
        /// How long a client may take to send a request's body.
        "body_timeout" => body_timeout: Duration = span(SHORTEST..=HOUR).or("10s"),
        /// How long a connection may stay open without a request.
        "idle_timeout" => idle_timeout: Duration = span(SHORTEST..=24 * HOUR).or("60s"),
        /// How long requests in flight may go on after SIGTERM; 0 ends them at once.
        "drain_timeout" => drain_timeout: Duration = span(Duration::ZERO..=HOUR).or("10s"),
        /// How many connections are open at once, in all.
        "max_connections" => max_connections: usize = number(1..=1_000_000).or("10000"),
        /// How many connections one address may have open at once; 0 is no limit.
        "max_connections_per_ip" => max_connections_per_ip: usize =
            number(0..=1_000_000).or("200"),
        /// The longest request target, path and query.
        "max_target_bytes" => max_target_bytes: u64 = bytes(256..=64 << 10).or("8KiB"),
        /// The longest head of a request.
        "max_head_bytes" => max_head_bytes: u64 = bytes(1 << 10..=1 << 20).or("16KiB"),
        /// The most header fields of a request.
        "max_header_fields" => max_header_fields: usize = number(8..=1000).or("64"),
        /// The proxies whose `X-Forwarded-For` is believed: their addresses or networks.
        "trusted_proxies" => trusted_proxies: Option<Vec<IpNet>> =
            networks().or_none("none: the connection's address counts"),
        /// Limits for each address, on connections and rates; off is for closed networks and load
        /// tests.
        "limits" => limits: bool = switch().or("on"),
    }
}

impl Net {
    /// The public URL: the one that was set, or that of the address the listener got.
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
