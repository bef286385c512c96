//! Clicks by the hour, and by the day once the hours are old.
//!
//! Invariant: a click is in one of the two tables, never in both: what leaves the hours arrives in the
//! days in the same transaction.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

/// Rows that leave the hours in one transaction.
const PART: i64 = 2_000;

statements! {
    /// Hour by hour: the hour is the first column of the key.
    HOURS = "with recursive span (hour) as (
            select cast($1 as bigint)
            union all select hour + 1 from span where hour + 1 < $2)
        select h.hour, h.hits, h.others from span
            join link_hours h on h.hour = span.hour and h.link_id = $3
        order by h.hour";
    DAYS = "select day, hits, others from link_days
        where link_id = $1 and day >= $2 and day < $3 order by day";
    OTHERS = "select others from link_stats where link_id = $1";
    /// The first rows of the oldest hour, if it is old enough: the hour, and the last link.
    OLD = "select hour, max(link_id) from (select hour, link_id from link_hours
            where hour = (select min(hour) from link_hours where hour < $1)
            order by link_id limit $2) t
        group by hour";
    /// What was counted on a link that is purged goes with it.
    MOVE = "insert into link_days (link_id, day, hits, others)
        select h.link_id, h.hour / 24, h.hits, h.others
            from link_hours h join links l on l.id = h.link_id
            where h.hour = $1 and h.link_id <= $2 and l.purged_at is null
        on conflict (link_id, day) do update set
            hits = link_days.hits + excluded.hits, others = link_days.others + excluded.others";
    REMOVE = "delete from link_hours where hour = $1 and link_id <= $2";
}

/// What was counted in an hour or on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodClicks {
    /// Its number: hours or days since 1970-01-01.
    pub at: i64,
    pub clicks: i64,
    pub others: i64,
}

impl Store {
    /// A link's clicks from one hour up to another, as far as hours are kept. Hours without any are
    /// left out.
    pub async fn list_hours(
        &self,
        link: LinkId,
        from: Hour,
        to: Hour,
    ) -> Result<Vec<PeriodClicks>, Error> {
        let params = vec![
            SqlValue::Int(from.number().into()),
            SqlValue::Int(to.number().into()),
            SqlValue::Int(link.0),
        ];
        self.db.list(HOURS, params).await?.iter().map(read).collect()
    }

    /// A link's clicks on days whose hours are no longer kept.
    pub async fn list_days(
        &self,
        link: LinkId,
        from: i64,
        to: i64,
    ) -> Result<Vec<PeriodClicks>, Error> {
        let params = vec![SqlValue::Int(link.0), SqlValue::Int(from), SqlValue::Int(to)];
        self.db.list(DAYS, params).await?.iter().map(read).collect()
    }

    /// Clicks on a link by declared bots and prefetches.
    pub async fn count_others(&self, link: LinkId) -> Result<i64, Error> {
        let row = self.db.find(OTHERS, &[SqlValue::Int(link.0)]).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }

    /// Turn some hours before `before` into days: `Some(false)` when there are none left, `None`
    /// when the lock was lost.
    pub async fn retire_hours(
        &self,
        holding: &HeldLock,
        before: Hour,
        now: Timestamp,
    ) -> Result<Option<bool>, Error> {
        let params = vec![SqlValue::Int(before.number().into()), SqlValue::Int(PART)];
        let rows = self.db.list(OLD, params).await?;
        let Some(old) = rows.first() else { return Ok(Some(false)) };
        let params = [SqlValue::Int(old.int(0)?), SqlValue::Int(old.int(1)?)];
        let steps = vec![
            self.fence(holding, now),
            Step::new(MOVE, params.clone()),
            Step::new(REMOVE, params),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => Some(true),
            Outcome::Undone(_) => None,
        })
    }
}

fn read(row: &SqlRow) -> Result<PeriodClicks, Error> {
    Ok(PeriodClicks { at: row.int(0)?, clicks: row.int(1)?, others: row.int(2)? })
}
