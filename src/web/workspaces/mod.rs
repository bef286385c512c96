//! The pages of workspaces: the list, and the settings of one.

pub(super) mod invitations;
pub(super) mod list;
pub(super) mod settings;
pub(super) mod tags;
