//! What tells that a file is another than before, without reading it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device, number, size and times of a file; `None` when it is away.
pub type FileVersion = Option<[i128; 5]>;

/// How a file stands now.
pub fn of(path: &Path) -> FileVersion {
    let meta = fs::metadata(path).ok()?;
    let changed = i128::from(meta.ctime()) << 32 | i128::from(meta.ctime_nsec());
    let written = i128::from(meta.mtime()) << 32 | i128::from(meta.mtime_nsec());
    let [device, number, size] = [meta.dev(), meta.ino(), meta.size()].map(i128::from);
    Some([device, number, size, changed, written])
}
