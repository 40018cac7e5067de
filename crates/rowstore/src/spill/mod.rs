//! Spill files: byte strings on tempdb's pages, written and read in long runs past the pool.
//!
//! A file is an allocation unit of tempdb. It is made when the first block is full: shorter data
//! stays in memory and touches no disk. A page has a header like any other page and 8,096 bytes of
//! data, without slots. A byte string is its length (4 bytes) and its bytes; it may continue on the
//! next pages. Blocks are 64 KB, and 256 KB while a long file is written. A block whose extents are
//! neighbours is written with one write. Dropping the file drops the unit.
//!
//! Invariants
//!  1. A page that is read has the checksum, the page id and the unit with which it was written;
//!     otherwise it is error 824. A unit's id is used again only after 2^28 files, so no older page
//!     is mistaken for one of the file.
//!  2. Pages are written once, whole, in the order in which they will be read.
//!  3. No query fails for lack of memory for blocks: a block then has one page.
//!
//! `buffer/src/past_pool.rs` says why no copy of these pages in the pool is ever read or written.

pub(crate) mod block;

use crate::spill::block::{Block, BlockMemory};
use access::{Spill, SpillFile};
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES};
use base::{AllocUnitId, PageId, SqlError, SqlResult, messages};
use buffer::{Change, Undo};
use os::memory::Memory;
use page::PageView;
use space::AllocUnit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wal::{Group, LogReservation, TransactionChain};
use work::Home;

/// Makes spill files in tempdb.
pub struct TempSpill {
    tempdb: Arc<Home>,
    memory: Arc<BlockMemory>,
    made: AtomicU32,
}

/// The ids of spill files' units are far above those of tables.
const FIRST_UNIT: u32 = 0xF000_0000;
/// The pages of a block: an extent.
const BLOCK_PAGES: usize = 8;
/// The pages of a block while a long file is written.
const LONG_BLOCK_PAGES: usize = 32;
/// A file with this many pages is a long one.
const LONG_PAGES: usize = 64;

impl TempSpill {
    /// Spill files in this tempdb.
    pub fn new(tempdb: &Arc<Home>, memory: &Arc<Memory>) -> Arc<TempSpill> {
        Arc::new(TempSpill {
            tempdb: Arc::clone(tempdb),
            memory: Arc::new(BlockMemory::new(memory)),
            made: AtomicU32::new(0),
        })
    }
}

impl Spill for TempSpill {
    fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
        Ok(Box::new(File {
            home: Arc::clone(&self.tempdb),
            memory: Arc::clone(&self.memory),
            id: AllocUnitId(FIRST_UNIT | self.made.fetch_add(1, Relaxed)),
            unit: None,
            pages: Vec::new(),
            written: 0,
            block: None,
            reading: false,
            loaded: 0,
            scattered: false,
            at: 0,
            row: Vec::new(),
        }))
    }
}

/// The buffer of a longer row is not kept.
const LONG_ROW_BYTES: usize = 64 << 10;

struct File {
    home: Arc<Home>,
    memory: Arc<BlockMemory>,
    id: AllocUnitId,
    /// `None` while nothing is on the disk.
    unit: Option<AllocUnit>,
    pages: Vec<PageId>,
    /// Bytes on the pages; the last page is filled up to here.
    written: u64,
    /// The block that is not written yet, or that was read last.
    block: Option<Block>,
    reading: bool,
    /// Pages read so far.
    loaded: usize,
    /// It is read at random positions, a page at a time.
    scattered: bool,
    /// The next byte of the block to read.
    at: usize,
    /// A byte string that does not lie in one block.
    row: Vec<u8>,
}

/// The number of pages, from the first on, that are neighbours.
fn run_of(pages: &[PageId]) -> usize {
    let follows = |w: &&[PageId]| w[0].file == w[1].file && w[0].page + 1 == w[1].page;
    let run = 1 + pages.windows(2).take_while(follows).count();
    debug_assert!(run <= pages.len(), "a run of the pages");
    run
}

impl File {
    fn sql(&self, e: space::SpaceError) -> SqlError {
        e.into_sql("a spill file", &self.home.name())
    }

    fn make_unit(&self) -> SqlResult<AllocUnit> {
        let home = &self.home;
        let mut group = Group::new();
        let mut log = LogReservation::none(home.log());
        log.grow(1024).map_err(|e| e.into_sql(&home.name()))?;
        let made = home.space.create_unit(self.id, Undo::Never).map_err(|e| self.sql(e))?;
        let mut change = Change::new(&home.pages, &mut group);
        let unit = made.apply(&mut change).map_err(|e| self.sql(e))?;
        change.finish(&mut TransactionChain::default());
        assert_eq!(unit.id, self.id, "the unit that was asked for");
        assert!(!unit.first_iam.is_none(), "a unit has a map");
        Ok(unit)
    }

