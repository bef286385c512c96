//! The write-ahead log beside an SQLite file: whether it is all there, before SQLite reads it, and how
//! large it is.
//!
//! SQLite takes the first frame whose checksum is wrong for the end of the log. After a power cut that
//! is right: the last transaction was torn, and nobody was told that it is safe. But when whole
//! transactions follow, each of which was synced before the next began, the disk lost something in
//! the middle, and SQLite would forget everything after it without a word. So would it when the
//! whole file is missing. Both are refused.
//!
//! Not seen: damage to the last transaction, which looks just like a torn one.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::store::Error;

/// The start of every log; the last bit says in which order words lie.
const MAGIC: u32 = 0x377f_0682;
const HEADER: usize = 32;
const FRAME: usize = 24;

/// What the log is cut down to once it was moved, and when it is too large: then somebody reads for so
/// long that it cannot be moved.
pub(super) const LOG_BYTES: u64 = 64 * 1024 * 1024;
const LOG_ALARM_BYTES: u64 = LOG_BYTES / 2 * 3;

pub(super) fn path_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Refuse a log that lost something. `expected` is whether there must be one.
pub(super) fn inspect(store: &Path, expected: bool) -> Result<(), Error> {
    let path = path_of(store);
    let lost = match File::open(&path) {
        Ok(file) => lost_in(BufReader::with_capacity(1 << 20, file)).map_err(|error| {
            Error::Open(format!("cannot read {}: {error}; check its permissions", path.display()))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !expected || !store.exists() {
                return Ok(());
            }
            return Err(Error::Open(format!(
                "the write-ahead log {} is missing, and with it the latest links: put it back \
                 where it was, or restore a backup (`kurz backup --help` says how); whoever does \
                 without them removes {}.lock",
                path.display(),
                store.display()
            )));
        }
        // SQLite will say the same, and why.
        Err(_) => return Ok(()),
    };
    if lost == 0 {
        return Ok(());
    }
    Err(Error::Open(format!(
        "the write-ahead log {} is damaged, and {lost} transactions after that place cannot be \
         read: restore a backup (`kurz backup --help` says how); whoever does without them moves \
         this file and {}.lock away",
        path.display(),
        store.display()
    )))
}

/// How many whole transactions stand after the first frame that SQLite would not read; 0 when the log
/// ends there or with that very transaction.
fn lost_in(mut log: impl Read) -> io::Result<u64> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(0);
    }
    let magic = word(&header, 0);
    let page = word(&header, 8);
    let mut sum = WalChecksum { big: magic & 1 == 1, words: (0, 0) };
    sum.add(header.get(..24).unwrap_or_default());
    let sound = magic & !1 == MAGIC && sum.is(&header, 24);
    // With a damaged header the sizes cannot be trusted; kurz's stores have pages of this size.
    let page = if sound { usize::try_from(page).unwrap_or(4096) } else { 4096 };
    let mut salt = sound.then(|| salt_of(&header, 16));
    let mut reading = sound;
    let mut commits = 0;
    let mut frame = vec![0; FRAME + page];
    while fill(&mut log, &mut frame)? {
        let own = *salt.get_or_insert_with(|| salt_of(&frame, 8)) == salt_of(&frame, 8);
        if reading {
            sum.add(frame.get(..8).unwrap_or_default());
            sum.add(frame.get(FRAME..).unwrap_or_default());
            reading = own && sum.is(&frame, 16);
        }
        // Frames of an older log have other salts.
        if !reading && own && word(&frame, 4) != 0 {
            commits += 1;
        }
    }
    // The first commit may belong to a transaction that was torn before anybody was told of it.
    Ok(u64::saturating_sub(commits, 1))
}

/// Read a whole piece; `false` when the log ends before.
fn fill(log: &mut impl Read, piece: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(piece) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}

fn salt_of(bytes: &[u8], at: usize) -> (u32, u32) {
    (word(bytes, at), word(bytes, at + 4))
}

/// SQLite's running checksum of a log.
struct WalChecksum {
    big: bool,
    words: (u32, u32),
}

impl WalChecksum {
    fn add(&mut self, bytes: &[u8]) {
        let read = if self.big { u32::from_be_bytes } else { u32::from_le_bytes };
        let (mut one, mut two) = self.words;
        for &[a, b, c, d, e, f, g, h] in bytes.as_chunks::<8>().0 {
            one = one.wrapping_add(read([a, b, c, d])).wrapping_add(two);
            two = two.wrapping_add(read([e, f, g, h])).wrapping_add(one);
        }
        self.words = (one, two);
    }

