//! Sockets, TLS, accept loop, HTTP/1 framing, timeouts and connection limits. Knows no link: the
//! caller brings the service that answers requests.
//!
//! One thread per core, each with its own runtime and listener (`SO_REUSEPORT`), so that requests of
//! two cores share no lock and no queue.
//!
//! - [`listen`]: binds one listener per worker; [`workers`]: the threads; `accept`: their accept loop
//!   and graceful shutdown.
//! - [`http_limits`]: every bound of this module with its default; `connection_limit`: connections in
//!   all and per address; `request_limits`: size of target, headers and body; `timeouts`: header, body,
//!   idle and drain timeouts with one timer per worker; `connection_state`: what they read and order.
//! - `socket` and `http1_framing`: a malformed head never reaches the service.
//! - `serve_connection`: one connection from its first byte to its end; `fast_path`: answers its plain GET
//!   requests without hyper; `first_read`: the first of them before there is a task for the connection; `idle_eviction`: closes the longest idle connection when there are too many.
//! - `plain_port`: clients that speak TLS at a port without it.
//! - `certificate` and [`tls_reload`]: certificates, reloaded when their files (`file_version`) change.
//! - [`request_host`]: the host that a request names; [`signals`]: SIGTERM and SIGINT.

mod accept;
mod certificate;
mod connection_limit;
mod connection_state;
pub mod fast_path;
mod first_read;
pub mod request_host;
mod http1_framing;
pub mod http_limits;
mod idle_eviction;
pub mod listen;
mod plain_port;
mod request_limits;
mod serve_connection;
pub mod signals;
mod socket;
#[cfg(test)]
mod tests;
mod timeouts;
pub mod tls_reload;
pub mod workers;

pub use certificate::TlsError;
pub use http_limits::HttpLimits;
pub use listen::{ListenError, Listeners};
pub use workers::{Handle, Server, ServiceBody};
