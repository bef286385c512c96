//! Checks that every target has to pass, for new and for changed links.

use std::borrow::Cow;

use http::HeaderValue;

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
        self.check_url("original_url", url)
    }

    /// The same for a URL in another field.
    pub(crate) fn check_url(
        &self,
        field: impl Into<Cow<'static, str>>,
        url: &str,
    ) -> Result<Canonical, FieldError> {
        let field = field.into();
        let refused = |code, detail: String| FieldError::new(field.clone(), code, detail);
        let canonical =
            canonicalise(url).map_err(|error| refused(error.code(), error.about(url)))?;
        self.check_allowed(&canonical).map_err(|error| refused(error.code(), error.to_string()))?;
        Ok(canonical)
    }

    /// Whether a host's address may lead to a URL: what may be a target, on no host of this server, where it
    /// could lead back.
    pub(crate) fn check_host_url(&self, field: &'static str, url: &str) -> Result<(), FieldError> {
        let canonical =
            self.check_target(url).map_err(|error| FieldError { field: field.into(), ..error })?;
        let is_workspace = |host: &str| self.parts.hosts.workspace(host).is_some();
        if self.parts.policy.own.answers(&canonical, is_workspace) {
            let detail =
                "the URL is on a host of this server, and could lead back: name one elsewhere";
            return Err(FieldError::new(field, "url-own-host", detail));
        }
        Ok(())
    }

    /// Where pages of the main host lead that the host of a workspace does not have, if anywhere.
    pub fn missing_page_location(&self, host: &str) -> Option<HeaderValue> {
        self.parts.hosts.locations(host).invalid_code.clone()
    }

    /// Where `/` of a host leads, if not to a page.
    pub fn home_location(&self, host: &str) -> Option<HeaderValue> {
        self.parts.hosts.locations(host).home.clone()
    }

    /// Where a path leads that no page has and no code can have, if anywhere. What begins like a page stays a
    /// mistake that whoever made it should see.
    pub fn invalid_code_location(&self, host: &str, path: &str) -> Option<HeaderValue> {
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if self.parts.reserved.contains(first) {
            return None;
        }
        self.missing_page_location(host)
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
