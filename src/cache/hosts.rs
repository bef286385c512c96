//! Which workspace a host belongs to, and where its other addresses lead. All hosts are in memory: there are
//! few, and every request asks.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::HeaderValue;
use tokio::sync::Mutex;

use crate::store::{Error, HostUrls, Store};
use kurz_core::code::{WorkspaceId, canonicalise};
use kurz_core::link::location::location;

/// Hosts read from the store at a time.
const PAGE: i64 = 1000;

#[derive(Debug, Default)]
pub struct Hosts {
    maps: ArcSwap<Maps>,
    /// Of the main host.
    main: Arc<HostLocations>,
    /// One reload at a time: of two at once, the one that read first could be kept last.
    reloading: Mutex<()>,
}

#[derive(Debug, Default)]
struct Maps {
    by_host: HashMap<String, WorkspaceId>,
    by_workspace: HashMap<WorkspaceId, Vec<String>>,
    /// Of the hosts that have any.
    locations: HashMap<String, Arc<HostLocations>>,
}

/// The values of `Location` for addresses of a host that are no link's; `None`: a page says so.
#[derive(Debug, Default)]
pub struct HostLocations {
    /// `/`.
    pub home: Option<HeaderValue>,
    /// Unknown codes.
    pub not_found: Option<HeaderValue>,
    /// Paths that can be no code.
    pub invalid_code: Option<HeaderValue>,
}

impl HostLocations {
    pub fn new(urls: &HostUrls) -> Self {
        let prepare = |url: &Option<String>| {
            let url = url.as_deref()?;
            let canonical = canonicalise(url).ok()?;
            HeaderValue::from_str(&location(url, &canonical)).ok()
        };
        Self {
            home: prepare(&urls.home),
            not_found: prepare(&urls.not_found),
            invalid_code: prepare(&urls.invalid_code),
        }
    }
}

impl Hosts {
    /// None yet, beside the main host.
    pub fn new(main: &HostUrls) -> Self {
        Self { main: Arc::new(HostLocations::new(main)), ..Self::default() }
    }

    /// The workspace of a host, given in lower case; `None` for the main host and unknown ones.
    pub fn workspace(&self, host: &str) -> Option<WorkspaceId> {
        let maps = self.maps.load();
        // Most servers have none: do not even hash.
        if maps.by_host.is_empty() { None } else { maps.by_host.get(host).cloned() }
    }

    /// Where the other addresses of a host lead; those of an unknown one as those of the main host.
    pub fn locations(&self, host: &str) -> Arc<HostLocations> {
        let maps = self.maps.load();
        match (maps.locations.get(host), maps.by_host.contains_key(host)) {
            (Some(own), _) => Arc::clone(own),
            (None, true) => Arc::default(),
            (None, false) => Arc::clone(&self.main),
        }
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
                if host.urls != HostUrls::default() {
                    let locations = Arc::new(HostLocations::new(&host.urls));
                    maps.locations.insert(host.host.clone(), locations);
                }
                maps.by_host.insert(host.host, host.workspace);
            }
        }
        self.maps.store(maps.into());
        Ok(())
    }
}
