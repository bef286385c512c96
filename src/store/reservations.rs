//! The hits of links that instances have reserved, in the rows that count them. The rules are those of
//! [`kurz_core::quota::grant::QuotaRow`]; a test compares the two.
//!
//! Invariant: a row is read and changed in one statement, so that no two instances are granted the same hit.

use std::time::Duration;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::{database_now, ms};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::{LinkId, Month};
use kurz_core::quota::grant::{GrantReply, GrantRequest, InstanceBit, Members, others_hold};
use kurz_core::time::Timestamp;

/// Others that start at the same moment may take a bit first.
const JOIN_ATTEMPTS: u32 = 100;

/// How many of the hits that are left to grant: `$1` is what visitors wait for, `$2` the divisor that gives the
/// instance's part, `$3` what to reserve in advance, `$4` the limit.
macro_rules! granted {
    () => {
        "(select case when t.hits <= 0 then 0
                when t.hits <= cast($1 as bigint) then t.hits
                when t.hits / cast($2 as bigint) <= $1 or cast($3 as bigint) <= $1 then $1
                when t.hits / $2 <= $3 then t.hits / $2
                else $3 end
            from (select cast($4 as bigint) - month_hits - reserved as hits) t)"
    };
}

/// The bits of all processes that run; each has another one.
macro_rules! live {
    () => {
        "(select cast(coalesce(sum(w.bit), 0) as bigint) from click_writers w where w.bit is not null)"
    };
}

