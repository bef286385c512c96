//! Answers questions about days of which the table has every event.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::clickhouse::http_client::{ClickHouse, ClickHouseError};
use crate::clickhouse::question::{MOST_BYTES, is_single};
use crate::clickhouse::row_binary::RowReader;
use kurz_core::analytics::day_partial::{CountedRange, RowKeys, ShownRows};
use kurz_core::analytics::scan_plan::ScanPlan;
use kurz_core::analytics::value_counts::GroupCounts;
use kurz_core::analytics::{Dimension, Sums};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;

/// How long each statement may take.
const LIMIT: Duration = Duration::from_secs(2);

/// What is asked about some days of a workspace.
#[derive(Clone, Debug)]
pub struct DayQuestion<'a> {
    pub workspace: &'a WorkspaceId,
    pub plan: &'a ScanPlan,
    pub days: Vec<i64>,
    /// The last block that counts: later ones came after the question.
    pub last_block: i64,
}

/// A day whose rows are each there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedDay {
    pub day: i64,
    pub events: u64,
}

impl ClickHouse {
    /// The days of a question that have no row twice, with their events.
    pub async fn verify_days(
        &self,
        question: &DayQuestion<'_>,
    ) -> Result<Vec<VerifiedDay>, ClickHouseError> {
        let answer = self.ask(question.days(), LIMIT).await?;
        let days = RowReader::new(&answer).rows(|row| {
            let day = VerifiedDay { day: row.u16()?.into(), events: row.u64()? };
            Ok((day, row.u64()? == 0))
        })?;
        Ok(days.into_iter().filter(|(_, is_once)| *is_once).map(|(day, _)| day).collect())
    }

    /// Everything but the visitors of rows; `None` when a statement cannot ask it.
    pub async fn count_range(
        &self,
        question: &DayQuestion<'_>,
    ) -> Result<Option<CountedRange>, ClickHouseError> {
        let Some(series) = question.series() else { return Ok(None) };
        let groups = question.plan.groups.iter().map(|group| question.group(*group));
        let statements: Vec<String> =
            [series, question.visitors()].into_iter().chain(groups).collect();
        let Some(answers) = self.ask_all(statements).await? else { return Ok(None) };
        let [series, visitors, groups @ ..] = answers.as_slice() else {
            return Err(ClickHouseError::Unreadable);
        };
        let mut counted = CountedRange {
            visitors: RowReader::new(visitors).rows(RowReader::u64)?.into_iter().sum(),
            series: vec![Sums::default(); question.plan.buckets.len()],
            ..CountedRange::default()
        };
        for (bucket, sums, bare) in read_series(series)? {
            let place = usize::try_from(bucket).ok().and_then(|at| counted.series.get_mut(at));
            *place.ok_or(ClickHouseError::Unreadable)? = sums;
            counted.bare += bare;
        }
        for (dimension, answer) in question.plan.groups.iter().zip(groups) {
            counted.groups.push(read_group(*dimension, answer)?);
        }
        Ok(Some(counted))
    }

    /// The visitors of rows, by group; `None` when a statement cannot ask it.
    pub async fn count_rows(
        &self,
        question: &DayQuestion<'_>,
        rows: &ShownRows,
    ) -> Result<Option<CountedRange>, ClickHouseError> {
        let asked = question.plan.groups.iter().zip(&rows.groups);
        let asked: Vec<(&Dimension, &RowKeys)> =
            asked.filter(|(_, keys)| !keys.is_empty()).collect();
        let statements: Option<Vec<String>> =
            asked.iter().map(|(group, keys)| question.rows(**group, keys)).collect();
        let Some(statements) = statements else { return Ok(None) };
        let Some(answers) = self.ask_all(statements).await? else { return Ok(None) };
        let mut answers = answers.iter();
        let mut counted = CountedRange::default();
        for keys in &rows.groups {
            let answer = if keys.is_empty() { None } else { answers.next() };
            let visitors = answer.map(|answer| read_rows(keys, answer)).transpose()?;
            counted.rows.push(visitors.unwrap_or_default());
        }
        Ok(Some(counted))
    }

    /// The answers to all statements, asked at the same time; `None` when one of them is too long.
    async fn ask_all(
        &self,
        statements: Vec<String>,
    ) -> Result<Option<Vec<Vec<u8>>>, ClickHouseError> {
        if statements.iter().any(|statement| statement.len() > MOST_BYTES) {
            return Ok(None);
        }
        let asked = statements.into_iter().map(|statement| self.ask(statement, LIMIT));
        try_join_all(asked).await.map(Some)
    }
}

/// Number, sums, and clicks without details of each bucket.
fn read_series(answer: &[u8]) -> Result<Vec<(i64, Sums, u64)>, ClickHouseError> {
    RowReader::new(answer).rows(|row| {
        let bucket = row.i64()?;
        let (clicks, visitors) = (row.u64()?, row.u64()?);
        let (bots, qr) = (row.u64()?, row.u64()?);
        Ok((bucket, Sums { clicks, visitors, bots, qr }, row.u64()?))
    })
}

fn read_group(dimension: Dimension, answer: &[u8]) -> Result<GroupCounts, ClickHouseError> {
    let reader = RowReader::new(answer);
    Ok(match dimension {
        Dimension::Text(_) => {
            let rows = reader.rows(|row| Ok((row.text()?, row.u64()?)))?;
            GroupCounts::Texts(rows.into_iter().collect())
        }
        Dimension::Link | Dimension::Tag => {
            let rows = reader.rows(|row| Ok((LinkId(row.i64()?), row.u64()?)))?;
            GroupCounts::Links(rows.into_iter().collect())
        }
    })
}

fn read_rows(keys: &RowKeys, answer: &[u8]) -> Result<Vec<u64>, ClickHouseError> {
    let reader = RowReader::new(answer);
    Ok(match keys {
        RowKeys::Texts(keys) => {
            let rows = reader.rows(|row| Ok((row.text()?, row.u64()?)))?;
            let rows: HashMap<&str, u64> = rows.into_iter().collect();
            keys.iter().map(|key| rows.get(&**key).copied().unwrap_or(0)).collect()
        }
        RowKeys::Links(keys) if is_single(keys) => {
            let rows = reader.rows(|row| Ok((LinkId(row.i64()?), row.u64()?)))?;
            let rows: HashMap<LinkId, u64> = rows.into_iter().collect();
            let of_row = |links: &Vec<LinkId>| links.first().and_then(|link| rows.get(link));
            keys.iter().map(|links| of_row(links).copied().unwrap_or(0)).collect()
        }
        RowKeys::Links(keys) => {
            let visitors = reader.rows(RowReader::u64)?;
            if visitors.len() != keys.len() {
                return Err(ClickHouseError::Unreadable);
            }
            visitors
        }
    })
}
