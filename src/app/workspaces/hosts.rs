//! Hosts: the names a workspace's links answer on.

use crate::app::{Action, App, AppError, FieldError, Resource};
use crate::peers::Message;
use crate::store::{Host, Subject};
use kurz_core::account::{Act, Caller};
use kurz_core::code::{WorkspaceId, canonicalise};

const MOST: usize = 100;

impl App {
    /// Give a host to a workspace. The first workspace to name it keeps it.
    pub async fn add_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<Host, AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let now = self.parts.clock.now();
        let host =
            Host { host: self.host_name(name)?, workspace: workspace.clone(), created_at: now };
        self.check_quarantine(caller, &host).await?;
        if self.parts.store.list_hosts(workspace).await?.len() >= MOST {
            let detail = format!("a workspace has at most {MOST} hosts");
            return Err(FieldError::new("host", "hosts-too-many", detail).into());
        }
        let subject = Subject::host(workspace, &host.host);
        let change = self.audit(caller, subject, Action::Added).await?;
        if !self.parts.store.take_host(&host, &change).await? {
            return Err(AppError::HostTaken);
        }
        self.hosts_changed().await?;
        Ok(host)
    }

    /// Take a host from a workspace.
    pub async fn remove_host(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        name: &str,
    ) -> Result<(), AppError> {
        self.enter(caller, workspace, Act::Manage).await?;
        let host = self.host_name(name).map_err(|_| AppError::NotFound(Resource::Host))?;
        let subject = Subject::host(workspace, &host);
        let change = self.audit(caller, subject, Action::Removed).await?;
        let now = self.parts.clock.now();
        if !self.parts.store.delete_host(&host, workspace, now, &change).await? {
            return Err(AppError::NotFound(Resource::Host));
        }
        self.hosts_changed().await?;
        Ok(())
    }

    /// A host that one workspace gave up is not another's at once: its printed addresses would lead
    /// to strangers. Those who administer the server know what they do.
    async fn check_quarantine(&self, caller: &Caller, host: &Host) -> Result<(), AppError> {
        let released = self.parts.store.find_released_host(&host.host).await?;
        let Some((workspace, at)) = released else { return Ok(()) };
        let end = at.plus(self.parts.policy.host_quarantine);
        let is_over = workspace == host.workspace || end <= host.created_at;
        if is_over || Self::require_admin(caller).is_ok() {
            return Ok(());
        }
        Err(AppError::HostQuarantined { end })
    }

    /// The hosts of a workspace, oldest first.
    pub async fn list_hosts(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
    ) -> Result<Vec<Host>, AppError> {
        self.enter(caller, workspace, Act::Look).await?;
        Ok(self.parts.store.list_hosts(workspace).await?)
    }

    /// Read the hosts again, here and on the other instances.
    pub(crate) async fn hosts_changed(&self) -> Result<(), AppError> {
        self.parts.peers.publish(Message::Hosts);
        Ok(self.parts.hosts.reload(&self.parts.store).await?)
    }

    /// The one spelling of a host: lower case, punycode, no dot at its end.
    fn host_name(&self, name: &str) -> Result<String, AppError> {
        let refused = |detail: &str| FieldError::new("host", "host-invalid", detail);
        let name = name.strip_suffix('.').unwrap_or(name);
        let shape = "a host is a name such as go.example.com, without a port";
        // What ends a host in a URL, or stands around one.
        if name.contains([':', '/', '?', '#', '[', '@']) {
            return Err(refused(shape).into());
        }
        // The rules for hosts are those of URLs.
        let canonical = canonicalise(&format!("https://{name}/"))
            .and_then(|canonical| canonical.check_reachable().map(|()| canonical))
            .map_err(|error| refused(&error.to_string()))?;
        let host = canonical.host();
        if !host.contains('.') || host.ends_with(|last: char| last.is_ascii_digit()) {
            return Err(refused(shape).into());
        }
        if host == self.parts.policy.public_url.host() {
            return Err(refused("this is the main host, which belongs to nobody alone").into());
        }
        Ok(host.to_owned())
    }
}