statements! {
    GIVE_BACK = "update link_stats set
            reserved = case when reserved > cast($1 as bigint) then reserved - $1 else 0 end,
            holders = holders - $2
        where link_id = $3 and month = $4 and (holders & cast($2 as bigint)) <> 0";
    /// The row of the month, locked.
    PREPARE = "insert into link_stats (link_id, redirect_count, avg_redirect_ms, last_redirect_at,
            month, month_hits, others, list_scope)
        select id, 0, 0, 0, cast($1 as bigint), 0, 0, list_scope from links where id = $2
        on conflict (link_id) do update set
            month = excluded.month, month_hits = 0, reserved = 0, holders = 0, writers = 0
        where link_stats.month < excluded.month";
    /// Hits that belong to no instance that runs are free again. After [`PREPARE`]: an instance that was
    /// granted hits before the row was locked is among those that run.
    FREE = concat!("update link_stats set reserved = 0, holders = 0, writers = 0
        where link_id = $1 and month = $2 and reserved > 0
            and ((holders | writers) & (cast($3 as bigint) | ", live!(), ")) = 0");
    GRANT = concat!("update link_stats set granted = ", granted!(), ",
            reserved = reserved + ", granted!(), ",
            holders = case when ", granted!(), " > 0 then holders | cast($5 as bigint)
                else holders end,
            writers = case when ", granted!(), " > 0 then writers | $5 else writers end
        where link_id = $6 and month = $7
        returning granted, month_hits, reserved, holders, ", live!());
    FORGET = "update link_stats set
            holders = case when (holders & cast($1 as bigint)) <> 0 then holders - $1
                else holders end,
            writers = case when (writers & $1) <> 0 then writers - $1 else writers end
        where link_id = $2 and month = $3 and ((holders | writers) & $1) <> 0";
    /// One at a time: the next statements see the bits that were taken before.
    TAKE_TURN = "update counters set next = next where name = 'writer' returning next";
    LIVE = concat!("select ", live!(), ", (select count(*) from click_writers where bit is not null), ",
        database_now!("$1"));
    TAKE_BIT = concat!("update click_writers set bit = $1, written_at = ", database_now!("$2"), "
        where writer = $3 and not exists (select 1 from click_writers w where w.bit = $1)
        returning bit");
    RENEW = concat!("update click_writers set written_at = ", database_now!("$1"), "
        where writer = $2 and bit = $3 returning bit");
    RELEASE = "update click_writers set bit = null where writer = $1";
    /// The processes that ended without saying so.
    RELEASE_SILENT = concat!("update click_writers set bit = null
        where bit is not null and written_at < ", database_now!("$1"), " - $2");
}

/// A process's place among those that share quotas.
#[derive(Clone, Copy, Debug)]
pub struct QuotaMembership {
    pub members: Members,
    /// The time of the database's clock.
    pub now: Timestamp,
}

impl Store {
    /// Answer requests for hits, all or none. A reply is `None` where a later month has begun or the link is
    /// gone, or where nothing was asked for.
    pub async fn grant_hits(
        &self,
        members: Members,
        requests: &[GrantRequest],
    ) -> Result<Vec<Option<GrantReply>>, Error> {
        // In the order of the links, as clicks are written: two batches never wait for each other.
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|at| requests.get(*at).map(|request| request.link));
        let (mut steps, mut answers) = (Vec::new(), Vec::new());
        for (at, request) in order.iter().filter_map(|at| Some((*at, requests.get(*at)?))) {
            steps.extend(request.back.map(|back| give_back(members, request, back)));
            if request.asks() {
                steps.extend(prepare(request));
                answers.push((at, steps.len()));
                steps.push(grant(members, request));
            }
        }
        let mut replies = vec![None; requests.len()];
        let Outcome::Done(rows) = self.db.batch(steps).await? else { return Ok(replies) };
        for (at, step) in answers {
            let row = rows.get(step).and_then(|rows| rows.first());
            if let (Some(row), Some(reply), Some(request)) =
                (row, replies.get_mut(at), requests.get(at))
            {
                *reply = Some(read(row, members.own, request.limit)?);
            }
        }
        Ok(replies)
    }

    /// `own` holds no hits of these links, and all of its clicks are counted.
    pub async fn forget_hits(
        &self,
        own: InstanceBit,
        month: Month,
        links: &[LinkId],
    ) -> Result<(), Error> {
        let forget = |link: &LinkId| {
            let params = [own.bits(), link.0, month.number()];
            Step::new(FORGET, params.map(SqlValue::Int))
        };
        let mut links = links.to_vec();
        links.sort_unstable();
        self.db.batch(links.iter().map(forget).collect()).await.map(|_| ())
    }

    /// Give the process, which has registered as `writer`, a bit.
    pub async fn join_quota(&self, writer: i64, now: Timestamp) -> Result<QuotaMembership, Error> {
        for _ in 0..JOIN_ATTEMPTS {
            let (live, _, _) = self.live(now).await?;
            let own = InstanceBit::first_free(live);
            if own == InstanceBit::SHARED {
                return self.membership(own, now).await;
            }
            let clock = self.db.clock_param(now);
            let take = [SqlValue::Int(own.bits()), clock, SqlValue::Int(writer)];
            let steps = vec![Step::new(TAKE_TURN, []), Step::new(TAKE_BIT, take).or_undo()];
            if let Outcome::Done(_) = self.db.batch(steps).await? {
                return self.membership(own, now).await;
            }
        }
        Err(Error::Unavailable(
            "other processes took every place among those that share quotas".to_owned(),
        ))
    }

    /// Say that the process still runs, and release the bits of those that have been silent for `silent`.
    /// `None`: it was taken for one of those, and what it had reserved may be granted to others.
    pub async fn renew_quota(
        &self,
        writer: i64,
        own: InstanceBit,
        silent: Duration,
        now: Timestamp,
    ) -> Result<Option<QuotaMembership>, Error> {
        let clock = self.db.clock_param(now);
        let silent = Step::new(RELEASE_SILENT, [clock.clone(), SqlValue::Int(ms(silent))]);
        let params = [clock, SqlValue::Int(writer), SqlValue::Int(own.bits())];
        let renew = Step::new(RENEW, params).or_undo();
        let steps = if own == InstanceBit::SHARED { vec![silent] } else { vec![renew, silent] };
        match self.db.batch(steps).await? {
            Outcome::Done(_) => self.membership(own, now).await.map(Some),
            Outcome::Undone(_) => Ok(None),
        }
    }

    /// The process ends: what it still had reserved can be granted to others.
    pub async fn leave_quota(&self, writer: i64) -> Result<(), Error> {
        self.db.write(Step::new(RELEASE, [SqlValue::Int(writer)])).await.map(|_| ())
    }

    async fn membership(&self, own: InstanceBit, now: Timestamp) -> Result<QuotaMembership, Error> {
        let (_, count, now) = self.live(now).await?;
        let count = count + u64::from(own == InstanceBit::SHARED);
        Ok(QuotaMembership { members: Members { own, count }, now })
    }

    /// The bits of all processes that run, how many they are, and the time.
    async fn live(&self, now: Timestamp) -> Result<(i64, u64, Timestamp), Error> {
        let rows = self.db.list(LIVE, vec![self.db.clock_param(now)]).await?;
        let row = rows.first().ok_or_else(|| Error::Corrupt("no row".to_owned()))?;
        let count = u64::try_from(row.int(1)?).unwrap_or_default();
        Ok((row.int(0)?, count, row.time(2)?))
    }
}

fn give_back(members: Members, request: &GrantRequest, back: u64) -> Step {
    let params = [int(back), members.own.bits(), request.link.0, request.month.number()];
    Step::new(GIVE_BACK, params.map(SqlValue::Int))
}

fn prepare(request: &GrantRequest) -> [Step; 2] {
    let (month, link) = (request.month.number(), request.link.0);
    let free = [link, month, InstanceBit::SHARED.bits()];
    [Step::new(PREPARE, [month, link].map(SqlValue::Int)), Step::new(FREE, free.map(SqlValue::Int))]
}

fn grant(members: Members, request: &GrantRequest) -> Step {
    let params = [
        int(request.need),
        int(2 * members.count.max(1)),
        int(request.want),
        int(request.limit),
        members.own.bits(),
        request.link.0,
        request.month.number(),
    ];
    Step::new(GRANT, params.map(SqlValue::Int))
}

fn read(row: &SqlRow, own: InstanceBit, limit: u64) -> Result<GrantReply, Error> {
    let count = |at| Ok::<u64, Error>(u64::try_from(row.int(at)?).unwrap_or_default());
    let (granted, month_hits, reserved) = (count(0)?, count(1)?, count(2)?);
    let left = limit.saturating_sub(month_hits + reserved);
    let others_hold = others_hold(own, row.int(3)?, row.int(4)?);
    Ok(GrantReply { granted, left, reserved, others_hold })
}

/// Far more than a link is followed in a month.
fn int(hits: u64) -> i64 {
    i64::try_from(hits.min(1 << 52)).unwrap_or(i64::MAX)
}
