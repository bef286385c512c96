//! Checks in a fake network: names, addresses and servers in memory, which record every lookup,
//! connection and request. No socket is opened, and the runtime's clock is paused.

mod answers;
mod concurrency;
mod fake_network;
mod host_proof;
mod ssrf;
mod ssrf_cases;
mod tls;
