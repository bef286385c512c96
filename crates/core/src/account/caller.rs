//! The caller of an operation.

use std::net::IpAddr;

use crate::account::{Email, KeyId, Scopes, UserId};
use crate::code::WorkspaceId;

/// Who calls, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub who: CallerKind,
    /// The address of the client; `None` for calls from inside the program.
    pub client: Option<IpAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerKind {
    /// Anybody, on a server without accounts.
    Open,
    /// A caller without a credential.
    Anonymous,
    /// A caller with a valid credential.
    User(Identity),
}

/// An account, and what the credential in use allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub id: UserId,
    pub email: Email,
    /// Whether it may read and manage everything on this server.
    pub is_admin: bool,
    pub scopes: Scopes,
    /// The only workspace it is valid for, if it is bound to one.
    pub only_workspace: Option<WorkspaceId>,
    pub credential: Credential,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    Token,
    Key(KeyId),
}

impl Caller {
    /// Anybody, on a server without accounts.
    pub const OPEN: Self = Self { who: CallerKind::Open, client: None };
    /// A caller without a credential.
    pub const ANONYMOUS: Self = Self { who: CallerKind::Anonymous, client: None };

    /// A caller with a valid credential.
    pub const fn user(identity: Identity) -> Self {
        Self { who: CallerKind::User(identity), client: None }
    }

    /// The same caller at the address `client`.
    #[must_use]
    pub fn at(self, client: IpAddr) -> Self {
        Self { client: Some(client), ..self }
    }

    /// The API key in use, if any.
    pub fn key(&self) -> Option<KeyId> {
        match self.identity()?.credential {
            Credential::Key(key) => Some(key),
            Credential::Token => None,
        }
    }

    /// Whether the server has no accounts.
    pub fn is_open(&self) -> bool {
        self.who == CallerKind::Open
    }

    /// Whether the server has accounts and the caller has no credential.
    pub fn is_anonymous(&self) -> bool {
        self.who == CallerKind::Anonymous
    }

    /// The account, if there is one.
    pub const fn identity(&self) -> Option<&Identity> {
        match &self.who {
            CallerKind::User(identity) => Some(identity),
            CallerKind::Open | CallerKind::Anonymous => None,
        }
    }

    /// The owner of the links that this caller creates.
    pub fn owner(&self) -> Option<UserId> {
        self.identity().map(|identity| identity.id)
    }
}
