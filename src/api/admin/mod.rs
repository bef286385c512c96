//! Administration over HTTP. Callers who are not administrators get 404.

pub(crate) mod audit;
pub(crate) mod reports;
pub(crate) mod users;
