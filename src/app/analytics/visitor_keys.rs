//! The keys that visitors are hashed with: one for each period, the same on all instances, made ahead of its
//! period and destroyed soon after it. From then on nobody can tell whose a hash was.

use std::time::Duration;

use crate::app::{App, AppError};
use crate::store::VisitorPeriodKey;
use kurz_core::analytics::AnalyticsMode;
use kurz_core::clicks::{PeriodKey, VisitorKeys};
use kurz_core::time::Timestamp;

/// How long before its period a key is made: an outage of the store at midnight costs no visitor.
const AHEAD: Duration = Duration::from_hours(2);
/// How long after its period a key is destroyed: clicks of its last moments are written by then.
const AFTER: Duration = Duration::from_hours(2);
/// How often old keys are looked for.
const LOOK_EVERY: Duration = Duration::from_mins(10);

/// The keys in use.
#[derive(Debug, Default)]
pub(crate) struct VisitorKeyring {
    current: Option<VisitorPeriodKey>,
    next: Option<VisitorPeriodKey>,
    looked_at: Option<Timestamp>,
}

impl App {
    /// See to it that clicks are hashed with the key of their period, that the next one is there in time, and
    /// that old ones are destroyed. Called every second; most of the time there is nothing to do.
    pub async fn keep_visitor_keys(&self) -> Result<(), AppError> {
        let now = self.parts.clock.latest(self.parts.clock.now());
        let mut ring = self.visitor_keys.lock().await;
        if self.parts.policy.analytics.mode > AnalyticsMode::Off {
            self.renew_visitor_keys(&mut ring, now).await?;
        }
        if ring.looked_at.is_none_or(|at| at.plus(LOOK_EVERY) <= now) {
            let destroyed = self.parts.store.destroy_visitor_keys(now.minus(AFTER)).await?;
            ring.looked_at = Some(now);
            if destroyed > 0 {
                tracing::info!(
                    destroyed,
                    "the keys of visitors' hashes of past periods were destroyed"
                );
            }
        }
        Ok(())
    }

    async fn renew_visitor_keys(
        &self,
        ring: &mut VisitorKeyring,
        now: Timestamp,
    ) -> Result<(), AppError> {
        let period = self.parts.policy.analytics.period;
        let (start, end) = period.bounds(now);
        let is_current = |key: &VisitorPeriodKey| key.start == start;
        let mut changed = false;
        if !ring.current.as_ref().is_some_and(is_current) {
            ring.current = ring.next.take().filter(is_current);
            if ring.current.is_none() {
                ring.current = Some(self.visitor_key(start, end).await?);
            }
            changed = true;
        }
        if ring.next.is_none() && end.minus(AHEAD) <= now {
            let (start, end) = period.bounds(end);
            ring.next = Some(self.visitor_key(start, end).await?);
            changed = true;
        }
        if changed {
            let key = |key: VisitorPeriodKey| PeriodKey::new(key.start, key.end, key.key);
            let keys = VisitorKeys { current: ring.current.map(key), next: ring.next.map(key) };
            self.parts.clicks.set_visitor_keys(keys);
        }
        Ok(())
    }

    /// The key of a period: the one that an instance stored first.
    async fn visitor_key(
        &self,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<VisitorPeriodKey, AppError> {
        let mut key = [0; 16];
        self.parts.entropy.fill(&mut key);
        let kind = self.parts.policy.analytics.period.as_str();
        let fresh = VisitorPeriodKey { kind, start, end, key };
        Ok(self.parts.store.visitor_key_or_keep(fresh).await?)
    }
}
