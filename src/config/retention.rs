//! When anonymous links expire, when expired and deleted links are cleaned up, and whether targets are
//! checked. `link` decides whether a link has expired.
//!
//! Invariant: every interval has a lower bound, so that no setting makes a job run in a busy loop.

use std::time::Duration;

use super::setting::settings;
use super::value_parser::{span, switch};

const SHORTEST: Duration = Duration::from_millis(100);
const DAY: Duration = Duration::from_hours(24);

settings! {
    /// Expiry, cleanup and health checks.
    pub(crate) struct Retention {
        /// After how long a link created without an account expires.
        "anon_ttl" => anon_ttl: Duration = span(Duration::from_secs(1)..=365 * DAY).or("8h"),
        /// How long an expired or deleted link is kept before it is purged.
        "purge_grace" => purge_grace: Duration = span(Duration::ZERO..=365 * DAY).or("15m"),
        /// How often expired and deleted links are cleaned up.
        "cleanup_interval" => cleanup_interval: Duration = span(SHORTEST..=DAY).or("15m"),
        /// How long after the start the first cleanup runs.
        "cleanup_delay" => cleanup_delay: Duration = span(Duration::ZERO..=DAY).or("1m"),
        /// Minimum time that one instance holds the cleanup lock.
        "cleanup_lock_at_least" => cleanup_lock_at_least: Duration =
            span(Duration::ZERO..=DAY).or("10m"),
        /// Maximum time that one instance holds the cleanup lock, even when it dies.
        "cleanup_lock_at_most" => cleanup_lock_at_most: Duration = span(SHORTEST..=DAY).or("14m"),
        /// How long the audit log is kept.
        "audit_keep" => audit_keep: Duration = span(DAY..=36_500 * DAY).or("400d"),
        /// Whether targets are checked once a day; this opens connections to addresses that users
        /// name.
        "health_checks" => health_checks: bool = switch().or("off"),
    }
}
