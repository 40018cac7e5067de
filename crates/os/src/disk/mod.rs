//! Files: what the engine asks of a disk, and what it may expect.
//!
//! Contract (the simulator breaks exactly what this does not promise)
//!  1. A write is durable only when a later [`File::sync`] of that file has returned.
//!  2. Until then it may vanish, be torn at any 512-byte boundary, or overtake other writes.
//!  3. A file's creation, removal and new name are durable after [`Disk::sync_dir`].
//!  4. After a failed sync nothing is known about earlier writes: the caller stops the process.
//!  5. What [`File::write_durably`] wrote is durable when it returns. It makes no other write
//!     durable.
//!  6. A locked folder has one holder, as long as every user of it locks it.

mod file_lock;
mod folder_lock;
mod real;
mod through;

pub use folder_lock::{FolderLock, Holder, LOCK_FILE, LockRefusal};
pub use real::RealDisk;
pub use through::{Measurement, Way, write_logs_by};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How a file is to be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenMode {
    /// Make it; fails when it exists.
    pub create: bool,
    /// Keep it out of the operating system's page cache where that works. Buffers, offsets and
    /// lengths of transfers are then multiples of 4,096.
    pub direct: bool,
}

/// A place that holds files.
pub trait Disk: Send + Sync {
    /// Opens or makes a file.
    ///
    /// # Errors
    /// The operating system's.
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn File>>;
    /// Removes a file.
    ///
    /// # Errors
    /// The operating system's.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Gives a file a new name, replacing what had it.
    ///
    /// # Errors
    /// The operating system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Whether there is a file or folder of that name.
    fn exists(&self, path: &Path) -> bool;
    /// The files of a folder, sorted.
    ///
    /// # Errors
    /// The operating system's.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// The operating system's.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// The operating system's.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Lets only this user read or write a file. A disk without users has nothing to do.
    ///
    /// # Errors
    /// The operating system's.
    fn keep_private(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }
    /// What a folder is told by, whatever its path is: another one at that path has another. A disk
    /// whose folders do not move has one for all.
    ///
    /// # Errors
    /// The operating system's.
    fn folder_number(&self, dir: &Path) -> io::Result<[u64; 2]> {
        let _ = dir;
        Ok([0; 2])
    }
    /// Keeps all other users out of a folder, also within this process, until the lock is dropped
    /// or the process ends.
    ///
    /// # Errors
    /// The holder, or why no process can have it.
    fn lock_folder(&self, dir: &Path, holder: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal>;
}

/// An open file.
#[allow(clippy::len_without_is_empty, reason = "a file is a place of bytes, not a collection")]
pub trait File: Send + Sync {
    /// Fills the buffer from a position.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file is too short, or the operating system's.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes the buffer at a position.
    ///
    /// # Errors
    /// `StorageFull`, or the operating system's.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Makes all earlier writes and the length durable.
    ///
    /// # Errors
    /// The operating system's; the caller must stop the process.
    fn sync(&self) -> io::Result<()>;
    /// Writes the parts one behind the other from a position, and makes them durable: of no other
    /// write anything is said. Parts that begin and end at multiples of 512, in memory and in the
    /// file, may go past the page cache.
    ///
    /// # Errors
    /// `StorageFull`, or the operating system's; the caller must stop the process.
    fn write_durably(&self, parts: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut at = offset;
        for part in parts {
            self.write_at(part, at)?;
            at += part.len() as u64;
        }
        self.sync()
    }
    /// Length in bytes.
    ///
    /// # Errors
    /// The operating system's.
    fn len(&self) -> io::Result<u64>;
    /// Sets the length; new space is allocated (a later write finds room) and reads as zero.
    ///
    /// # Errors
    /// `StorageFull` when there is no room, the length is then as before.
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// Keeps out all others that request the same lock, as long as the file is open: other
    /// processes, and this one by another name of the file than `path`. A file system without locks
    /// lets all in.
    ///
    /// # Errors
    /// Another has it.
    fn keep_others_out(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }
    /// What was read and written so far.
    fn stats(&self) -> &FileStats;
}

/// Counters of one file, as sys.dm_io_virtual_file_stats shows them.
#[derive(Default, Debug)]
pub struct FileStats {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    read_stall_ns: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    write_stall_ns: AtomicU64,
    syncs: AtomicU64,
}

/// A reading of [`FileStats`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct FileStatsSnapshot {
    /// Reads issued.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time spent in reads.
    pub read_stall_ns: u64,
    /// Writes issued.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time spent in writes and syncs.
    pub write_stall_ns: u64,
    /// Syncs.
    pub syncs: u64,
}

impl FileStats {
    /// Counts a read.
    pub fn read(&self, bytes: usize, ns: u64) {
        self.reads.fetch_add(1, Relaxed);
        self.read_bytes.fetch_add(bytes as u64, Relaxed);
        self.read_stall_ns.fetch_add(ns, Relaxed);
    }

    /// Counts a write.
    pub fn written(&self, bytes: usize, ns: u64) {
        self.writes.fetch_add(1, Relaxed);
        self.written_bytes.fetch_add(bytes as u64, Relaxed);
        self.write_stall_ns.fetch_add(ns, Relaxed);
    }

    /// Counts a sync.
    pub fn synced(&self, ns: u64) {
        self.syncs.fetch_add(1, Relaxed);
        self.write_stall_ns.fetch_add(ns, Relaxed);
    }

    /// The counters now.
    pub fn snapshot(&self) -> FileStatsSnapshot {
        FileStatsSnapshot {
            reads: self.reads.load(Relaxed),
            read_bytes: self.read_bytes.load(Relaxed),
            read_stall_ns: self.read_stall_ns.load(Relaxed),
            writes: self.writes.load(Relaxed),
            written_bytes: self.written_bytes.load(Relaxed),
            write_stall_ns: self.write_stall_ns.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
        }
    }
}
