//! A copy of an SQLite store in one file, as of one instant, made while a server may be writing.
//! PostgreSQL has its own tools for that.
//!
//! Invariant: under the name that was asked for there is a whole, checked and synced copy, or
//! nothing. What was there before stays.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::config::StoreUrl;
use crate::entropy::Entropy;
use crate::store::store_file::{create_private, folder_of};
use crate::store::{Error, missing, name_file, sqlite};

/// Write a copy of the store to a new file; its size in bytes.
pub fn backup(store: &StoreUrl, to: &Path, entropy: &Entropy) -> Result<u64, Error> {
    let StoreUrl::Sqlite(from) = store else {
        return Err(Error::Open(
            "a PostgreSQL store is backed up with PostgreSQL's own pg_dump; `kurz copy` writes it \
             into an SQLite file"
                .to_owned(),
        ));
    };
    if !from.exists() {
        return Err(missing(store));
    }
    if to.symlink_metadata().is_ok() {
        return Err(exists(to));
    }
    let source = sqlite::connect_reader(from).map_err(|error| name_file(from, error))?;
    let part = PartialBackup::create(to, entropy)?;
    copy_pages(&source, &part.0).map_err(|error| cannot_write(to, &error))?;
    let size = check(&part.0).map_err(|error| cannot_write(to, &error))?;
    part.publish(to)?;
    Ok(size)
}

/// A copy that is not complete yet, beside the file that it will be; removed when it fails.
struct PartialBackup(PathBuf);

impl PartialBackup {
    /// Under a name that nobody can guess, and so nobody can have made: it holds secrets.
    fn create(to: &Path, entropy: &Entropy) -> Result<Self, Error> {
        let mut random = [0; 8];
        entropy.fill(&mut random);
        let path = to.with_added_extension(format!("{:016x}.part", u64::from_be_bytes(random)));
        create_private(&path).map_err(|error| cannot_write(to, &error))?;
        Ok(Self(path))
    }

    /// Give it its name, unless a file of that name was made meanwhile.
    fn publish(self, to: &Path) -> Result<(), Error> {
        match fs::hard_link(&self.0, to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(to)),
            // A file system without links.
            Err(_) => fs::rename(&self.0, to).map_err(|error| cannot_write(to, &error))?,
        }
        // The name is safe once its folder is synced.
        let synced = File::open(folder_of(to)).and_then(|file| file.sync_all());
        synced.map_err(|error| cannot_write(to, &error))
    }
}

impl Drop for PartialBackup {
    fn drop(&mut self) {
        // Gone already when it was renamed.
        let _ = fs::remove_file(&self.0);
    }
}

fn copy_pages(from: &Connection, to: &Path) -> Result<(), Error> {
    let failed = |error| sqlite::failed(&error);
    let mut into = Connection::open(to).map_err(failed)?;
    // One step for all pages: a backup that pauses starts again whenever somebody writes.
    let step = Backup::new(from, &mut into).and_then(|backup| backup.step(-1)).map_err(failed)?;
    if step != StepResult::Done {
        return Err(Error::Unavailable(format!("the backup ended as {step:?}")));
    }
    forget_visitor_keys(&into).map_err(failed)?;
    // One file, without a log beside it: whoever moves it moves all of it.
    into.query_row("pragma journal_mode = delete", [], |_| Ok(())).map_err(failed)
}

/// Keys of visitors' hashes are in no backup. They are overwritten before the copy has its name.
fn forget_visitor_keys(db: &Connection) -> rusqlite::Result<()> {
    if !db.table_exists(None, "visitor_keys")? {
        return Ok(());
    }
    db.query_row("pragma secure_delete = on", [], |_| Ok(()))?;
    db.execute("delete from visitor_keys", [])?;
    Ok(())
}

/// Read the copy back from the disk, whole.
fn check(path: &Path) -> Result<u64, Error> {
    let size = File::open(path)
        .and_then(|file| {
            file.sync_all()?;
            file.metadata()
        })
        .map_err(|error| Error::Unavailable(error.to_string()))?
        .len();
    let db = sqlite::connect_reader(path)?;
    let verdict: String = db
        .query_row("pragma integrity_check", [], |row| row.get(0))
        .map_err(|error| sqlite::failed(&error))?;
    if verdict == "ok" { Ok(size) } else { Err(Error::Corrupt(verdict)) }
}

fn exists(path: &Path) -> Error {
    Error::Open(format!("{} exists already: name a new file for the backup", path.display()))
}

fn cannot_write(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Open(format!(
        "cannot write the backup {}: {error}; check its folder and the space there",
        path.display()
    ))
}
