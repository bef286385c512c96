//! Of `src/link`, what the cells need.

#[path = "../../src/link/hour.rs"]
mod hour;
#[path = "../../src/link/id.rs"]
mod id;
#[path = "../../src/link/latency.rs"]
mod latency;
#[path = "../../src/link/month.rs"]
mod month;
#[path = "../../src/link/click_totals.rs"]
pub mod click_totals;

pub use click_totals::ClickTotals;
pub use hour::Hour;
pub use id::LinkId;
pub use latency::Latency;
pub use month::Month;
