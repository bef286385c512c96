//! Clicks, from the redirect to the store. Each worker pushes an event per answered request into a
//! bounded queue of its own ([`kurz_core::clicks::ClickQueue`]). The writer takes the queues a few times a second, sums
//! the events by link and hour, and writes the sums: a few straight into the tables, many as one row
//! of the click log, which is applied to the tables in larger parts ([`kurz_core::clicks::planner`]). Where
//! analytics are on, it has each click classified as well, and writes the events with the sums.
//!
//! Invariants: a redirect never waits for a write. No click is lost while the process runs: when a
//! queue is full only the details are dropped, and what could not be written is retried.

pub mod classify;
mod event_maker;
mod event_room;
pub(crate) mod link_info;
pub(crate) mod orphan_misses;
#[cfg(test)]
mod plain_classifier;
mod redirect_metrics;
mod writer;

pub use event_maker::ClickClassifier;
pub use link_info::LinkAnalyticsInfo;
#[cfg(test)]
pub(crate) use plain_classifier::PlainClassifier;

pub(crate) use redirect_metrics::RedirectMetrics;
pub(crate) use writer::{ClickWriter, FLUSH_EVERY, WrittenClicks};
