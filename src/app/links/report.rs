//! Reports of visitors about links. What an administrator does about them is in `admin::reports`.

use crate::app::links::disable::read_reason;
use crate::app::{App, AppError, FieldError};
use crate::store::{NewReport, ReportBounds};
use kurz_core::account::Caller;
use kurz_core::code::canonicalise;
use kurz_core::code::short_path::{self, PathTarget};
use kurz_core::link::AddressKey;

/// Longest text of a report, in characters.
pub const MOST_WORDS: usize = 1000;
/// Reports that are kept: of one link, and in all.
const BOUNDS: ReportBounds = ReportBounds { of_link: 100, in_all: 20_000 };

#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    /// The short address, or the code alone.
    pub address: String,
    /// `abuse`, `malware`, `phishing`, `legal` or `other`.
    pub reason: String,
    pub words: String,
}

impl App {
    /// Take a report. Whether it is the first of its kind is not said.
    pub async fn report(&self, caller: &Caller, request: &ReportRequest) -> Result<(), AppError> {
        if let Some(client) = caller.client {
            // Before anything is looked up: the form tells whether a code exists.
            self.parts.limits.report(client, self.parts.clock.steady())?;
        }
        let reason = read_reason(&request.reason)?;
        let words = request.words.trim();
        if words.chars().count() > MOST_WORDS {
            let detail = format!("a report has at most {MOST_WORDS} characters");
            return Err(FieldError::new("words", "words-too-long", detail).into());
        }
        let words = words.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        let unknown = || {
            let detail = "there is no such link here: give the whole short address";
            AppError::from(FieldError::new("address", "report-unknown", detail))
        };
        let key = self.key_of(&request.address).ok_or_else(unknown)?;
        let key = AddressKey::parse(&key).ok_or_else(unknown)?;
        let place = self.parts.store.find_redirect_row(&key).await?;
        let place = place.filter(|place| place.life.deleted_at.is_none());
        let place = place.filter(|place| place.life.purged_at.is_none()).ok_or_else(unknown)?;
        if self.parts.store.count_reports().await? >= BOUNDS.in_all {
            return Err(AppError::ReportsFull);
        }
        let report = NewReport {
            id: self.parts.store.take_numbers("report", 1).await?,
            link: place.id,
            client: caller.client.map(|client| client.to_string()),
            reason: reason.as_str(),
            words,
            at: self.parts.clock.now(),
        };
        if self.parts.store.insert_report(&report, BOUNDS).await? {
            metrics::counter!("kurz_reports_total").increment(1);
        }
        Ok(())
    }

    /// The cache's key for a short address of this server, as people write it.
    fn key_of(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let url = if text.contains("://") {
            text.to_owned()
        } else if text.contains('.') || text.starts_with('[') || text.contains(':') {
            format!("https://{text}")
        } else {
            let path = text.trim_start_matches('/');
            format!("{}/{path}", self.parts.policy.public_url)
        };
        let canonical = canonicalise(&url).ok()?;
        let host = canonical.host().trim_end_matches('.');
        let workspace = self.parts.hosts.workspace(host);
        let is_main = host == self.parts.policy.public_url.host();
        match (workspace, short_path::parse(canonical.path())?.target) {
            (None, PathTarget::Bare { code }) if is_main => Some(code.to_owned()),
            (None, PathTarget::Workspace { key, .. }) if is_main => Some(key.to_owned()),
            (Some(workspace), PathTarget::Bare { code }) => Some(format!("{workspace}/{code}")),
            _ => None,
        }
    }
}
