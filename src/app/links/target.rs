//! Checks that every target has to pass, for new and for changed links.

use crate::app::{App, FieldError};
use kurz_core::code::{Canonical, canonicalise};
use kurz_core::link::Blocklist;
use kurz_core::link::target::{self, TargetError};

impl App {
    /// Replace the block list of this instance: each instance reads its own file.
    pub fn block(&self, list: Blocklist) {
        self.parts.blocked.replace(list);
        // Cached links were checked against the old one.
        self.parts.links.clear();
    }

    /// The canonical form of a URL that may be a target.
    pub(crate) fn check_target(&self, url: &str) -> Result<Canonical, FieldError> {
        let refused = |code, detail: String| FieldError::new("original_url", code, detail);
        let canonical =
            canonicalise(url).map_err(|error| refused(error.code(), error.about(url)))?;
        self.check_allowed(&canonical).map_err(|error| refused(error.code(), error.to_string()))?;
        Ok(canonical)
    }

    fn check_allowed(&self, canonical: &Canonical) -> Result<(), TargetError> {
        let policy = &self.parts.policy;
        target::check(canonical, policy.private_targets)?;
        let is_workspace = |host: &str| self.parts.hosts.workspace(host).is_some();
        if policy.own.has(canonical, is_workspace, &self.parts.reserved) {
            return Err(TargetError::SelfReference);
        }
        if self.parts.blocked.covers(canonical.host()) {
            return Err(TargetError::Blocked);
        }
        Ok(())
    }
}
