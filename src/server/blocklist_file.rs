//! Reads the block list at the start, and again when its file changes.
//!
//! Invariant: a list is replaced as a whole; a new file with an invalid line leaves the old list in
//! use.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::file_version::{self, FileVersion};
use kurz_core::link::blocklist::{BadLine, Blocklist, MOST_BYTES};

/// How often the file is checked. It is read once two checks in a row saw the same version, so that a
/// file that is being written is not read half.
const LOOK: Duration = Duration::from_secs(1);

/// Why a list cannot be used. Each text says what to do.
#[derive(Debug, Error)]
pub enum BlocklistError {
    /// The file does not exist or cannot be read.
    #[error(
        "cannot read {} (KURZ_BLOCKLIST): {source}; name a file of UTF-8 text that is there and that \
         this user may read",
        .path.display()
    )]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} (KURZ_BLOCKLIST) has more than {MOST_BYTES} bytes: shorten it", .path.display())]
    TooLarge { path: PathBuf },
    /// A line is neither a host nor an address.
    #[error("{} (KURZ_BLOCKLIST): {bad}; correct that line, or put # before it", .path.display())]
    Line { path: PathBuf, bad: BadLine },
}

pub fn read(path: &Path) -> Result<Blocklist, BlocklistError> {
    let unreadable = |source| BlocklistError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_string(&mut text))
        .map_err(unreadable)?;
    if text.len() > MOST_BYTES {
        return Err(BlocklistError::TooLarge { path: path.to_owned() });
    }
    Blocklist::parse(&text).map_err(|bad| BlocklistError::Line { path: path.to_owned(), bad })
}

/// The file of the block list, and what was last seen of it.
#[derive(Debug)]
pub(super) struct BlocklistFile {
    path: PathBuf,
    /// The version at the last check, and the one that was last read.
    seen: FileVersion,
    applied: FileVersion,
}

impl BlocklistFile {
    /// Read the list that the server starts with.
    pub(super) fn open(path: &Path) -> Result<(Self, Blocklist), BlocklistError> {
        // Taken before reading, so that a change from now on is seen.
        let applied = file_version::of(path);
        let list = read(path)?;
        note(&list, "taken");
        Ok((Self { path: path.to_owned(), seen: applied, applied }, list))
    }

    /// Reload the list whenever its file changes, until `stop`.
    pub(super) async fn follow(mut self, app: Arc<App>, stop: CancellationToken) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            // A file system may block, and a long list takes a second to parse.
            let looked = tokio::task::spawn_blocking(move || {
                let list = self.look();
                (self, list)
            });
            let Ok((back, list)) = looked.await else { return };
            self = back;
            if let Some(list) = list {
                tracing::info!(entries = list.len(), "the new block list is in force");
                app.block(list);
            }
        }
    }

    /// The new list, if the file changed, then stayed the same for one check, and is valid.
    fn look(&mut self) -> Option<Blocklist> {
        let version = file_version::of(&self.path);
        let rests = version == self.seen;
        self.seen = version;
        if !rests || version == self.applied {
            return None;
        }
        self.applied = version;
        match read(&self.path) {
            Ok(list) => {
                note(&list, "taken");
                Some(list)
            }
            Err(error) => {
                metrics::counter!("kurz_blocklist_reloads_total", "outcome" => "refused")
                    .increment(1);
                let advice = "the new block list is not used and the old one stays in force; put a \
                              good one in place, and it is taken up by itself";
                tracing::error!(%error, "{advice}");
                None
            }
        }
    }
}

fn note(list: &Blocklist, outcome: &'static str) {
    metrics::counter!("kurz_blocklist_reloads_total", "outcome" => outcome).increment(1);
    let entries = u32::try_from(list.len()).unwrap_or(u32::MAX);
    metrics::gauge!("kurz_blocklist_entries").set(f64::from(entries));
}
