//! Spill files on tempdb's pages: a chain of extents of one allocation unit, never logged home.
//!
//! Each file is an allocation unit of tempdb; its pages hold 8,000 bytes each in a single
//! record-less body. Dropped with the file.

use access::{Spill, SpillFile};
use base::limits::{PAGE_BODY_BYTES, PAGE_HEADER_BYTES};
use base::{AllocUnitId, PageId, SqlResult};
use buffer::{Change, Undo};
use space::AllocUnit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wal::{Group, LogReservation, TransactionChain};
use work::Home;

/// Makes spill files in tempdb.
pub struct TempSpill {
    tempdb: Arc<Home>,
    next_unit: AtomicU32,
}

/// Units of spill files: far above those of tables.
const FIRST_UNIT: u32 = 0xF000_0000;
/// Pages claimed together.
const CLAIM: usize = 8;

impl TempSpill {
    /// Spill files in this tempdb.
    pub fn new(tempdb: &Arc<Home>) -> Arc<TempSpill> {
        Arc::new(TempSpill { tempdb: Arc::clone(tempdb), next_unit: AtomicU32::new(FIRST_UNIT) })
    }
}

struct File {
    home: Arc<Home>,
    unit: AllocUnit,
    pages: Vec<PageId>,
    /// Bytes written; the last page is filled up to here.
    written: u64,
    buffer: Vec<u8>,
    read_at: u64,
    group: Group,
}

impl Spill for TempSpill {
    fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
        let id = AllocUnitId(self.next_unit.fetch_add(1, Relaxed).max(FIRST_UNIT));
        let home = Arc::clone(&self.tempdb);
        let name = home.name();
        let mut group = Group::new();
        let mut log = LogReservation::none(home.log());
        log.grow(1024).map_err(|e| e.into_sql(&name))?;
        let made = home.space.create_unit(id, Undo::Never);
        let made = made.map_err(|e| e.into_sql("a spill file", &name))?;
        let mut change = Change::new(&home.pages, &mut group);
        let unit = made.apply(&mut change).map_err(|e| e.into_sql("a spill file", &name))?;
        change.finish(&mut TransactionChain::default());
        drop(log);
        assert_eq!(unit.id, id, "the unit that was asked for");
        assert!(!unit.first_iam.is_none(), "a unit has a map");
        Ok(Box::new(File {
            home: Arc::clone(&self.tempdb),
            unit,
            pages: Vec::new(),
            written: 0,
            buffer: Vec::with_capacity(PAGE_BODY_BYTES),
            read_at: 0,
            group,
        }))
    }
}

impl File {
    /// Writes the full buffer to the next page.
    fn flush(&mut self) -> SqlResult<()> {
        assert_eq!(self.buffer.len(), PAGE_BODY_BYTES, "whole pages are written");
        let page = PAGE_BODY_BYTES as u64;
        assert!(self.written.is_multiple_of(page), "what ended in a page is not added to");
        let at = self.written as usize / PAGE_BODY_BYTES;
        if at >= self.pages.len() {
            self.claim()?;
        }
        assert!(at < self.pages.len(), "a claim brings a page");
        let home = Arc::clone(&self.home);
        let written = home.pages.overwrite_volatile(self.pages[at], &self.buffer);
        written.map_err(base::SqlError::from)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn claim(&mut self) -> SqlResult<()> {
        let before = self.pages.len();
        let name = self.home.name();
        let sql = |e: space::SpaceError| e.into_sql("a spill file", &name);
        let mut log = LogReservation::none(self.home.log());
        log.grow(4096).map_err(|e| e.into_sql(&name))?;
        let claim = self.home.space.claim(&self.unit, CLAIM).map_err(sql)?;
        let mut change = Change::new(&self.home.pages, &mut self.group);
        let made = self.home.space.allocate(&mut change, &self.unit, claim).map_err(sql)?;
        let min_len = 0_u16.to_le_bytes();
        for page in made {
            let format = crate::heap_redo::kinds::FORMAT;
            change.apply(page, self.unit.id, format, 0, &[&min_len], Undo::Never);
            self.pages.push(change.id(page));
        }
        assert!(self.pages.len() > before, "a claim brings a page");
        change.finish(&mut TransactionChain::default());
        Ok(())
    }

    fn put(&mut self, mut bytes: &[u8]) -> SqlResult<()> {
        while !bytes.is_empty() {
            debug_assert!(self.buffer.len() < PAGE_BODY_BYTES, "a full page was written");
            let room = PAGE_BODY_BYTES - self.buffer.len();
            let n = room.min(bytes.len());
            self.buffer.extend_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            if self.buffer.len() == PAGE_BODY_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn get(&mut self, out: &mut Vec<u8>, mut n: usize) -> SqlResult<()> {
        while n > 0 {
            let at = self.read_at as usize;
            let (page, within) = (at / PAGE_BODY_BYTES, at % PAGE_BODY_BYTES);
            let take = n.min(PAGE_BODY_BYTES - within);
            let guard = self.home.pages.read(self.pages[page]).map_err(base::SqlError::from)?;
            let from = PAGE_HEADER_BYTES + within;
            out.extend_from_slice(&guard.view().0[from..from + take]);
            self.read_at += take as u64;
            n -= take;
        }
        Ok(())
    }
}

impl SpillFile for File {
    fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        assert_eq!(self.read_at, 0, "what is read is not added to");
        let n = u32::try_from(bytes.len()).expect("a spilled row is shorter than 4 GB");
        self.put(&n.to_le_bytes())?;
        self.put(bytes)
    }

    fn rewind(&mut self) -> SqlResult<()> {
        if !self.buffer.is_empty() {
            let (written, partial) = (self.written, self.buffer.len());
            self.buffer.resize(PAGE_BODY_BYTES, 0);
            self.flush()?;
            self.written = written + partial as u64;
        }
        assert!(self.buffer.is_empty(), "everything was written");
        self.read_at = 0;
        Ok(())
    }

    fn read(&mut self, out: &mut Vec<u8>) -> SqlResult<bool> {
        out.clear();
        assert!(self.buffer.is_empty(), "writing has ended");
        if self.read_at >= self.written {
            return Ok(false);
        }
        self.get(out, 4)?;
        let n = u32::from_le_bytes([out[0], out[1], out[2], out[3]]);
        out.clear();
        self.get(out, n as usize)?;
        Ok(true)
    }

    fn bytes(&self) -> u64 {
        let room = (self.pages.len() * PAGE_BODY_BYTES) as u64;
        debug_assert!(self.written <= room, "what was written has its page");
        self.written + self.buffer.len() as u64
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !os::sched::crashed() {
            // What cannot be freed now is gone with tempdb at the next start.
            let _ = self.home.space.drop_unit(&self.unit, &os::wait::Waiter::new());
        }
    }
}
