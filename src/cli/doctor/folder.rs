//! The folder of an SQLite file: can it be written, and is there room? PostgreSQL's disk is the
//! business of its own machine.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::Finding;
use crate::config::{StoreUrl, size};
use crate::store;

const CHECK: &str = "disk";

/// Below this a backup or a long log may not fit.
const LITTLE: u64 = 1 << 30;
/// Below this writes fail soon: the write-ahead log alone may take this much.
const TOO_LITTLE: u64 = 128 << 20;

pub(super) fn check(store: &StoreUrl) -> Vec<Finding> {
    let StoreUrl::Sqlite(path) = store else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut findings = vec![check_writable(path, folder), check_room(folder)];
    findings.extend(check_private(store));
    findings
}

/// The store holds secrets: other users of the machine must not be able to read it.
fn check_private(url: &StoreUrl) -> Option<Finding> {
    store::exposed_files(url).map(|exposed| Finding::warning("permissions", exposed))
}

fn check_writable(path: &Path, folder: &Path) -> Finding {
    let shown = folder.display();
    match try_writing(path, folder) {
        Ok(()) => Finding::ok(CHECK, format!("the folder {shown} is writable")),
        Err(error) => Finding::problem(
            CHECK,
            format!(
                "cannot write in the folder {shown} ({error}): make it, or give it to this user"
            ),
        ),
    }
}

fn try_writing(path: &Path, folder: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // SQLite makes files beside its own: the folder counts, not only the file.
    let probe = folder.join(format!(".kurz-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&probe)?;
    fs::remove_file(&probe)
}

fn check_room(folder: &Path) -> Finding {
    let shown = folder.display();
    let free = match rustix::fs::statvfs(folder) {
        Ok(system) => system.f_bavail.saturating_mul(system.f_frsize),
        Err(error) => {
            let detail =
                format!("cannot tell how much room {shown} has ({error}): look for yourself");
            return Finding::warning(CHECK, detail);
        }
    };
    // In whole units, so that it reads well.
    let unit = if free < LITTLE { 20 } else { 30 };
    let room = size::print(free >> unit << unit);
    if free < TOO_LITTLE {
        Finding::problem(CHECK, format!("only {room} are free in {shown}: make room"))
    } else if free < LITTLE {
        Finding::warning(CHECK, format!("only {room} are free in {shown}: make room soon"))
    } else {
        Finding::ok(CHECK, format!("{room} are free in {shown}"))
    }
}
