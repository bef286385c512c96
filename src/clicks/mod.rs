//! Clicks, from the redirect to the store. Each worker pushes an event per answered request into a
//! bounded queue of its own ([`kurz_core::clicks::ClickQueue`]). The writer takes the queues a few times a second, sums
//! the events by link and hour, and writes the sums: a few straight into the tables, many as one row
//! of the click log, which is applied to the tables in larger parts ([`kurz_core::clicks::planner`]).
//!
//! Invariants: a redirect never waits for a write. No click is lost while the process runs: when a
//! queue is full only the details are dropped, and what could not be written is retried.

mod redirect_metrics;
mod writer;

pub(crate) use redirect_metrics::RedirectMetrics;
pub(crate) use writer::{ClickWriter, FLUSH_EVERY, WrittenClicks};
