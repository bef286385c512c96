//! How long events are kept: a day whose time is over becomes sums, and sums go after theirs.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event_log::blocking;
use super::event_merge::decode_block;
use crate::app::{App, AppError};
use crate::store::{BlockKey, DaySumRow, EventColumn, HeldLock};
use kurz_core::analytics::block::{COUNT, LINK, VISITOR};
use kurz_core::analytics::{AnalyticsMode, DaySums, SumBuilder, TextColumn, VisitorPeriod, day_of};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Days and workspaces that are looked at in one go.
const MOST_DAYS: i64 = 100;
const WORKSPACES: i64 = 500;

/// What an operator chose about analytics.
#[derive(Clone, Copy, Debug)]
pub struct AnalyticsPolicy {
    /// How much is kept, unless a workspace or a link keeps less.
    pub mode: AnalyticsMode,
    /// How long events are kept; `None`: as in the mode `aggregate`.
    pub events_keep: Option<Duration>,
    pub sums_keep: Duration,
    /// How long a visitor is recognised.
    pub period: VisitorPeriod,
}

impl AnalyticsPolicy {
    /// The mode of a workspace that chose `mode` itself.
    pub fn mode_with(&self, mode: Option<AnalyticsMode>) -> AnalyticsMode {
        let server = if self.events_keep.is_none() {
            self.mode.min(AnalyticsMode::Aggregate)
        } else {
            self.mode
        };
        mode.map_or(server, |mode| mode.min(server))
    }

    /// The first day whose events are kept at `now`, by a workspace that chose these itself.
    pub fn first_day(
        &self,
        mode: Option<AnalyticsMode>,
        keep: Option<Duration>,
        now: Timestamp,
    ) -> i64 {
        let keep = match (keep, self.events_keep) {
            (Some(keep), Some(server)) => keep.min(server),
            (keep, server) => keep.or(server).unwrap_or_default(),
        };
        match self.mode_with(mode) {
            AnalyticsMode::Events if !keep.is_zero() => day_of(now.minus(keep)),
            // Nothing is older than 48 hours.
            _ => day_of(now) - 1,
        }
    }
}

impl App {
    /// Turn days whose time is over into sums, and remove sums whose time is over.
    pub(super) async fn retire_events(
        &self,
        holding: &HeldLock,
        stop: &CancellationToken,
    ) -> Result<(), AppError> {
        let (store, policy) = (&self.parts.store, self.parts.policy.analytics);
        let now = self.parts.clock.now();
        let first = policy.first_day(None, None, now);
        for (day, workspace) in store.list_old_days(first, MOST_DAYS).await? {
            if stop.is_cancelled() || !self.sum_day(holding, &workspace, day).await? {
                return Ok(());
            }
        }
        let mut after = String::new();
        loop {
            let keeping = store.list_keeping(&after, WORKSPACES).await?;
            let Some(last) = keeping.last() else { break };
            after = last.workspace.to_string();
            for one in keeping {
                let first_kept = policy.first_day(one.mode, one.keep, now);
                if first_kept <= first {
                    continue;
                }
                for day in store.list_old_days_of(&one.workspace, first_kept, MOST_DAYS).await? {
                    if stop.is_cancelled() || !self.sum_day(holding, &one.workspace, day).await? {
                        return Ok(());
                    }
                }
            }
        }
        let oldest = day_of(now.minus(policy.sums_keep));
        while store.remove_old_sums(holding, oldest, now).await? == Some(true) {}
        Ok(())
    }

    /// Put sums in the place of the events of a day; `false` when the lock was lost.
    async fn sum_day(
        &self,
        holding: &HeldLock,
        workspace: &WorkspaceId,
        day: i64,
    ) -> Result<bool, AppError> {
        let store = &self.parts.store;
        let blocks = store.list_blocks(workspace, day).await?;
        let keys: Vec<BlockKey> = blocks
            .iter()
            .map(|block| BlockKey { workspace: workspace.clone(), day, seq: block.seq })
            .collect();
        let before = store.list_day_sums(workspace, day..=day).await?;
        let keeping = store.find_keeping(workspace).await?;
        let mode = self.parts.policy.analytics.mode_with(keeping.and_then(|it| it.mode));
        let mut sums = Vec::new();
        for column in TextColumn::ALL {
            let is_kept = match mode {
                AnalyticsMode::Off => false,
                AnalyticsMode::Aggregate => column.is_kept_aggregated(),
                AnalyticsMode::Events => true,
            };
            let earlier = before.iter().find(|row| row.dimension == number(column));
            let earlier = earlier.map(|row| DaySums::decode(&row.data));
            let mut builder = SumBuilder::new(column);
            match earlier {
                Some(Ok(earlier)) => builder.add_sums(&earlier),
                Some(Err(error)) => {
                    tracing::error!(%workspace, day, %error, "sums of a day cannot be read");
                }
                None => {}
            }
            if is_kept {
                builder = self.sum_column(builder, column, workspace, day).await?;
            }
            let summed = blocking(move || builder.finish()).await?;
            sums.extend(summed.map(|summed| (number(column), summed)));
        }
        let sums = self.without_purged(day, sums).await?;
        let now = self.parts.clock.now();
        Ok(store.sum_blocks(holding, &keys, workspace, sums, now).await?)
    }

