//! `kurz migrate`: bring a store's tables up to date without serving it. `kurz serve` does the same
//! at its start.

use super::CliError;
use super::lines::print_line;
use super::runtime::block_on;
use super::settings::Settings;
use crate::config::StoreConfig;
use crate::store::{SchemaState, ServeLock, Store};

const EXAMPLES: &str = "\
Examples:
  kurz migrate
  kurz migrate --store postgres://kurz@db/kurz

Make a backup first: a store that is up to date cannot be served by an older kurz.";

/// Bring the store's tables up to date
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let config = args.settings.load()?.store;
    block_on(migrate(&config))
}

async fn migrate(config: &StoreConfig) -> Result<(), CliError> {
    let url = &config.url;
    let mut applied = Vec::new();
    if Store::inspect(config).await? != SchemaState::Current {
        // A server that runs on the old tables must not have them changed under it.
        let _lock = ServeLock::take(url)?;
        applied = Store::migrate(config).await?.1;
    }
    for step in &applied {
        print_line(&format!("applied {step}"))?;
    }
    print_line(&format!("{url} is up to date"))
}