    /// Allocates pages at the end of the file.
    fn claim(&mut self, pages: usize) -> SqlResult<()> {
        assert!(pages <= LONG_BLOCK_PAGES, "a claim fits the log that is reserved for it");
        if self.unit.is_none() {
            self.unit = Some(self.make_unit()?);
        }
        let unit = self.unit.as_ref().expect("it was made above");
        let home = &self.home;
        let mut log = LogReservation::none(home.log());
        log.grow(1024 + pages as u64 * 128).map_err(|e| e.into_sql(&home.name()))?;
        let claim = home.space.claim(unit, pages).map_err(|e| self.sql(e))?;
        let mut group = Group::new();
        let mut change = Change::new(&home.pages, &mut group);
        let made = home.space.allocate_past_pool(&mut change, unit, claim);
        let made = made.map_err(|e| self.sql(e))?;
        change.finish(&mut TransactionChain::default());
        assert_eq!(made.len(), pages, "a claim brings what was asked for");
        self.pages.extend(made);
        Ok(())
    }

    /// Writes the block to new pages at the end.
    fn flush(&mut self) -> SqlResult<()> {
        let Some(mut block) = self.block.take() else { return Ok(()) };
        let (first, used) = (self.pages.len(), block.pages_used());
        assert_eq!(self.written, (first * PAGE_BODY_BYTES) as u64, "whole pages until now");
        assert!(used > 0 && !self.reading, "there is something to write, and it is time");
        self.claim(used)?;
        let ids = &self.pages[first..];
        let mut bytes = block.formatted(ids, self.id);
        let mut from = 0;
        while from < used {
            let n = run_of(&ids[from..]);
            let (run, rest) = bytes.split_at_mut(n * PAGE_BYTES);
            self.home.pages.write_past_pool(ids[from], run).map_err(SqlError::from)?;
            (bytes, from) = (rest, from + n);
        }
        assert!(from == used && bytes.is_empty(), "the block was written whole");
        self.written += block.len() as u64;
        block.clear();
        self.block = Some(block);
        Ok(())
    }

    /// The block to write to: an emptied one, or a new one.
    fn block_to_fill(&mut self) -> &mut Block {
        assert!(!self.reading, "what is read is not added to");
        let empty = self.block.as_ref().is_none_or(|b| b.len() == 0);
        let long = self.pages.len() >= LONG_PAGES && empty;
        let small = self.block.as_ref().is_some_and(|b| b.pages() < LONG_BLOCK_PAGES);
        if long
            && small
            && let Some(larger) = Block::try_new(&self.memory, LONG_BLOCK_PAGES)
        {
            self.block = Some(larger);
        }
        self.block.get_or_insert_with(|| Block::new(&self.memory, BLOCK_PAGES))
    }

