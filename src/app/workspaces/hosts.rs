//! Hosts: the names a workspace's links answer on. One that a workspace names is pending until it is
//! proven (`host_proof`) or an administrator of the server consents; until then it has no effect.

use crate::app::links::draft::kept_target;
use crate::app::{Action, App, AppError, AuditDetail, Change, FieldError, Resource};
use crate::egress::HostChallenge;
use crate::peers::Message;
use crate::store::{Host, HostAdded, HostUrls, PendingHost, Subject};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kurz_core::account::{Act, Caller};
use kurz_core::code::{WorkspaceId, canonicalise};
use kurz_core::host_name::{is_within, own_host};
use kurz_core::time::Timestamp;

/// Of one workspace, pending ones included.
const MOST: i64 = 100;

/// A host of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownHost {
    pub host: String,
    /// Since when it belongs to the workspace, or is pending.
    pub created_at: Timestamp,
    /// What its owner has to publish before it works; `None`: it works.
    pub pending: Option<HostInstructions>,
    pub urls: HostUrls,
}

/// What to change about a host: where `/`, unknown codes, and paths that can be no code lead. `None`: to the
/// page that says so.
#[derive(Clone, Debug, Default)]
pub struct HostPatch {
    pub home_url: Change<Option<String>>,
    pub not_found_url: Change<Option<String>>,
    pub invalid_code_url: Change<Option<String>>,
}

/// What the owner of a host publishes, at one of two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInstructions {
    /// The name of a TXT record.
    pub txt_name: String,
    /// The URL of a file.
    pub http_url: String,
    /// The record, or the content of the file.
    pub text: String,
}

impl From<Host> for ShownHost {
    fn from(host: Host) -> Self {
        Self { host: host.host, created_at: host.created_at, pending: None, urls: host.urls }
    }
}

impl From<PendingHost> for ShownHost {
    fn from(pending: PendingHost) -> Self {
        let HostChallenge { txt_name, http_url, text } =
            HostChallenge::new(&pending.host, &pending.token);
        let pending_proof = HostInstructions { txt_name, http_url, text };
        let (created_at, urls) = (pending.created_at, HostUrls::default());
        Self { host: pending.host, created_at, pending: Some(pending_proof), urls }
    }
}

