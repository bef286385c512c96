//! The table of events, and the statements that copy blocks into it and remove them. What is asked about events is
//! in `question.rs`.
//!
//! A row is an event of a block; `block` and `event` say which, so that a row that is inserted twice is the same
//! row, and the engine keeps one. Its partition is the UTC day.

use std::fmt::Write;

use crate::clickhouse::http_client::{ClickHouse, ClickHouseError};
use crate::clickhouse::row_binary::RowReader;
use kurz_core::analytics::TextColumn;
use kurz_core::code::WorkspaceId;

pub(super) const TABLE: &str = "kurz_events";
/// The first version with `insert_deduplication_token`.
const TOKENS_SINCE: (u32, u32) = (22, 2);

pub(super) const VERSION: &str = "SELECT version() FORMAT RowBinary";
pub(super) const TABLES: &str = "SELECT count() FROM system.tables WHERE database = currentDatabase() \
    AND name = 'kurz_events' FORMAT RowBinary";
/// Whose events these are: the name of a store.
pub(super) const CREATE_OWNER: &str =
    "CREATE TABLE IF NOT EXISTS kurz_store (id String) ENGINE = MergeTree() ORDER BY id";
pub(super) const OWNERS: &str = "SELECT DISTINCT id FROM kurz_store FORMAT RowBinary";
/// Changes that are accepted and not yet carried out.
const UNFINISHED: &str = "SELECT count() FROM system.mutations WHERE database = currentDatabase() \
    AND table = 'kurz_events' AND is_done = 0 FORMAT RowBinary";
const FIRST_DAY: &str = "SELECT toInt64(min(toUInt16(day))) FROM kurz_events FORMAT RowBinary";

/// How many events of a block the table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedBlock {
    pub block: i64,
    pub events: u64,
}

/// How many events of a workspace and day the table has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedDay {
    pub workspace: String,
    pub day: i64,
    pub events: u64,
    /// Whether some are there twice.
    pub has_doubles: bool,
}

pub(super) fn create(knows_tokens: bool) -> String {
    let mut statement = format!(
        "CREATE TABLE IF NOT EXISTS {TABLE} (workspace String, day Date, link Int64, block Int64, \
         event UInt32, at Int64, visitor UInt64, nanos UInt32, count UInt32"
    );
    for column in TextColumn::ALL {
        let _ = write!(statement, ", `{}` String", column.name());
    }
    // For people: kurz itself compares milliseconds.
    statement.push_str(
        ", time DateTime ALIAS toDateTime(intDiv(at, 1000))) ENGINE = ReplacingMergeTree() \
         PARTITION BY day ORDER BY (workspace, link, block, event)",
    );
    if knows_tokens {
        statement.push_str(" SETTINGS non_replicated_deduplication_window = 1000");
    }
    statement
}

/// The names of the columns, in the order in which rows have them.
pub(super) fn insert() -> String {
    let texts: Vec<String> =
        TextColumn::ALL.iter().map(|column| format!("`{}`", column.name())).collect();
    let numbers = "workspace, day, link, block, event, at, visitor, nanos, count";
    format!("INSERT INTO {TABLE} ({numbers}, {}) FORMAT RowBinary", texts.join(", "))
}

/// A text as a constant that nothing can be read out of.
pub(super) fn text(text: &str) -> String {
    let mut constant = String::with_capacity(text.len() * 2 + 9);
    constant.push_str("unhex('");
    for byte in text.bytes() {
        let _ = write!(constant, "{byte:02X}");
    }
    constant.push_str("')");
    constant
}

pub(super) fn list(numbers: impl IntoIterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    numbers.join(", ")
}

/// Events by block, of some rows. A block that is there twice has more events than its last number says.
pub(super) fn by_block(keys: &str, condition: &str) -> String {
    format!(
        "SELECT {keys}, block, count() AS events, max(event) + 1 AS expected FROM {TABLE} \
         WHERE {condition} GROUP BY {keys}, block"
    )
}

pub(super) fn knows_tokens(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= TOKENS_SINCE
}

pub(super) fn insert_owner(owner: &str) -> String {
    format!("INSERT INTO kurz_store (id) SELECT {}", text(owner))
}

pub(super) fn read_texts(answer: &[u8]) -> Result<Vec<String>, ClickHouseError> {
    RowReader::new(answer).rows(|row| row.text().map(str::to_owned))
}

pub(super) fn read_numbers(answer: &[u8]) -> Result<Vec<u64>, ClickHouseError> {
    RowReader::new(answer).rows(RowReader::u64)
}

impl ClickHouse {
    /// Which of these blocks of some days the table has.
    pub async fn list_copied(
        &self,
        days: &[i64],
        blocks: &[i64],
    ) -> Result<Vec<CopiedBlock>, ClickHouseError> {
        let condition =
            format!("{} AND block IN ({})", on_days(days), list(blocks.iter().copied()));
        self.list_blocks(&condition).await
    }

    /// The blocks of a workspace and day that the table has.
    pub async fn list_copied_of(
        &self,
        workspace: &WorkspaceId,
        day: i64,
    ) -> Result<Vec<CopiedBlock>, ClickHouseError> {
        let workspace = text(workspace.as_str());
        self.list_blocks(&format!("{} AND workspace = {workspace}", on_days(&[day]))).await
    }

