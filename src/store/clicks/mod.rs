//! Clicks in the database: the log that makes them safe, the tables that hold their sums, and what is
//! read from those.

pub(super) mod apply;
pub(super) mod log;
pub(super) mod series;
pub(super) mod totals;

pub use log::{LogRow, LoggedEvents, WriteSeq};
pub use series::PeriodClicks;
pub use totals::PlatformTotals;
