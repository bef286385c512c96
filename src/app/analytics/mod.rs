//! Sums of clicks: the totals of the server, the series of one link over time, and answers to questions about
//! events; and the events behind them: from the log into blocks, from blocks into sums, and what a workspace
//! keeps of them.

pub(crate) mod clickhouse_answer;
pub(crate) mod clickhouse_copy;
pub(crate) mod copy_queue;
pub(crate) mod day_scan;
pub(crate) mod engine;
pub(crate) mod event_list;
mod event_log;
mod event_maintenance;
mod event_merge;
mod event_privacy;
pub(crate) mod event_retention;
mod event_tasks;
pub(crate) mod live;
pub(crate) mod log_events;
mod orphans;
mod platform;
pub(crate) mod privacy_notice;
pub(crate) mod query;
pub(crate) mod question;
pub(crate) mod series;
pub(crate) mod shares;
pub(crate) mod totals;
pub(crate) mod visitor_keys;