    async fn list_blocks(&self, condition: &str) -> Result<Vec<CopiedBlock>, ClickHouseError> {
        let statement = format!(
            "SELECT block, count() FROM {TABLE} WHERE {condition} GROUP BY block FORMAT RowBinary"
        );
        let answer = self.read(statement).await?;
        RowReader::new(&answer)
            .rows(|row| Ok(CopiedBlock { block: row.i64()?, events: row.u64()? }))
    }

    /// The days of which the table has anything of a workspace.
    pub async fn list_days_of(&self, workspace: &WorkspaceId) -> Result<Vec<i64>, ClickHouseError> {
        let workspace = text(workspace.as_str());
        let statement = format!(
            "SELECT DISTINCT toUInt16(day) FROM {TABLE} WHERE workspace = {workspace} FORMAT RowBinary"
        );
        let answer = self.read(statement).await?;
        RowReader::new(&answer).rows(|row| row.u16().map(i64::from))
    }

    /// What the table has of workspaces with names after `after` and up to `last`, on days before `end`.
    pub async fn list_copied_days(
        &self,
        after: &str,
        last: Option<&str>,
        end: i64,
    ) -> Result<Vec<CopiedDay>, ClickHouseError> {
        let mut condition = format!("workspace > {} AND day < toDate({end})", text(after));
        if let Some(last) = last {
            let _ = write!(condition, " AND workspace <= {}", text(last));
        }
        let blocks = by_block("workspace, day", &condition);
        let statement = format!(
            "SELECT workspace, toUInt16(day), sum(events), sum(events != expected) FROM ({blocks}) \
             GROUP BY workspace, day FORMAT RowBinary"
        );
        let answer = self.read(statement).await?;
        RowReader::new(&answer).rows(|row| {
            Ok(CopiedDay {
                workspace: row.text()?.to_owned(),
                day: row.u16()?.into(),
                events: row.u64()?,
                has_doubles: row.u64()? > 0,
            })
        })
    }

    /// Remove blocks of a workspace and day. Rows that are inserted afterwards stay.
    pub async fn remove_blocks(
        &self,
        workspace: &WorkspaceId,
        day: i64,
        blocks: &[i64],
    ) -> Result<(), ClickHouseError> {
        let (days, workspace) = (on_days(&[day]), text(workspace.as_str()));
        let blocks = list(blocks.iter().copied());
        let condition = format!("{days} AND workspace = {workspace} AND block IN ({blocks})");
        self.change(format!("ALTER TABLE {TABLE} DELETE WHERE {condition}")).await
    }

    /// Remove everything about a day.
    pub async fn drop_day(&self, day: i64) -> Result<(), ClickHouseError> {
        let at = kurz_core::time::Timestamp::from_ms(day.saturating_mul(86_400_000)).to_rfc3339();
        let date = at.get(..10).unwrap_or_default();
        self.change(format!("ALTER TABLE {TABLE} DROP PARTITION '{date}'")).await
    }

    /// The first day of which the table has anything; 0 when it is empty.
    pub async fn first_day(&self) -> Result<i64, ClickHouseError> {
        let answer = self.read(FIRST_DAY.to_owned()).await?;
        Ok(RowReader::new(&answer).rows(RowReader::i64)?.first().copied().unwrap_or(0))
    }

    /// Whether removals are accepted and not yet carried out.
    pub async fn is_removing(&self) -> Result<bool, ClickHouseError> {
        let answer = self.read(UNFINISHED.to_owned()).await?;
        Ok(read_numbers(&answer)?.first().is_some_and(|count| *count > 0))
    }
}

/// Rows of these days: the range chooses partitions, the list the days.
pub(super) fn on_days(days: &[i64]) -> String {
    let first = days.iter().min().copied().unwrap_or(0);
    let last = days.iter().max().copied().unwrap_or(0);
    let mut condition = format!("day >= toDate({first}) AND day <= toDate({last})");
    if last - first >= i64::try_from(days.len()).unwrap_or(i64::MAX) {
        let _ = write!(condition, " AND toUInt16(day) IN ({})", list(days.iter().copied()));
    }
    condition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_digits_whatever_they_say() {
        assert_eq!(text(""), "unhex('')");
        assert_eq!(text("a'); DROP"), "unhex('6127293B2044524F50')");
        assert_eq!(text("ä"), "unhex('C3A4')");
    }

    #[test]
    fn tokens_are_sent_to_servers_that_know_them() {
        for (version, knows) in [
            ("18.16.1", false),
            ("21.8.3.44", false),
            ("22.2.1", true),
            ("26.9.2.1", true),
            ("", false),
        ] {
            assert_eq!(knows_tokens(version), knows, "{version}");
        }
    }

    #[test]
    fn days_are_a_range_and_a_list_where_some_are_left_out() {
        assert_eq!(on_days(&[7]), "day >= toDate(7) AND day <= toDate(7)");
        assert_eq!(on_days(&[7, 8, 9]), "day >= toDate(7) AND day <= toDate(9)");
        assert!(on_days(&[7, 9]).ends_with("AND toUInt16(day) IN (7, 9)"));
    }
}
