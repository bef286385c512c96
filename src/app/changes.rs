//! Who changed what about a link, for those who may see it.

use serde::{Deserialize, Serialize};

use crate::account::{Act, Caller, Credential};
use crate::app::{App, AppError};
use crate::clock::Timestamp;
use crate::code::WorkspaceId;
use crate::store::NewChange;

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
    /// `edited`, `deleted` or `restored`.
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
    pub(super) async fn change_of(
        &self,
        caller: &Caller,
        action: &'static str,
        detail: ChangeDetail,
    ) -> Result<NewChange, AppError> {
        let id = self.change_ids.take(&self.parts.store, 1).await?.pop().unwrap_or_default();
        let key = caller.identity().and_then(|identity| match identity.credential {
            Credential::Key(key) => Some(key),
            Credential::Token => None,
        });
        Ok(NewChange {
            id,
            at: self.parts.clock.now(),
            user: caller.owner(),
            key,
            action,
            detail: serde_json::to_string(&detail).unwrap_or_else(|_| "{}".to_owned()),
            client: caller.client.map(|client| client.to_string()),
        })
    }
}
