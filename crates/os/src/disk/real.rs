//! The operating system's files: pread, pwrite, fdatasync, O_DIRECT where it works; durable writes
//! by the faster way (`through.rs`).

use super::file_lock::{self, FileLock};
use super::through::{DirectFile, Measurement, SCRATCH_BYTES, SECTOR, Way, bytes_of};
use super::{Disk, File, FileStats, FolderLock, Holder, LockRefusal, OpenMode, folder_lock};
use crate::clock;
use crate::sync::Mutex;
use crate::turn;
use crate::vm::AlignedBuffer;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The disk of this machine.
pub struct RealDisk;

struct RealFile {
    fd: OwnedFd,
    lock: Mutex<Option<FileLock>>,
    stats: FileStats,
    through: DirectFile,
}

impl RealFile {
    fn write_parts(&self, parts: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut at = offset;
        for part in parts {
            self.write_at(part, at)?;
            at += part.len() as u64;
        }
        self.sync()
    }

    /// Whether all of it was written: else the page cache is to be taken.
    fn write_past(&self, parts: &[&[u8]], offset: u64) -> io::Result<bool> {
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|p| IoSlice::new(p)).collect();
        loop {
            match turn::aside(|| self.through.write(&slices, offset)) {
                Ok(n) if n == bytes_of(parts) => return Ok(true),
                Ok(_) => {
                    self.through.refused(false);
                    return Ok(false);
                }
                Err(Errno::INTR) => {}
                Err(e) => {
                    let unsupported =
                        matches!(e, Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS | Errno::AGAIN);
                    return match self.through.refused(unsupported) {
                        true => Ok(false),
                        false => Err(e.into()),
                    };
                }
            }
        }
    }
}

/// The file that ways to the disk are measured with.
const SCRATCH: &str = "durable-writes.tmp";

impl RealDisk {
    /// Finds out by writes to a file in a folder, which is removed again, how logs in its file
    /// system get to the disk fastest: some milliseconds, or half a second on a slow disk.
    ///
    /// # Errors
    /// The operating system's.
    pub fn measure(&self, dir: &Path) -> io::Result<Measurement> {
        let path = dir.join(SCRATCH);
        // Of a process that was killed.
        let _ = std::fs::remove_file(&path);
        let file = open(&path, OpenMode { create: true, direct: false })?;
        let removed = std::fs::remove_file(&path);
        // Overwritten as a log is: no write changes what the file system knows of it.
        let mut buffer = AlignedBuffer::new(SCRATCH_BYTES);
        buffer.fill(0);
        file.write_at(&buffer, 0)?;
        file.sync()?;
        let sector = &buffer[..SECTOR];
        let write = |at: u64| file.write_durably(&[sector], at);
        let measured = file.through.measure(&file.fd, sector, write)?;
        removed.map(|()| measured)
    }
}

fn open(path: &Path, how: OpenMode) -> io::Result<RealFile> {
    let mut flags = OFlags::RDWR | OFlags::CLOEXEC;
    if how.create {
        flags |= OFlags::CREATE | OFlags::EXCL;
    }
    let mode = Mode::RUSR | Mode::WUSR;
    let fd = if how.direct {
        match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
            // Some filesystems refuse O_DIRECT, after having made the file.
            Err(rustix::io::Errno::INVAL) => rustix::fs::open(path, flags - OFlags::EXCL, mode),
            other => other,
        }?
    } else {
        rustix::fs::open(path, flags, mode)?
    };
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(RealFile {
        fd,
        lock: Mutex::new(None),
        stats: FileStats::default(),
        through: DirectFile::default(),
    })
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(open(path, how)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            found.push(entry?.path());
        }
        found.sort();
        Ok(found)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let fd = rustix::fs::open(dir, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(turn::aside(|| rustix::fs::fsync(fd))?)
    }

    fn keep_private(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?)
    }

    fn folder_number(&self, dir: &Path) -> io::Result<[u64; 2]> {
        let stat = rustix::fs::stat(dir)?;
        Ok([stat.st_dev, stat.st_ino])
    }

    fn lock_folder(&self, dir: &Path, holder: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal> {
        folder_lock::lock(dir, holder)
    }
}

