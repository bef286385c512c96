//! Hosts of workspaces over HTTP: one endpoint a file, and the shape that a host has on the wire.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod remove;

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::time::Time;
use crate::app::Host;

/// A host that belongs to a workspace.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HostBody {
    /// The name, in lower case and punycode.
    host: String,
    /// Since when it belongs to the workspace.
    created_at: Time,
}

impl From<Host> for HostBody {
    fn from(host: Host) -> Self {
        Self { host: host.host, created_at: host.created_at.into() }
    }
}
