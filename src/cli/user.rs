//! `kurz user`: the accounts of a store, for its operator. The first administrator comes from here
//! and from nowhere else.

use clap::Subcommand;
use serde_json::json;

use super::CliError;
use super::client::ApiClient;
use super::lines::print_line;
use super::operator::{OperatorArgs, StoreArgs, ask_password, email, refused, with_accounts};
use super::runtime::block_on;
use crate::app::accounts::{self, Accounts, NewUser};
use crate::app::{Actor, AppError, User};

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz user add ada@example.com --admin        asks for the password
  echo \"$PASSWORD\" | kurz user add bob@example.com --name Bob
  kurz user invite eve@example.com             for servers with KURZ_SIGNUP=invite
  kurz user passwd ada@example.com             signs her out everywhere
  kurz user list";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an account; the password is read from a prompt or from stdin
    #[command(after_help = "Example:\n  kurz user add ada@example.com --admin")]
    Add {
        /// The email address to sign in with
        email: String,
        /// Make this account an administrator of the server
        #[arg(long)]
        admin: bool,
        /// The person's name
        #[arg(long, default_value = "")]
        name: String,
    },
    /// List all accounts, one per line: email, rights, state, name
    #[command(after_help = "Example:\n  kurz user list")]
    List,
    /// Set a password; signs the account out everywhere, but for its API keys
    #[command(after_help = "Examples:\n  kurz user passwd ada@example.com\n  \
        kurz user passwd ada@example.com --revoke-keys")]
    Passwd {
        /// The account's email address
        email: String,
        /// Also revoke all API keys of the account
        #[arg(long)]
        revoke_keys: bool,
    },
    /// Make an account an administrator of the server
    #[command(after_help = "Example:\n  kurz user promote ada@example.com")]
    Promote {
        /// The account's email address
        email: String,
    },
    /// Disable an account: its sign-ins, tokens and keys are refused
    #[command(after_help = "Examples:\n  kurz user disable eve@example.com\n  \
        kurz user disable eve@example.com --links    uses the server at KURZ_URL, with KURZ_API_KEY")]
    Disable {
        /// The account's email address
        email: String,
        /// Also disable the account's links; needs a running server and an administrator's key
        #[arg(long)]
        links: bool,
    },
    /// Enable a disabled account
    #[command(after_help = "Example:\n  kurz user enable eve@example.com")]
    Enable {
        /// The account's email address
        email: String,
        /// Also enable the links that were disabled with the account; needs the same
        #[arg(long)]
        links: bool,
    },
    /// Print an invitation for one email address, valid once, for 7 days
    #[command(after_help = "Example:\n  kurz user invite eve@example.com")]
    Invite {
        /// The email address to invite
        email: String,
    },
}

pub(super) fn run(args: &OperatorArgs<Command>) -> Result<(), CliError> {
    match &args.command {
        Command::Add { email: text, admin, name } => {
            let new = NewUser {
                email: email(text)?,
                name: accounts::read_name(name).map_err(|error| refused(error.into()))?,
                password: ask_password()?,
                is_admin: *admin,
                invite: None,
            };
            with_accounts(&args.store, |accounts| async move {
                let user = accounts.add(new, &Actor::operator()).await.map_err(refused)?;
                print_line(&line(&user))
            })
        }
        Command::List => {
            with_accounts(&args.store, |accounts| async move { list(&accounts).await })
        }
        Command::Passwd { email: text, revoke_keys } => {
            let (email, password) = (email(text)?, ask_password()?);
            with_accounts(&args.store, |accounts| async move {
                let user = accounts.find(&email).await.map_err(refused)?;
                let set = accounts
                    .set_password(user.id, password, *revoke_keys, &Actor::operator())
                    .await
                    .map_err(refused)?;
                if set.revoked_keys > 0 {
                    print_line(&format!("revoked {} API keys", set.revoked_keys))?;
                }
                if set.active_keys > 0 {
                    print_line(&format!(
                        "{} API keys of {email} still work: --revoke-keys revokes them as well",
                        set.active_keys
                    ))?;
                }
                Ok(())
            })
        }
        Command::Promote { email: text } => {
            let email = email(text)?;
            with_accounts(&args.store, |accounts| async move {
                accounts.grant_admin(&email, &Actor::operator()).await.map_err(refused)
            })
        }
        Command::Disable { email, links: false } => set_disabled(&args.store, email, true),
        Command::Enable { email, links: false } => set_disabled(&args.store, email, false),
        Command::Disable { email, links: true } => ask_server(email, "disable"),
        Command::Enable { email, links: true } => ask_server(email, "enable"),
        Command::Invite { email: text } => {
            let email = email(text)?;
            with_accounts(&args.store, |accounts| async move {
                let (token, until) = accounts.invite(&email).await.map_err(refused)?;
                print_line(&format!("{token}  for {email}, until {until}"))
            })
        }
    }
}

fn set_disabled(store: &StoreArgs, text: &str, disabled: bool) -> Result<(), CliError> {
    let email = email(text)?;
    with_accounts(store, |accounts| async move {
        accounts.set_disabled(&email, disabled, &Actor::operator()).await.map_err(refused)
    })
}

/// Through the server: the links that it has in memory are to be forgotten at once.
fn ask_server(text: &str, what: &str) -> Result<(), CliError> {
    let email = email(text)?;
    let client = ApiClient::from_environment()?;
    let path = ["admin", "users", email.as_str(), what];
    block_on(client.post(&path, Some(json!({ "links": true })))).map(|_| ())
}

async fn list(accounts: &Accounts) -> Result<(), CliError> {
    // A closed pipe ends the list like its end; the first failure to write is the one to tell.
    let mut broken = None;
    let done = accounts
        .for_each(|user| {
            print_line(&line(user)).map_err(|failure| {
                broken = Some(failure);
                AppError::Busy
            })
        })
        .await;
    match broken {
        Some(failure) => Err(failure),
        None => done.map_err(refused),
    }
}

fn line(user: &User) -> String {
    let rights = if user.admin_at.is_some() { "admin" } else { "user" };
    let state = if user.disabled_at.is_some() { "disabled" } else { "active" };
    format!("{}\t{rights}\t{state}\t{}", user.email, user.name)
}
