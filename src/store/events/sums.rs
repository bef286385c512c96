//! Sums of days whose events are gone: one row for each dimension. Dimension 200 has the orphans of a day, see
//! [`super::orphans`].
//!
//! Invariant: the blocks of a day and its sums are exchanged in one transaction.

use std::ops::RangeInclusive;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::events::blocks::{BlockKey, remove_step};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

statements! {
    PUT = "insert into day_sums (workspace, day, dimension, data) values ($1, $2, $3, $4)
        on conflict (workspace, day, dimension) do update set data = excluded.data";
    LIST = "select day, dimension, data from day_sums
        where workspace = $1 and day >= $2 and day <= $3 and dimension < 200
        order by day, dimension";
    REMOVE = "delete from day_sums
        where workspace = $1 and day >= $2 and day <= $3 and dimension < 200";
    /// The oldest day, if it is old enough.
    REMOVE_OLD = "delete from day_sums
        where day = (select min(day) from day_sums where day < $1)";
}

/// What is left of a day, by one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySumRow {
    pub day: i64,
    /// The number of a column of texts.
    pub dimension: u8,
    pub data: Vec<u8>,
}

impl Store {
    pub async fn list_day_sums(
        &self,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
    ) -> Result<Vec<DaySumRow>, Error> {
        self.db.list(LIST, day_params(workspace, &days).to_vec()).await?.iter().map(read).collect()
    }

    /// Put sums in the place of blocks while a lock is held; `false` when it was lost, or when a block is
    /// gone.
    pub async fn sum_blocks(
        &self,
        holding: &HeldLock,
        removed: &[BlockKey],
        workspace: &WorkspaceId,
        sums: Vec<DaySumRow>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut steps = vec![self.fence(holding, now)];
        steps.extend(removed.iter().map(remove_step));
        steps.extend(sums.into_iter().map(|sum| put_step(workspace, sum)));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Replace the sums of days: all of them are removed, and `by` is stored.
    pub async fn replace_sums(
        &self,
        holding: &HeldLock,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
        by: Vec<DaySumRow>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut steps = vec![self.fence(holding, now)];
        steps.push(Step::new(REMOVE, day_params(workspace, &days)));
        steps.extend(by.into_iter().map(|sum| put_step(workspace, sum)));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Remove the sums of one day before `before`: `Some(false)` when there are none left, `None` when the
    /// lock was lost.
    pub async fn remove_old_sums(
        &self,
        holding: &HeldLock,
        before: i64,
        now: Timestamp,
    ) -> Result<Option<bool>, Error> {
        let remove = Step::new(REMOVE_OLD, [SqlValue::Int(before)]);
        Ok(match self.db.batch(vec![self.fence(holding, now), remove]).await? {
            Outcome::Done(rows) => Some(rows.get(1).is_some_and(|rows| !rows.is_empty())),
            Outcome::Undone(_) => None,
        })
    }
}

fn put_step(workspace: &WorkspaceId, sum: DaySumRow) -> Step {
    let params = [
        SqlValue::text(workspace.as_str()),
        SqlValue::Int(sum.day),
        SqlValue::Int(sum.dimension.into()),
        SqlValue::Blob(sum.data.into()),
    ];
    Step::new(PUT, params)
}

pub(super) fn day_params<'a>(
    workspace: &'a WorkspaceId,
    days: &RangeInclusive<i64>,
) -> [SqlValue<'a>; 3] {
    let workspace = SqlValue::text(workspace.as_str());
    [workspace, SqlValue::Int(*days.start()), SqlValue::Int(*days.end())]
}

fn read(row: &SqlRow) -> Result<DaySumRow, Error> {
    let dimension = u8::try_from(row.int(1)?).map_err(|_| {
        Error::Corrupt("sums of a day have a dimension without a number".to_owned())
    })?;
    Ok(DaySumRow { day: row.int(0)?, dimension, data: row.blob(2)?.to_vec() })
}
