//! `kurz key`: API keys of a store's accounts, for its operator. Accounts make their own over the API.

use std::time::Duration;

use clap::Subcommand;

use super::CliError;
use super::lines::print_line;
use super::operator::{OperatorArgs, StoreArgs, email, refused, with_accounts};
use crate::app::accounts::{self, NewKey};
use crate::app::{Actor, ApiKey, App};
use crate::config::duration;
use kurz_core::account::{KeyId, Scope, Scopes};

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz key create ada@example.com --name deploy --scope read --scope create
  kurz key create ada@example.com --scope manage --workspace acme --expires 90d
  kurz key list ada@example.com
  kurz key revoke ada@example.com 3";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a key and print it; it is not shown again
    #[command(
        after_help = "Example:\n  kurz key create ada@example.com --name deploy --scope create"
    )]
    Create {
        /// The account's email address
        email: String,
        /// A name for the key
        #[arg(long, default_value = "")]
        name: String,
        /// Scope of the key: read, create, manage; may be given several times [default: all three]
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// Limit the key to this workspace
        #[arg(long)]
        workspace: Option<String>,
        /// When it expires, such as 90d [default: never]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List an account's keys: number, prefix, scopes, workspace, expiry, last use, name
    #[command(after_help = "Example:\n  kurz key list ada@example.com")]
    List {
        /// The account's email address
        email: String,
    },
    /// Revoke a key
    #[command(after_help = "Example:\n  kurz key revoke ada@example.com 3")]
    Revoke {
        /// The account's email address
        email: String,
        /// The key's number
        id: i64,
    },
}

pub(super) fn run(args: &OperatorArgs<Command>) -> Result<(), CliError> {
    match &args.command {
        Command::Create { email, name, scopes, workspace, expires } => {
            let scopes = read_scopes(scopes)?;
            let workspace = workspace.as_deref().map(App::workspace_id).transpose();
            let new = NewKey {
                name: accounts::read_name(name).map_err(|error| refused(error.into()))?,
                scopes,
                workspace: workspace.map_err(refused)?,
                expires_at: None,
            };
            create(&args.store, email, new, read_life(expires.as_deref())?)
        }
        Command::List { email: text } => {
            let email = email(text)?;
            with_accounts(&args.store, |accounts| async move {
                let user = accounts.find(&email).await.map_err(refused)?;
                let keys = accounts.list_keys(user.id).await.map_err(refused)?;
                keys.iter().try_for_each(|key| print_line(&line(key)))
            })
        }
        Command::Revoke { email: text, id } => {
            let (email, id) = (email(text)?, KeyId(*id));
            with_accounts(&args.store, |accounts| async move {
                let user = accounts.find(&email).await.map_err(refused)?;
                accounts
                    .revoke_key(user.id, id, &Actor::operator())
                    .await
                    .map_err(refused)
                    .map(|_| ())
            })
        }
    }
}

fn create(
    store: &StoreArgs,
    text: &str,
    new: NewKey,
    life: Option<Duration>,
) -> Result<(), CliError> {
    let email = email(text)?;
    with_accounts(store, |accounts| async move {
        let user = accounts.find(&email).await.map_err(refused)?;
        let expires_at = life.map(|life| accounts.clock.now().plus(life));
        let new = NewKey { expires_at, ..new };
        let fresh = accounts.add_key(user.id, new, &Actor::operator()).await.map_err(refused)?;
        print_line(&fresh.secret)
    })
}

fn read_scopes(names: &[String]) -> Result<Scopes, CliError> {
    if names.is_empty() {
        return Ok(Scopes::ALL);
    }
    names.iter().map(|name| name.parse::<Scope>()).collect::<Result<_, _>>().map_err(|()| {
        CliError::Refused("a scope is read, create or manage: name one of them".to_owned())
    })
}

fn read_life(text: Option<&str>) -> Result<Option<Duration>, CliError> {
    let read = |text| duration::parse(text).filter(|life| !life.is_zero());
    text.map(|text| {
        read(text).ok_or_else(|| {
            CliError::Refused("--expires takes a duration such as 12h or 90d".to_owned())
        })
    })
    .transpose()
}

fn line(key: &ApiKey) -> String {
    let time =
        |at: Option<kurz_core::time::Timestamp>| at.map_or("-".to_owned(), |at| at.to_string());
    let workspace = key.workspace.as_ref().map_or("-", |workspace| workspace.as_str());
    format!(
        "{}\t{}…\t{}\t{workspace}\t{}\t{}\t{}",
        key.id,
        key.prefix,
        key.scopes,
        time(key.expires_at),
        time(key.last_used_at),
        key.name
    )
}
