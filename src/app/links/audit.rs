//! The audit log of one link, for those who may see the link.

use crate::app::{App, AppError, AuditEntry};
use kurz_core::account::{Act, Caller};
use kurz_core::code::WorkspaceId;

/// Entries that are shown of one link.
const MOST: i64 = 100;

impl App {
    /// The latest entries about a link, newest first.
    pub async fn link_audit(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<Vec<AuditEntry>, AppError> {
        let (_, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let changes = self.parts.store.list_link_audit(link.id, MOST).await?;
        Ok(changes.into_iter().map(AuditEntry::from).collect())
    }
}
