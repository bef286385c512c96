//! People and what each may do. Pure: no I/O, no SQL, no HTTP types; time and random bytes come in
//! as parameters. Who keeps accounts is `store`, who checks a request's credential is `app`.

pub mod access;
pub mod caller;
pub mod claim;
pub mod key;
pub mod password;
pub mod role;
pub mod token;
pub mod user;

pub use access::{Act, Reach, Refused};
pub use caller::{Caller, CallerKind, Credential, Identity};
pub use key::{Scope, Scopes};
pub use role::Role;
pub use user::{Email, KeyId, UserId};
