//! Clicks from the redirect to the store.

mod classification;
mod event_instances;
mod event_retention;
pub(crate) mod events;
mod log;
mod totals;
mod visitor_keys;
