//! How a pending host comes to work: its owner proves that they control it, or an administrator of the
//! server consents. The first workspace that does gets it.

use std::time::Duration;

use super::hosts::{ShownHost, check_added, stored_name};
use crate::app::{Action, App, AppError, AuditDetail};
use crate::egress::HostChallenge;
use crate::store::{Host, HostUrls, PendingHost, Subject};
use kurz_core::account::{Act, Caller};
use kurz_core::code::WorkspaceId;

/// How long after a check of a host the next one has to wait: kurz asks a server that somebody merely
/// named.
const BETWEEN_CHECKS: Duration = Duration::from_secs(10);

impl App {
    /// Look for the proof of a pending host now; once it is found, the host works.
    pub async fn check_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<ShownHost, AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let host = stored_name(name)?;
        let store = &self.parts.store;
        if let Some(owned) = store.find_host(&host).await? {
            // Checked once more, or another workspace was first.
            return if owned.workspace == *workspace {
                Ok(owned.into())
            } else {
                self.pending_host(workspace, &host).await?;
                Err(AppError::HostTaken)
            };
        }
        let pending = self.pending_host(workspace, &host).await?;
        self.check_quarantine(caller, workspace, &host).await?;
        let now = self.parts.clock.now();
        if !store.start_host_check(&pending, now, now.minus(BETWEEN_CHECKS)).await? {
            let seconds = u32::try_from(BETWEEN_CHECKS.as_secs()).unwrap_or(u32::MAX);
            return Err(AppError::HostCheckedJustNow { seconds });
        }
        let challenge = HostChallenge::new(&pending.host, &pending.token);
        match self.parts.host_prover.prove(&challenge).await {
            Ok(proof) => self.activate(caller, pending, proof.as_str()).await,
            Err(found) => Err(AppError::HostUnproven { found }),
        }
    }

    /// Consent to a pending host without a proof.
    pub async fn approve_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<ShownHost, AppError> {
        Self::require_admin(caller)?;
        self.enter(caller, workspace, Act::Manage).await?;
        let pending = self.pending_host(workspace, &stored_name(name)?).await?;
        self.activate(caller, pending, "administrator").await
    }

    async fn activate(
        &self,
        caller: &Caller,
        pending: PendingHost,
        by: &str,
    ) -> Result<ShownHost, AppError> {
        let created_at = self.parts.clock.now();
        let urls = HostUrls::default();
        let host = Host { host: pending.host, workspace: pending.workspace, created_at, urls };
        let subject = Subject::host(&host.workspace, &host.host);
        let detail = AuditDetail { note: Some(by.to_owned()), ..AuditDetail::default() };
        let change = self.audit_with(caller, subject, Action::HostVerified, detail).await?;
        check_added(self.parts.store.activate_host(&host, &change).await?)?;
        self.hosts_changed().await?;
        Ok(host.into())
    }
}
