//! Rate limits: how often somebody may do something. Each can be turned off by itself; `KURZ_LIMITS=off`
//! turns off all of them. Not the number of connections, which is with the network.
//!
//! Invariant: what is limited is limited on every instance by itself, whatever else is away.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use super::rule::{Rule, number};
use super::setting::settings;

settings! {
    /// How often somebody may do something; 0 is no limit.
    pub struct RateLimits {
        /// Tries to sign in to one account from one address before each further one has to wait: a
        /// minute, then twice as long each time, at most 15 minutes. Signing in resets it.
        "limit_logins_per_account" => logins_per_account: u32 = limit().or("5"),
        /// Failed tries to sign in from one address, a minute.
        "limit_logins_per_address" => logins_per_address: u32 = limit().or("20"),
        /// Accounts made from one address, an hour.
        "limit_signups" => signups: u32 = limit().or("20"),
        /// Links made without an account from one address, a minute.
        "limit_anonymous_links" => anonymous_links: u32 = limit().or("10"),
        /// Links made without an account from one address, a day.
        "limit_anonymous_links_daily" => anonymous_links_daily: u32 = limit().or("100"),
        /// Short addresses that lead nowhere, asked for from one address, a minute; further ones are
        /// answered 429, while links that exist are always served.
        "limit_misses" => misses: u32 = limit().or("30"),
        /// API keys and sessions that are nobody's, shown from one address, a minute; further ones
        /// are looked up a few at a time, and keys answered 429; good ones are always let in.
        "limit_bad_credentials" => bad_credentials: u32 = limit().or("60"),
        /// Reports of links from one address, a minute.
        "limit_reports" => reports: u32 = limit().or("10"),
        /// Links made by one account, a minute; a bulk call counts each of its links.
        "limit_links" => links: u32 = limit().or("6000"),
        /// Calls and pages of one account, a minute.
        "limit_calls_per_account" => calls_per_account: u32 = limit().or("6000"),
        /// Calls with one API key, a minute.
        "limit_calls_per_key" => calls_per_key: u32 = limit().or("3000"),
        /// Threads that compare passwords; 0 takes one for each core but one.
        "password_threads" => password_threads: usize = number(0..=1024).or("0"),
        /// Passwords that may wait to be compared; who comes then is told to come again (503).
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

fn limit() -> Rule<u32> {
    let rule = number(0..=1_000_000_u32);
    Rule { accepts: format!("{} (0 = off)", rule.accepts), ..rule }
}