    fn put(&mut self, mut bytes: &[u8]) -> SqlResult<()> {
        while !bytes.is_empty() {
            let block = self.block_to_fill();
            let n = block.put(bytes);
            debug_assert!(n > 0, "each turn goes on");
            bytes = &bytes[n..];
            if block.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Reads the next block; false after the last.
    fn load(&mut self) -> SqlResult<bool> {
        assert!(self.reading, "what is written is read after its end");
        if self.loaded >= self.pages.len() {
            return Ok(false);
        }
        let mut block = match self.block.take() {
            Some(block) => block,
            None if self.scattered => Block::new(&self.memory, 2),
            None => Block::new(&self.memory, BLOCK_PAGES),
        };
        let most = if self.scattered { 1 } else { block.pages() };
        let n = most.min(self.pages.len() - self.loaded);
        let ids = &self.pages[self.loaded..self.loaded + n];
        let mut from = 0;
        while from < n {
            let run = run_of(&ids[from..]);
            let bytes = block.pages_mut(from..from + run);
            self.home.pages.read_past_pool(ids[from], bytes).map_err(SqlError::from)?;
            self.check_owner(ids[from], bytes)?;
            from += run;
        }
        let before = (self.loaded * PAGE_BODY_BYTES) as u64;
        debug_assert!(before < self.written, "a page has something");
        block.join((self.written - before).min((n * PAGE_BODY_BYTES) as u64) as usize);
        self.block = Some(block);
        (self.loaded, self.at) = (self.loaded + n, 0);
        assert!(self.loaded <= self.pages.len() && self.left() > 0, "each block has bytes");
        Ok(true)
    }

    /// Checks that pages belong to this file.
    fn check_owner(&self, first: PageId, pages: &[u8]) -> SqlResult<()> {
        debug_assert!(pages.len() >= PAGE_BYTES, "whole pages are looked at");
        for (n, page) in pages.chunks_exact(PAGE_BYTES).enumerate() {
            let view = PageView(page.first_chunk().expect("a chunk has the size of a page"));
            if view.alloc_unit() != self.id {
                let id = PageId { file: first.file, page: first.page + n as u32 };
                return Err(self.damaged(id));
            }
        }
        Ok(())
    }

    fn damaged(&self, page: PageId) -> SqlError {
        self.home.pages.corrupt(page, "the page is not the spill file's").into()
    }

    /// The bytes of the block that were not read yet.
    fn left(&self) -> usize {
        let filled = self.block.as_ref().map_or(0, Block::len);
        assert!(self.at <= filled, "what is read was written");
        filled - self.at
    }

    /// The next `n` bytes, in the block or in `row`; `None` at the end of the file.
    fn take(&mut self, n: usize) -> SqlResult<Option<Piece>> {
        debug_assert!(n > 0, "no bytes are taken from nowhere");
        if self.left() == 0 && !self.load()? {
            return Ok(None);
        }
        if self.left() >= n {
            self.at += n;
            return Ok(Some(Piece::Block(self.at - n..self.at)));
        }
        self.row.clear();
        while self.row.len() < n {
            if self.left() == 0 && !self.load()? {
                return Err(self.damaged(self.pages.last().copied().unwrap_or(PageId::NONE)));
            }
            let some = self.left().min(n - self.row.len());
            let block = self.block.as_ref().expect("it has bytes");
            self.row.extend_from_slice(&block.joined()[self.at..self.at + some]);
            self.at += some;
        }
        assert_eq!(self.row.len(), n, "what was asked for");
        Ok(Some(Piece::Row))
    }

    fn bytes_of(&self, piece: Piece) -> &[u8] {
        match piece {
            Piece::Row => &self.row,
            Piece::Block(range) => self.block.as_ref().map_or(&[], |b| &b.joined()[range]),
        }
    }
}

/// The place of bytes that were read.
enum Piece {
    Block(Range<usize>),
    Row,
}

impl SpillFile for File {
    fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        assert!(!self.reading, "what is read is not added to");
        let n = u32::try_from(bytes.len()).map_err(|_| {
            SqlError::new(messages::INTERNAL, &[&"a row to be spilled is longer than 4 GB"])
        })?;
        self.put(&n.to_le_bytes())?;
        self.put(bytes)
    }

    fn rewind(&mut self) -> SqlResult<()> {
        let filled = self.block.as_ref().is_some_and(|b| b.len() > 0);
        let stays = self.unit.is_none() && !self.memory.is_short();
        if !self.reading && filled && !stays {
            self.flush()?;
        }
        let first = !self.reading;
        self.reading = true;
        (self.loaded, self.at, self.scattered) = (0, 0, false);
        match &mut self.block {
            // Memory is for files that are read.
            block if self.unit.is_some() => *block = None,
            Some(block) if first => *block = block.fitted(&self.memory),
            _ => {}
        }
        assert_eq!(self.unit.is_some(), self.block.is_none() && self.written > 0, "in one place");
        Ok(())
    }

    fn read(&mut self, out: &mut Vec<u8>) -> SqlResult<bool> {
        out.clear();
        let found = self.next()?.map(|bytes| out.extend_from_slice(bytes)).is_some();
        if self.row.capacity() > LONG_ROW_BYTES {
            // Many files that are merged would each keep a long row twice.
            self.row = Vec::new();
        }
        Ok(found)
    }

    fn next(&mut self) -> SqlResult<Option<&[u8]>> {
        assert!(self.reading, "what is written is read after its end");
        let Some(length) = self.take(4)? else {
            if self.unit.is_some() {
                self.block = None;
                self.at = 0;
            }
            return Ok(None);
        };
        let length = self.bytes_of(length).first_chunk().copied();
        let length = u32::from_le_bytes(length.expect("four bytes were taken")) as usize;
        if length == 0 {
            return Ok(Some(&[]));
        }
        match self.take(length)? {
            Some(piece) => Ok(Some(self.bytes_of(piece))),
            None => Err(self.damaged(self.pages.last().copied().unwrap_or(PageId::NONE))),
        }
    }

    fn bytes(&self) -> u64 {
        let room = (self.pages.len() * PAGE_BODY_BYTES) as u64;
        debug_assert!(self.written <= room, "what was written has its page");
        let waiting = if self.reading && self.unit.is_some() { None } else { self.block.as_ref() };
        self.written + waiting.map_or(0, |b| b.len() as u64)
    }

    fn position(&self) -> u64 {
        assert!(!self.reading, "what is read is not added to");
        self.bytes()
    }

    fn seek(&mut self, position: u64) -> SqlResult<()> {
        assert!(self.reading, "what is written is read after its end");
        if self.unit.is_none() {
            self.at = position as usize;
            assert!(self.left() > 0, "a position within what was written");
            return Ok(());
        }
        assert!(position < self.written, "a position within what was written");
        let body = PAGE_BODY_BYTES as u64;
        let (page, within) = ((position / body) as usize, (position % body) as usize);
        let first = self.loaded - self.block.as_ref().map_or(0, Block::pages_used);
        if (first..self.loaded).contains(&page) {
            self.at = (page - first) * PAGE_BODY_BYTES + within;
            return Ok(());
        }
        (self.loaded, self.at, self.scattered) = (page, 0, true);
        self.load()?;
        self.at = within;
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if let Some(unit) = &self.unit
            && !os::sched::crashed()
        {
            // If this fails, the pages are freed with tempdb at the next start.
            let _ = self.home.space.drop_unit(unit, &os::wait::Waiter::new());
        }
    }
}
