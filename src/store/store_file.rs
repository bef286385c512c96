//! The file of an SQLite store, as the file system knows it: made readable by its owner alone, with one name,
//! and still in its place while it is served. SQLite gives the log and the shared memory beside it the
//! same mode and owner.
//!
//! Invariant: nobody else can read a file that is made here, at no time and whatever the umask is.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::config::StoreUrl;
use crate::store::{Error, wal};

/// Read and write, for the owner.
const PRIVATE: u32 = 0o600;
/// Any right of the group or of others.
const SHARED: u32 = 0o077;

/// Make a new file for secrets. One that is there already, be it a symbolic link, is an error.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(PRIVATE).open(path)?;
    // A umask can only take rights away, be it from the owner.
    file.set_permissions(Permissions::from_mode(PRIVATE))?;
    if rustix::process::geteuid().is_root() {
        // The server that will use the file runs as the owner of the folder.
        let folder = folder_of(path).metadata()?;
        fchown(&file, Some(folder.uid()), Some(folder.gid()))?;
    }
    Ok(file)
}

/// Open a file for secrets, and make it when it is missing. It is not a symbolic link.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    match create_private(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let not_followed = OFlags::NOFOLLOW.bits().cast_signed();
            OpenOptions::new().read(true).write(true).custom_flags(not_followed).open(path)
        }
        made => made,
    }
}

/// The store's own path, without symbolic links, after it was made where it was missing.
pub(super) fn ensure(store: &Path) -> io::Result<PathBuf> {
    match store.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The link of a store that is not there yet says where it shall be.
            let place = fs::read_link(store).map(|to| folder_of(store).join(to));
            match create_private(place.as_deref().unwrap_or(store)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                // Made here, or by another process meanwhile.
                _ => store.canonicalize(),
            }
        }
        found => found,
    }
}

/// Refuse a store with several names: each name would have a write-ahead log of its own, and what is
/// written under one of them is lost under the other.
pub(super) fn refuse_hard_links(store: &Path) -> Result<(), Error> {
    let links = store.metadata().map_or(1, |file| if file.is_file() { file.nlink() } else { 1 });
    if links <= 1 {
        return Ok(());
    }
    Err(Error::Open(format!(
        "the store {} has {links} names (hard links), and each would have a write-ahead log of its own: \
         remove the other names (`find -samefile` finds them), or use a symbolic link instead",
        store.display()
    )))
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileNumber {
    device: u64,
    inode: u64,
}

impl FileNumber {
    fn of(file: &Metadata) -> Self {
        Self { device: file.dev(), inode: file.ino() }
    }
}

/// The file that was opened under a name.
#[derive(Clone, Debug)]
pub(super) struct StoreFile {
    path: PathBuf,
    number: FileNumber,
}

impl StoreFile {
    /// The file that is at `path` now.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), number: FileNumber::of(&path.metadata()?) })
    }

    /// Bytes that are free on its disk, as far as can be told.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let system = rustix::fs::statvfs(folder_of(&self.path)).ok()?;
        Some(system.f_bavail.saturating_mul(system.f_frsize))
    }

    /// Whether `file` is the one.
    pub(super) fn is(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|found| FileNumber::of(&found) == self.number)
    }

    /// An error when there is no file or another one under its name.
    pub(super) fn check(&self) -> Result<(), Error> {
        let what = match self.path.metadata() {
            Ok(found) if FileNumber::of(&found) == self.number => return Ok(()),
            Ok(_) => "was replaced by another file",
            Err(error) if error.kind() == io::ErrorKind::NotFound => "was moved away or removed",
            // Who may not look cannot know.
            Err(_) => return Ok(()),
        };
        Err(Error::Displaced(format!(
            "the store's file {} {what} while it is served: what is stored now is lost with it; stop \
             this server, put the file back, and start it again",
            self.path.display()
        )))
    }
}

/// The files of the store that others on this machine can read or write, and what to do.
pub fn exposed_files(store: &StoreUrl) -> Option<String> {
    let StoreUrl::Sqlite(path) = store else { return None };
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let files = [real.clone(), wal::path_of(&real), shared_memory_of(&real)];
    let exposed = files.iter().filter(|file| {
        file.metadata().is_ok_and(|found| found.is_file() && found.mode() & SHARED != 0)
    });
    let names: Vec<String> = exposed.map(|file| file.display().to_string()).collect();
    let names = (!names.is_empty()).then(|| names.join(" "))?;
    Some(format!(
        "others on this machine can read the store, and with it the secret that signs tokens: run \
         `chmod 600 {names}`; to be sure that nobody uses what was readable, set a new KURZ_JWT_SECRET"
    ))
}

fn shared_memory_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-shm");
    name.into()
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: F5
    #[test]
    fn a_displaced_file_is_noticed_and_is_well_again_once_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let (store, away) = (folder.path().join("kurz.db"), folder.path().join("away.db"));
        ensure(&store).unwrap();
        let file = StoreFile::at(&store).unwrap();
        file.check().unwrap();
        fs::rename(&store, &away).unwrap();
        assert!(file.check().unwrap_err().to_string().contains("was moved away or removed"));
        fs::copy(&away, &store).unwrap();
        assert!(file.check().unwrap_err().to_string().contains("was replaced by another file"));
        fs::rename(&away, &store).unwrap();
        file.check().unwrap();
    }

    #[test]
    fn a_file_is_private_from_the_start_and_never_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let made = create_private(&file).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(create_private(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        open_private(&file).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(create_private(&link).is_err());
        assert!(open_private(&link).is_err());
    }

    #[test]
    fn a_link_to_a_store_that_is_not_there_yet_says_where_it_shall_be() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link.db"), folder.path().join("kurz.db"));
        std::os::unix::fs::symlink("kurz.db", &link).unwrap();
        let made = ensure(&link).unwrap();
        assert_eq!(made, file.canonicalize().unwrap());
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    }
}
