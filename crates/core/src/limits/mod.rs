//! Rate limits by address, account or key. The rules are pure functions (`rate`, `delay`), their state is in
//! tables of fixed size (`table`), and the time is an argument. What counts, and the answer to a
//! refusal, are decided by the caller. The number of connections is limited elsewhere (`net`).
//!
//! Invariants: the state of every limit is bounded; no call waits, or fails for any other reason than
//! an exceeded limit. Each instance counts for itself.

mod delay;
mod network;
mod rate;
mod table;

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use metrics::Counter;

pub use delay::LONGEST;
pub use network::network;
pub use rate::Wait;
pub use table::{BYTES, ENTRIES};

use delay::{Delay, Tries};
use rate::Rate;
use table::RateTable;

/// Passwords that may be tried in a row for one link from one address before there is a delay.
const LINK_PASSWORD_TRIES: u32 = 5;
const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The settings of the operator; 0 is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitSettings {
    /// Login attempts in a row for one account from one address before there is a delay.
    pub logins_per_account: u32,
    /// Failed logins from one address, per minute.
    pub logins_per_address: u32,
    /// Accounts created from one address, per hour.
    pub signups: u32,
    /// Links created without an account from one address, per minute.
    pub anonymous_links: u32,
    pub anonymous_links_daily: u32,
    /// Requests for short addresses that do not exist from one address, per minute.
    pub misses: u32,
    /// Invalid API keys and sessions from one address, per minute.
    pub bad_credentials: u32,
    /// Reports from one address, per minute.
    pub reports: u32,
    /// Links created by one account, per minute.
    pub links: u32,
    /// Calls of one account, per minute.
    pub calls_per_account: u32,
    /// Calls with one key, per minute.
    pub calls_per_key: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Logins,
    Signups,
    /// Creating links without an account.
    AnonymousLinks,
    /// Requests for short addresses that do not exist.
    Misses,
    BadCredentials,
    Reports,
    Links,
    /// Calls with an account or a key.
    Calls,
    /// Passwords of links.
    LinkPasswords,
}

impl Limit {
    pub const ALL: [Self; 9] = [
        Self::Logins,
        Self::Signups,
        Self::AnonymousLinks,
        Self::Misses,
        Self::BadCredentials,
        Self::Reports,
        Self::Links,
        Self::Calls,
        Self::LinkPasswords,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Logins => "logins",
            Self::Signups => "signups",
            Self::AnonymousLinks => "anonymous_links",
            Self::Misses => "misses",
            Self::BadCredentials => "bad_credentials",
            Self::Reports => "reports",
            Self::Links => "links",
            Self::Calls => "calls",
            Self::LinkPasswords => "link_passwords",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    pub limit: Limit,
    pub wait: Wait,
}

/// The result of a login attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginOutcome {
    Right,
    Wrong,
    /// They were not checked.
    Unknown,
}

/// One limit and its state; without a rate it allows everything.
#[derive(Debug)]
struct RateMeter {
    rate: Option<Rate>,
    table: RateTable,
}

impl RateMeter {
    fn new(most: u32, window: Duration) -> Self {
        Self { rate: Rate::new(most, window), table: RateTable::default() }
    }

    fn take(&self, subject: &impl Hash, count: u32, now: u64) -> Result<(), Wait> {
        let Some(rate) = self.rate else { return Ok(()) };
        self.table.change(subject, now, |tries| {
            Ok(Tries { until: rate.take(tries.until, count, now)?, ..tries })
        })
    }

    fn give_back(&self, subject: &impl Hash, count: u32, now: u64) {
        let Some(rate) = self.rate else { return };
        let less = |tries: Tries| Tries { until: rate.give_back(tries.until, count), ..tries };
        self.table.amend(subject, now, less);
    }

    fn is_used_up(&self, subject: &impl Hash, now: u64) -> bool {
        let free_at = || self.table.get(subject, now).until;
        self.rate.is_some_and(|rate| rate.take(free_at(), 1, now).is_err())
    }
}

