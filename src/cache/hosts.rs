//! Which workspace a host belongs to. All hosts are in memory: there are few, and every request
//! asks.

use std::collections::HashMap;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use crate::store::{Error, Store};
use kurz_core::code::WorkspaceId;

/// Hosts read from the store at a time.
const PAGE: i64 = 1000;

#[derive(Debug, Default)]
pub struct Hosts {
    maps: ArcSwap<Maps>,
    /// One reload at a time: of two at once, the one that read first could be kept last.
    reloading: Mutex<()>,
}

#[derive(Debug, Default)]
struct Maps {
    by_host: HashMap<String, WorkspaceId>,
    by_workspace: HashMap<WorkspaceId, Vec<String>>,
}

impl Hosts {
    /// The workspace of a host, given in lower case; `None` for the main host and unknown ones.
    pub fn workspace(&self, host: &str) -> Option<WorkspaceId> {
        let maps = self.maps.load();
        // Most servers have none: do not even hash.
        if maps.by_host.is_empty() { None } else { maps.by_host.get(host).cloned() }
    }

    pub fn of_workspace(&self, workspace: &WorkspaceId) -> Vec<String> {
        self.maps.load().by_workspace.get(workspace).cloned().unwrap_or_default()
    }

    pub async fn reload(&self, store: &Store) -> Result<(), Error> {
        let _one_at_a_time = self.reloading.lock().await;
        let mut maps = Maps::default();
        let mut after = String::new();
        loop {
            let page = store.list_all_hosts(&after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after.clone_from(&last.host);
            for host in page {
                let hosts = maps.by_workspace.entry(host.workspace.clone()).or_default();
                hosts.push(host.host.clone());
                maps.by_host.insert(host.host, host.workspace);
            }
        }
        self.maps.store(maps.into());
        Ok(())
    }
}
