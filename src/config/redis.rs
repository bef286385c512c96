//! Redis, through which several instances talk, and what happens to links with a quota while it or the
//! database is unreachable. A single instance does not need it.

use super::redis_url::{self, RedisUrl};
use super::setting::settings;
use super::value_parser::choice;

/// What happens to links with a monthly limit while Redis or the database is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// Each instance uses up the hits it has reserved, then answers 503: the limit holds.
    Share,
    /// 503 at once.
    Closed,
    /// Redirect, and count the hits later: the limit may be exceeded.
    Open,
}

settings! {
    /// Redis, and the behaviour without it.
    pub struct RedisConfig {
        /// Where instances publish changes to each other.
        "redis" => url: Option<RedisUrl> = redis_url::declaration(),
        /// What happens to links with a monthly limit while Redis or the database is away.
        "quota_on_outage" => on_outage: OnOutage = choice([
            ("share", OnOutage::Share),
            ("closed", OnOutage::Closed),
            ("open", OnOutage::Open),
        ]).or("share"),
    }
}
