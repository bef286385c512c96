//! A read replica of PostgreSQL that answers look-ups of links that are not cached. It lags: for keys
//! that changed a moment ago, and for those it does not have, the primary is asked.
//!
//! Invariant: a key is not read here within [`CAREFUL`] of a change to it that this instance knows of.

use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::store::driver::Sql;
use crate::store::postgres::Postgres;
use crate::store::value::{SqlRow, SqlValue};
use kurz_core::link::AddressKey;

/// How long an answer may take before the primary is asked instead.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long it is not asked after it did not answer.
const LEFT_ALONE: Duration = Duration::from_secs(5);
/// How long after a change the replica is not asked: far more than a healthy one lags.
const CAREFUL: Duration = Duration::from_mins(1);
/// Most keys to remember; with more, nothing is read here for a while.
const MOST: usize = 100_000;

/// The second database.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(super) db: Postgres,
    changes: Mutex<RecentChanges>,
}

/// Keys that changed, in two generations: those of the present minute, and those of the last.
#[derive(Debug)]
struct RecentChanges {
    now: HashSet<String>,
    before: HashSet<String>,
    turned_at: Instant,
    /// Nothing is read here until then.
    careful_until: Instant,
}

impl Replica {
    /// At first nothing is read here: changes from just before the start are unknown.
    pub(super) fn new(db: Postgres) -> Self {
        let now = Instant::now();
        let changes = RecentChanges {
            now: HashSet::new(),
            before: HashSet::new(),
            turned_at: now,
            careful_until: now + CAREFUL,
        };
        Self { db, changes: Mutex::new(changes) }
    }

    /// A row, if it is here, its key has not changed lately, and the answer comes in time.
    pub(super) async fn find(
        &self,
        key: &AddressKey<'_>,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Option<SqlRow> {
        if !self.is_good_for(key.as_str()) {
            return None;
        }
        if let Ok(Ok(row)) = timeout(PATIENCE, self.db.find(sql, params)).await {
            return row;
        }
        let mut changes = self.changes();
        changes.careful_until = changes.careful_until.max(Instant::now() + LEFT_ALONE);
        None
    }

    /// `key` changed.
    pub(super) fn changed(&self, key: &AddressKey<'_>) {
        let mut changes = self.changes();
        changes.turn(Instant::now());
        if changes.now.len() < MOST {
            changes.now.insert(key.to_string());
        } else {
            changes.careful_until = Instant::now() + CAREFUL;
        }
    }

    /// Anything may have changed.
    pub(super) fn all_changed(&self) {
        self.changes().careful_until = Instant::now() + CAREFUL;
    }

    /// Whether `key` has not changed lately.
    fn is_good_for(&self, key: &str) -> bool {
        let mut changes = self.changes();
        let now = Instant::now();
        changes.turn(now);
        now >= changes.careful_until && !changes.now.contains(key) && !changes.before.contains(key)
    }

    fn changes(&self) -> MutexGuard<'_, RecentChanges> {
        // Whole after every single operation.
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecentChanges {
    fn turn(&mut self, now: Instant) {
        let since = now.duration_since(self.turned_at);
        if since >= CAREFUL {
            self.before = mem::take(&mut self.now);
            if since >= 2 * CAREFUL {
                self.before.clear();
            }
            self.turned_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Overrides};

    fn replica() -> Replica {
        let nowhere = tempfile::tempdir().unwrap();
        let config = Config::load(&Overrides::default(), [], nowhere.path()).unwrap();
        Replica::new(Postgres::pool("postgres://nowhere/", &config.store).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn what_changed_is_not_read_here_for_a_minute() {
        let replica = replica();
        assert!(!replica.is_good_for("a"), "at the start nothing is known");
        tokio::time::advance(CAREFUL).await;
        assert!(replica.is_good_for("a"));
        replica.changed(&AddressKey::Borrowed("a"));
        assert!(!replica.is_good_for("a") && replica.is_good_for("b"));
        tokio::time::advance(Duration::from_secs(59)).await;
        replica.changed(&AddressKey::Borrowed("b"));
        assert!(!replica.is_good_for("a"));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(!replica.is_good_for("b"), "not even a minute ago");
        tokio::time::advance(2 * CAREFUL).await;
        assert!(replica.is_good_for("a") && replica.is_good_for("b"));
        replica.all_changed();
        assert!(!replica.is_good_for("c"));
    }

    #[tokio::test(start_paused = true)]
    async fn more_changes_than_can_be_remembered_are_all_keys() {
        let replica = replica();
        tokio::time::advance(CAREFUL).await;
        for number in 0..=MOST {
            replica.changed(&AddressKey::Borrowed(&number.to_string()));
        }
        assert!(!replica.is_good_for("never heard of"));
    }
}