impl App {
    /// Name a host for a workspace. It works at once when an administrator of the server names it, and
    /// else after a proof.
    pub async fn add_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<ShownHost, AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let now = self.parts.clock.now();
        let host = self.host_name(name)?;
        let is_admin = Self::require_admin(caller).is_ok();
        if !is_admin && is_within(&host, self.parts.policy.public_url.host()) {
            return Err(AppError::HostReserved);
        }
        if self.parts.store.find_host(&host).await?.is_some() {
            return Err(AppError::HostTaken);
        }
        let subject = Subject::host(workspace, &host);
        let change = self.audit(caller, subject, Action::Added).await?;
        if is_admin {
            let (workspace, urls) = (workspace.clone(), HostUrls::default());
            let host = Host { host, workspace, created_at: now, urls };
            let added = self.parts.store.insert_host_within(&host, MOST, &change).await?;
            check_added(added)?;
            self.hosts_changed().await?;
            return Ok(host.into());
        }
        self.check_quarantine(caller, workspace, &host).await?;
        let mut token = [0; 18];
        self.parts.entropy.fill(&mut token);
        let token = URL_SAFE_NO_PAD.encode(token);
        let pending = PendingHost { host, workspace: workspace.clone(), token, created_at: now };
        match self.parts.store.insert_pending_host(&pending, MOST, &change).await? {
            // Named before: the token stays the one that may be published by now.
            HostAdded::Taken => Ok(self.pending_host(workspace, &pending.host).await?.into()),
            added => check_added(added).map(|()| pending.into()),
        }
    }

    /// Take a host from a workspace, or one that is pending.
    pub async fn remove_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<(), AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let host = stored_name(name)?;
        let subject = Subject::host(workspace, &host);
        let change = self.audit(caller, subject, Action::Removed).await?;
        let now = self.parts.clock.now();
        if self.parts.store.delete_host(&host, workspace, now, &change).await? {
            self.hosts_changed().await?;
            return Ok(());
        }
        if self.parts.store.delete_pending_host(workspace, &host, &change).await? {
            return Ok(());
        }
        Err(AppError::NotFound(Resource::Host))
    }

    /// Change where other addresses of a host lead than those of links. A pending host has none.
    pub async fn edit_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
        patch: &HostPatch,
    ) -> Result<ShownHost, AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let missing = || AppError::NotFound(Resource::Host);
        let found = self.parts.store.find_host(&stored_name(name)?).await?;
        let mut host = found.filter(|host| host.workspace == *workspace).ok_or_else(missing)?;
        let (mut fields, mut errors) = (Vec::new(), Vec::new());
        for (field, change, url) in [
            ("home_url", &patch.home_url, &mut host.urls.home),
            ("not_found_url", &patch.not_found_url, &mut host.urls.not_found),
            ("invalid_code_url", &patch.invalid_code_url, &mut host.urls.invalid_code),
        ] {
            let Change::To(new) = change else { continue };
            let new = new.as_deref().map(str::trim).filter(|new| !new.is_empty());
            errors.extend(new.and_then(|new| self.check_host_url(field, new).err()));
            if new != url.as_deref() {
                fields.push(field.to_owned());
                *url = new.map(kept_target);
            }
        }
        if !errors.is_empty() {
            return Err(AppError::Invalid(errors));
        }
        if !fields.is_empty() {
            let detail = AuditDetail { fields, ..AuditDetail::default() };
            let subject = Subject::host(workspace, &host.host);
            let change = self.audit_with(caller, subject, Action::Edited, detail).await?;
            if !self.parts.store.edit_host(&host, &change).await? {
                return Err(missing());
            }
            self.hosts_changed().await?;
        }
        Ok(host.into())
    }

    /// A host that one workspace gave up is not another's at once: its printed addresses would lead
    /// to strangers. Those who administer the server know what they do.
    pub(super) async fn check_quarantine(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        host: &str,
    ) -> Result<(), AppError> {
        let released = self.parts.store.find_released_host(host).await?;
        let Some((last, at)) = released else { return Ok(()) };
        let end = at.plus(self.parts.policy.host_quarantine);
        let is_over = last == *workspace || end <= self.parts.clock.now();
        if is_over || Self::require_admin(caller).is_ok() {
            return Ok(());
        }
        Err(AppError::HostQuarantined { end })
    }

    /// The hosts of a workspace, those that work first, each kind oldest first.
    pub async fn list_hosts(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
    ) -> Result<Vec<ShownHost>, AppError> {
        self.enter(caller, workspace, Act::Look).await?;
        let hosts = self.parts.store.list_hosts(workspace).await?;
        let pending = self.parts.store.list_pending_hosts(workspace).await?;
        let hosts = hosts.into_iter().map(ShownHost::from);
        Ok(hosts.chain(pending.into_iter().map(ShownHost::from)).collect())
    }

    /// A host that the workspace named and has not proven.
    pub(super) async fn pending_host(
        &self,
        workspace: &WorkspaceId,
        host: &str,
    ) -> Result<PendingHost, AppError> {
        let found = self.parts.store.find_pending_host(workspace, host).await?;
        found.ok_or(AppError::NotFound(Resource::Host))
    }

    /// Read the hosts again, here and on the other instances.
    pub(crate) async fn hosts_changed(&self) -> Result<(), AppError> {
        self.parts.peers.publish(Message::Hosts);
        Ok(self.parts.hosts.reload(&self.parts.store).await?)
    }

    /// A name that a workspace may have as its host.
    fn host_name(&self, name: &str) -> Result<String, AppError> {
        let refused = |detail: &str| FieldError::new("host", "host-invalid", detail);
        let host = own_host(name).map_err(|error| refused(&error.to_string()))?;
        // Punycode that stands for no name is refused as it is in URLs.
        let canonical = canonicalise(&format!("https://{host}/"))
            .and_then(|canonical| canonical.check_reachable().map(|()| canonical))
            .map_err(|error| refused(&error.to_string()))?;
        if canonical.host() != host {
            return Err(refused("a host is written in its plain form").into());
        }
        if host == self.parts.policy.public_url.host() {
            return Err(refused("this is the main host, which belongs to nobody alone").into());
        }
        Ok(host)
    }
}

/// The name of a host that a store may have. Those that were added by other rules can still be removed.
pub(super) fn stored_name(name: &str) -> Result<String, AppError> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(AppError::NotFound(Resource::Host));
    }
    Ok(name.to_ascii_lowercase())
}

pub(super) fn check_added(added: HostAdded) -> Result<(), AppError> {
    match added {
        HostAdded::Done => Ok(()),
        HostAdded::Taken => Err(AppError::HostTaken),
        HostAdded::Missing => Err(AppError::NotFound(Resource::Host)),
        HostAdded::TooMany => {
            let detail = format!("a workspace has at most {MOST} hosts: remove one first");
            Err(FieldError::new("host", "hosts-too-many", detail).into())
        }
    }
}
