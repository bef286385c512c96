//! Checks of targets: which links are due, and what was found. Apart from `links`, so that a check
//! never rewrites a wide row.
//!
//! Invariant: a link is reserved before its target is visited, under the lock, and is not due again
//! before its next time: so no link is visited more often, whatever becomes of the process.

use crate::store::cleanup::read_address;
use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, LinkAddress, Store};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// How long failures that count lie apart, in milliseconds.
macro_rules! apart {
    () => {
        "600000"
    };
}

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
    /// A failure counts at least ten minutes after the last one that counted. While a link with a plan fails, it
    /// is checked again after that time: its fallback depends on it.
    SETTLE = concat!("update link_health set destination_status = $1, http_status = $2,
            last_checked_at = $3,
            failures = case when cast($4 as bigint) = 0 then 0
                when failed_at is null or failed_at <= cast($3 as bigint) - ", apart!(), "
                    then failures + 1
                else failures end,
            failed_at = case when $4 = 0 then null
                when failed_at is null or failed_at <= $3 - ", apart!(), " then $3
                else failed_at end,
            next_check_at = case when $4 = 0 then next_check_at
                when exists (select 1 from links where id = $5 and plan_at is not null)
                    then $3 + ", apart!(), "
                else next_check_at end
        where link_id = $5 and exists (select 1 from links where id = $5 and target = $6)");
    FAILED_CHECKS = "select failures from link_health where link_id = $1";
    /// Links with a plan whose target may just have gone down or come back.
    TURNED = "select l.id, l.workspace, l.code from links l join link_health h on h.link_id = l.id
        where l.id = $1 and l.plan_at is not null and h.failures in (0, 3)";
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
    /// Whether the target is down, as far as this check can tell.
    pub has_failed: bool,
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

    /// How many checks of a link's target have failed in a row.
    pub async fn find_failed_checks(&self, link: LinkId) -> Result<u64, Error> {
        let row = self.db.find(FAILED_CHECKS, &[SqlValue::Int(link.0)]).await?;
        let failures = row.map(|row| row.int(0)).transpose()?.unwrap_or(0);
        Ok(u64::try_from(failures).unwrap_or_default())
    }

    /// Store what was found; the links whose redirects may have changed by it.
    pub async fn settle_checks(&self, checked: &[CheckResult]) -> Result<Vec<LinkAddress>, Error> {
        let mut order: Vec<&CheckResult> = checked.iter().collect();
        order.sort_unstable_by_key(|one| one.due.link);
        let steps = order.into_iter().flat_map(|one| {
            let link = SqlValue::Int(one.due.link.0);
            let target = SqlValue::text(&one.due.target);
            let http_status = one.http_status.map(i64::from).into();
            let status = SqlValue::text(one.status);
            let has_failed = SqlValue::Int(i64::from(one.has_failed));
            let settle = [status, http_status, one.at.into(), has_failed, link.clone(), target];
            [Step::new(SETTLE, settle), Step::new(TURNED, [link])]
        });
        let Outcome::Done(rows) = self.db.batch(steps.collect()).await? else {
            return Ok(Vec::new());
        };
        let turned = rows.iter().skip(1).step_by(2).flatten();
        turned.map(read_address).collect()
    }
}

fn read_due(row: &SqlRow) -> Result<DueCheck, Error> {
    Ok(DueCheck { link: LinkId(row.int(0)?), target: row.text(1)?.to_owned() })
}
