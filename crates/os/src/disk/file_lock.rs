//! One user per file: locks on single files, whatever their names.
//!
//! A file may have names in several folders, by hard links for example, and a folder's lock says
//! nothing about them. So each file of a database is locked too, with flock on the opened file. A
//! process that opens a file again under the same name, to change the state of its database, shares
//! the lock that it has. The lock ends when all sharers have closed the file. Under another name
//! the process is refused like another process.
//!
//! On a file system without locks every process gets one: the folder's lock decides there.

use super::folder_lock::{flock, knows_no_locks};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// A lock, held as long as anybody has it.
#[derive(Clone)]
pub(super) struct FileLock {
    /// Another number for what was opened: the lock is of that.
    _open: Arc<OwnedFd>,
}

/// A file of this process, and the name that it was opened by.
struct HeldFile {
    path: PathBuf,
    open: Weak<OwnedFd>,
}

/// By device and number.
static HELD: Mutex<BTreeMap<(u64, u64), HeldFile>> = Mutex::new(BTreeMap::new());

/// How often, and how long apart, a file is asked for whose holder may just be closing it.
const LOOKS: u32 = 20;
const LOOK_APART_NS: u64 = 10_000_000;

/// The lock of an open file; `None` where its file system knows none.
///
/// # Errors
/// `ResourceBusy` where another has it, or the operating system's.
pub(super) fn lock(file: &OwnedFd, path: &Path) -> io::Result<Option<FileLock>> {
    for _ in 0..LOOKS {
        match try_lock(file, path) {
            Ok(Some(lock)) => return Ok(Some(lock)),
            Ok(None) => crate::task::sleep_ns(LOOK_APART_NS),
            Err(e) if knows_no_locks(e) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
    }
    let held = "it is in use by another process, or by another database under another name";
    Err(io::Error::new(io::ErrorKind::ResourceBusy, held))
}

/// The lock, unless another has it.
fn try_lock(file: &OwnedFd, path: &Path) -> Result<Option<FileLock>, rustix::io::Errno> {
    let stat = rustix::fs::fstat(file)?;
    let number = (stat.st_dev, stat.st_ino);
    let mut held = HELD.lock();
    if let Some(open) = held.get(&number).and_then(|h| h.open.upgrade()) {
        let ours = held[&number].path == path;
        return Ok(ours.then_some(FileLock { _open: open }));
    }
    if flock(file)?.is_none() {
        return Ok(None);
    }
    let open = Arc::new(rustix::io::fcntl_dupfd_cloexec(file, 0)?);
    held.retain(|_, h| h.open.strong_count() > 0);
    held.insert(number, HeldFile { path: path.to_owned(), open: Arc::downgrade(&open) });
    Ok(Some(FileLock { _open: open }))
}

#[cfg(test)]
mod tests {
    use crate::disk::{Disk, OpenMode, RealDisk};
    use std::io;

    /// A file is one by all its names; by the same name the process has it again, and keeps it
    /// until the last has closed it.
    #[test]
    fn a_file_has_one_user_by_all_its_names() {
        let dir = std::env::temp_dir().join(format!("ghostlight-one-file-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir(&dir).unwrap();
        let (a, b) = (dir.join("a"), dir.join("b"));
        let how = |create| OpenMode { create, direct: false };
        let first = RealDisk.open(&a, how(true)).unwrap();
        std::fs::hard_link(&a, &b).unwrap();
        first.keep_others_out(&a).unwrap();
        let other = RealDisk.open(&b, how(false)).unwrap();
        let refused = |other: &dyn crate::disk::File| {
            other.keep_others_out(&b).unwrap_err().kind() == io::ErrorKind::ResourceBusy
        };
        assert!(refused(&*other));
        let again = RealDisk.open(&a, how(false)).unwrap();
        again.keep_others_out(&a).unwrap();
        drop(first);
        assert!(refused(&*other), "the second has it still");
        drop(again);
        other.keep_others_out(&b).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
