//! The table of links with the conditions that the statements of `store` have before they change a row.

use std::collections::BTreeMap;

use kurz_core::lease::Lease;
use kurz_core::link::lifecycle::Lifecycle;
use kurz_core::time::Timestamp;

use super::{AT_LEAST, Flaw, MINUTE};

const AT_MOST: i64 = 14 * MINUTE;
const GRACE: i64 = 15 * MINUTE;

/// A row of the table.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) url: i64,
    pub(super) token: Option<i64>,
    pub(super) owner: Option<i64>,
    pub(super) life: Lifecycle,
    pub(super) version: u64,
}

/// What is on the disk.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) links: BTreeMap<i64, Link>,
    pub(super) lease: Lease,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { code: i64, url: i64, token: Option<i64>, owner: Option<i64>, expires: Option<i64> },
    Claim { code: i64, token: i64, user: i64, now: i64 },
    Delete { code: i64, now: i64 },
    Restore { code: i64 },
    Take { by: String },
    Release { by: String, at: i64 },
    Fence { by: String, at: i64 },
    Mark,
    Purge { code: i64 },
}

impl State {
    /// Run one step of a transaction, as the statement of the same name does; the row that it returns.
    pub(super) fn run(&mut self, step: &Step, flaw: Flaw, now: i64) -> Option<i64> {
        let Self { links, lease } = self;
        let some_now = Some(Timestamp::from_ms(now));
        match step {
            Step::Create { code, url, token, owner, expires } => {
                if links.contains_key(code) {
                    return None;
                }
                let life = Lifecycle {
                    expires_at: expires.map(Timestamp::from_ms),
                    ..Lifecycle::default()
                };
                let link = Link { url: *url, token: *token, owner: *owner, life, version: 1 };
                links.insert(*code, link);
            }
            Step::Claim { code, token, user, now } => {
                let link = links.get_mut(code)?;
                let Lifecycle { expires_at, expired_at, deleted_at, purged_at, .. } = link.life;
                let is_free = link.owner.is_none() && link.token == Some(*token)
                    || flaw == Flaw::ClaimUnchecked;
                let lives = expires_at.is_some_and(|end| end.as_ms() > *now)
                    || flaw == Flaw::ClaimUnchecked;
                let marks = [expired_at, deleted_at, purged_at];
                if !is_free || !lives || marks.iter().any(Option::is_some) {
                    return None;
                }
                (link.owner, link.token, link.life.expires_at) = (Some(*user), None, None);
                link.version += 1;
            }
            Step::Delete { code, now } => {
                let link = links.get_mut(code).filter(|link| link.life.purged_at.is_none())?;
                link.life.deleted_at = Some(Timestamp::from_ms(*now));
                link.version += 1;
            }
            Step::Restore { code } => {
                let link = links.get_mut(code).filter(|link| link.life.purged_at.is_none())?;
                link.life.deleted_at.take()?;
                link.version += 1;
            }
            Step::Take { by } => return lease.take(by, AT_MOST, now),
            Step::Release { by, at } => lease.release(by, *at, AT_LEAST, now).then_some(())?,
            Step::Fence { by, at } => {
                let passes = lease.fence(by, *at, now) || flaw == Flaw::NoFence;
                passes.then_some(())?;
            }
            Step::Mark => {
                for link in links.values_mut() {
                    let Lifecycle { expires_at, expired_at, deleted_at, purged_at, .. } = link.life;
                    let marks = [expired_at, deleted_at, purged_at];
                    let over = expires_at.is_some_and(|end| end.as_ms() <= now);
                    if over && marks.iter().all(Option::is_none) {
                        link.life.expired_at = some_now;
                    }
                }
            }
            Step::Purge { code } => {
                let link = links.get_mut(code).filter(|link| link.life.purged_at.is_none())?;
                if !link.is_due(now) && flaw != Flaw::PurgeUnchecked {
                    return None;
                }
                (link.life.purged_at, link.token) = (some_now, None);
                link.version += 1;
            }
        }
        Some(0)
    }
}

impl Link {
    pub(super) fn is_due(&self, now: i64) -> bool {
        let old = |at: Option<Timestamp>| at.is_some_and(|at| at.as_ms() <= now - GRACE);
        let Lifecycle { expires_at, expired_at, deleted_at, .. } = self.life;
        old(deleted_at) || (expires_at.is_some() && old(expired_at))
    }
}
