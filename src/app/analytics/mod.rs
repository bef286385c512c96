//! Sums of clicks: the totals of the server, and the series of one link over time.

pub(crate) mod series;
pub(crate) mod totals;
