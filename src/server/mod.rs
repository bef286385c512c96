//! The network side: sockets, accept loop, limits, shutdown. It knows connections and HTTP framing,
//! and nothing about links: what a request means is decided by the service that the caller brings.
//!
//! One thread a core, each with a runtime and a listener of its own, so that no lock or queue stands
//! between two cores on the path of a request. Each file below keeps one promise:
//!
//! - [`listen`]: one address, one listener a worker, and no second program on the same port.
//! - [`limits`]: every bound of this module, with its default.
//! - `gate`: never more connections than the limits say.
//! - `socket` and `wire`: a malformed head never reaches the service, nor does what follows it.
//! - `express`: a plain request whose answer is known at once costs nothing but that answer.
//! - `edge`: a request that is too large, or too slow in coming, is answered without the service.
//! - `watch`: no connection outlives its timeouts, at the price of one timer a worker.
//! - `certificate` and [`tls`]: what a client is shown is whole, valid, and exchanged in flight.
//! - [`blocklist`]: the list of hosts that no link leads to, read again when its file changes.
//! - `accept`: accepts, drains, and ends within the drain timeout.
//! - `front`, `body` and [`routes`]: short addresses to the data plane, all else to the router.
//! - `admin`: metrics and health, on an address of their own. [`program`]: all of it together.
//! - [`host`]: which host a request is for. [`signals`]: when to stop.

mod accept;
mod admin;
pub mod blocklist;
mod body;
mod certificate;
mod edge;
mod express;
mod front;
mod gate;
pub mod host;
pub mod limits;
pub mod listen;
pub mod program;
mod pulse;
pub mod routes;
pub mod signals;
mod socket;
mod stamp;
#[cfg(test)]
mod tests;
pub mod tls;
mod watch;
mod wire;
mod workers;

pub use certificate::TlsError;
pub use limits::Limits;
pub use listen::{ListenError, Listeners};
pub use workers::{Handle, Server, ServiceBody};
