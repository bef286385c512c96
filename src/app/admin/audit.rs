//! The audit log of the whole server, for its administrators: who did what, when, to what, from where.

use crate::app::page::{page_size, read_cursor};
use crate::app::{Action, App, AppError, AuditEntry, FieldError, Page};
use crate::store::AuditQuery;
use kurz_core::account::{Caller, Email};
use kurz_core::time::Timestamp;

const WORD_BYTES: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Go on where the last page ended.
    pub cursor: Option<String>,
    pub limit: Option<i64>,
    /// The address of who did it.
    pub user: Option<String>,
    /// The name of an [`Action`]. `created` with the kind `link`, or without a kind, lists new links.
    pub action: Option<String>,
    /// The kind of thing that it was done to.
    pub kind: Option<String>,
}

impl App {
    /// A page of the audit log, newest first.
    pub async fn list_audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
    ) -> Result<Page<AuditEntry>, AppError> {
        Self::require_admin(caller)?;
        let size = page_size(filter.limit)?;
        let user = match filter.user.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let Ok(email) = Email::parse(text) else { return Ok(Page::empty()) };
                let Some(user) = self.parts.store.find_user(&email).await? else {
                    return Ok(Page::empty());
                };
                Some(user.id)
            }
        };
        let action = word("action", filter.action.as_deref())?;
        let kind = word("kind", filter.kind.as_deref())?;
        let before = read_cursor(filter.cursor.as_deref(), position)?;
        let before = before.unwrap_or((Timestamp::from_ms(i64::MAX), i64::MAX));
        let of_links = matches!(kind.as_deref(), None | Some("link"));
        // A new link has no row of its own in the log: the link's row tells.
        let made = action.as_deref() == Some(Action::Created.as_str()) && of_links;
        let query = AuditQuery { user, action, kind, before, most: size + 1 };
        let store = &self.parts.store;
        let found =
            if made { store.list_created(&query).await? } else { store.list_audit(&query).await? };
        let page = Page::cut(found, size, |last| format!("{}.{}", last.at.as_ms(), last.id));
        Ok(page.map(AuditEntry::from))
    }
}

/// A word to filter by, of the parameter `field`.
fn word(field: &'static str, text: Option<&str>) -> Result<Option<String>, FieldError> {
    match text.map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) if text.len() > WORD_BYTES || text.contains('\0') => {
            let detail = format!("a word to filter by has at most {WORD_BYTES} bytes");
            Err(FieldError::new(field, "search-invalid", detail))
        }
        Some(text) => Ok(Some(text.to_owned())),
    }
}

/// `time.number` of the last entry of a page.
fn position(cursor: &str) -> Option<(Timestamp, i64)> {
    let (at, id) = cursor.split_once('.')?;
    Some((Timestamp::from_ms(at.parse().ok()?), id.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_cannot_be_filtered_by_is_reported_under_its_own_name() {
        for field in ["action", "kind"] {
            for bad in ["x".repeat(WORD_BYTES + 1), "a\0b".to_owned()] {
                let error = word(field, Some(&bad)).unwrap_err();
                assert_eq!((&*error.field, error.code), (field, "search-invalid"));
            }
            assert_eq!(word(field, Some(" edited ")), Ok(Some("edited".to_owned())));
            assert_eq!(word(field, Some(" ")), Ok(None));
        }
    }
}
