//! A disk in memory: files that a target fills with what it likes, before the engine opens them.
//!
//! Nothing is torn and nothing fails but for want of space: 64 MB a file, so that a length field
//! of a damaged file is answered with `StorageFull` as on a small disk.

use os::disk::{Disk, File, FileStats, FolderLock, Holder, LockRefusal, OpenMode};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

const FILE_BYTES_MAX: u64 = 64 << 20;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A file.
#[derive(Default)]
pub(crate) struct MemoryFile {
    bytes: Mutex<Vec<u8>>,
    stats: FileStats,
}

impl MemoryFile {
    pub(crate) fn new(bytes: Vec<u8>) -> Arc<MemoryFile> {
        Arc::new(MemoryFile { bytes: Mutex::new(bytes), stats: FileStats::default() })
    }

    /// What is in it now.
    pub(crate) fn copy(&self) -> Vec<u8> {
        locked(&self.bytes).clone()
    }
}

impl File for MemoryFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = locked(&self.bytes);
        let from = usize::try_from(offset).map_err(|_| ErrorKind::UnexpectedEof)?;
        let end = from.checked_add(buf.len()).ok_or(ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(bytes.get(from..end).ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buf.len() as u64);
        if end > FILE_BYTES_MAX {
            return Err(ErrorKind::StorageFull.into());
        }
        let (from, end) = (offset as usize, end as usize);
        let mut bytes = locked(&self.bytes);
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[from..end].copy_from_slice(buf);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.bytes).len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        if bytes > FILE_BYTES_MAX {
            return Err(ErrorKind::StorageFull.into());
        }
        locked(&self.bytes).resize(bytes as usize, 0);
        Ok(())
    }

    fn stats(&self) -> &FileStats {
        &self.stats
    }
}

/// Nobody else knows of a disk in memory, and its targets open one instance at a time.
struct MemoryFolderLock;

impl FolderLock for MemoryFolderLock {}

/// Files by name; folders are there as soon as they are named.
#[derive(Default)]
pub(crate) struct MemoryDisk {
    files: Mutex<BTreeMap<PathBuf, Arc<MemoryFile>>>,
}

impl MemoryDisk {
    /// Puts a file there.
    pub(crate) fn put(&self, path: &Path, bytes: Vec<u8>) {
        locked(&self.files).insert(path.to_owned(), MemoryFile::new(bytes));
    }

    /// What is in a file.
    pub(crate) fn copy(&self, path: &Path) -> Option<Vec<u8>> {
        locked(&self.files).get(path).map(|file| file.copy())
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut files = locked(&self.files);
        match (files.get(path), how.create) {
            (Some(_), true) => Err(ErrorKind::AlreadyExists.into()),
            (Some(file), false) => Ok(Arc::clone(file) as Arc<dyn File>),
            (None, false) => Err(ErrorKind::NotFound.into()),
            (None, true) => {
                let file = Arc::new(MemoryFile::default());
                files.insert(path.to_owned(), Arc::clone(&file));
                Ok(file)
            }
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = locked(&self.files).remove(path);
        removed.map(|_| ()).ok_or(ErrorKind::NotFound.into())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = locked(&self.files);
        let file = files.remove(from).ok_or(ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        locked(&self.files).contains_key(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let files = locked(&self.files);
        Ok(files.keys().filter(|path| path.parent() == Some(dir)).cloned().collect())
    }

    fn create_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock_folder(&self, _: &Path, _: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal> {
        Ok(Box::new(MemoryFolderLock))
    }
}
