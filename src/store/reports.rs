//! Reports of abuse, until an administrator has handled them.
//!
//! Invariant: bounded. Of one link and one address there is one report, of one link and in all there
//! are at most as many as the caller says; the rows of a link are removed when it is handled or purged.

use crate::store::driver::{Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

statements! {
    /// No row back: a bound is reached, or this address reported the link before.
    INSERT = "insert into reports (id, link_id, client, reason, words, at)
        select cast($1 as bigint), cast($2 as bigint), cast($3 as text), cast($4 as text),
            cast($5 as text), cast($6 as bigint)
        where (select count(*) from reports where link_id = $2) < $7
            and (select count(*) from reports) < $8
        on conflict do nothing returning id";
    COUNT = "select count(*) from reports";
    /// The most reported first.
    QUEUE = "select link_id, count(*), min(at), max(at) from reports group by link_id
        order by count(*) desc, link_id limit $1";
    OF_LINK = "select id, reason, words, at, client from reports where link_id = $1
        order by id desc limit $2";
    SETTLE = "delete from reports where link_id = $1 returning id";
}

#[derive(Clone, Debug)]
pub struct NewReport {
    /// A number from [`Store::take_numbers`].
    pub id: i64,
    pub link: LinkId,
    /// From which address, where that is known.
    pub client: Option<String>,
    pub reason: &'static str,
    pub words: String,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct ReportBounds {
    pub of_link: i64,
    pub in_all: i64,
}

/// What is open about a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub link: LinkId,
    pub count: i64,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub reason: String,
    pub words: String,
    pub at: Timestamp,
    pub client: Option<String>,
}

impl Store {
    /// Keep a report, unless enough is known; whether it was kept.
    pub async fn insert_report(
        &self,
        report: &NewReport,
        bounds: ReportBounds,
    ) -> Result<bool, Error> {
        let params = [
            SqlValue::Int(report.id),
            SqlValue::Int(report.link.0),
            report.client.as_deref().into(),
            SqlValue::text(report.reason),
            SqlValue::text(&report.words),
            report.at.into(),
            SqlValue::Int(bounds.of_link),
            SqlValue::Int(bounds.in_all),
        ];
        Ok(!self.db.write(Step::new(INSERT, params)).await?.is_empty())
    }

    pub async fn count_reports(&self) -> Result<i64, Error> {
        let row = self.db.find(COUNT, &[]).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }

    /// The links that are reported, the most reported first.
    pub async fn list_reported(&self, most: i64) -> Result<Vec<Reported>, Error> {
        let read = |row: &SqlRow| {
            Ok(Reported {
                link: LinkId(row.int(0)?),
                count: row.int(1)?,
                first_at: row.time(2)?,
                last_at: row.time(3)?,
            })
        };
        self.db.list(QUEUE, vec![SqlValue::Int(most)]).await?.iter().map(read).collect()
    }

    /// The latest reports of a link.
    pub async fn list_reports(&self, link: LinkId, most: i64) -> Result<Vec<Report>, Error> {
        let read = |row: &SqlRow| {
            Ok(Report {
                reason: row.text(1)?.to_owned(),
                words: row.text(2)?.to_owned(),
                at: row.time(3)?,
                client: row.opt_text(4)?.map(str::to_owned),
            })
        };
        let params = vec![SqlValue::Int(link.0), SqlValue::Int(most)];
        self.db.list(OF_LINK, params).await?.iter().map(read).collect()
    }

    /// Remove the reports of a link that was handled; how many there were.
    pub async fn settle_reports(&self, link: LinkId) -> Result<usize, Error> {
        Ok(self.db.write(Step::new(SETTLE, [SqlValue::Int(link.0)])).await?.len())
    }
}
