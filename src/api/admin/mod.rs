//! Administration over HTTP, for those who administer the server; to all others it is not there.

pub(crate) mod audit;
pub(crate) mod reports;
pub(crate) mod users;
