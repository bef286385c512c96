//! The heartbeat of this instance, by which the others and the administrator know of it.

use crate::app::{App, AppError};
use crate::store::Instance;
use kurz_core::time::Timestamp;

/// An instance without a heartbeat for so long is removed.
const REMOVED_AFTER_MS: i64 = 24 * 3_600_000;

impl App {
    /// Write down that this instance runs.
    pub async fn record_heartbeat(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        let this = Instance {
            name: self.parts.peers.instance().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            seen_at: now,
        };
        let remove = Timestamp::from_ms(now.as_ms() - REMOVED_AFTER_MS);
        Ok(self.parts.store.note_instance(&this, remove).await?)
    }

    /// Remove this instance: it ends.
    pub async fn end_heartbeat(&self) -> Result<(), AppError> {
        Ok(self.parts.store.drop_instance(self.parts.peers.instance()).await?)
    }
}
