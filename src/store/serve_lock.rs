//! The lock of a server on an SQLite file: hit counters live in the serving process, so there must be
//! one only.
//!
//! The lock file also remembers, beyond the end of a process, that one served: from then on a
//! write-ahead log lies beside the store, and links may be in it alone. A start that finds none
//! refuses, see `wal`.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::config::StoreUrl;
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
}

impl Drop for ServeLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started holds a copy
        // of it until it runs its own program.
        if let Some(Err(error)) = self.0.as_ref().map(|held| held.file.unlock()) {
            tracing::warn!(%error, "the lock file could not be unlocked");
        }
    }
}

impl ServeLock {
    /// Take the lock, or say who has to stop first, or what is missing beside the store.
    pub fn take(url: &StoreUrl) -> Result<Self, Error> {
        let StoreUrl::Sqlite(store) = url else { return Ok(Self(None)) };
        refuse_network(store)?;
        let path = path_of(store);
        let failed = |error: io::Error| {
            Error::Open(format!(
                "cannot make the lock file {}: {error}; check that the folder exists and is \
                 writable",
                path.display()
            ))
        };
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Open(format!(
                    "the store {} is locked: another `kurz serve` is running on it; stop that \
                     one first, or give this one a file of its own (KURZ_STORE)",
                    store.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        wal::inspect(store, was_served(&mut file).map_err(failed)?)?;
        Ok(Self(Some(LockFile { store: store.clone(), file })))
    }

    /// The store is open, and its log beside it: whoever comes next is to find both.
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
        let Some(LockFile { store, file }) = &mut self.0 else { return Ok(()) };
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

    /// Before another program of kurz opens a store that nobody serves: whether its log is all there.
    pub(super) fn inspect(store: &Path) -> Result<(), Error> {
        // The log of one that is served changes while it is read.
        let Ok(mut file) = File::open(path_of(store)) else { return Ok(()) };
        if file.try_lock_shared().is_err() {
            return Ok(());
        }
        let served = was_served(&mut file).unwrap_or(false);
        let inspected = wal::inspect(store, served);
        let _ = file.unlock();
        inspected
    }
}

/// File systems over a network, by the numbers that `statfs` gives. Their locks and shared memory are not what SQLite builds on.
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
    let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
    // A folder that is not there is told of by whoever makes the lock file.
    let Ok(found) = rustix::fs::statfs(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
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
