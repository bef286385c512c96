//! Accounts, credentials, roles, and what each may do. Accounts are stored by `store`; the credential of a
//! request is checked by `app`.

pub mod access;
pub mod caller;
pub mod claim;
pub mod key_text;
pub mod password;
pub mod role;
pub mod scope;
pub mod token;
pub mod user;

pub use access::{Act, Reach, Refused};
pub use caller::{Caller, CallerKind, Credential, Identity};
pub use role::Role;
pub use scope::{Scope, Scopes};
pub use user::{Email, KeyId, UserId};
