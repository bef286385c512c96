//! Blocks of events: those of one workspace and UTC day, a row for each column.
//!
//! Invariant: blocks are replaced as a whole, in one transaction: an event is in one block, or in the log, or
//! in the sums of its day.

use std::ops::RangeInclusive;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, Store};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

statements! {
    INSERT = "insert into event_blocks (workspace, day, seq, column_number, events, data)
        values ($1, $2, $3, $4, $5, $6)";
    REMOVE = "delete from event_blocks where workspace = $1 and day = $2 and seq = $3
        returning seq";
    COLUMNS = "select day, seq, column_number, events, data from event_blocks
        where workspace = $1 and day >= $2 and day <= $3
            and ((cast($4 as bigint) >> cast(column_number as integer)) & 1) = 1
        order by day, seq, column_number";
    BLOCK = "select day, seq, column_number, events, data from event_blocks
        where workspace = $1 and day = $2 and seq = $3 order by column_number";
    DAYS = "select day, count(*), max(seq), cast(sum(events) as bigint) from event_blocks
        where workspace = $1 and day >= $2 and day <= $3 and column_number = 32
        group by day order by day";
    /// Days of workspaces with many blocks that could be fewer.
    CROWDED = "select day, workspace from event_blocks
        where column_number = 32 and events < $1 and day >= $2 and day <= $3
        group by day, workspace having count(*) >= $4 order by day, workspace limit $5";
    OF_DAY = "select seq, events from event_blocks
        where column_number = 32 and day = $1 and workspace = $2 order by seq";
    NUMBERS = "select seq from event_blocks
        where column_number = 32 and day = $1 and seq >= $2 and seq <= $3 order by seq";
    OLD = "select distinct day, workspace from event_blocks
        where column_number = 32 and day < $1 order by day, workspace limit $2";
    OLD_OF = "select distinct day from event_blocks
        where column_number = 32 and workspace = $1 and day < $2 order by day limit $3";
    WORKSPACES = "select distinct workspace from event_blocks
        where column_number = 32 and workspace > $1 order by workspace limit $2";
    SIZES = "select (select count(*) from event_blocks where column_number = 32),
        (select cast(coalesce(sum(events), 0) as bigint) from event_blocks
            where column_number = 32),
        (select cast(coalesce(sum(length(data)), 0) as bigint) from event_blocks),
        (select cast(coalesce(sum(events), 0) as bigint) from event_log),
        (select cast(coalesce(sum(length(data)), 0) as bigint) from day_sums),
        (select min(day) from event_blocks where column_number = 32)";
}

/// One column of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventColumn {
    pub day: i64,
    pub seq: i64,
    pub column: u8,
    /// Events in the block.
    pub events: i64,
    pub data: Vec<u8>,
}

/// The blocks of a day. Equal values mean equal blocks: a block is never changed, only replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventDay {
    pub day: i64,
    pub blocks: i64,
    pub last_seq: i64,
    pub events: i64,
}

/// Which block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockKey {
    pub workspace: WorkspaceId,
    pub day: i64,
    pub seq: i64,
}

/// A block and how many events it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallBlock {
    pub seq: i64,
    pub events: i64,
}

/// A block to be stored, with a number from `take_numbers("event_block", ..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEventBlock {
    pub workspace: WorkspaceId,
    pub day: i64,
    pub seq: i64,
    pub events: i64,
    pub columns: Vec<(u8, Vec<u8>)>,
}

/// How much room events take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSizes {
    pub blocks: i64,
    /// Events in blocks.
    pub events: i64,
    pub block_bytes: i64,
    /// Events that wait in the log.
    pub logged: i64,
    pub sum_bytes: i64,
    /// The first day that has events, in days since 1970-01-01.
    pub first_day: Option<i64>,
}

impl Store {
    /// The columns whose numbers are bits of `columns`, of all blocks of these days, by day and block. What
    /// comes back is as large as the days are: ask for few.
    pub async fn list_event_columns(
        &self,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
        columns: u64,
    ) -> Result<Vec<EventColumn>, Error> {
        let params = vec![
            SqlValue::text(workspace.as_str()),
            SqlValue::Int(*days.start()),
            SqlValue::Int(*days.end()),
            SqlValue::Int(columns.cast_signed()),
        ];
        self.db.list(COLUMNS, params).await?.iter().map(read_column).collect()
    }

    /// All columns of a block; none when it is gone.
    pub async fn list_block_columns(&self, key: &BlockKey) -> Result<Vec<EventColumn>, Error> {
        let params = block_params(key).to_vec();
        self.db.list(BLOCK, params).await?.iter().map(read_column).collect()
    }

    /// The days of a workspace that have blocks.
    pub async fn list_event_days(
        &self,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
    ) -> Result<Vec<EventDay>, Error> {
        let params = vec![
            SqlValue::text(workspace.as_str()),
            SqlValue::Int(*days.start()),
            SqlValue::Int(*days.end()),
        ];
        let read = |row: &SqlRow| {
            Ok(EventDay {
                day: row.int(0)?,
                blocks: row.int(1)?,
                last_seq: row.int(2)?,
                events: row.int(3)?,
            })
        };
        self.db.list(DAYS, params).await?.iter().map(read).collect()
    }