    fn is(&self, bytes: &[u8], at: usize) -> bool {
        self.words == salt_of(bytes, at)
    }
}

/// The write-ahead log, as far as its size goes.
pub(super) struct WalMonitor {
    path: PathBuf,
    size: metrics::Gauge,
    alarmed: bool,
}

impl WalMonitor {
    pub(super) fn new(store: &Path) -> Self {
        let size = metrics::gauge!("kurz_sqlite_wal_bytes");
        Self { path: path_of(store), size, alarmed: false }
    }

    /// Say once when it has grown too large, and once when it is small again.
    pub(super) fn look(&mut self) {
        let bytes = self.path.metadata().map_or(0, |log| log.len());
        #[expect(
            clippy::cast_precision_loss,
            clippy::as_conversions,
            reason = "gauges are doubles; a file is far below 2^53 bytes"
        )]
        self.size.set(bytes as f64);
        if bytes > LOG_ALARM_BYTES && !self.alarmed {
            let mib = bytes / 1024 / 1024;
            tracing::warn!(
                mib,
                "the store's write-ahead log grows: another program reads the \
                store without an end, such as a shell with an open transaction; end that one"
            );
        }
        if bytes <= LOG_BYTES && self.alarmed {
            tracing::info!("the store's write-ahead log is as small as it should be again");
        }
        self.alarmed = if self.alarmed { bytes > LOG_BYTES } else { bytes > LOG_ALARM_BYTES };
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;

    /// A store with a log of some transactions of one page each, or of a few, and a copy of the log.
    fn logged(transactions: i64) -> (TempDir, PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("a.db");
        let db = Connection::open(&store).unwrap();
        db.execute_batch(
            "pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t (a)",
        )
        .unwrap();
        for number in 0..transactions {
            db.execute("insert into t values (?1)", [number]).unwrap();
        }
        let log = std::fs::read(path_of(&store)).unwrap();
        // The connection would tidy the log away when it closes.
        let away = folder.path().join("b.db");
        std::fs::copy(&store, &away).unwrap();
        std::fs::write(path_of(&away), &log).unwrap();
        (folder, away, log)
    }

    #[test]
    fn a_whole_log_is_read_to_its_end() {
        let (_folder, store, log) = logged(10);
        assert!(log.len() > 11 * (FRAME + 4096));
        inspect(&store, true).unwrap();
    }

    // threats: F5
    #[test]
    fn a_log_that_lost_something_in_the_middle_is_refused() {
        let (_folder, store, log) = logged(10);
        let frames = (log.len() - HEADER) / (FRAME + 4096);
        for at in [0, 9, 20, HEADER + 1, HEADER + 9, HEADER + 17, HEADER + 100, log.len() / 2] {
            let mut damaged = log.clone();
            damaged[at] ^= 1;
            std::fs::write(path_of(&store), &damaged).unwrap();
            let error = inspect(&store, true).unwrap_err().to_string();
            assert!(error.contains("is damaged, and "), "byte {at} of {frames} frames: {error}");
        }
    }

    #[test]
    fn a_torn_end_is_what_a_power_cut_leaves() {
        let (_folder, store, log) = logged(10);
        for length in [log.len() - 1, log.len() - 4096, log.len() - 4096 - FRAME, HEADER, 7, 0] {
            std::fs::write(path_of(&store), &log[..length]).unwrap();
            inspect(&store, true).unwrap();
        }
        let mut torn = log.clone();
        let last = torn.len() - 9;
        torn[last] ^= 1;
        std::fs::write(path_of(&store), &torn).unwrap();
        inspect(&store, true).unwrap();
    }

    #[test]
    fn what_an_older_log_left_behind_is_no_damage() {
        let (_folder, store, mut log) = logged(10);
        // Frames with other salts after the end.
        let (older, _) = log.split_at(log.len() - 3 * (FRAME + 4096));
        let mut tail = log[older.len()..].to_vec();
        for frame in tail.chunks_mut(FRAME + 4096) {
            frame[8] ^= 0xff;
        }
        let keep = older.len();
        log.truncate(keep);
        log.extend(tail);
        std::fs::write(path_of(&store), &log).unwrap();
        inspect(&store, true).unwrap();
    }

    // threats: F5
    #[test]
    fn a_log_that_is_missing_is_refused_only_where_there_was_one() {
        let (_folder, store, _) = logged(1);
        std::fs::remove_file(path_of(&store)).unwrap();
        inspect(&store, false).unwrap();
        let error = inspect(&store, true).unwrap_err().to_string();
        assert!(error.contains("is missing"), "{error}");
        std::fs::remove_file(&store).unwrap();
        inspect(&store, true).unwrap();
    }
}
