//! `kurz backup`: a copy of an SQLite store in one file, also while it is being served.

use std::path::PathBuf;

use super::CliError;
use super::lines::print_line;
use super::settings::Settings;
use crate::config::size;
use crate::store;

const EXAMPLES: &str = "\
Examples:
  kurz backup kurz-2026-07-01.db
  kurz backup /backups/kurz.db --store sqlite:///var/lib/kurz/kurz.db

The server may go on: the copy is the store as of one instant, checked and synced to the disk. A file
that exists is not overwritten. It holds the secrets of the store: keep it as safe.

To restore: stop the server, move the store's file and those beside it that begin with its name
(-wal, -shm, .lock) away, copy the backup to the store's name, and start the server.

A PostgreSQL store is backed up with pg_dump, or with `kurz copy` into an SQLite file.";

/// Write a copy of the SQLite store to a new file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The new file
    file: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let config = args.settings.load()?;
    let bytes = store::backup(&config.store.url, &args.file)?;
    let (url, file, size) = (&config.store.url, args.file.display(), size::print(bytes));
    print_line(&format!("{url} is backed up in {file} ({size}, checked)"))
}
