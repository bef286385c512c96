//! A warning when one caller changes the targets of many links in a short time, as an intruder would. It
//! refuses nothing: a team that moves to another domain does the same. Counted on each instance by itself.

use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::Instant;

use kurz_core::account::{Caller, KeyId, UserId};

/// More targets than this in one [`SPAN`] are many.
const MANY: u32 = 100;
const SPAN: Duration = Duration::from_mins(1);
/// Most callers that are counted at the same time.
const MOST: usize = 10_000;

/// Whom edits are counted for: an account, the key it uses, nobody's on an open server.
type EditorKey = (Option<UserId>, Option<KeyId>);

/// Targets that callers changed lately: since when, and how many.
#[derive(Debug)]
pub(crate) struct RetargetAlarm(Cache<EditorKey, (Instant, u32)>);

impl Default for RetargetAlarm {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl RetargetAlarm {
    /// `caller` led a link elsewhere.
    pub(crate) fn retargeted(&self, caller: &Caller) {
        if self.count((caller.owner(), caller.key()), Instant::now()) == MANY + 1 {
            metrics::counter!("kurz_bulk_target_changes_total").increment(1);
            tracing::warn!(
                user = ?caller.owner().map(|user| user.0),
                key = ?caller.key().map(|key| key.0),
                client = ?caller.client,
                "somebody led more than {MANY} links elsewhere within a minute: look into the log of \
                 changes, and disable the account or the key if it is not its owner who does this"
            );
        }
    }

    /// How many it is by now in this span.
    fn count(&self, who: EditorKey, now: Instant) -> u32 {
        let known = self.0.get(&who).filter(|(since, _)| now.duration_since(*since) < SPAN);
        let (since, count) = known.unwrap_or((now, 0));
        self.0.insert(who, (since, count + 1));
        count + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: A16
    #[test]
    fn each_caller_is_counted_for_a_minute_at_a_time() {
        let alarm = RetargetAlarm::default();
        let start = Instant::now();
        let (ada, eve) = ((Some(UserId(1)), None), (Some(UserId(2)), Some(KeyId(1))));
        for expected in 1..=MANY + 5 {
            assert_eq!(alarm.count(ada, start + SPAN / 2), expected);
        }
        assert_eq!(alarm.count(eve, start), 1);
        assert_eq!(alarm.count(ada, start + SPAN * 2), 1);
    }
}
