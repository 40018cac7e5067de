//! An open file of the simulated disk.

use super::content::Change;
use super::image::SECTOR;
use super::names::FileNo;
use super::operation::{Inner, State};
use os::disk::FileStats;
use std::io;
use std::sync::Arc;

/// Usual virtual time of transfers.
const READ_NS: u64 = 40_000;
const WRITE_NS: u64 = 20_000;
const SYNC_NS: u64 = 400_000;

pub(crate) struct SimFile {
    disk: Arc<Inner>,
    file: FileNo,
    name: Arc<str>,
    /// 1, or what transfers of a direct file are multiples of.
    alignment: usize,
    stats: FileStats,
}

impl SimFile {
    /// The content's count of handles includes this one already.
    pub(crate) fn new(disk: Arc<Inner>, file: FileNo, name: Arc<str>, direct: bool) -> SimFile {
        let alignment = if direct { disk.state().options.direct_alignment } else { 1 };
        SimFile { disk, file, name, alignment, stats: FileStats::default() }
    }

    fn check_alignment(&self, buf: &[u8], offset: u64) {
        let a = self.alignment;
        let aligned = |n: usize| n.is_multiple_of(a);
        assert!(
            aligned(buf.len()) && aligned(buf.as_ptr() as usize) && offset.is_multiple_of(a as u64),
            "a transfer of {} bytes at {offset} of the direct file {} is not aligned to {a}",
            buf.len(),
            self.name
        );
    }

    fn put(&self, s: &mut State, number: u64, buf: &[u8], offset: u64) -> io::Result<()> {
        let len = s.content(self.file).len();
        let end = offset + buf.len() as u64;
        let mut bytes = buf;
        let refused = end > len && s.refuses_space(number, end - len);
        if refused {
            // What fits may be written before the rest is refused.
            let room = s.options.capacity_bytes.saturating_sub(s.used_bytes());
            let fits =
                ((len + room).saturating_sub(offset) / SECTOR).min(bytes.len() as u64 / SECTOR);
            let written = if s.random.one_in(2) { 0 } else { s.random.below(fits + 1) };
            bytes = &bytes[..(written * SECTOR) as usize];
        }
        if !bytes.is_empty() {
            let change = Change::Write { offset, bytes: bytes.into() };
            s.content(self.file).change(number, change);
        }
        if refused { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn resize(&self, s: &mut State, number: u64, bytes: u64) -> io::Result<()> {
        let len = s.content(self.file).len();
        if bytes > len && s.refuses_space(number, bytes - len) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        s.content(self.file).change(number, Change::SetLen { len: bytes });
        Ok(())
    }

    /// Writes, and makes that durable alone; a crash in the midst leaves it written or uncertain.
    fn put_durably(&self, s: &mut State, number: u64, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.put(s, number, bytes, offset)?;
        if s.fails_sync(number) {
            return Err(io::Error::other("the write could not be made durable (injected)"));
        }
        if number != s.crash_at || s.random.one_in(2) {
            s.content(self.file).sync_last();
        }
        Ok(())
    }

    fn flush(&self, s: &mut State, number: u64, below: u64) -> io::Result<()> {
        let fails = s.fails_sync(number);
        if fails {
            let State { contents, random, .. } = s;
            let content = contents.get_mut(&self.file).expect("an open file has content");
            content.fail_sync(below, random);
            return Err(io::Error::other("the file could not be synced (injected)"));
        }
        // A crash in the midst: synced or not, by the seed; if not, its writes are uncertain.
        if number != s.crash_at || s.random.one_in(2) {
            s.content(self.file).sync(below);
        }
        Ok(())
    }
}

impl os::disk::File for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_alignment(buf, offset);
        let task = self.disk.enter()?;
        self.disk.pass(task.as_ref(), READ_NS)?;
        let len = buf.len();
        let place = (offset, len as u64);
        self.disk.finish_look(task.as_ref(), "read", &self.name, place, |s| {
            match s.content(self.file).read(buf, offset) {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        })?;
        self.stats.read(len, READ_NS);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.check_alignment(buf, offset);
        let task = self.disk.enter()?;
        self.disk.pass(task.as_ref(), WRITE_NS)?;
        let place = (offset, buf.len() as u64);
        self.disk.finish(task.as_ref(), "write", &self.name, place, |s, number| {
            self.put(s, number, buf, offset)
        })?;
        self.stats.written(buf.len(), WRITE_NS);
        Ok(())
    }

    fn write_durably(&self, parts: &[&[u8]], offset: u64) -> io::Result<()> {
        let bytes = parts.concat();
        let task = self.disk.enter()?;
        self.disk.pass(task.as_ref(), SYNC_NS)?;
        let place = (offset, bytes.len() as u64);
        self.disk.finish(task.as_ref(), "write durably", &self.name, place, |s, number| {
            self.put_durably(s, number, &bytes, offset)
        })?;
        self.stats.written(bytes.len(), SYNC_NS);
        self.stats.synced(0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let task = self.disk.enter()?;
        let below = self.disk.state().content(self.file).changes_end();
        self.disk.pass(task.as_ref(), SYNC_NS)?;
        self.disk.finish(task.as_ref(), "sync", &self.name, (0, 0), |s, number| {
            self.flush(s, number, below)
        })?;
        self.stats.synced(SYNC_NS);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.look("len", &self.name, |s| Ok(s.content(self.file).len()))
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk
            .operate("set_len", &self.name, bytes, 0, |s, number| self.resize(s, number, bytes))
    }

    fn stats(&self) -> &FileStats {
        &self.stats
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut s = self.disk.state();
        let content = s.content(self.file);
        content.handles -= 1;
        if content.handles == 0 && !s.names.reach(self.file) {
            s.contents.remove(&self.file);
        }
    }
}
