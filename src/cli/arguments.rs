//! Arguments that several subcommands take, read before anything is sent.

use clap::builder::PossibleValuesParser;

use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::CliError;
use super::client::ApiClient;
use super::runtime::block_on;
use crate::app::MAIN;
use crate::clock::Clock;
use crate::config::duration;
use kurz_core::code::short_path::{self, PathTarget};
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
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WhichLink {
    /// The link's code, or its short URL
    #[arg(value_name = "CODE", value_parser = link_name)]
    name: LinkName,
    /// The workspace of the link [default: that of the short URL, else main]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = workspace)]
    workspace: Option<WorkspaceId>,
}

/// A link as somebody names it.
#[derive(Clone, Debug)]
struct LinkName {
    /// Where a short URL says it.
    workspace: Option<WorkspaceId>,
    code: Code,
    /// A short URL that does not say it.
    url: Option<Url>,
}

impl WhichLink {
    /// Where the API keeps it.
    pub(super) fn path(&self) -> [&str; 4] {
        let workspace = self.workspace.as_ref().or(self.name.workspace.as_ref());
        let workspace = workspace.map_or(MAIN, WorkspaceId::as_str);
        ["workspaces", workspace, "links", self.name.code.as_str()]
    }

    /// The same, with the workspace of a short URL that does not name it: the server's workspaces are asked
    /// for the link of that URL.
    pub(super) fn located(&self, client: &ApiClient) -> Result<Self, CliError> {
        let mut located = self.clone();
        if let (None, Some(url)) = (&self.workspace, &self.name.url) {
            located.workspace = block_on(find_workspace(client, url, &self.name.code))?;
        }
        Ok(located)
    }

    pub(super) const fn code(&self) -> &Code {
        &self.name.code
    }
}

/// A workspace, or one link of it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LinkOrWorkspace {
    /// The link's code, or its short URL [default: all links of the workspace]
    #[arg(value_name = "CODE", value_parser = link_name)]
    name: Option<LinkName>,
    /// The workspace [default: that of the short URL, else main]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = workspace)]
    workspace: Option<WorkspaceId>,
}

impl LinkOrWorkspace {
    /// Where the API keeps it.
    pub(super) fn path(&self, client: &ApiClient) -> Result<Vec<String>, CliError> {
        let Some(name) = self.name.clone() else {
            let workspace = self.workspace.as_ref().map_or(MAIN, WorkspaceId::as_str);
            return Ok(vec!["workspaces".to_owned(), workspace.to_owned()]);
        };
        let link = WhichLink { name, workspace: self.workspace.clone() }.located(client)?;
        Ok(link.path().map(str::to_owned).into())
    }
}

/// A workspace's id.
pub(super) fn workspace(text: &str) -> Result<WorkspaceId, &'static str> {
    WorkspaceId::parse(text).ok_or("write 1 to 64 letters, digits, dashes and underscores")
}

/// A link's code, alone or in its short URL.
fn link_name(text: &str) -> Result<LinkName, &'static str> {
    if let Some(code) = Code::parse(text) {
        return Ok(LinkName { workspace: None, code, url: None });
    }
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let named = url.as_ref().and_then(|url| match short_path::parse(url.path())?.target {
        PathTarget::Bare { code } => {
            let code = Code::parse(code)?;
            Some(LinkName { workspace: None, code, url: Some(url.clone()) })
        }
        PathTarget::Workspace { workspace, code, .. } => {
            let workspace = Some(WorkspaceId::parse(workspace)?);
            Some(LinkName { workspace, code: Code::parse(code)?, url: None })
        }
    });
    named.ok_or(
        "write the code, 1 to 64 letters, digits, dashes and underscores, or the whole short URL",
    )
}

/// Workspaces that are asked for a link at most.
const MOST_WORKSPACES: usize = 100;

