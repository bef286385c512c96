//! Rate limits. Each can be turned off; `KURZ_LIMITS=off` turns off all of them. The limit of
//! connections is in `net`.
//!
//! Rates are counted by each instance on its own, so that they hold without Redis and without a database.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use super::setting::settings;
use super::value_parser::{ValueParser, number};

settings! {
    /// Rate limits; 0 is no limit.
    pub(crate) struct RateLimits {
        /// Attempts to sign in to one account from one address before each further one has to wait:
        /// a minute, then twice as long each time, at most 15 minutes. A successful sign-in resets
        /// it.
        "limit_logins_per_account" => logins_per_account: u32 = limit().or("5"),
        /// Failed attempts to sign in from one address, per minute.
        "limit_logins_per_address" => logins_per_address: u32 = limit().or("20"),
        /// Accounts created from one address, per hour.
        "limit_signups" => signups: u32 = limit().or("20"),
        /// Links created without an account from one address, per minute.
        "limit_anonymous_links" => anonymous_links: u32 = limit().or("10"),
        /// Links created without an account from one address, per day.
        "limit_anonymous_links_daily" => anonymous_links_daily: u32 = limit().or("100"),
        /// Requests for short addresses that do not exist, from one address, per minute; further
        /// ones get 429, existing links are always served.
        "limit_misses" => misses: u32 = limit().or("30"),
        /// Unknown API keys and sessions from one address, per minute; further ones are throttled
        /// and unknown keys get 429; valid ones are always accepted.
        "limit_bad_credentials" => bad_credentials: u32 = limit().or("60"),
        /// Reports of links from one address, per minute.
        "limit_reports" => reports: u32 = limit().or("10"),
        /// Links created by one account, per minute; a bulk call counts each of its links.
        "limit_links" => links: u32 = limit().or("6000"),
        /// Calls and pages of one account, per minute.
        "limit_calls_per_account" => calls_per_account: u32 = limit().or("6000"),
        /// Calls with one API key, per minute.
        "limit_calls_per_key" => calls_per_key: u32 = limit().or("3000"),
        /// Searches of one account that run at the same time; further ones get 503 with `Retry-After`.
        "limit_searches_per_account" => searches_per_account: u32 = limit().or("2"),
        /// Searches that run at the same time, of all accounts.
        "limit_searches" => searches: u32 = limit().or("3"),
        /// Threads that compare passwords; 0 means one per core but one.
        "password_threads" => password_threads: usize = number(0..=1024).or("0"),
        /// Passwords that may wait to be compared; further ones get 503.
        "password_queue" => password_queue: usize = number(1..=10_000).or("64"),
    }
}

/// How many threads compare passwords where `asked` are asked for. Of 0, one core is left to
/// redirects, however many people sign in.
pub fn password_threads(asked: usize) -> NonZeroUsize {
    if let Some(asked) = NonZeroUsize::new(asked) {
        return asked;
    }
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.saturating_sub(1)).unwrap_or(NonZeroUsize::MIN)
}

fn limit() -> ValueParser<u32> {
    let parser = number(0..=1_000_000_u32);
    ValueParser { accepts: format!("{} (0 = off)", parser.accepts), ..parser }
}
