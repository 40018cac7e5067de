//! One process per data folder: a lock that the kernel releases when its holder dies.
//!
//! The lock is flock's, on a file `ghostlight.lock` in the folder and on the folder itself. It
//! belongs to the opened file, not to a path. So the folder under another name, through a link or a
//! bind mount, is the same one. A second holder within the process is refused like another process.
//! What a dead holder left does not block anybody.
//!
//! Invariants
//!  1. The file is locked before it is written: its contents are those of the holder, or of a
//!     former one.
//!  2. A folder whose lock file was removed is still locked: removing "stale" lock files opens no
//!     second way in. Where a folder cannot be locked, as on NFS, only the file is.
//!  3. On a file system without locks every process is refused: [`LockRefusal::Unsupported`].
//!  4. Files that have names in other folders too are each locked by themselves (`file_lock.rs`).

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The lock file of a folder; it names the holder.
pub const LOCK_FILE: &str = "ghostlight.lock";

/// More is not read of the file.
const NOTE_BYTES: usize = 4096;
/// How often, and how long apart, a file is read again whose holder has not written it yet.
const LOOKS: u32 = 20;
const LOOK_APART_NS: u64 = 10_000_000;

/// The process that holds a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number, as the machine or container has it that it runs in.
    pub process: u32,
    /// That machine or container.
    pub host: String,
    /// What it was started as.
    pub command: String,
}

impl Holder {
    /// This process.
    pub fn here(command: &str) -> Holder {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Holder { process: std::process::id(), host, command: command.to_owned() }
    }

    fn note(&self) -> String {
        let Holder { process, host, command } = self;
        let line = |text: &str| text.replace(char::is_control, " ");
        format!("{process}\n{}\n{}\n", line(host), line(command))
    }

    /// The process that wrote a note, when the note is whole.
    fn of_note(note: &str) -> Option<Holder> {
        let mut lines = note.split('\n');
        let process = lines.next()?.parse().ok()?;
        let plain = |text: &str| text.replace(char::is_control, " ");
        let (host, command) = (plain(lines.next()?), plain(lines.next()?));
        lines.next().map(|_| Holder { process, host, command })
    }

    /// Whether it may be running still: of another machine nothing is known.
    fn may_live(&self) -> bool {
        let here = rustix::system::uname();
        if here.nodename().to_string_lossy() != self.host {
            return true;
        }
        let pid = i32::try_from(self.process).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(Errno::SRCH))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { process, host, command } = self;
        write!(f, "process {process} on host {host} ({command})")
    }
}

/// Why a folder cannot be had.
#[derive(Debug)]
pub enum LockRefusal {
    /// Another process has it; which one, if that is known.
    Held(Option<Holder>),
    /// Its file system knows no locks.
    Unsupported(io::Error),
    /// The file of the lock cannot be opened or written.
    File(io::Error),
}

/// A lock, which is given back when this is dropped.
pub trait FolderLock: Send + Sync {}

struct Flock {
    file: OwnedFd,
    _folder: Option<OwnedFd>,
}

impl FolderLock for Flock {}

impl Drop for Flock {
    fn drop(&mut self) {
        // So that no process is told of a holder that is gone. If it cannot be emptied, it is only
        // stale.
        let _ = rustix::fs::ftruncate(&self.file, 0);
    }
}

/// Locks what is open; `None` where that is another's.
pub(super) fn flock(fd: &OwnedFd) -> Result<Option<()>, Errno> {
    loop {
        match rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(())),
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
}

pub(super) fn knows_no_locks(e: Errno) -> bool {
    matches!(e, Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL)
}

/// The folder itself, where it can be locked; `None` within where it cannot.
fn lock_folder_itself(dir: &Path) -> Result<Option<OwnedFd>, LockRefusal> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder =
        rustix::fs::open(dir, flags, Mode::empty()).map_err(|e| LockRefusal::File(e.into()))?;
    match flock(&folder) {
        Ok(Some(())) => Ok(Some(folder)),
        Ok(None) => Err(LockRefusal::Held(None)),
        Err(_) => Ok(None),
    }
}

fn read_note(file: &OwnedFd) -> Option<Holder> {
    let mut bytes = [0; NOTE_BYTES];
    let n = rustix::io::pread(file, &mut bytes, 0).ok()?;
    Holder::of_note(&String::from_utf8_lossy(&bytes[..n]))
}

/// The holder of a file. It may not have written its name yet; then the name is a former holder's.
fn holder_of(file: &OwnedFd) -> Option<Holder> {
    for _ in 0..LOOKS {
        if let Some(holder) = read_note(file).filter(Holder::may_live) {
            return Some(holder);
        }
        crate::task::sleep_ns(LOOK_APART_NS);
    }
    None
}

