//! One's own account over HTTP: one endpoint a file.

pub(crate) mod delete;
pub(crate) mod invitations;
pub(crate) mod password;
pub(crate) mod show;
