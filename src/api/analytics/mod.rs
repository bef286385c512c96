//! Analytics over HTTP: the totals of the server, and questions about the clicks of a workspace, a link or all
//! workspaces.

pub(crate) mod admin;
pub(crate) mod delete;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod live;
pub(crate) mod orphans;
mod parameters;
pub(crate) mod privacy;
pub(crate) mod report;
pub(crate) mod shares;
pub(crate) mod totals;
mod wire;
