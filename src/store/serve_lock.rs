//! The lock of a server on an SQLite file: hit counters live in the serving process, so there must be
//! one only.
//!
//! Two locks: one on the file itself, so that a second server finds it under whatever name it opens the
//! file (a symbolic link, a new name); and one on the lock file beside it. The lock file also remembers,
//! beyond the end of a process, that one served: from then on a write-ahead log lies beside the store,
//! and links may be in it alone. A start that finds none refuses, see `wal`.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::config::StoreUrl;
use crate::store::store_file::{self, StoreFile, open_private, refuse_hard_links};
use crate::store::{Error, wal};

/// What the lock file says once the store is open.
const SERVED: &[u8] = b"a write-ahead log belongs to this store\n";

/// Held while a server serves.
#[derive(Debug)]
pub struct ServeLock(Option<LockFile>);

#[derive(Debug)]
struct LockFile {
    store: PathBuf,
    file: File,
    /// The store's own file. It must stay open for as long as SQLite uses the store: closing any
    /// descriptor of a file gives up SQLite's locks on it.
    store_file: File,
}

impl Drop for ServeLock {
    fn drop(&mut self) {
        // Closing the files is not enough: a child process that is just being started holds a copy
        // of them until it runs its own program.
        let Some(held) = &self.0 else { return };
        for file in [&held.file, &held.store_file] {
            if let Err(error) = file.unlock() {
                tracing::warn!(%error, "a lock of the store could not be given up");
            }
        }
    }
}

impl ServeLock {
    /// Take the lock; an error says what holds it or what is missing beside the store.
    pub fn take(url: &StoreUrl) -> Result<Self, Error> {
        let StoreUrl::Sqlite(named) = url else { return Ok(Self(None)) };
        refuse_network(named)?;
        let failed = |path: &Path, error: &io::Error| {
            Error::Open(format!(
                "cannot lock the store with {}: {error}; check that the folder exists and is \
                 writable",
                path.display()
            ))
        };
        let store = store_file::ensure(named).map_err(|error| failed(named, &error))?;
        let store_file = File::open(&store).map_err(|error| failed(&store, &error))?;
        let is_new = store_file.metadata().is_ok_and(|file| file.len() == 0);
        lock(&store_file, named).map_err(|error| error.or_failed(|error| failed(named, error)))?;
        refuse_hard_links(&store)?;
        let still = StoreFile::at(&store).map_err(|error| failed(&store, &error))?;
        if !still.is(&store_file) {
            let error = io::Error::other("it was replaced meanwhile");
            return Err(failed(&store, &error));
        }
        let path = path_of(&store);
        let mut file = open_private(&path).map_err(|error| failed(&path, &error))?;
        lock(&file, named).map_err(|error| error.or_failed(|error| failed(&path, error)))?;
        let served = was_served(&mut file).map_err(|error| failed(&path, &error))?;
        wal::inspect(&store, served && !is_new)?;
        Ok(Self(Some(LockFile { store, file, store_file })))
    }

    /// Remember that the store is open with its log beside it: the next start expects both.
    pub fn serving(&mut self) -> Result<(), Error> {
        self.note(SERVED)
    }

    /// The end, in order. When all of the log is in the store, the next start needs none.
    pub fn end(mut self) {
        let empty = self.0.as_ref().is_none_or(|held| {
            wal::path_of(&held.store).metadata().map_or(true, |log| log.len() == 0)
        });
        if empty && let Err(error) = self.note(&[]) {
            tracing::warn!(%error, "the lock file could not be emptied");
        }
    }

    fn note(&mut self, text: &[u8]) -> Result<(), Error> {
        let Some(LockFile { store, file, .. }) = &mut self.0 else { return Ok(()) };
        let noted = file.rewind().and_then(|()| {
            file.set_len(0)?;
            file.write_all(text)?;
            file.sync_all()
        });
        noted.map_err(|error| {
            let path = path_of(store);
            Error::Open(format!("cannot write {}: {error}; check the space there", path.display()))
        })
    }

    /// Check the log of a store that is not being served, before a command opens it.
    pub(super) fn inspect(store: &Path) -> Result<(), Error> {
        let Ok(store) = store.canonicalize() else { return Ok(()) };
        // An empty file was made by a start that did not come far.
        if store.metadata().is_ok_and(|file| file.len() == 0) {
            return Ok(());
        }
        // The log of one that is served changes while it is read.
        let Ok(mut file) = File::open(path_of(&store)) else { return Ok(()) };
        if file.try_lock_shared().is_err() {
            return Ok(());
        }
        let served = was_served(&mut file).unwrap_or(false);
        let inspected = wal::inspect(&store, served);
        let _ = file.unlock();
        inspected
    }
}

/// Why a file is not locked.
enum NotLocked {
    /// By a server that runs; the error says so.
    Held(Error),
    Failed(io::Error),
}

