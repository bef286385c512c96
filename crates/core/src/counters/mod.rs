//! The hit counters of the links in memory: those of one link, and the table of all of them.

mod counter_table;
mod link_counters;

pub use counter_table::{CounterTable, HoldsCounters};
pub use link_counters::LinkCounters;
