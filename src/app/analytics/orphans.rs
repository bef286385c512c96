//! Orphans of a workspace: which addresses on its own hosts were asked for and lead to no link.

use crate::app::{App, AppError};
use crate::clicks::orphan_misses::WaitingOrphans;
use kurz_core::account::{Act, Caller, Reach};
use kurz_core::analytics::orphans::{OrphanReport, Orphans};
use kurz_core::analytics::{AnalyticsMode, AnalyticsQuery, DaySums, day_of};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// How often orphans are merged anew because another instance wrote some meanwhile.
const TRIES: usize = 5;

impl App {
    /// Count a request for an address that leads nowhere, if the host is a workspace's own.
    pub fn miss_on_host(&self, host: &str, path: &str) {
        if let Some(workspace) = self.parts.hosts.workspace(host) {
            self.parts.clicks.orphans().add(workspace, host, path, self.now());
        }
    }

    /// The addresses on a workspace's hosts that were asked for in the range of a question and lead nowhere. They are
    /// counted by UTC day: each day that the range touches is in it.
    pub async fn orphans(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        query: &AnalyticsQuery,
    ) -> Result<OrphanReport, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, Act::ReadLinks).await?;
        if !matches!(reach, Reach::All) {
            // Hosts are a workspace's, not one user's.
            return Ok(OrphanReport::default());
        }
        let last = Timestamp::from_ms(query.range.to.as_ms().saturating_sub(1));
        let days = day_of(query.range.from)..=day_of(last);
        let rows = self.parts.store.list_orphans(&workspace.id, days).await?;
        let days = rows.iter().map(|data| decode(&workspace.id, data));
        Ok(OrphanReport::of(days, query.limit))
    }

    /// Write the misses that wait in memory. What cannot be written waits for the next time.
    pub async fn write_orphans(&self) -> Result<(), AppError> {
        let misses = self.parts.clicks.orphans();
        let mut waiting: WaitingOrphans = misses.take();
        while let Some(((workspace, day), orphans)) = waiting.pop_first() {
            match self.add_orphans(&workspace, day, &orphans).await {
                Ok(true) => {}
                Ok(false) => misses.put_back((workspace, day), &orphans),
                Err(error) => {
                    waiting.insert((workspace, day), orphans);
                    for (key, orphans) in waiting {
                        misses.put_back(key, &orphans);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// `false` when other instances write the same ones all the time.
    async fn add_orphans(
        &self,
        workspace: &WorkspaceId,
        day: i64,
        orphans: &Orphans,
    ) -> Result<bool, AppError> {
        let store = &self.parts.store;
        let keeping = store.find_keeping(workspace).await?;
        let mode = self.parts.policy.analytics.mode_with(keeping.and_then(|it| it.mode));
        if mode == AnalyticsMode::Off {
            return Ok(true);
        }
        for _ in 0..TRIES {
            let before = store.find_orphans(workspace, day).await?;
            let mut all = before.as_deref().map(|data| decode(workspace, data)).unwrap_or_default();
            all.merge(orphans);
            let data = all.to_sums().encode();
            if store.replace_orphans(workspace, day, before, data).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn decode(workspace: &WorkspaceId, data: &[u8]) -> Orphans {
    match DaySums::decode(data) {
        Ok(sums) => Orphans::from_sums(&sums),
        Err(error) => {
            tracing::warn!(%workspace, %error, "the orphans of a day cannot be read");
            Orphans::default()
        }
    }
}
