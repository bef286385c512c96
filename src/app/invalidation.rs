//! Invalidation of what is in memory, here and on the other instances: telling them, and doing what
//! they tell.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::peers::Message;
use crate::store::LinkAddress;
use kurz_core::code::WorkspaceId;
use kurz_core::link::{AddressKey, Link, LinkId};

impl App {
    /// A link changed: drop everything about it and its aliases, here and on the other instances. To be called
    /// once the change is committed: an alias that was added before it is found then, one that is added later is
    /// read with the change.
    pub(crate) async fn invalidate(&self, link: &Link) {
        let (workspace, code) = (link.workspace.to_string(), link.code.to_string());
        self.invalidate_links(&[LinkAddress { id: link.id, workspace, code }]).await;
    }

    pub(super) async fn invalidate_links(&self, links: &[LinkAddress]) {
        for LinkAddress { workspace, code, .. } in links {
            self.invalidate_code(workspace, code);
        }
        let ids: Vec<LinkId> = links.iter().map(|link| link.id).collect();
        match self.parts.store.alias_addresses(&ids).await {
            Ok(aliases) => {
                for LinkAddress { workspace, code, .. } in aliases {
                    self.invalidate_code(&workspace, &code);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the aliases of changed links are not known: all links are read again");
                self.invalidate_all_links();
            }
        }
    }

    /// Drop everything about one code of a link.
    pub(super) fn invalidate_code(&self, workspace: &str, code: &str) {
        self.parts.reuse.invalidate(workspace, code);
        self.invalidate_redirects(workspace, code);
    }

    /// Drop what redirects know about a link's addresses, here and on the other instances.
    pub(super) fn invalidate_redirects(&self, workspace: &str, code: &str) {
        let mut keys = Vec::with_capacity(2);
        for key in AddressKey::of_link(workspace, code) {
            self.parts.store.changed(&key);
            self.parts.links.forget(key.as_str());
            keys.push(key.to_string());
        }
        self.parts.peers.publish(Message::Invalidate(keys));
    }

    /// A workspace or its members changed: drop what is known of them, here and on the other instances.
    pub(super) fn invalidate_workspace(&self, id: &WorkspaceId) {
        self.memberships.invalidate(id);
        self.parts.peers.publish(Message::Workspace(id.to_string()));
    }

    /// Any link may have changed: drop all of them, here and on the other instances.
    pub(super) fn invalidate_all_links(&self) {
        self.invalidate_everything();
        self.parts.peers.publish(Message::InvalidateAll);
    }

    /// Do what the messages of other instances ask for, until `stop`.
    pub async fn apply_invalidations(
        &self,
        mut messages: mpsc::Receiver<Message>,
        stop: CancellationToken,
    ) {
        while let Some(Some(message)) = stop.run_until_cancelled(messages.recv()).await {
            match message {
                Message::Invalidate(keys) => self.invalidate_keys(&keys),
                Message::InvalidateAll => {
                    self.invalidate_everything();
                    self.reload_hosts().await;
                }
                Message::Hosts => self.reload_hosts().await,
                Message::Workspace(id) => {
                    if let Some(id) = WorkspaceId::parse(&id) {
                        self.memberships.invalidate(&id);
                    }
                }
                Message::Recall(link) => {
                    if let Some(quota) = self.parts.quota.as_ref() {
                        quota.recall(LinkId(link));
                    }
                }
                Message::Heartbeat | Message::Unsubscribed => {}
            }
        }
    }

    fn invalidate_keys(&self, keys: &[String]) {
        for key in keys.iter().filter_map(|key| AddressKey::parse(key)) {
            self.parts.store.changed(&key);
            self.parts.links.forget(key.as_str());
            if let (Some(workspace), code) = key.parts() {
                self.parts.reuse.invalidate(workspace, code);
            }
        }
    }

    fn invalidate_everything(&self) {
        self.parts.store.all_changed();
        self.parts.links.clear();
        self.parts.reuse.clear();
        self.memberships.clear();
        self.parts.clicks.forget_modes();
    }

    /// Read the hosts of workspaces: once messages of other instances arrive, and before the first
    /// request is served.
    pub async fn load_hosts(&self) -> Result<(), AppError> {
        Ok(self.parts.hosts.reload(&self.parts.store).await?)
    }

    /// Read the hosts again, since they may have changed.
    async fn reload_hosts(&self) {
        if let Err(error) = self.load_hosts().await {
            // The next message or reconnection reads them; until then the old ones are better than none.
            tracing::warn!(%error, "the hosts of workspaces could not be read again");
        }
    }
}
