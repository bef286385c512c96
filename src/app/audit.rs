//! The audit log: which actions it knows, and the row that is written with each change.

use serde::{Deserialize, Serialize};

use crate::app::{App, AppError};
use crate::store::{AuditRow, NewAuditEntry, Subject};
use kurz_core::account::{Caller, KeyId, UserId};
use kurz_core::time::Timestamp;

/// The kinds of things that the log is about.
pub const KINDS: [&str; 6] = ["link", "user", "key", "workspace", "member", "host"];

/// Declare the actions with the words that the store and the API have for them.
macro_rules! actions {
    ($($variant:ident = $word:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action { $($variant,)+ }

        impl Action {
            /// All of them, in the order in which a filter offers them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in the store and in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

actions! {
    Created = "created",
    Edited = "edited",
    Deleted = "deleted",
    Restored = "restored",
    Claimed = "claimed",
    Disabled = "disabled",
    Enabled = "enabled",
    ReportsDismissed = "reports-dismissed",
    LinksDisabled = "links-disabled",
    LinksEnabled = "links-enabled",
    Registered = "registered",
    PasswordChanged = "password-changed",
    KeysRevoked = "keys-revoked",
    Promoted = "promoted",
    AccountDeleted = "left",
    KeyCreated = "made",
    KeyRevoked = "revoked",
    Added = "added",
    RoleChanged = "changed",
    Removed = "removed",
    Invited = "invited",
    InvitationAccepted = "invitation-accepted",
    InvitationDeclined = "invitation-declined",
    InvitationRevoked = "invitation-revoked",
    HostVerified = "verified",
    DetailsDeleted = "details-deleted",
    AnalyticsShared = "analytics-shared",
    AnalyticsUnshared = "analytics-unshared",
    AliasAdded = "alias-added",
    AliasRemoved = "alias-removed",
    TagRenamed = "tag-renamed",
    TagDeleted = "tag-deleted",
}

impl Action {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.as_str() == text)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditDetail {
    /// The fields that are different now, as the API names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Where the link led before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_target: Option<String>,
    /// The code that the link had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_code: Option<String>,
    /// The alias that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The tag that it was about, and its new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The role that somebody has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// How many links, or reports, it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Where a disabled link led, when it was made, and from which address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_at: Option<String>,
    /// From which address it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
    /// Whose it is: the number of an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
}

/// Who does something, for the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    pub user: Option<UserId>,
    pub key: Option<KeyId>,
    pub client: Option<String>,
}

impl Actor {
    pub fn of(caller: &Caller) -> Self {
        let client = caller.client.map(|client| client.to_string());
        Self { user: caller.owner(), key: caller.key(), client }
    }

    pub fn operator() -> Self {
        Self { user: None, key: None, client: Some("command line".to_owned()) }
    }

    /// The row of the audit log about something that they do.
    pub(super) fn audit(
        &self,
        (id, at): (i64, Timestamp),
        subject: Subject,
        action: Action,
        detail: &AuditDetail,
    ) -> NewAuditEntry {
        NewAuditEntry {
            id,
            at,
            user: self.user,
            key: self.key,
            action: action.as_str(),
            subject,
            detail: serde_json::to_string(detail).unwrap_or_else(|_| "{}".to_owned()),
            client: self.client.clone(),
        }
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The number of the account that did it, if there was one.
    pub user: Option<i64>,
    /// Its address, while it exists.
    pub email: Option<String>,
    /// The number of the key that it was done with, if it was one.
    pub key: Option<i64>,
    pub client: Option<String>,
    /// What was done: the name of an [`Action`].
    pub action: String,
    pub kind: String,
    pub subject: String,
    pub detail: AuditDetail,
}

impl From<AuditRow> for AuditEntry {
    fn from(change: AuditRow) -> Self {
        let (kind, subject) = change.subject;
        Self {
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
}

impl App {
    /// The row of the audit log about something that `caller` does now.
    pub(super) async fn audit(
        &self,
        caller: &Caller,
        subject: Subject,
        action: Action,
    ) -> Result<NewAuditEntry, AppError> {
        self.audit_with(caller, subject, action, AuditDetail::default()).await
    }

    pub(super) async fn audit_with(
        &self,
        caller: &Caller,
        subject: Subject,
        action: Action,
        detail: AuditDetail,
    ) -> Result<NewAuditEntry, AppError> {
        let id = self.audit_ids.take(&self.parts.store, 1).await?.pop().unwrap_or_default();
        let at = self.parts.clock.now();
        Ok(Actor::of(caller).audit((id, at), subject, action, &detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_read_by_its_own_name() {
        for action in Action::ALL {
            assert_eq!(Action::parse(action.as_str()), Some(*action));
        }
        assert_eq!(Action::parse("Created"), None);
        assert_eq!(Action::ALL.len(), 32);
    }
}
