//! Events in the database: the log that makes them safe, the blocks that queries read, the sums that are left
//! of old days, and what goes with them: keys of visitors' hashes, privacy settings, shares.

pub(super) mod blocks;
pub(super) mod log;
pub(super) mod orphans;
pub(super) mod privacy;
pub(super) mod shares;
pub(super) mod sums;
pub(super) mod tasks;
pub(super) mod visitor_keys;

pub use blocks::{BlockKey, EventColumn, EventDay, EventSizes, NewEventBlock, SmallBlock};
pub use log::EventLogRow;
pub use privacy::{LINKS_AT_ONCE, LinkMode, WorkspaceKeeping, WorkspacePrivacy};
pub use shares::AnalyticsShare;
pub use sums::DaySumRow;
pub use tasks::{EventTask, EventTaskKind};
pub use visitor_keys::VisitorPeriodKey;
