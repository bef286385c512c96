//! A workspace on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::time::Time;
use crate::app::ShownWorkspace;
use kurz_core::link::Strategy;

/// How a workspace makes codes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorkspaceStrategy {
    /// From the URL and the workspace: the same input always gives the same code.
    Deterministic,
    /// From a scrambled counter.
    Counter,
    /// From the operating system's random generator.
    Random,
}

impl From<WorkspaceStrategy> for Strategy {
    fn from(name: WorkspaceStrategy) -> Self {
        match name {
            WorkspaceStrategy::Deterministic => Self::Deterministic,
            WorkspaceStrategy::Counter => Self::Counter,
            WorkspaceStrategy::Random => Self::Random,
        }
    }
}

/// A workspace.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WorkspaceBody {
    /// Its name.
    id: String,
    /// How its links get their codes unless a request says otherwise.
    #[schema(pattern = "^(deterministic|counter|random)$")]
    strategy: &'static str,
    /// Hits a month for each of its links; 0: any number; null: what the server says.
    hit_limit: Option<i64>,
    /// The hosts that its links answer on.
    hosts: Vec<String>,
    /// When it was created.
    created_at: Time,
    /// When it was last changed.
    updated_at: Time,
}

impl From<ShownWorkspace> for WorkspaceBody {
    fn from(ShownWorkspace { workspace, hosts }: ShownWorkspace) -> Self {
        Self {
            id: workspace.id.to_string(),
            strategy: workspace.strategy.as_str(),
            hit_limit: workspace.hit_limit,
            hosts,
            created_at: workspace.created_at.into(),
            updated_at: workspace.updated_at.into(),
        }
    }
}
