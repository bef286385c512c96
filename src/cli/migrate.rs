//! `kurz migrate`: bring a store's tables, and those in ClickHouse, up to date without serving it. `kurz serve` does the same
//! at its start.

use super::CliError;
use super::lines::print_line;
use super::runtime::block_on;
use super::settings::Settings;
use crate::clickhouse::ClickHouse;
use crate::config::{Config, StoreConfig};
use crate::store::{SchemaState, ServeLock, Store};

const EXAMPLES: &str = "\
Examples:
  kurz migrate
  kurz migrate --store postgres://kurz@db/kurz

Make a backup first: an older kurz cannot serve a migrated store.";

/// Migrate the store's tables to this version
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let config = args.settings.load()?;
    block_on(migrate(&config))
}

async fn migrate(config: &Config) -> Result<(), CliError> {
    migrate_store(&config.store).await?;
    let Some(url) = &config.analytics.clickhouse else { return Ok(()) };
    let failed = |error| CliError::Failed(format!("{url}: {error}"));
    let clickhouse = ClickHouse::new(url, config.store.tls_ca.as_deref()).map_err(failed)?;
    let version = clickhouse.prepare().await.map_err(failed)?;
    print_line(&format!("{url} is up to date (ClickHouse {version})"))
}

async fn migrate_store(config: &StoreConfig) -> Result<(), CliError> {
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
