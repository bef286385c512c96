//! Cleanup: expired links are marked, and links that were deleted or expired long enough ago are purged:
//! turned into tombstones. A batch at a time, and only while the lock is held: see `locks`.
//!
//! Invariant: each statement asks again whether the link is still as it was found. A link that was
//! claimed, restored, edited or revived meanwhile is not touched.

use std::time::Duration;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::link_columns::PURGED_COLUMNS;
use crate::store::locks::{HeldLock, database_now, ms};
use crate::store::text::Piece::{Nulls, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store, audit};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Links that have been deleted or expired for as long as the parameter `$grace` says.
macro_rules! is_due {
    ($now:literal, $grace:literal) => {
        concat!(
            "(deleted_at <= ",
            database_now!($now),
            " - ",
            $grace,
            " or (expires_at is not null and expired_at <= ",
            database_now!($now),
            " - ",
            $grace,
            "))"
        )
    };
}

statements! {
    MARK = concat!("update links set expired_at = ", database_now!("$1"), "
        where id in (select id from links where expires_at <= ", database_now!("$1"), "
                and expired_at is null and deleted_at is null and purged_at is null
                order by expires_at limit $2)
            and expires_at <= ", database_now!("$1"), "
            and expired_at is null and deleted_at is null and purged_at is null
        returning id, workspace, code");
    /// Each half reads an index of its own. A link in both is found twice, and purged once.
    DUE = concat!("select id from links where purged_at is null
            and deleted_at <= ", database_now!("$1"), " - $2
        union all select id from links where purged_at is null and expires_at is not null
            and expired_at <= ", database_now!("$1"), " - $2
        limit $3");
    /// What is left keeps the code taken: its address, the hash of its URL, its owner, and that it was
    /// disabled.
    PURGE = text!(Text("update links set target = '', "), Nulls(PURGED_COLUMNS),
        Text(concat!(", purged_at = ", database_now!("$1"), ", version = version + 1
        where id = $2 and purged_at is null and ", is_due!("$1", "$3"), "
        returning id, workspace, code")));
    PURGE_TAGS = "delete from link_tags
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_STATS = "delete from link_stats
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_REPORTS = "delete from reports
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_SYNCED = "delete from synced_urls
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_PLANS = "delete from link_plans
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_USES = "delete from link_uses
        where link_id in (select id from links where id = $1 and purged_at is not null)";
    PURGE_HEALTH = "delete from link_health
        where link_id in (select id from links where id = $1 and purged_at is not null)";
}

/// The address of a link that cleanup changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAddress {
    pub id: LinkId,
    pub workspace: String,
    pub code: String,
}

impl Store {
    /// Mark at most `most` links whose time is over, or `None` when the lock was lost.
    pub async fn mark_expired(
        &self,
        holding: &HeldLock,
        most: i64,
        now: Timestamp,
    ) -> Result<Option<Vec<LinkAddress>>, Error> {
        let mark = Step::new(MARK, [self.db.clock_param(now), SqlValue::Int(most)]);
        let steps = vec![self.fence(holding, now), mark];
        match self.db.batch(steps).await? {
            Outcome::Undone(_) => Ok(None),
            Outcome::Done(rows) => read_addresses(&rows).map(Some),
        }
    }

    /// Turn at most `most` links that have been dead for `grace` into tombstones, or `None` when
    /// the lock was lost. Their redirects stay in the totals.
    pub async fn purge_dead(
        &self,
        holding: &HeldLock,
        grace: Duration,
        most: i64,
        now: Timestamp,
    ) -> Result<Option<Vec<LinkAddress>>, Error> {
        let grace = ms(grace);
        let params = vec![self.db.clock_param(now), SqlValue::Int(grace), SqlValue::Int(most)];
        let rows = self.db.list(DUE, params).await?;
        let mut due = rows.iter().map(|row| row.int(0)).collect::<Result<Vec<i64>, _>>()?;
        // In the order of the keys: see `insert_links`.
        due.sort_unstable();
        due.dedup();
        let mut steps = vec![self.fence(holding, now)];
        for id in due {
            let params = [self.db.clock_param(now), SqlValue::Int(id), SqlValue::Int(grace)];
            steps.push(Step::new(PURGE, params));
            let rows_of = [
                PURGE_TAGS,
                PURGE_STATS,
                PURGE_REPORTS,
                PURGE_SYNCED,
                PURGE_PLANS,
                PURGE_USES,
                PURGE_HEALTH,
            ];
            steps.extend(rows_of.map(|sql| Step::new(sql, [SqlValue::Int(id)])));
            steps.push(audit::empty_step(id));
        }
        match self.db.batch(steps).await? {
            Outcome::Undone(_) => Ok(None),
            Outcome::Done(rows) => read_addresses(&rows).map(Some),
        }
    }
}

/// The rows of all steps after the fence that read something back.
fn read_addresses(rows: &[Vec<SqlRow>]) -> Result<Vec<LinkAddress>, Error> {
    rows.iter().skip(1).flatten().filter(|row| !row.0.is_empty()).map(read_address).collect()
}

/// From a row of number, workspace and code.
pub(super) fn read_address(row: &SqlRow) -> Result<LinkAddress, Error> {
    let (workspace, code) = (row.text(1)?.to_owned(), row.text(2)?.to_owned());
    Ok(LinkAddress { id: LinkId(row.int(0)?), workspace, code })
}
