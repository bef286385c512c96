//! Hosts of workspaces over HTTP: one endpoint a file, and the shape that a host has on the wire.

pub(crate) mod add;
pub(crate) mod approve;
pub(crate) mod check;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod remove;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::time::Time;
use crate::app::ShownHost;

/// A host of a workspace.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HostBody {
    /// The name, in lower case and punycode.
    host: String,
    /// `active`: the workspace's links answer there. `pending`: it has no effect until it is proven.
    #[schema(example = "pending")]
    status: &'static str,
    /// Since when it belongs to the workspace, or is pending.
    created_at: Time,
    /// What the owner of a pending host publishes, at one of the two places; null for an active host.
    proof: Option<HostProofBody>,
    /// Where `/` leads; null: a page says that there is nothing.
    home_url: Option<String>,
    /// Where unknown codes lead; null: a page says that there is none.
    not_found_url: Option<String>,
    /// Where paths lead that can be no code; null: a page says that there is nothing.
    invalid_code_url: Option<String>,
}

/// What proves that a host is the workspace's: a TXT record, or a file.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HostProofBody {
    /// The name of the TXT record.
    #[schema(example = "_kurz.go.acme.example")]
    txt_name: String,
    /// The URL of the file, which may redirect to https.
    #[schema(example = "http://go.acme.example/.well-known/kurz-host")]
    http_url: String,
    /// The record, or the content of the file.
    #[schema(example = "kurz-host=Zk3vY0bq1S8mXw2cR5tN7uPd")]
    text: String,
}

impl From<ShownHost> for HostBody {
    fn from(host: ShownHost) -> Self {
        let proof = host.pending.map(|pending| HostProofBody {
            txt_name: pending.txt_name,
            http_url: pending.http_url,
            text: pending.text,
        });
        let status = if proof.is_some() { "pending" } else { "active" };
        Self {
            host: host.host,
            status,
            created_at: host.created_at.into(),
            proof,
            home_url: host.urls.home,
            not_found_url: host.urls.not_found,
            invalid_code_url: host.urls.invalid_code,
        }
    }
}

/// `/workspaces/{workspace}/hosts/{host}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct HostPath {
    /// The workspace's id.
    workspace: String,
    /// The host's name.
    host: String,
}
