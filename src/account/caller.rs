//! Who asks.

use crate::account::{Email, KeyId, Scopes, UserId};
use crate::code::WorkspaceId;

/// Who asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Anybody, on a server that is open to everybody.
    Open,
    /// Somebody without a credential.
    Anonymous,
    /// Somebody who showed a good one.
    User(Identity),
}

/// Somebody with an account, and what their credential is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Their number.
    pub id: UserId,
    /// Their address.
    pub email: Email,
    /// Whether they may read and manage everything on this server.
    pub is_admin: bool,
    /// What the credential is good for.
    pub scopes: Scopes,
    /// The only workspace it is good for, if it is bound to one.
    pub only_workspace: Option<WorkspaceId>,
    /// How they showed who they are.
    pub credential: Credential,
}

/// How somebody showed who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// By signing in.
    Token,
    /// By an API key.
    Key(KeyId),
}

impl Caller {
    /// The person, if there is one.
    pub const fn identity(&self) -> Option<&Identity> {
        match self {
            Self::User(identity) => Some(identity),
            Self::Open | Self::Anonymous => None,
        }
    }

    /// Who owns what this caller makes.
    pub fn owner(&self) -> Option<UserId> {
        self.identity().map(|identity| identity.id)
    }
}
