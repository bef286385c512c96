//! Who asks, and from where.

use std::net::IpAddr;

use crate::account::{Email, KeyId, Scopes, UserId};
use crate::code::WorkspaceId;

/// Who asks for something, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub who: CallerKind,
    /// The address that the request came from; `None` for those who ask from inside the program.
    pub client: Option<IpAddr>,
}

/// Who somebody is, as far as they showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerKind {
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
    /// Anybody, on a server that is open to everybody.
    pub const OPEN: Self = Self { who: CallerKind::Open, client: None };
    /// Somebody without a credential.
    pub const ANONYMOUS: Self = Self { who: CallerKind::Anonymous, client: None };

    /// Somebody who showed a good credential.
    pub const fn user(identity: Identity) -> Self {
        Self { who: CallerKind::User(identity), client: None }
    }

    /// The same caller, who asks from `client`.
    #[must_use]
    pub fn at(self, client: IpAddr) -> Self {
        Self { client: Some(client), ..self }
    }

    /// The API key that was shown, if it was one.
    pub fn key(&self) -> Option<KeyId> {
        match self.identity()?.credential {
            Credential::Key(key) => Some(key),
            Credential::Token => None,
        }
    }

    /// Whether the server is open, and this is anybody.
    pub fn is_open(&self) -> bool {
        self.who == CallerKind::Open
    }

    /// Whether there is no credential, and it would take one.
    pub fn is_anonymous(&self) -> bool {
        self.who == CallerKind::Anonymous
    }

    /// The person, if there is one.
    pub const fn identity(&self) -> Option<&Identity> {
        match &self.who {
            CallerKind::User(identity) => Some(identity),
            CallerKind::Open | CallerKind::Anonymous => None,
        }
    }

    /// Who owns what this caller makes.
    pub fn owner(&self) -> Option<UserId> {
        self.identity().map(|identity| identity.id)
    }
}
