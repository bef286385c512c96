//! Analytics without I/O: the dimensions of a click, batches of classified clicks, and the questions that are
//! asked about them with their answers.

pub mod analytics_query;
pub mod assemble;
pub mod batch_builder;
pub mod block;
#[cfg(test)]
mod block_tests;
pub mod calendar;
mod column_format;
pub mod day_partial;
pub mod day_sums;
pub mod dimension;
pub mod event_batch;
pub mod filter;
pub mod local_time;
pub mod mode;
pub mod orphans;
pub mod report;
pub mod scan;
mod scan_loops;
pub mod scan_plan;
pub mod sketch;
pub mod sum_builder;
pub mod summed_day;
pub mod value_counts;
pub mod visitor_period;

pub use analytics_query::{
    AnalyticsQuery, Comparison, EventFilter, FilterValue, Interval, RowOrder, TimeRange,
};
pub use batch_builder::{BatchBuilder, CountedClicks};
pub use calendar::Zone;
pub use day_sums::{DaySums, REST, WHOLE_WORKSPACE};
pub use dimension::{Class, Dimension, TextColumn};
pub use event_batch::{EventBatch, PRIVATE, REDIRECTED, TextValues, UNKNOWN};
pub use local_time::LocalTime;
pub use mode::AnalyticsMode;
pub use report::{AnalyticsReport, GroupReport, GroupRow, SeriesPoint, Sums};
pub use sum_builder::SumBuilder;
pub use visitor_period::{VisitorPeriod, day_of};
