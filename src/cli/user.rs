//! `kurz user`: the accounts of a store, for its operator. The first administrator comes from here
//! and from nowhere else.

use clap::Subcommand;
use serde_json::json;

use super::Failure;
use super::client::Client;
use super::lines::print_line;
use super::operator::{StoreArgs, ask_password, email, refused, with_people};
use super::runtime::block_on;
use crate::app::accounts::{self, Accounts, NewUser};
use crate::app::{Actor, AppError, User};

const EXAMPLES: &str = "\
Examples:
  kurz user add ada@example.com --admin        asks for the password
  echo \"$PASSWORD\" | kurz user add bob@example.com --name Bob
  kurz user invite eve@example.com             for servers with KURZ_SIGNUP=invite
  kurz user passwd ada@example.com             ends all of her sign-ins
  kurz user list";

/// Add, list and change accounts
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
    /// Make an account; the password comes from a prompt or from stdin
    #[command(after_help = "Example:\n  kurz user add ada@example.com --admin")]
    Add {
        /// The address to sign in with
        email: String,
        /// Let them read and manage everything on the server
        #[arg(long)]
        admin: bool,
        /// What they are called
        #[arg(long, default_value = "")]
        name: String,
    },
    /// List all accounts, one a line: address, rights, state, name
    #[command(after_help = "Example:\n  kurz user list")]
    List,
    /// Set a password; ends all sign-ins of the account
    #[command(after_help = "Example:\n  kurz user passwd ada@example.com")]
    Passwd {
        /// The account's address
        email: String,
    },
    /// Let an account read and manage everything on the server
    #[command(after_help = "Example:\n  kurz user promote ada@example.com")]
    Promote {
        /// The account's address
        email: String,
    },
    /// Refuse an account's sign-ins, tokens and keys
    #[command(after_help = "Examples:\n  kurz user disable eve@example.com\n  \
        kurz user disable eve@example.com --links    asks the server at KURZ_URL, with KURZ_API_KEY")]
    Disable {
        /// The account's address
        email: String,
        /// Disable the links that they made, too; takes a running server and an administrator's key
        #[arg(long)]
        links: bool,
    },
    /// Take that back
    #[command(after_help = "Example:\n  kurz user enable eve@example.com")]
    Enable {
        /// The account's address
        email: String,
        /// Enable the links that were disabled with the account, too; as above
        #[arg(long)]
        links: bool,
    },
    /// Print an invitation for one address, good once and for 7 days
    #[command(after_help = "Example:\n  kurz user invite eve@example.com")]
    Invite {
        /// Whom to invite
        email: String,
    },
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Add { email: text, admin, name } => {
            let new = NewUser {
                email: email(text)?,
                name: accounts::read_name(name).map_err(|error| refused(error.into()))?,
                password: ask_password()?,
                is_admin: *admin,
                invite: None,
            };
            with_people(&args.store, |people| async move {
                let user = people.add(new, &Actor::operator()).await.map_err(refused)?;
                print_line(&line(&user))
            })
        }
        What::List => with_people(&args.store, |people| async move { list(&people).await }),
        What::Passwd { email: text } => {
            let (email, password) = (email(text)?, ask_password()?);
            with_people(&args.store, |people| async move {
                let user = people.find(&email).await.map_err(refused)?;
                people
                    .set_password(user.id, password, &Actor::operator())
                    .await
                    .map_err(refused)
                    .map(|_| ())
            })
        }
        What::Promote { email: text } => {
            let email = email(text)?;
            with_people(&args.store, |people| async move {
                people.grant_admin(&email, &Actor::operator()).await.map_err(refused)
            })
        }
        What::Disable { email, links: false } => set_disabled(&args.store, email, true),
        What::Enable { email, links: false } => set_disabled(&args.store, email, false),
        What::Disable { email, links: true } => ask_server(email, "disable"),
        What::Enable { email, links: true } => ask_server(email, "enable"),
        What::Invite { email: text } => {
            let email = email(text)?;
            with_people(&args.store, |people| async move {
                let (token, until) = people.invite(&email).await.map_err(refused)?;
                print_line(&format!("{token}  for {email}, until {until}"))
            })
        }
    }
}

fn set_disabled(store: &StoreArgs, text: &str, disabled: bool) -> Result<(), Failure> {
    let email = email(text)?;
    with_people(store, |people| async move {
        people.set_disabled(&email, disabled, &Actor::operator()).await.map_err(refused)
    })
}

/// Through the server: the links that it has in memory are to be forgotten at once.
fn ask_server(text: &str, what: &str) -> Result<(), Failure> {
    let email = email(text)?;
    let client = Client::from_environment()?;
    let path = ["admin", "users", email.as_str(), what];
    block_on(client.post(&path, Some(json!({ "links": true })))).map(|_| ())
}

async fn list(people: &Accounts) -> Result<(), Failure> {
    // A closed pipe ends the list like its end; the first failure to write is the one to tell.
    let mut broken = None;
    let done = people
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