    /// Of links that were purged no sums are kept.
    pub(super) async fn without_purged(
        &self,
        day: i64,
        sums: Vec<(u8, DaySums)>,
    ) -> Result<Vec<DaySumRow>, AppError> {
        let links: BTreeSet<LinkId> =
            sums.iter().flat_map(|(_, sums)| sums.links.iter().copied()).collect();
        let links: Vec<LinkId> = links.into_iter().collect();
        let purged = self.parts.store.list_purged_links(&links).await?;
        let purged: BTreeSet<LinkId> = purged.into_iter().collect();
        let encode = move || {
            let row = |(dimension, sums): (u8, DaySums)| {
                let kept = DaySums::of(sums.rows().filter(|(link, ..)| !purged.contains(link)));
                DaySumRow { day, dimension, data: kept.encode() }
            };
            sums.into_iter().map(row).collect()
        };
        blocking(encode).await
    }

    /// Add the events of a day to the sums of one column.
    async fn sum_column(
        &self,
        mut builder: SumBuilder,
        column: TextColumn,
        workspace: &WorkspaceId,
        day: i64,
    ) -> Result<SumBuilder, AppError> {
        let bit = |number: u8| 1_u64 << number;
        let texts = [column, TextColumn::Class, TextColumn::Answer].map(|it| bit(number(it)));
        let numbers = [LINK, VISITOR, COUNT].map(bit);
        let mask = texts.into_iter().chain(numbers).fold(0, |mask, bit| mask | bit);
        let columns = self.parts.store.list_event_columns(workspace, day..=day, mask).await?;
        let workspace = workspace.clone();
        let add = move || {
            let same_block = |left: &EventColumn, right: &EventColumn| left.seq == right.seq;
            for block in columns.chunk_by(same_block) {
                let seq = block.first().map_or(0, |column| column.seq);
                let key = BlockKey { workspace: workspace.clone(), day, seq };
                if let Some(batch) = decode_block(&key, block) {
                    builder.add(&batch);
                }
            }
            builder
        };
        blocking(add).await
    }
}

#[expect(clippy::as_conversions, reason = "the numbers are those of the columns")]
pub(super) const fn number(column: TextColumn) -> u8 {
    column as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn policy(mode: AnalyticsMode, days: u32) -> AnalyticsPolicy {
        AnalyticsPolicy {
            mode,
            events_keep: Some(DAY * days).filter(|keep| !keep.is_zero()),
            sums_keep: DAY * 730,
            period: VisitorPeriod::Day,
        }
    }

    #[test]
    fn a_day_is_kept_until_all_of_it_is_too_old_and_never_longer_than_the_narrowest_says() {
        let (events, aggregate) = (AnalyticsMode::Events, AnalyticsMode::Aggregate);
        let noon = Timestamp::from_ms(1_000 * 86_400_000 + 43_200_000);
        let ninety = policy(events, 90);
        assert_eq!(ninety.first_day(None, None, noon), 910);
        assert_eq!(ninety.first_day(None, Some(DAY * 7), noon), 993);
        assert_eq!(ninety.first_day(None, Some(DAY * 400), noon), 910, "not wider than the server");
        assert_eq!(ninety.first_day(Some(aggregate), None, noon), 999);
        assert_eq!(policy(aggregate, 90).first_day(Some(events), None, noon), 999);
        assert_eq!(policy(events, 0).first_day(None, None, noon), 999);
        assert_eq!(policy(events, 0).first_day(None, Some(DAY * 7), noon), 999);
        let midnight = Timestamp::from_ms(1_000 * 86_400_000);
        assert_eq!(ninety.first_day(None, None, midnight), 910);
        assert_eq!(ninety.first_day(None, None, midnight.minus(Duration::from_millis(1))), 909);
    }
}
