//! The rules of kurz without I/O. Nothing here is async, reads a clock or draws random numbers, and nothing names an
//! SQL or HTTP type: time and random bytes are arguments. So every rule can be tested with a table of
//! cases, simulated (`tests/sim`), model-checked (`tests/loom.rs`) and fuzzed without a server.
//!
//! | module | what it holds |
//! |---|---|
//! | [`time`] | [`time::Timestamp`] |
//! | [`code`] | the canonical form of a URL, and every way to make or read a short code |
//! | [`link`] | a link, its lifecycle, which targets it may have, QR codes |
//! | [`account`] | accounts, roles, credentials, and what each may do |
//! | [`limits`] | rate limits by address, account and key |
//! | [`quota`] | the monthly hit limit of a link: in one process, and across instances |
//! | [`clicks`] | clicks from the event to the batch that is written |
//! | [`analytics`] | dimensions and batches of classified clicks, questions about them and their answers |
//! | [`counters`] | the counters of the links in memory |
//! | [`group_commit`] | which batches are written in one transaction |
//! | [`lease`] | the rules of a lock that instances share |
//! | [`host_name`] | host names as HTTP spells them |
//! | [`visible_text`] | text of users without hidden characters, for terminals, logs and pages |
//! | `sync` | atomics and locks, which the feature `loom` replaces |

pub mod account;
pub mod analytics;
pub mod clicks;
pub mod code;
pub mod counters;
pub mod group_commit;
pub mod host_name;
pub mod lease;
pub mod limits;
pub mod link;
pub mod plan;
pub mod quota;
mod sync;
pub mod time;
pub mod visible_text;
