//! Arguments that several subcommands take, read before anything is sent.

use clap::builder::PossibleValuesParser;

use crate::app::MAIN;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::time::Timestamp;

/// `--workspace`, which is `main` unless it is given.
#[derive(Debug, clap::Args)]
pub(super) struct InWorkspace {
    /// The workspace of the link
    #[arg(long, value_name = "W", default_value = MAIN, allow_hyphen_values = true,
        value_parser = workspace)]
    pub(super) workspace: WorkspaceId,
}

/// One link: its code and its workspace.
#[derive(Debug, clap::Args)]
pub(super) struct WhichLink {
    /// The link's code
    #[arg(value_parser = code)]
    code: Code,
    #[command(flatten)]
    place: InWorkspace,
}

impl WhichLink {
    /// Where the API keeps it.
    pub(super) fn path(&self) -> [&str; 4] {
        ["workspaces", self.place.workspace.as_str(), "links", self.code.as_str()]
    }

    pub(super) const fn code(&self) -> &Code {
        &self.code
    }
}

/// A workspace's id.
pub(super) fn workspace(text: &str) -> Result<WorkspaceId, &'static str> {
    WorkspaceId::parse(text).ok_or("write 1 to 64 letters, digits, dashes and underscores")
}

/// A link's code.
fn code(text: &str) -> Result<Code, &'static str> {
    Code::parse(text).ok_or("write the code alone: 1 to 64 letters, digits, dashes and underscores")
}

/// A time, as the API writes it.
pub(super) fn time(text: &str) -> Result<String, &'static str> {
    let time = Timestamp::parse_rfc3339(text).map(Timestamp::to_rfc3339);
    time.ok_or("write it like 2026-12-31T23:59:59Z (RFC 3339)")
}

/// The ways to make a code that one can ask for by name.
pub(super) fn strategies() -> PossibleValuesParser {
    ["deterministic", "counter", "random"].into()
}

/// A host's name. The server says whether it takes it; a piece of a path it must be.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    let is_name = text.chars().any(char::is_alphanumeric);
    is_name.then(|| text.to_owned()).ok_or("write a host's name, such as go.acme.example")
}
