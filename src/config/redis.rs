//! Redis: what many instances share beside the database, and what happens to limited links while it
//! is away. Without it, one instance is complete.

use super::redis_url::{self, RedisUrl};
use super::rule::choice;
use super::setting::settings;

/// What happens to links with a monthly limit while Redis is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// Each instance serves what it holds, then answers 503: never past a limit.
    Share,
    /// 503 at once.
    Closed,
    /// Redirect, and count what was too much later.
    Open,
}

settings! {
    /// What instances share.
    pub struct RedisConfig {
        /// Where instances share hit counters and publish changes to each other.
        "redis" => url: Option<RedisUrl> = redis_url::rule(),
        /// What happens to links with a monthly limit while Redis is away.
        "quota_on_outage" => on_outage: OnOutage = choice([
            ("share", OnOutage::Share),
            ("closed", OnOutage::Closed),
            ("open", OnOutage::Open),
        ]).or("share"),
    }
}
