//! Detects that a file has changed, from its metadata.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device, inode, size and times of a file; `None` when it does not exist.
pub(crate) type FileVersion = Option<[i128; 5]>;

/// The current version of a file.
pub(crate) fn of(path: &Path) -> FileVersion {
    let meta = fs::metadata(path).ok()?;
    let changed = i128::from(meta.ctime()) << 32 | i128::from(meta.ctime_nsec());
    let written = i128::from(meta.mtime()) << 32 | i128::from(meta.mtime_nsec());
    let [device, number, size] = [meta.dev(), meta.ino(), meta.size()].map(i128::from);
    Some([device, number, size, changed, written])
}