fn write_note(file: &OwnedFd, holder: &Holder) -> Result<(), Errno> {
    rustix::fs::ftruncate(file, 0)?;
    rustix::io::pwrite(file, holder.note().as_bytes(), 0).map(drop)
}

pub(super) fn lock(dir: &Path, holder: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(dir.join(LOCK_FILE), flags, Mode::RUSR | Mode::WUSR)
        .map_err(|e| LockRefusal::File(e.into()))?;
    match flock(&file) {
        Ok(Some(())) => {}
        Ok(None) => return Err(LockRefusal::Held(holder_of(&file))),
        Err(e) if knows_no_locks(e) => return Err(LockRefusal::Unsupported(e.into())),
        Err(e) => return Err(LockRefusal::File(e.into())),
    }
    let folder = lock_folder_itself(dir)?;
    // The note helps the second process; the lock is held without it.
    let _ = write_note(&file, holder);
    Ok(Box::new(Flock { file, _folder: folder }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, RealDisk};
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir(&dir).unwrap();
        dir
    }

    fn held(dir: &Path) -> Option<Holder> {
        match RealDisk.lock_folder(dir, &Holder::here("second")) {
            Err(LockRefusal::Held(by)) => by,
            Err(e) => panic!("{e:?}"),
            Ok(_) => panic!("a second holder"),
        }
    }

    /// By its path, through a link, and after its file was removed: one holder, until it goes.
    #[test]
    fn a_folder_has_one_holder() {
        let dir = folder("one-holder");
        let link = dir.with_extension("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        let me = Holder::here("ghostlight serve");
        let lock = RealDisk.lock_folder(&dir, &me).unwrap();
        assert_eq!(held(&dir), Some(me.clone()));
        assert_eq!(held(&link), Some(me.clone()));
        std::fs::remove_file(dir.join(LOCK_FILE)).unwrap();
        assert_eq!(held(&dir), None, "held, though nobody knows by whom");
        drop(lock);
        let again = RealDisk.lock_folder(&link, &me).unwrap();
        assert_eq!(held(&dir), Some(me));
        drop(again);
        std::fs::remove_file(&link).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }

    /// A folder that was moved is the same; what took its place is another.
    #[test]
    fn a_folder_is_told_from_what_took_its_place() {
        let dir = folder("its-place");
        let moved = dir.with_extension("moved");
        let _ = std::fs::remove_dir_all(&moved);
        let before = RealDisk.folder_number(&dir).unwrap();
        std::fs::rename(&dir, &moved).unwrap();
        assert!(RealDisk.folder_number(&dir).is_err());
        std::fs::create_dir(&dir).unwrap();
        assert_ne!(RealDisk.folder_number(&dir).unwrap(), before);
        assert_eq!(RealDisk.folder_number(&moved).unwrap(), before);
        for dir in [dir, moved] {
            std::fs::remove_dir_all(&dir).unwrap();
        }
    }

    /// What a process that is gone has left, or anybody else wrote, is in nobody's way.
    #[test]
    fn a_stale_file_is_in_nobodys_way() {
        let dir = folder("stale-lock");
        for left in ["", "4194304\nhere\nghostlight serve\n", "1\n", "\0\n\u{1b}[2J", "-7\n\n\n\n"]
        {
            std::fs::write(dir.join(LOCK_FILE), left).unwrap();
            drop(RealDisk.lock_folder(&dir, &Holder::here("next")).unwrap());
        }
        assert!(std::fs::read(dir.join(LOCK_FILE)).unwrap().is_empty(), "it says of nobody");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let holder = Holder { process: 7, host: "h".to_owned(), command: "a\nb".to_owned() };
        let read = Holder::of_note(&holder.note()).unwrap();
        assert_eq!(read, Holder { command: "a b".to_owned(), ..holder });
        for part in ["", "7", "7\nh", "7\nh\nhalf", "x\nh\nc\n"] {
            assert_eq!(Holder::of_note(part), None, "{part:?}");
        }
    }

    /// A folder that is none, and one where the file cannot be made.
    #[test]
    fn what_cannot_be_locked_says_why() {
        let dir = folder("no-lock");
        let me = Holder::here("x");
        let refused = |dir: &Path| RealDisk.lock_folder(dir, &me).err();
        assert!(matches!(refused(&dir.join("none")), Some(LockRefusal::File(_))));
        std::fs::create_dir(dir.join(LOCK_FILE)).unwrap();
        assert!(matches!(refused(&dir), Some(LockRefusal::File(_))));
        for e in [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL] {
            assert!(knows_no_locks(e));
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
