//! `kurz key`: API keys of a store's accounts, for its operator. People make their own over the API.

use std::time::Duration;

use clap::Subcommand;

use super::Failure;
use super::lines::print_line;
use super::operator::{StoreArgs, email, refused, with_people};
use crate::app::people::{self, NewKey};
use crate::app::{Actor, ApiKey, App};
use crate::config::duration;
use kurz_core::account::{KeyId, Scope, Scopes};

const EXAMPLES: &str = "\
Examples:
  kurz key create ada@example.com --name deploy --scope read --scope create
  kurz key create ada@example.com --scope manage --workspace acme --expires 90d
  kurz key list ada@example.com
  kurz key revoke ada@example.com 3";

/// Make, list and revoke API keys
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a key and print it, this once
    #[command(
        after_help = "Example:\n  kurz key create ada@example.com --name deploy --scope create"
    )]
    Create {
        /// Whose key
        email: String,
        /// What it is for
        #[arg(long, default_value = "")]
        name: String,
        /// What it is good for: read, create, manage [default: all three]
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// The only workspace it is good for
        #[arg(long)]
        workspace: Option<String>,
        /// How long it is good, such as 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List an account's keys: number, beginning, scopes, workspace, end, last use, name
    #[command(after_help = "Example:\n  kurz key list ada@example.com")]
    List {
        /// Whose keys
        email: String,
    },
    /// Take a key back
    #[command(after_help = "Example:\n  kurz key revoke ada@example.com 3")]
    Revoke {
        /// Whose key
        email: String,
        /// Its number
        id: i64,
    },
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Create { email, name, scopes, workspace, expires } => {
            let scopes = read_scopes(scopes)?;
            let workspace = workspace.as_deref().map(App::workspace_id).transpose();
            let new = NewKey {
                name: people::read_name(name).map_err(|error| refused(error.into()))?,
                scopes,
                workspace: workspace.map_err(refused)?,
                expires_at: None,
            };
            create(&args.store, email, new, read_life(expires.as_deref())?)
        }
        What::List { email: text } => {
            let email = email(text)?;
            with_people(&args.store, |people| async move {
                let user = people.find(&email).await.map_err(refused)?;
                let keys = people.list_keys(user.id).await.map_err(refused)?;
                keys.iter().try_for_each(|key| print_line(&line(key)))
            })
        }
        What::Revoke { email: text, id } => {
            let (email, id) = (email(text)?, KeyId(*id));
            with_people(&args.store, |people| async move {
                let user = people.find(&email).await.map_err(refused)?;
                people
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
) -> Result<(), Failure> {
    let email = email(text)?;
    with_people(store, |people| async move {
        let user = people.find(&email).await.map_err(refused)?;
        let expires_at = life.map(|life| people.clock.now().plus(life));
        let new = NewKey { expires_at, ..new };
        let fresh = people.add_key(user.id, new, &Actor::operator()).await.map_err(refused)?;
        print_line(&fresh.secret)
    })
}

fn read_scopes(names: &[String]) -> Result<Scopes, Failure> {
    if names.is_empty() {
        return Ok(Scopes::ALL);
    }
    names.iter().map(|name| name.parse::<Scope>()).collect::<Result<_, _>>().map_err(|()| {
        Failure::Refused("a scope is read, create or manage: name one of them".to_owned())
    })
}

fn read_life(text: Option<&str>) -> Result<Option<Duration>, Failure> {
    let read = |text| duration::parse(text).filter(|life| !life.is_zero());
    text.map(|text| {
        read(text).ok_or_else(|| {
            Failure::Refused("--expires takes a duration such as 12h or 90d".to_owned())
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
