//! Locks: what only one instance does at a time. A row for each, on the database's clock.
//!
//! Invariant: whatever is done under a lock is done in a batch that begins with [`Store::fence`].
//! The fence holds the row until the batch is committed, and a lock is taken by changing the row:
//! so no batch of one holder is ever committed after another has taken the lock, however long a
//! process was stopped in between.

use std::time::Duration;

use crate::store::driver::{Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::time::Timestamp;

/// The database's clock inside a statement; `$param` comes from `Db::clock_param`.
macro_rules! database_now {
    ($param:literal) => {
        concat!("(select coalesce(cast(", $param, " as bigint), c.ms) from database_clock c)")
    };
}
pub(super) use database_now;

statements! {
    /// No row back: somebody else holds it. The clock is read again once the row is ours to
    /// change, since waiting for it may have taken long. A lock that was taken a minute from now
    /// is left over from before the clock was set back.
    TAKE = concat!("insert into locks (name, lock_until, locked_at, locked_by)
        select cast($1 as text), t.ms + $2, t.ms, cast($3 as text)
        from (select ", database_now!("$4"), " as ms) t where true
        on conflict (name) do update set lock_until = ", database_now!("$4"), " + $2,
            locked_at = ", database_now!("$4"), ", locked_by = excluded.locked_by
        where locks.lock_until <= ", database_now!("$4"), "
            or locks.locked_at > ", database_now!("$4"), " + 60000
        returning locked_at");
    EXTEND = concat!("update locks set lock_until = ", database_now!("$1"), " + $2
        where name = $3 and locked_by = $4 and locked_at = $5
            and lock_until > ", database_now!("$1"), "
        returning name");
    /// The mark of an unfinished copy is left out: no instance holds it.
    LIST = "select name, locked_at, lock_until, locked_by from locks where name <> 'copy'
        order by name limit $1";
    /// Free from now on, but not before it was held for as long as `$1` says.
    RELEASE = concat!("update locks set lock_until =
            case when locked_at + $1 > ", database_now!("$2"), "
                then locked_at + $1 else ", database_now!("$2"), " end
        where name = $3 and locked_by = $4 and locked_at = $5
        returning name");
    /// Writes what is there already, for the row's lock. No row back: the lock was lost.
    FENCE = concat!("update locks set locked_by = $1
        where name = $2 and locked_by = $1 and locked_at = $3
            and lock_until > ", database_now!("$4"), "
        returning name");
}

/// A lock that was taken. Nobody else has this one's name, holder and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    name: &'static str,
    by: String,
    at: Timestamp,
}

impl Store {
    /// Take the lock `name` for the instance `by`, for at most `at_most`; `None` when somebody
    /// holds it.
    pub async fn take_lock(
        &self,
        name: &'static str,
        by: &str,
        at_most: Duration,
        now: Timestamp,
    ) -> Result<Option<HeldLock>, Error> {
        let params = [
            SqlValue::text(name),
            SqlValue::Int(ms(at_most)),
            SqlValue::text(by),
            self.db.clock_param(now),
        ];
        let rows = self.db.write(Step::new(TAKE, params)).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(HeldLock { name, by: by.to_owned(), at: row.time(0)? }))
    }

    /// Hold a lock for at most `at_most` from now on; `false` when it was lost.
    pub async fn extend_lock(
        &self,
        holding: &HeldLock,
        at_most: Duration,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let params = [
            self.db.clock_param(now),
            SqlValue::Int(ms(at_most)),
            SqlValue::text(holding.name),
            SqlValue::text(&holding.by),
            holding.at.into(),
        ];
        Ok(!self.db.write(Step::new(EXTEND, params)).await?.is_empty())
    }

    /// Let go of a lock, so that others can take it once it was held for `at_least`; `false` when
    /// it was lost.
    pub async fn release_lock(
        &self,
        holding: &HeldLock,
        at_least: Duration,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let params = [
            SqlValue::Int(ms(at_least)),
            self.db.clock_param(now),
            SqlValue::text(holding.name),
            SqlValue::text(&holding.by),
            holding.at.into(),
        ];
        Ok(!self.db.write(Step::new(RELEASE, params)).await?.is_empty())
    }

    /// Every lock: its name, since when and until when it is held, and by whom.
    pub async fn list_locks(
        &self,
        most: i64,
    ) -> Result<Vec<(String, Timestamp, Timestamp, String)>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::Int(most)]).await?;
        let read = |row: &SqlRow| {
            let (name, by) = (row.text(0)?.to_owned(), row.text(3)?.to_owned());
            Ok((name, row.time(1)?, row.time(2)?, by))
        };
        rows.iter().map(read).collect()
    }

    /// The first step of a batch that is only done while the lock is held.
    pub(super) fn fence(&self, holding: &HeldLock, now: Timestamp) -> Step {
        let params = [
            SqlValue::text(&holding.by),
            SqlValue::text(holding.name),
            holding.at.into(),
            self.db.clock_param(now),
        ];
        Step::new(FENCE, params).or_undo()
    }
}

/// Whole milliseconds, far enough from overflow to be added to any time.
pub(super) fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 4)
}
