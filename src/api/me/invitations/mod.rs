//! Invitations to workspaces over HTTP, for those who are invited: one endpoint a file.

pub(crate) mod accept;
pub(crate) mod decline;
pub(crate) mod list;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::{AppError, FieldError, InvitationKey};

/// Which invitation: `id` or `token`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvitationAnswerBody {
    /// Its number, if it is for the address of the account and the account was made before it.
    id: Option<i64>,
    /// The secret of its link; works with any account.
    token: Option<String>,
}

impl InvitationAnswerBody {
    fn key(self) -> Result<InvitationKey, AppError> {
        match (self.id, self.token) {
            (Some(id), None) => Ok(InvitationKey::Id(id)),
            (None, Some(token)) => Ok(InvitationKey::Token(token)),
            _ => {
                let detail = "name the invitation by `id` or by `token`, one of them";
                Err(FieldError::new("id", "body-invalid", detail).into())
            }
        }
    }
}
