//! `kurz backup`: a copy of an SQLite store in one file, also while it is being served.

use std::path::PathBuf;

use super::CliError;
use super::lines::print_line;
use super::settings::Settings;
use crate::config::size;
use crate::entropy::Entropy;
use crate::store;

const EXAMPLES: &str = "\
Examples:
  kurz backup kurz-2026-07-01.db
  kurz backup /backups/kurz.db --store sqlite:///var/lib/kurz/kurz.db

The server may keep running: the copy is consistent, checked and synced to the disk. An
existing file is not overwritten. It contains the secrets of the store: protect it in the same way.

To restore: stop the server, move the store's file and those beside it that begin with its name
(-wal, -shm, .lock) away, copy the backup to the store's name, and start the server.

A PostgreSQL store is backed up with pg_dump, or with `kurz copy` into an SQLite file.";

/// Back up the SQLite store to a new file
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
    let bytes = store::backup(&config.store.url, &args.file, &Entropy::os())?;
    let (url, file, size) = (&config.store.url, args.file.display(), size::print(bytes));
    print_line(&format!("{url} is backed up in {file} ({size}, checked)"))
}