impl NotLocked {
    fn or_failed(self, failed: impl FnOnce(&io::Error) -> Error) -> Error {
        match self {
            Self::Held(error) => error,
            Self::Failed(error) => failed(&error),
        }
    }
}

/// Lock a file of the store, unless another process has.
fn lock(file: &File, store: &Path) -> Result<(), NotLocked> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => NotLocked::Held(Error::Open(format!(
            "the store {} is locked: another `kurz serve` is running on it, under this name or \
             another; stop that one first, or give this one a file of its own (KURZ_STORE)",
            store.display()
        ))),
        TryLockError::Error(error) => NotLocked::Failed(error),
    })
}

/// Network file systems, by the numbers that `statfs` gives: SQLite cannot rely on their locks and shared
/// memory.
const NETWORK: [(u32, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
];

fn network_name(kind: u32) -> Option<&'static str> {
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

/// Refuse a store on a network file system.
fn refuse_network(store: &Path) -> Result<(), Error> {
    let real = store.canonicalize();
    let folder = store_file::folder_of(real.as_deref().unwrap_or(store));
    // A folder that is not there is told of by whoever makes the store.
    let Ok(found) = rustix::fs::statfs(folder) else { return Ok(()) };
    let kind = u32::try_from(found.f_type & 0xffff_ffff).unwrap_or_default();
    match network_name(kind) {
        None => Ok(()),
        Some(name) => Err(Error::Open(format!(
            "the store {} is on a network file system ({name}), which breaks SQLite files: put it on \
             a local disk, or use PostgreSQL (KURZ_STORE)",
            store.display()
        ))),
    }
}

fn path_of(store: &Path) -> PathBuf {
    store.with_added_extension("lock")
}

fn was_served(file: &mut File) -> io::Result<bool> {
    let mut said = Vec::new();
    file.take(64).read_to_end(&mut said)?;
    Ok(said == SERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: F6
    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(0xff53_4d42), Some("CIFS"));
        // ext4, xfs, btrfs, tmpfs, overlayfs, zfs.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(network_name(local), None, "{local:x}");
        }
        let folder = tempfile::tempdir().unwrap();
        refuse_network(&folder.path().join("kurz.db")).unwrap();
    }

    // threats: F6
    #[test]
    fn a_second_server_on_one_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let url = StoreUrl::Sqlite(folder.path().join("kurz.db"));
        let first = ServeLock::take(&url).unwrap();
        let error = ServeLock::take(&url).unwrap_err().to_string();
        assert!(error.contains("another `kurz serve` is running"), "{error}");
        drop(first);
        ServeLock::take(&url).unwrap();
    }

    // threats: F6
    #[test]
    fn the_lock_belongs_to_the_file_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let url = |name: &str| StoreUrl::Sqlite(at(name));
        let first = ServeLock::take(&url("kurz.db")).unwrap();
        std::os::unix::fs::symlink(at("kurz.db"), at("symbolic.db")).unwrap();
        let error = ServeLock::take(&url("symbolic.db")).unwrap_err().to_string();
        assert!(error.contains("another `kurz serve` is running"), "{error}");
        std::fs::rename(at("kurz.db"), at("renamed.db")).unwrap();
        let error = ServeLock::take(&url("renamed.db")).unwrap_err().to_string();
        assert!(error.contains("another `kurz serve` is running"), "{error}");
        std::fs::hard_link(at("renamed.db"), at("hard.db")).unwrap();
        drop(first);
        for name in ["hard.db", "renamed.db"] {
            let error = ServeLock::take(&url(name)).unwrap_err().to_string();
            assert!(error.contains("has 2 names (hard links)"), "{error}");
        }
        std::fs::remove_file(at("hard.db")).unwrap();
        ServeLock::take(&url("renamed.db")).unwrap();
    }

    // threats: F5
    #[test]
    fn a_store_that_was_served_is_not_opened_without_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("kurz.db");
        let url = StoreUrl::Sqlite(store.clone());
        std::fs::write(&store, "a store").unwrap();
        std::fs::write(wal::path_of(&store), "").unwrap();
        let mut lock = ServeLock::take(&url).unwrap();
        lock.serving().unwrap();
        drop(lock);
        // As a crash leaves it.
        std::fs::remove_file(wal::path_of(&store)).unwrap();
        assert!(ServeLock::take(&url).unwrap_err().to_string().contains("is missing"));
        assert!(ServeLock::inspect(&store).unwrap_err().to_string().contains("is missing"));
        std::fs::write(wal::path_of(&store), "").unwrap();
        // An end in order, with everything in the store, asks for nothing.
        ServeLock::take(&url).unwrap().end();
        std::fs::remove_file(wal::path_of(&store)).unwrap();
        ServeLock::take(&url).unwrap();
    }
}
