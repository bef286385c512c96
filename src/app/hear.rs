//! What other instances say, and what follows for this one; and telling them.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::peers::Message;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;

impl App {
    /// Drop what memory knows about a link, since it changed, by its address; here and on the others.
    pub(super) fn forget_address(&self, workspace: &str, code: &str) {
        self.parts.reuse.forget(workspace, code);
        self.forget_visits(workspace, code);
    }

    /// Drop what redirects know about a link's addresses, and tell the others.
    pub(super) fn forget_visits(&self, workspace: &str, code: &str) {
        let keys = vec![code.to_owned(), format!("{workspace}/{code}")];
        for key in &keys {
            self.parts.store.changed(key);
            self.parts.links.forget(key);
        }
        self.parts.peers.publish(Message::Invalidate(keys));
    }

    /// Drop what is known about a workspace and its members, since it changed; here and on the others.
    pub(super) fn forget_workspace(&self, id: &WorkspaceId) {
        self.seats.forget(id);
        self.parts.peers.publish(Message::Workspace(id.to_string()));
    }

    /// Every link may have changed: forget all, and tell the others.
    pub(super) fn forget_links(&self) {
        self.forget_everything();
        self.parts.peers.publish(Message::InvalidateAll);
    }

    /// Act on what other instances say, until `stop`.
    pub async fn listen(&self, mut heard: mpsc::Receiver<Message>, stop: CancellationToken) {
        while let Some(Some(message)) = stop.run_until_cancelled(heard.recv()).await {
            match message {
                Message::Invalidate(keys) => self.forget_keys(&keys),
                Message::InvalidateAll => {
                    self.forget_everything();
                    self.reload_hosts().await;
                }
                Message::Hosts => self.reload_hosts().await,
                Message::Workspace(id) => {
                    if let Some(id) = WorkspaceId::parse(&id) {
                        self.seats.forget(&id);
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

    fn forget_keys(&self, keys: &[String]) {
        for key in keys {
            self.parts.store.changed(key);
            self.parts.links.forget(key);
            if let Some((workspace, code)) = key.split_once('/') {
                self.parts.reuse.forget(workspace, code);
            }
        }
    }

    fn forget_everything(&self) {
        self.parts.store.all_changed();
        self.parts.links.clear();
        self.parts.reuse.clear();
        self.seats.clear();
    }

    /// Read the hosts of workspaces. When the others can be heard, and before anybody is served.
    pub async fn load_hosts(&self) -> Result<(), AppError> {
        Ok(self.parts.hosts.reload(&self.parts.store).await?)
    }

    /// Read the hosts again, as they may have changed unheard.
    async fn reload_hosts(&self) {
        if let Err(error) = self.load_hosts().await {
            // The next gap or change brings them; until then the old ones are better than none.
            tracing::warn!(%error, "the hosts of workspaces could not be read again");
        }
    }
}
