//! The uses of links with a click limit. A use is written to the store before its visitor is sent on, so that the
//! limit is exact on any number of instances and after any crash (ADR 20). Links with such a limit are few, and the
//! store commits what waits at the same time together.
//!
//! Invariant: a visitor is sent on only after the store has counted the use.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::store::{Error, Store};
use kurz_core::link::LinkId;

/// How long a redirect waits for its use.
const PATIENCE: Duration = Duration::from_secs(5);

/// The result of asking for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseOutcome {
    /// It is counted; so many are by now.
    Taken { uses: u64 },
    /// All are used; so many are counted.
    UsedUp { uses: u64 },
    /// The link is gone.
    Gone,
    /// The store does not answer.
    Away,
}

/// Counts the uses of links with a click limit.
#[derive(Clone, Debug)]
pub struct ClickLimits(Arc<Store>);

impl ClickLimits {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// Use `link` once, unless it was used `limit` times.
    pub(crate) async fn take(&self, link: LinkId, limit: u64) -> UseOutcome {
        let taken = timeout(PATIENCE, self.0.take_uses(link, limit, 1)).await;
        match taken.unwrap_or_else(|_| Err(Error::Unavailable("it took too long".to_owned()))) {
            Ok(Some(found)) if found.taken > 0 => UseOutcome::Taken { uses: found.uses },
            Ok(Some(found)) => UseOutcome::UsedUp { uses: found.uses },
            Ok(None) => UseOutcome::Gone,
            Err(error) => {
                tracing::warn!(link = link.0, %error, "a use of a link could not be counted");
                UseOutcome::Away
            }
        }
    }
}