impl File for RealFile {
    fn keep_others_out(&self, path: &Path) -> io::Result<()> {
        *self.lock.lock() = file_lock::lock(&self.fd, path)?;
        Ok(())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let from = clock::monotonic_ns();
        let mut done = 0;
        while done < buf.len() {
            match rustix::io::pread(&self.fd, &mut buf[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.stats.read(buf.len(), clock::monotonic_ns() - from);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let from = clock::monotonic_ns();
        let mut done = 0;
        while done < buf.len() {
            let rest = &buf[done..];
            match turn::aside(|| rustix::io::pwrite(&self.fd, rest, offset + done as u64)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.stats.written(buf.len(), clock::monotonic_ns() - from);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let from = clock::monotonic_ns();
        turn::aside(|| rustix::fs::fdatasync(&self.fd))?;
        self.stats.synced(clock::monotonic_ns() - from);
        Ok(())
    }

    fn write_durably(&self, parts: &[&[u8]], offset: u64) -> io::Result<()> {
        let way = self.through.way(&self.fd, parts, offset);
        let (mut from, bytes) = (clock::monotonic_ns(), bytes_of(parts));
        if let Some(way) = way {
            if self.write_past(parts, offset)? {
                let took = clock::monotonic_ns() - from;
                self.stats.written(bytes, took);
                match self.through.is_sure() {
                    true => self.stats.synced(0),
                    // Its word is not taken (`through.rs`).
                    false => self.sync()?,
                }
                self.through.took(way, bytes, took);
                return Ok(());
            }
            from = clock::monotonic_ns();
        }
        self.write_parts(parts, offset)?;
        self.through.took(Way::Cached, bytes, clock::monotonic_ns() - from);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_size as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let old = self.len()?;
        if bytes <= old {
            return Ok(rustix::fs::ftruncate(&self.fd, bytes)?);
        }
        let more = bytes - old;
        match turn::aside(|| rustix::fs::fallocate(&self.fd, FallocateFlags::empty(), old, more)) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP) => Ok(rustix::fs::ftruncate(&self.fd, bytes)?),
            Err(e) => {
                // A failed growth must not leave a longer file behind.
                let _ = rustix::fs::ftruncate(&self.fd, old);
                Err(e.into())
            }
        }
    }

    fn stats(&self) -> &FileStats {
        &self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link to a device, say: it can be read and not synced, which would stop the process.
    #[test]
    fn what_is_no_file_is_not_opened() {
        let link = std::env::temp_dir().join(format!("ghostlight-no-file-{}", std::process::id()));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let opened = RealDisk.open(&link, OpenMode { create: false, direct: false });
        assert_eq!(opened.err().unwrap().kind(), io::ErrorKind::InvalidInput);
        std::fs::remove_file(&link).unwrap();
    }

    /// A leftover of a process that was killed is in nobody's way, and none is left.
    #[test]
    fn a_measurement_chooses_and_leaves_nothing() {
        let dir = std::env::temp_dir().join(format!("ghostlight-measured-{}", std::process::id()));
        RealDisk.create_dir(&dir).unwrap();
        std::fs::write(dir.join(SCRATCH), b"left").unwrap();
        let measured = RealDisk.measure(&dir).unwrap();
        let named = |(name, ns): &(&str, u64)| *name == measured.chosen && *ns > 0;
        let took = measured.took;
        // Where the file system knows no O_DIRECT.
        assert!(took.is_empty() || took.iter().any(named), "{took:?}");
        assert_eq!(RealDisk.list(&dir).unwrap(), Vec::<PathBuf>::new());
        std::fs::remove_dir(&dir).unwrap();
        assert!(RealDisk.measure(&dir).is_err(), "there is no folder");
    }

    /// While ways are measured, when one is chosen, of short parts and long, of parts that only the
    /// page cache takes: what was written is read again, and counted.
    #[test]
    fn durable_writes_are_read_again() {
        let dir = std::env::temp_dir().join(format!("ghostlight-durable-{}", std::process::id()));
        RealDisk.create_dir(&dir).unwrap();
        let file = RealDisk.open(&dir.join("f"), OpenMode { create: true, direct: false }).unwrap();
        file.set_len(1 << 20).unwrap();
        let mut buffer = AlignedBuffer::new(16 << 10);
        let mut read = vec![0; 16 << 10];
        for n in 0..100_u8 {
            buffer.fill(n + 1);
            let (first, second) = match n % 10 {
                7 => (512, 8192),
                8 => (100, 412),
                _ => (512, 1024),
            };
            let at = u64::from(n) * 10_240;
            file.write_durably(&[&buffer[..first], &buffer[512..512 + second]], at).unwrap();
            let read = &mut read[..first + second];
            file.read_at(read, at).unwrap();
            assert!(read.iter().all(|b| *b == n + 1), "write {n}");
        }
        assert_eq!(file.stats().snapshot().syncs, 100);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_direct_file_reads_what_was_written_and_zero_elsewhere() {
        let dir = std::env::temp_dir().join(format!("ghostlight-os-{}", std::process::id()));
        RealDisk.create_dir(&dir).unwrap();
        let path = dir.join("f");
        let f = RealDisk.open(&path, OpenMode { create: true, direct: true }).unwrap();
        f.set_len(65536).unwrap();
        let mut b = AlignedBuffer::new(8192);
        b.fill(7);
        f.write_at(&b, 8192).unwrap();
        f.sync().unwrap();
        f.read_at(&mut b, 0).unwrap();
        assert!(b.iter().all(|&x| x == 0));
        f.read_at(&mut b, 8192).unwrap();
        assert!(b.iter().all(|&x| x == 7));
        assert_eq!(f.read_at(&mut b, 65536).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!((f.stats().snapshot().writes, f.stats().snapshot().syncs), (1, 1));
        assert!(RealDisk.open(&path, OpenMode { create: true, direct: false }).is_err());
        RealDisk.remove(&path).unwrap();
        std::fs::remove_dir(&dir).unwrap();
    }
}
