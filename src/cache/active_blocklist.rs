//! The block list in use. It is checked when a link is created, changed or loaded, never for a
//! redirect: replacing it invalidates the cached links.

use std::sync::Arc;

use arc_swap::ArcSwap;

use kurz_core::link::Blocklist;

/// The block list of this instance.
#[derive(Debug, Default)]
pub struct ActiveBlocklist(ArcSwap<Blocklist>);

impl ActiveBlocklist {
    /// Whether a link may not lead to `host`, as a canonical form has it.
    pub fn covers(&self, host: &str) -> bool {
        self.0.load().covers(host)
    }

    /// How many hosts and ranges are on it.
    pub fn len(&self) -> usize {
        self.0.load().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.load().is_empty()
    }

    pub fn replace(&self, list: Blocklist) {
        self.0.store(Arc::new(list));
    }
}
