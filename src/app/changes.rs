//! Who changed what about a link, for those who may see it.

use serde::{Deserialize, Serialize};

use crate::app::{App, AppError};
use crate::store::{NewChange, Subject};
use kurz_core::account::{Act, Caller, KeyId, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// Changes that are shown of one link.
const MOST: i64 = 100;

/// What a change was about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeDetail {
    /// The fields that are different now, as the API names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Where the link led before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_target: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was said about it.
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
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_at: Option<String>,
    /// From which address it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
    /// Whose it is: the number of an account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
}

/// Who does something, for the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    /// Whose account.
    pub user: Option<UserId>,
    /// With which key.
    pub key: Option<KeyId>,
    /// From which address.
    pub client: Option<String>,
}

impl Actor {
    /// Whoever asks.
    pub fn of(caller: &Caller) -> Self {
        let client = caller.client.map(|client| client.to_string());
        Self { user: caller.owner(), key: caller.key(), client }
    }

    /// Whoever can open the store.
    pub fn operator() -> Self {
        Self { user: None, key: None, client: Some("command line".to_owned()) }
    }

    /// What is written down about something that they do.
    pub(super) fn note(
        &self,
        (id, at): (i64, Timestamp),
        subject: Subject,
        action: &'static str,
        detail: &ChangeDetail,
    ) -> NewChange {
        NewChange {
            id,
            at,
            user: self.user,
            key: self.key,
            action,
            subject,
            detail: serde_json::to_string(detail).unwrap_or_else(|_| "{}".to_owned()),
            client: self.client.clone(),
        }
    }
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// When.
    pub at: Timestamp,
    /// Who, while they have an account.
    pub email: Option<String>,
    /// Whether by an API key.
    pub by_key: bool,
    /// `edited`, `deleted`, `restored`, `claimed`, `disabled`, `enabled` or `reports-dismissed`.
    pub action: String,
    /// More about it.
    pub detail: ChangeDetail,
}

impl App {
    /// The latest changes of a link, newest first.
    pub async fn link_changes(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<Vec<LinkChange>, AppError> {
        let (_, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let changes = self.parts.store.list_changes(link.id, MOST).await?;
        let read = changes.into_iter().map(|change| LinkChange {
            at: change.at,
            email: change.email,
            by_key: change.key.is_some(),
            action: change.action,
            detail: serde_json::from_str(&change.detail).unwrap_or_default(),
        });
        Ok(read.collect())
    }

    /// What is written down about something that `caller` does now.
    pub(super) async fn note(
        &self,
        caller: &Caller,
        subject: Subject,
        action: &'static str,
        detail: ChangeDetail,
    ) -> Result<NewChange, AppError> {
        let id = self.change_ids.take(&self.parts.store, 1).await?.pop().unwrap_or_default();
        let at = self.parts.clock.now();
        Ok(Actor::of(caller).note((id, at), subject, action, &detail))
    }
}
