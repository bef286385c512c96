//! The log of changes, for those who administer the server: who did what, when, to what, from where.

use crate::app::list::page_size;
use crate::app::{App, AppError, ChangeDetail, FieldError};
use crate::store::{AuditQuery, StoredChange};
use kurz_core::account::{Caller, Email};
use kurz_core::time::Timestamp;

/// What a link's own row tells.
const CREATED: &str = "created";
/// Longest word to filter by.
const WORD_BYTES: usize = 64;

/// Which changes.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Go on where the last page ended.
    pub cursor: Option<String>,
    /// Changes in the page.
    pub limit: Option<i64>,
    /// The address of who did it.
    pub user: Option<String>,
    /// What was done. `created` with the kind `link`, or without any, lists the making of links.
    pub action: Option<String>,
    /// The kind of thing that it was done to.
    pub kind: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// The number of the account that did it, if there was one.
    pub user: Option<i64>,
    /// Its address, while it exists.
    pub email: Option<String>,
    /// The number of the key that it was done with, if it was one.
    pub key: Option<i64>,
    /// From which address.
    pub client: Option<String>,
    /// What was done.
    pub action: String,
    /// To what kind of thing.
    pub kind: String,
    /// Which one.
    pub subject: String,
    /// More about it.
    pub detail: ChangeDetail,
}

/// A page of changes, newest first.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// The changes.
    pub entries: Vec<AuditEntry>,
    /// How to get the next page, if there is one.
    pub next: Option<String>,
}

impl App {
    /// A page of the log.
    pub async fn audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
    ) -> Result<AuditPage, AppError> {
        Self::administers(caller)?;
        let page = page_size(filter.limit)?;
        let user = match filter.user.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let nobody = AuditPage { entries: Vec::new(), next: None };
                let Ok(email) = Email::parse(text) else { return Ok(nobody) };
                let Some(user) = self.parts.store.find_user(&email).await? else {
                    return Ok(nobody);
                };
                Some(user.id)
            }
        };
        let (action, kind) = (word(filter.action.as_deref())?, word(filter.kind.as_deref())?);
        let before = match filter.cursor.as_deref() {
            None => (Timestamp::from_ms(i64::MAX), i64::MAX),
            Some(text) => read_cursor(text)?,
        };
        let of_links = matches!(kind.as_deref(), None | Some("link"));
        let made = action.as_deref() == Some(CREATED) && of_links;
        // One more than asked for tells whether there is a next page.
        let query = AuditQuery { user, action, kind, before, most: page + 1 };
        let store = &self.parts.store;
        let found =
            if made { store.list_made(&query).await? } else { store.list_audit(&query).await? };
        let full = usize::try_from(page).unwrap_or(usize::MAX);
        let last = found.get(full.saturating_sub(1)).filter(|_| found.len() > full);
        let next = last.map(|last| format!("{}.{}", last.at.as_ms(), last.id));
        let entries = found.into_iter().take(full).map(entry).collect();
        Ok(AuditPage { entries, next })
    }
}

fn entry(change: StoredChange) -> AuditEntry {
    let (kind, subject) = change.subject;
    AuditEntry {
        at: change.at,
        user: change.user.map(|user| user.0),
        email: change.email,
        key: change.key.map(|key| key.0),
        client: change.client,
        action: change.action,
        kind,
        subject,
        detail: serde_json::from_str(&change.detail).unwrap_or_default(),
    }
}

fn word(text: Option<&str>) -> Result<Option<String>, FieldError> {
    match text.map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) if text.len() > WORD_BYTES || text.contains('\0') => {
            let detail = format!("a word to filter by has at most {WORD_BYTES} bytes");
            Err(FieldError::new("action", "search-invalid", detail))
        }
        Some(text) => Ok(Some(text.to_owned())),
    }
}

/// `time.number` of the last change of a page.
fn read_cursor(text: &str) -> Result<(Timestamp, i64), FieldError> {
    let read = |text: &str| {
        let (at, id) = text.split_once('.')?;
        Some((Timestamp::from_ms(at.parse().ok()?), id.parse().ok()?))
    };
    read(text).ok_or_else(|| {
        let detail = "cursor is not one that this list gave: leave it out to start over";
        FieldError::new("cursor", "cursor-invalid", detail)
    })
}