#[derive(Debug)]
pub struct Limits {
    delay: Option<Delay>,
    tries: RateTable,
    /// Of passwords of links. They have a limit wherever logins have one.
    link_delay: Option<Delay>,
    link_tries: RateTable,
    logins: RateMeter,
    signups: RateMeter,
    anonymous_links: RateMeter,
    anonymous_links_daily: RateMeter,
    misses: RateMeter,
    bad_credentials: RateMeter,
    reports: RateMeter,
    links: RateMeter,
    calls_per_account: RateMeter,
    calls_per_key: RateMeter,
    refused: [Counter; Limit::ALL.len()],
}

impl Limits {
    /// Install the metrics recorder before this is called.
    pub fn new(numbers: &LimitSettings) -> Self {
        let refused = Limit::ALL
            .map(|limit| metrics::counter!("kurz_rate_limited_total", "limit" => limit.name()));
        Self {
            delay: Delay::new(numbers.logins_per_account),
            tries: RateTable::default(),
            link_delay: Delay::new(numbers.logins_per_account.min(1) * LINK_PASSWORD_TRIES),
            link_tries: RateTable::default(),
            logins: RateMeter::new(numbers.logins_per_address, MINUTE),
            signups: RateMeter::new(numbers.signups, HOUR),
            anonymous_links: RateMeter::new(numbers.anonymous_links, MINUTE),
            anonymous_links_daily: RateMeter::new(numbers.anonymous_links_daily, DAY),
            misses: RateMeter::new(numbers.misses, MINUTE),
            bad_credentials: RateMeter::new(numbers.bad_credentials, MINUTE),
            reports: RateMeter::new(numbers.reports, MINUTE),
            links: RateMeter::new(numbers.links, MINUTE),
            calls_per_account: RateMeter::new(numbers.calls_per_account, MINUTE),
            calls_per_key: RateMeter::new(numbers.calls_per_key, MINUTE),
            refused,
        }
    }

    /// A login to `account` from `client` begins. Call [`Limits::signed_in`] with the result.
    pub fn sign_in(&self, account: &str, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let (now, client) = (nanos(now), network(client));
        self.logins.take(&client, 1, now).map_err(|wait| self.refuse(Limit::Logins, wait))?;
        let Some(delay) = self.delay else { return Ok(()) };
        let next = self.tries.change(&(account, client), now, |tries| delay.next(tries, now));
        next.map_err(|wait| {
            // A refused attempt counts only once.
            self.logins.give_back(&client, 1, now);
            self.refuse(Limit::Logins, wait)
        })
    }

    /// The result of a login. A right one resets the limit; a wrong one was counted when it began, so that
    /// concurrent attempts cannot exceed the limit.
    pub fn signed_in(&self, account: &str, client: IpAddr, outcome: LoginOutcome, now: Duration) {
        let (now, client) = (nanos(now), network(client));
        if outcome == LoginOutcome::Wrong {
            return;
        }
        self.logins.give_back(&client, 1, now);
        self.tries.amend(&(account, client), now, |tries| match outcome {
            LoginOutcome::Right => Tries::default(),
            LoginOutcome::Unknown | LoginOutcome::Wrong => tries.undo(),
        });
    }

    /// A password of the link with this number is tried from `client`. Call [`Limits::link_password_tried`] with
    /// the result.
    pub fn link_password(&self, link: i64, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let Some(delay) = self.link_delay else { return Ok(()) };
        let (now, subject) = (nanos(now), (link, network(client)));
        let next = self.link_tries.change(&subject, now, |tries| delay.next(tries, now));
        next.map_err(|wait| self.refuse(Limit::LinkPasswords, wait))
    }

    /// The result of a password of a link; see [`Limits::signed_in`].
    pub fn link_password_tried(
        &self,
        link: i64,
        client: IpAddr,
        outcome: LoginOutcome,
        now: Duration,
    ) {
        let (now, subject) = (nanos(now), (link, network(client)));
        match outcome {
            LoginOutcome::Wrong => {}
            LoginOutcome::Right => {
                self.link_tries.amend(&subject, now, |_| Tries::default());
            }
            LoginOutcome::Unknown => self.link_tries.amend(&subject, now, Tries::undo),
        }
    }

