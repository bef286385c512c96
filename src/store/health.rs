//! Checks of targets: which links are due, and what was found. Apart from `links`, so that a check
//! never rewrites a wide row.
//!
//! Invariant: a link is reserved before its target is visited, under the lock, and is not due again
//! before its next time: so no link is visited more often, whatever becomes of the process.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

statements! {
    DUE_AGAIN = "select l.id, l.target from link_health h join links l on l.id = h.link_id
        where h.next_check_at <= $1 and (l.expires_at is null or l.expires_at > $1)
            and l.expired_at is null and l.deleted_at is null and l.purged_at is null
            and l.disabled_at is null
        order by h.next_check_at limit $2";
    /// Within a range of numbers, so that a page costs the same however many have been checked.
    DUE_FIRST = "select l.id, l.target from links l where l.id > $1 and l.id <= $2
            and (l.expires_at is null or l.expires_at > $3)
            and l.expired_at is null and l.deleted_at is null and l.purged_at is null
            and l.disabled_at is null
            and not exists (select 1 from link_health h where h.link_id = l.id)
        order by l.id limit $4";
    /// No row back: it is not due any more.
    RESERVE = "insert into link_health
            (link_id, destination_status, last_checked_at, next_check_at)
        select id, 'unknown', cast($1 as bigint), cast($2 as bigint) from links
        where id = $3 and purged_at is null
        on conflict (link_id) do update set next_check_at = excluded.next_check_at
        where link_health.next_check_at <= excluded.last_checked_at
        returning link_id";
    /// Changes nothing when the target was edited meanwhile.
    SETTLE = "update link_health set destination_status = $1, http_status = $2, last_checked_at = $3
        where link_id = $4 and exists (select 1 from links where id = $4 and target = $5)";
}

/// A link whose target is to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCheck {
    pub link: LinkId,
    pub target: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub due: DueCheck,
    /// The word for how the target is.
    pub status: &'static str,
    /// The HTTP status of the last response; `None` when there was none.
    pub http_status: Option<u16>,
    pub at: Timestamp,
}

impl Store {
    /// Links that were checked before and are due again, the longest waiting first.
    pub async fn list_due_again(&self, most: i64, now: Timestamp) -> Result<Vec<DueCheck>, Error> {
        let rows = self.db.list(DUE_AGAIN, vec![now.into(), SqlValue::Int(most)]).await?;
        rows.iter().map(read_due).collect()
    }

    /// Links with numbers after `after` and up to `up_to` that were never checked.
    pub async fn list_due_first(
        &self,
        after: LinkId,
        up_to: LinkId,
        most: i64,
        now: Timestamp,
    ) -> Result<Vec<DueCheck>, Error> {
        let params =
            vec![SqlValue::Int(after.0), SqlValue::Int(up_to.0), now.into(), SqlValue::Int(most)];
        let rows = self.db.list(DUE_FIRST, params).await?;
        rows.iter().map(read_due).collect()
    }

    /// Promise to check links now and not again before `next`; those that were still due, or `None`
    /// when the lock was lost.
    pub async fn reserve_checks(
        &self,
        holding: &HeldLock,
        mut due: Vec<DueCheck>,
        next: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Vec<DueCheck>>, Error> {
        // In the order of the keys: see `insert_links`.
        due.sort_unstable_by_key(|due| due.link);
        let mut steps = vec![self.fence(holding, now)];
        steps.extend(
            due.iter().map(|due| {
                Step::new(RESERVE, [now.into(), next.into(), SqlValue::Int(due.link.0)])
            }),
        );
        let Outcome::Done(rows) = self.db.batch(steps).await? else { return Ok(None) };
        let reserved = due.into_iter().zip(rows.into_iter().skip(1));
        let reserved = reserved.filter(|(_, rows)| !rows.is_empty());
        Ok(Some(reserved.map(|(due, _)| due).collect()))
    }

    pub async fn settle_checks(&self, checked: &[CheckResult]) -> Result<(), Error> {
        let mut order: Vec<&CheckResult> = checked.iter().collect();
        order.sort_unstable_by_key(|one| one.due.link);
        let steps = order.into_iter().map(|one| {
            let link = SqlValue::Int(one.due.link.0);
            let target = SqlValue::text(&one.due.target);
            let http_status = one.http_status.map(i64::from).into();
            let status = SqlValue::text(one.status);
            Step::new(SETTLE, [status, http_status, one.at.into(), link, target])
        });
        self.db.batch(steps.collect()).await.map(|_| ())
    }
}

fn read_due(row: &SqlRow) -> Result<DueCheck, Error> {
    Ok(DueCheck { link: LinkId(row.int(0)?), target: row.text(1)?.to_owned() })
}
