//! Clicks without I/O: the event of one answered request, the queue of a worker with its texts, the totals by
//! link and hour, and the plan of what is written next. The writer that follows the plan is in `kurz`.

mod bot_list;
mod click_channel;
mod event;
mod language_code;
pub mod planner;
mod query_parameters;
pub mod queue;
mod referrer_host;
mod seen_visitors;
pub mod texts;
pub mod totals;
mod visitor_keys;
mod visitor_kind;

pub use bot_list::is_bot;
pub use click_channel::Channel;
pub use event::{Click, ClickAnswer, ClickFlags};
pub use language_code::{language_text, pack_language};
pub use query_parameters::{CLICK_IDS, QueryParameters};
pub use queue::{ClickDetails, ClickQueue, QueuedClicks, VisitorDetails};
pub use referrer_host::referrer_host;
pub use seen_visitors::SeenVisitors;
pub use texts::{HashedText, Texts};
pub use totals::ClickTotals;
pub use visitor_keys::{PeriodKey, VisitorKeys};
pub use visitor_kind::{SeenVisitor, VisitorKind, Visitors};