    /// Workspaces with at least `blocks` blocks of less than `events` events on one of these days.
    pub async fn list_crowded_days(
        &self,
        events: i64,
        days: RangeInclusive<i64>,
        blocks: i64,
        most: i64,
    ) -> Result<Vec<(i64, WorkspaceId)>, Error> {
        let params = [events, *days.start(), *days.end(), blocks, most].map(SqlValue::Int).to_vec();
        self.db.list(CROWDED, params).await?.iter().map(read_day).collect()
    }

    /// The blocks of a workspace and day.
    pub async fn list_blocks(
        &self,
        workspace: &WorkspaceId,
        day: i64,
    ) -> Result<Vec<SmallBlock>, Error> {
        let params = vec![SqlValue::Int(day), SqlValue::text(workspace.as_str())];
        let read = |row: &SqlRow| Ok(SmallBlock { seq: row.int(0)?, events: row.int(1)? });
        self.db.list(OF_DAY, params).await?.iter().map(read).collect()
    }

    /// The numbers of the blocks of a day that are in a range.
    pub async fn list_block_numbers(
        &self,
        day: i64,
        numbers: RangeInclusive<i64>,
    ) -> Result<Vec<i64>, Error> {
        let params = [day, *numbers.start(), *numbers.end()].map(SqlValue::Int).to_vec();
        self.db.list(NUMBERS, params).await?.iter().map(|row| row.int(0)).collect()
    }

    /// Days before `before` that have blocks, with their workspaces.
    pub async fn list_old_days(
        &self,
        before: i64,
        most: i64,
    ) -> Result<Vec<(i64, WorkspaceId)>, Error> {
        let params = vec![SqlValue::Int(before), SqlValue::Int(most)];
        self.db.list(OLD, params).await?.iter().map(read_day).collect()
    }

    /// Days before `before` on which a workspace has blocks.
    pub async fn list_old_days_of(
        &self,
        workspace: &WorkspaceId,
        before: i64,
        most: i64,
    ) -> Result<Vec<i64>, Error> {
        let params =
            vec![SqlValue::text(workspace.as_str()), SqlValue::Int(before), SqlValue::Int(most)];
        self.db.list(OLD_OF, params).await?.iter().map(|row| row.int(0)).collect()
    }

    /// Workspaces that have blocks, in the order of their names, after `after`.
    pub async fn list_event_workspaces(
        &self,
        after: &str,
        most: i64,
    ) -> Result<Vec<WorkspaceId>, Error> {
        let rows =
            self.db.list(WORKSPACES, vec![SqlValue::text(after), SqlValue::Int(most)]).await?;
        rows.iter().map(|row| read_id(row.text(0)?)).collect()
    }

    /// Replace blocks by others while a lock is held; `false` when it was lost, or when a block is gone.
    pub async fn replace_blocks(
        &self,
        holding: &HeldLock,
        removed: &[BlockKey],
        by: Vec<NewEventBlock>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut steps = vec![self.fence(holding, now)];
        steps.extend(removed.iter().map(remove_step));
        steps.extend(by.into_iter().flat_map(insert_steps));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// How much room events take. Reads every block's row, without what is in it.
    pub async fn event_sizes(&self) -> Result<EventSizes, Error> {
        let rows = self.db.list(SIZES, Vec::new()).await?;
        let row = rows.first().ok_or_else(|| Error::Corrupt("no sizes of events".to_owned()))?;
        Ok(EventSizes {
            blocks: row.int(0)?,
            events: row.int(1)?,
            block_bytes: row.int(2)?,
            logged: row.int(3)?,
            sum_bytes: row.int(4)?,
            first_day: row.opt_int(5)?,
        })
    }
}

pub(super) fn insert_steps(block: NewEventBlock) -> Vec<Step> {
    let NewEventBlock { workspace, day, seq, events, columns } = block;
    let step = |(column, data): (u8, Vec<u8>)| {
        let params = [
            SqlValue::text(workspace.as_str()),
            SqlValue::Int(day),
            SqlValue::Int(seq),
            SqlValue::Int(column.into()),
            SqlValue::Int(events),
            SqlValue::Blob(data.into()),
        ];
        Step::new(INSERT, params)
    };
    columns.into_iter().map(step).collect()
}

/// Fails the batch when the block is gone.
pub(super) fn remove_step(key: &BlockKey) -> Step {
    Step::new(REMOVE, block_params(key)).or_undo()
}

fn block_params(key: &BlockKey) -> [SqlValue<'_>; 3] {
    [SqlValue::text(key.workspace.as_str()), SqlValue::Int(key.day), SqlValue::Int(key.seq)]
}

fn read_column(row: &SqlRow) -> Result<EventColumn, Error> {
    let column = u8::try_from(row.int(2)?).map_err(|_| {
        Error::Corrupt("a block of events has a column without a number".to_owned())
    })?;
    let data = row.blob(4)?.to_vec();
    Ok(EventColumn { day: row.int(0)?, seq: row.int(1)?, column, events: row.int(3)?, data })
}

fn read_day(row: &SqlRow) -> Result<(i64, WorkspaceId), Error> {
    Ok((row.int(0)?, read_id(row.text(1)?)?))
}
