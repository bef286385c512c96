//! `kurz workspace host add`: name a host for a workspace, and print what proves that it is theirs.

use serde_json::{Value, json};

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host add acme go.acme.example

Publish the TXT record or the file that it prints, then run `kurz workspace host check`. Point the host's
DNS at the server; links of the workspace then work at https://HOST/CODE. A host that an administrator of
the server adds needs no proof.";

pub(super) fn run(args: &WhichHost) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let body = json!({ "host": args.host });
    let host = block_on(client.post(&[workspaces, id, "hosts"], Some(body)))?;
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let Some(proof) = host.get("proof").filter(|proof| proof.is_object()) else {
        return print_line(&text(&host, "host"));
    };
    print_line(&format!(
        "{host} is pending: links do not work there yet. Publish one of these:\n\
         TXT record  {name}  {content}\n\
         file        {url}  {content}\n\
         Then run: kurz workspace host check {id} {host}",
        host = text(&host, "host"),
        name = text(proof, "txt_name"),
        content = text(proof, "text"),
        url = text(proof, "http_url"),
    ))
}
