//! Whether an SQLite file is whole, by SQLite's own check of all its pages, tables and indexes. It takes
//! seconds for a million links, so a start does it for small files alone (`KURZ_CHECK_BYTES`); `kurz
//! doctor` always does.
//! PostgreSQL has its own tools for that.

use std::path::Path;

use crate::config::StoreUrl;
use crate::store::{Error, name_file, sqlite};

/// Check the store, if it is a file of at most `most` bytes.
pub fn verify(store: &StoreUrl, most: u64) -> Result<(), Error> {
    let StoreUrl::Sqlite(path) = store else { return Ok(()) };
    if path.metadata().map_or(0, |file| file.len()) > most {
        return Ok(());
    }
    check(path).map_err(|error| name_file(path, error))
}

fn check(path: &Path) -> Result<(), Error> {
    let db = sqlite::connect_reader(path)?;
    let verdict: String = db
        .query_row("pragma integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| sqlite::failed(&error))?;
    if verdict == "ok" { Ok(()) } else { Err(Error::Corrupt(verdict)) }
}