    /// An account is about to be created from `client`.
    pub fn sign_up(&self, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let taken = self.signups.take(&network(client), 1, nanos(now));
        taken.map_err(|wait| self.refuse(Limit::Signups, wait))
    }

    /// The account was not created.
    pub fn give_back_sign_up(&self, client: IpAddr, now: Duration) {
        self.signups.give_back(&network(client), 1, nanos(now));
    }

    /// A link without an account is about to be created from `client`.
    pub fn anonymous_link(&self, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let (now, client) = (nanos(now), network(client));
        let refuse = |wait| self.refuse(Limit::AnonymousLinks, wait);
        self.anonymous_links_daily.take(&client, 1, now).map_err(refuse)?;
        self.anonymous_links.take(&client, 1, now).map_err(|wait| {
            self.anonymous_links_daily.give_back(&client, 1, now);
            refuse(wait)
        })
    }

    /// The link was not created.
    pub fn give_back_anonymous_link(&self, client: IpAddr, now: Duration) {
        let (now, client) = (nanos(now), network(client));
        self.anonymous_links_daily.give_back(&client, 1, now);
        self.anonymous_links.give_back(&client, 1, now);
    }

    /// `client` requested a short address that does not exist.
    pub fn miss(&self, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let taken = self.misses.take(&network(client), 1, nanos(now));
        taken.map_err(|wait| self.refuse(Limit::Misses, wait))
    }

    /// `client` reports a link.
    pub fn report(&self, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let taken = self.reports.take(&network(client), 1, nanos(now));
        taken.map_err(|wait| self.refuse(Limit::Reports, wait))
    }

    /// Whether the next miss of `client` would exceed the limit.
    pub fn is_out_of_misses(&self, client: IpAddr, now: Duration) -> bool {
        self.misses.is_used_up(&network(client), nanos(now))
    }

    /// `client` sent an invalid credential.
    pub fn bad_credential(&self, client: IpAddr, now: Duration) -> Result<(), Limited> {
        let taken = self.bad_credentials.take(&network(client), 1, nanos(now));
        taken.map_err(|wait| self.refuse(Limit::BadCredentials, wait))
    }

    /// Whether the next invalid credential of `client` would exceed the limit.
    pub fn is_out_of_credentials(&self, client: IpAddr, now: Duration) -> bool {
        self.bad_credentials.is_used_up(&network(client), nanos(now))
    }

    /// The account with this id is about to create `count` links.
    pub fn links(&self, account: i64, count: u32, now: Duration) -> Result<(), Limited> {
        let taken = self.links.take(&account, count, nanos(now));
        taken.map_err(|wait| self.refuse(Limit::Links, wait))
    }

    /// `count` links were not created.
    pub fn give_back_links(&self, account: i64, count: u32, now: Duration) {
        self.links.give_back(&account, count, nanos(now));
    }

    /// The account with this id makes a call, perhaps with a key.
    pub fn call(&self, account: i64, key: Option<i64>, now: Duration) -> Result<(), Limited> {
        let now = nanos(now);
        let refuse = |wait| self.refuse(Limit::Calls, wait);
        if let Some(key) = key {
            self.calls_per_key.take(&key, 1, now).map_err(refuse)?;
        }
        self.calls_per_account.take(&account, 1, now).map_err(refuse)
    }

    fn refuse(&self, limit: Limit, wait: Wait) -> Limited {
        let all = Limit::ALL.iter().zip(&self.refused);
        if let Some((_, counter)) = all.into_iter().find(|(one, _)| **one == limit) {
            counter.increment(1);
        }
        Limited { limit, wait }
    }
}

fn nanos(time: Duration) -> u64 {
    // At least 1: an entry with the time 0 is empty.
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests;
