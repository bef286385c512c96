//! Clicks from the redirect to the store.

mod log;
mod losses;
mod totals;
