//! A person and a sign-in on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::time::Time;
use crate::app::{Person, Session};

/// A person with an account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct UserBody {
    /// Their number.
    id: i64,
    /// The address they sign in with.
    #[schema(format = "email")]
    email: String,
    /// What they are called; may be empty.
    name: String,
    /// Whether they administer the server.
    admin: bool,
    /// When the account was created.
    created_at: Time,
}

impl From<Person> for UserBody {
    fn from(person: Person) -> Self {
        Self {
            id: person.id.0,
            email: person.email.to_string(),
            name: person.name,
            admin: person.is_admin,
            created_at: person.created_at.into(),
        }
    }
}

/// A sign-in.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionBody {
    /// What to send as `Authorization: Bearer …` from now on.
    token: String,
    /// From when on the token is refused: after 24 hours.
    expires_at: Time,
    /// Who signed in.
    user: UserBody,
}

impl From<Session> for SessionBody {
    fn from(session: Session) -> Self {
        Self {
            token: session.token.text,
            expires_at: session.token.expires_at.into(),
            user: session.person.into(),
        }
    }
}
