//! Questions about clicks, from random events to the answers over HTTP.

mod api;
mod instances;
mod naive;
mod oracle;
mod orphans;
mod process_memory;
