//! Tags of a workspace's links over HTTP: one endpoint a file. In `main` they are those of the caller's own links.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod rename;

use serde::Deserialize;
use utoipa::IntoParams;

/// `/workspaces/{workspace}/tags/{tag}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TagPath {
    /// The workspace's id.
    workspace: String,
    /// The tag, with `%2F` for a slash.
    tag: String,
}
