//! Which links a list holds, and how the column `list_scope` says it: the workspace of a link, or
//! `main/{owner}` for a link of a user in `main`.

use kurz_core::account::UserId;
use kurz_core::code::WorkspaceId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListScope {
    Workspace(WorkspaceId),
    /// A user's own in `main`.
    Own(UserId),
    /// All of `main`.
    Main,
}

impl ListScope {
    /// The value of the column `list_scope`; for `Main`, the workspace.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Workspace(workspace) => workspace.to_string(),
            Self::Own(owner) => format!("main/{owner}"),
            Self::Main => "main".to_owned(),
        }
    }

    /// The first and the last value of the column `list_scope`; values of other workspaces may lie
    /// between those of `Main`.
    pub(super) fn keys(&self) -> (String, String) {
        match self {
            Self::Main => ("main".to_owned(), "main/~".to_owned()),
            Self::Workspace(_) | Self::Own(_) => (self.key(), self.key()),
        }
    }

    /// The workspace that it is in.
    pub(super) fn workspace(&self) -> &str {
        match self {
            Self::Workspace(workspace) => workspace.as_str(),
            Self::Own(_) | Self::Main => "main",
        }
    }
}
