//! Members of workspaces over HTTP: one endpoint a file, and the shape that a member has on the
//! wire.

pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod remove;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::time::Time;
use crate::app::{App, AppError, Member};
use kurz_core::account::Role;
use kurz_core::code::WorkspaceId;

/// What a member may do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleName {
    /// Look at everything.
    Viewer,
    /// Also make, change and delete links.
    Member,
    /// Also settings, hosts and members.
    Admin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Viewer => Self::Viewer,
            RoleName::Member => Self::Member,
            RoleName::Admin => Self::Admin,
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Member => Self::Member,
            Role::Admin => Self::Admin,
        }
    }
}

/// Somebody in a workspace.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct MemberBody {
    /// Their address.
    email: String,
    /// What they are called; may be empty.
    name: String,
    /// What they may do.
    role: RoleName,
    /// Since when they are in.
    created_at: Time,
}

impl From<Member> for MemberBody {
    fn from(member: Member) -> Self {
        Self {
            email: member.email.to_string(),
            name: member.name,
            role: member.role.into(),
            created_at: member.created_at.into(),
        }
    }
}

/// `/workspaces/{workspace}/members/{email}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct MemberPath {
    /// The workspace's id.
    workspace: String,
    /// The member's address.
    email: String,
}

impl MemberPath {
    fn workspace(&self) -> Result<WorkspaceId, AppError> {
        App::workspace_id(&self.workspace)
    }
}
