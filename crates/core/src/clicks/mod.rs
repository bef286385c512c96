//! Clicks without I/O: the event of one answered request, the queue of a worker, the totals by link and
//! hour, and the plan of what is written next. The writer that follows the plan is in `kurz`.

mod event;
pub mod planner;
pub mod queue;
pub mod totals;
mod visitor_kind;

pub use event::Click;
pub use queue::ClickQueue;
pub use totals::ClickTotals;
pub use visitor_kind::{VisitorKind, Visitors};
