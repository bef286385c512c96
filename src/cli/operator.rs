//! What the operator's subcommands share. They work on the store itself, also while a server runs on it,
//! and take no credential: whoever can open the store can do everything anyway.

use std::io::{self, IsTerminal, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;

use super::CliError;
use crate::app::accounts::{self, Accounts};
use crate::app::{AppError, COST, Passwords, QUEUE};
use crate::clock::Clock;
use crate::config::{self, Config, Overrides};
use crate::entropy::Entropy;
use crate::store::Store;
use kurz_core::account::Email;
use kurz_core::account::password::Password;

/// No password is as long as this, with its line's end.
const MOST_BYTES: u64 = 1 << 10;

/// Which store.
#[derive(Debug, clap::Args)]
pub(super) struct StoreArgs {
    /// The store with the accounts: a file, or the URL of a database [default: kurz.db]
    #[arg(long, global = true, value_name = "STORE")]
    store: Option<String>,
    /// The settings file [default: kurz.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// A subcommand that works on a store.
#[derive(Debug, clap::Args)]
pub(super) struct OperatorArgs<C: Subcommand> {
    #[command(subcommand)]
    pub(super) command: C,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

/// Do `work` on the accounts of the store.
pub(super) fn with_accounts<F>(
    args: &StoreArgs,
    work: impl FnOnce(Accounts) -> F,
) -> Result<(), CliError>
where
    F: Future<Output = Result<(), CliError>>,
{
    let mut overrides = Overrides::default();
    overrides.file.clone_from(&args.config);
    overrides.set("store", args.store.as_deref());
    let config = Config::load(&overrides, config::environment()?, Path::new("."))?;
    let failed = |error: &dyn std::fmt::Display| CliError::Failed(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let store = Store::open_existing(&config.store).await.map_err(|error| failed(&error))?;
        let passwords =
            Passwords::start(NonZeroUsize::MIN, QUEUE, COST).map_err(|error| failed(&error))?;
        work(Accounts {
            store: Arc::new(store),
            clock: Clock::system(),
            entropy: Entropy::os(),
            passwords: Arc::new(passwords),
        })
        .await
    })
}

/// A refusal by the program, as a subcommand ends with it.
pub(super) fn refused(error: AppError) -> CliError {
    match error {
        AppError::Invalid(fields) => {
            let details: Vec<String> = fields.into_iter().map(|field| field.detail).collect();
            CliError::Refused(details.join("; "))
        }
        AppError::Store(error) => CliError::Failed(error.to_string()),
        other => CliError::Refused(other.to_string()),
    }
}

/// Read an address.
pub(super) fn email(text: &str) -> Result<Email, CliError> {
    accounts::read_email(text).map_err(|error| refused(error.into()))
}

/// A password from the terminal, where it is not shown, or else the first line of stdin. Never from
/// an argument: those are there for everybody on the machine to read.
pub(super) fn ask_password() -> Result<Password, CliError> {
    let text = if io::stdin().is_terminal() {
        let ask = |prompt| {
            rpassword::prompt_password(prompt)
                .map_err(|error| CliError::reading("the password", &error))
        };
        let first = ask("Password: ")?;
        if ask("Repeat the password: ")? != first {
            return Err(CliError::Refused("the two passwords differ: try again".to_owned()));
        }
        first
    } else {
        let mut text = String::new();
        let mut input = io::stdin().lock().take(MOST_BYTES);
        io::BufRead::read_line(&mut io::BufReader::new(&mut input), &mut text)
            .map_err(|error| CliError::reading("the password from stdin", &error))?;
        text.trim_end_matches(['\r', '\n']).to_owned()
    };
    accounts::read_password("password", &text).map_err(|error| refused(error.into()))
}
