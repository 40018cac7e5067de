//! A file that stays unchanged: everything written to it goes to a second file, and is read from
//! there.
//!
//! An emergency opening puts an overlay over the files of a database. The second file has no name
//! from the start, so nothing of it is left when it is closed.
//!
//! Invariants
//!  1. Nothing is written to the file below, and its length stays.
//!  2. A byte that was written is read from the second file. Any other byte is read from the file
//!     below, and is zero behind its end.

use os::disk::{Disk, File, FileStats, OpenMode};
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A file below, and the file that receives writes.
pub(crate) struct Overlay {
    below: Option<Arc<dyn File>>,
    own: Arc<dyn File>,
    /// The written ranges: start and end. No two ranges touch.
    written: Mutex<BTreeMap<u64, u64>>,
    len: AtomicU64,
    below_len: u64,
    stats: FileStats,
}

impl Overlay {
    /// An overlay over a file, or over nothing. `place` is the path of the second file.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn over(
        disk: &dyn Disk,
        below: Option<Arc<dyn File>>,
        place: &Path,
    ) -> io::Result<Arc<dyn File>> {
        if disk.exists(place) {
            // A process that was killed in between has left it.
            disk.remove(place)?;
        }
        let own = disk.open(place, OpenMode { create: true, direct: false })?;
        disk.remove(place)?;
        let below_len = below.as_ref().map_or(Ok(0), |below| below.len())?;
        let (written, len) = (Mutex::default(), AtomicU64::new(below_len));
        Ok(Arc::new(Overlay { below, own, written, len, below_len, stats: FileStats::default() }))
    }

    /// The end of the range that contains a position, and whether that range was written.
    fn run(&self, at: u64) -> (u64, bool) {
        let written = self.written.lock();
        if let Some((_, end)) = written.range(..=at).next_back().filter(|(_, end)| **end > at) {
            return (*end, true);
        }
        (written.range(at..).next().map_or(u64::MAX, |(next, _)| *next), false)
    }

    fn note(&self, from: u64, to: u64) {
        let mut written = self.written.lock();
        let (mut first, mut end) = (from, to);
        while let Some((start, stop)) = written.range(..=end).next_back().map(|(a, b)| (*a, *b))
            && stop >= first
        {
            written.remove(&start);
            (first, end) = (first.min(start), end.max(stop));
        }
        written.insert(first, end);
    }

    fn read_below(&self, buf: &mut [u8], at: u64) -> io::Result<()> {
        let there = self.below_len.saturating_sub(at).min(buf.len() as u64) as usize;
        let (from_file, beyond) = buf.split_at_mut(there);
        beyond.fill(0);
        match &self.below {
            Some(below) if !from_file.is_empty() => below.read_at(from_file, at),
            _ => Ok(()),
        }
    }
}

impl File for Overlay {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if offset + buf.len() as u64 > self.len.load(Relaxed) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let began = os::clock::monotonic_ns();
        let mut done = 0;
        while done < buf.len() {
            let at = offset + done as u64;
            let (end, is_own) = self.run(at);
            let n = (end - at).min((buf.len() - done) as u64) as usize;
            let part = &mut buf[done..done + n];
            match is_own {
                true => self.own.read_at(part, at)?,
                false => self.read_below(part, at)?,
            }
            done += n;
        }
        self.stats.read(buf.len(), os::clock::monotonic_ns().saturating_sub(began));
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let began = os::clock::monotonic_ns();
        let end = offset + buf.len() as u64;
        self.own.write_at(buf, offset)?;
        self.note(offset, end);
        self.len.fetch_max(end, Relaxed);
        self.stats.written(buf.len(), os::clock::monotonic_ns().saturating_sub(began));
        Ok(())
    }

    /// Nothing here survives the process.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len.load(Relaxed))
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.len.store(bytes, Relaxed);
        Ok(())
    }

    fn stats(&self) -> &FileStats {
        &self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::disk::RealDisk;

    /// Written parts are read from the second file, others from below, and the file below stays as
    /// it is.
    #[test]
    fn what_is_written_lies_over_the_file() {
        let dir = std::env::temp_dir().join(format!("ghostlight-overlay-{}", std::process::id()));
        RealDisk.create_dir(&dir).unwrap();
        let (path, place) = (dir.join("below"), dir.join("own"));
        std::fs::write(&path, [1_u8; 5000]).unwrap();
        std::fs::write(&place, b"left").unwrap();
        let below = RealDisk.open(&path, OpenMode { create: false, direct: false }).unwrap();
        let file = Overlay::over(&RealDisk, Some(below), &place).unwrap();
        assert!(!place.exists());
        let mut model = vec![1_u8; 5000];
        let writes = [(100, 50), (150, 10), (90, 15), (4990, 100), (0, 1), (95, 200), (2, 3)];
        for (n, (at, len)) in writes.into_iter().enumerate() {
            let bytes = vec![n as u8 + 2; len];
            file.write_at(&bytes, at as u64).unwrap();
            model.resize(model.len().max(at + len), 0);
            model[at..at + len].copy_from_slice(&bytes);
            let mut read = vec![0; model.len()];
            file.read_at(&mut read, 0).unwrap();
            assert!(read == model, "write {n}");
        }
        file.set_len(6000).unwrap();
        model.resize(6000, 0);
        let mut read = vec![9; 6000];
        file.read_at(&mut read, 0).unwrap();
        assert!(read == model);
        assert!(file.read_at(&mut read, 1).is_err(), "beyond its end");
        assert_eq!(std::fs::read(&path).unwrap(), vec![1_u8; 5000]);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