/// The workspace of the link whose short URL this is; `None` when none that the caller sees has it.
async fn find_workspace(
    client: &ApiClient,
    url: &Url,
    code: &Code,
) -> Result<Option<WorkspaceId>, CliError> {
    // Whoever may not list workspaces has links in `main` alone.
    let Ok(list) = client.get(&["workspaces"]).await else { return Ok(None) };
    let rows = list.get("workspaces").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let listed = rows.iter().filter_map(|row| row.get("id")?.as_str());
    for id in std::iter::once(MAIN).chain(listed).take(MOST_WORKSPACES) {
        let link = client.get(&["workspaces", id, "links", code.as_str()]).await;
        let short_url = link.as_ref().ok().and_then(|link| link.get("short_url")?.as_str());
        if short_url == Some(url.as_str().trim_end_matches('+')) {
            return Ok(WorkspaceId::parse(id));
        }
    }
    Ok(None)
}

/// A time, as the API writes it: an instant, the end of a day, or a duration from now.
pub(super) fn time(text: &str) -> Result<String, &'static str> {
    time_after(text, Clock::system().now()).map(Timestamp::to_rfc3339).ok_or(
        "write an instant (2026-12-31T23:59:59Z), a day (2026-12-31: until its end, UTC), or a duration \
         from now (7d, 12h, 30m)",
    )
}

fn time_after(text: &str, now: Timestamp) -> Option<Timestamp> {
    let from_now =
        || duration::parse(text).filter(|by| *by > Duration::ZERO).map(|by| now.plus(by));
    let end_of_day = || Timestamp::parse_rfc3339(&format!("{text}T23:59:59Z"));
    Timestamp::parse_rfc3339(text).or_else(from_now).or_else(end_of_day)
}

/// The target of a link: `https://` before a host without a scheme, such as `example.com/page`.
pub(super) fn target(text: &str) -> String {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = host.split_once(':').unwrap_or((host, "443"));
    let is_host = name.contains('.') && port.bytes().all(|byte| byte.is_ascii_digit());
    if is_host && !text.contains("://") { format!("https://{text}") } else { text.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_an_instant_a_day_or_a_duration_from_now() {
        let now = Timestamp::parse_rfc3339("2026-03-01T12:00:00Z").unwrap();
        let table = [
            ("2026-12-31T23:00:00+01:00", "2026-12-31T22:00:00Z"),
            ("2026-12-31", "2026-12-31T23:59:59Z"),
            ("7d", "2026-03-08T12:00:00Z"),
            ("90m", "2026-03-01T13:30:00Z"),
        ];
        for (text, expected) in table {
            assert_eq!(time_after(text, now), Timestamp::parse_rfc3339(expected), "{text}");
        }
        for bad in ["", "0", "tomorrow", "2026-13-01", "7", "-7d", "31.12.2026"] {
            assert_eq!(time_after(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_target_without_a_scheme_gets_https() {
        let table = [
            ("example.com", "https://example.com"),
            ("example.com:8443/a?b=c#d", "https://example.com:8443/a?b=c#d"),
            ("http://example.com", "http://example.com"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("mailto:me@example.com", "mailto:me@example.com"),
            ("nonsense", "nonsense"),
            ("/path.html", "/path.html"),
        ];
        for (text, expected) in table {
            assert_eq!(target(text), expected);
        }
    }

    #[test]
    fn a_link_is_named_by_its_code_or_its_short_url() {
        let table = [
            ("promo", None, "promo"),
            ("https://kurz.example/promo", None, "promo"),
            ("http://127.0.0.1:8080/promo+", None, "promo"),
            ("https://kurz.example/w/acme/promo", Some("acme"), "promo"),
        ];
        for (text, workspace, code) in table {
            let name = link_name(text).unwrap();
            assert_eq!(name.workspace.as_ref().map(WorkspaceId::as_str), workspace, "{text}");
            assert_eq!(name.code.as_str(), code, "{text}");
        }
        for bad in ["", "https://kurz.example/", "https://kurz.example/a/b", "ftp://kurz.example/a"]
        {
            assert!(link_name(bad).is_err(), "{bad}");
        }
    }
}
