//! A block of a spill file: some pages in memory, to be written or just read.
//!
//! While it is filled, its bytes lie where they will lie on disk, in the bodies of pages. After it
//! is read, the bodies are joined, so that most rows lie in one piece.
//!
//! The memory of a block is reserved. When none is left, the block is one page.

use base::PageId;
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES, PAGE_HEADER_BYTES};
use os::memory::{Clerk, Memory, Reservation};
use os::vm::AlignedBuffer;
use page::{PageKind, PageMut};
use std::ops::Range;
use std::sync::Arc;

/// Blocks have a sixteenth of all memory at most: locks, plans and sessions need theirs.
const SHARE: usize = 16;

/// The memory of blocks.
pub(crate) struct BlockMemory {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
}

impl BlockMemory {
    pub(crate) fn new(memory: &Arc<Memory>) -> BlockMemory {
        BlockMemory { memory: Arc::clone(memory), clerk: memory.clerk("MEMORYCLERK_SQLQUERYEXEC") }
    }

    /// Whether files that are small enough to stay in memory go to the disk nevertheless.
    pub(crate) fn is_short(&self) -> bool {
        self.clerk.used_bytes() > self.memory.limit_bytes() / SHARE / 2
    }

    /// Whether a block of so many pages may be made.
    fn reserve(&self, pages: usize) -> Option<Reservation> {
        debug_assert!(pages > 1, "one page may always be had");
        let bytes = pages * PAGE_BYTES;
        let within = self.clerk.used_bytes() + bytes <= self.memory.limit_bytes() / SHARE;
        if within { self.memory.reserve(&self.clerk, bytes).ok() } else { None }
    }
}

/// Some pages in memory.
pub(crate) struct Block {
    buffer: AlignedBuffer,
    pages: usize,
    /// Bytes of rows in it.
    filled: usize,
    /// Whether they are in one piece, without page headers between them.
    joined: bool,
    _memory: Option<Reservation>,
}

impl Block {
    /// An empty block of `pages` pages, or of one page when memory is short.
    pub(crate) fn new(memory: &BlockMemory, pages: usize) -> Block {
        let reserved = memory.reserve(pages);
        let pages = if reserved.is_some() { pages } else { 1 };
        Block::of(pages, reserved)
    }

    /// An empty block of `pages` pages, if there is memory for it.
    pub(crate) fn try_new(memory: &BlockMemory, pages: usize) -> Option<Block> {
        memory.reserve(pages).map(|reserved| Block::of(pages, Some(reserved)))
    }

    fn of(pages: usize, reserved: Option<Reservation>) -> Block {
        let buffer = AlignedBuffer::new(pages * PAGE_BYTES);
        assert!(buffer.len() >= pages * PAGE_BYTES, "a block holds its pages");
        Block { buffer, pages, filled: 0, joined: false, _memory: reserved }
    }

    /// A copy of the block for reading, in no more memory than it needs.
    pub(crate) fn fitted(&mut self, memory: &BlockMemory) -> Block {
        let filled = self.filled;
        self.join(filled);
        let pages = filled.div_ceil(PAGE_BODY_BYTES).max(1);
        let reserved = if pages > 1 { memory.reserve(pages) } else { None };
        let mut block = Block::of(pages, reserved);
        block.buffer[..filled].copy_from_slice(&self.joined()[..filled]);
        (block.filled, block.joined) = (filled, true);
        block
    }

    /// The number of its pages.
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// The number of pages that have rows.
    pub(crate) fn pages_used(&self) -> usize {
        let used = self.filled.div_ceil(PAGE_BODY_BYTES);
        debug_assert!(used <= self.pages, "what is in the block fits");
        used
    }

    /// The bytes of rows in it.
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    pub(crate) fn is_full(&self) -> bool {
        debug_assert!(self.filled <= self.pages * PAGE_BODY_BYTES, "what is in the block fits");
        self.filled == self.pages * PAGE_BODY_BYTES
    }

    /// Adds as many bytes as fit the page that is being filled. Returns their number.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> usize {
        debug_assert!(!self.joined, "what is read is not added to");
        debug_assert!(!self.is_full(), "a full block is written first");
        let (page, within) = (self.filled / PAGE_BODY_BYTES, self.filled % PAGE_BODY_BYTES);
        let n = bytes.len().min(PAGE_BODY_BYTES - within);
        let at = page * PAGE_BYTES + PAGE_HEADER_BYTES + within;
        self.buffer[at..at + n].copy_from_slice(&bytes[..n]);
        self.filled += n;
        debug_assert!(n > 0 || bytes.is_empty(), "there was room");
        n
    }

    /// The used pages, each with a header made by `format` and nothing behind its last row.
    pub(crate) fn formatted(&mut self, ids: &[PageId], unit: base::AllocUnitId) -> &mut [u8] {
        assert_eq!(ids.len(), self.pages_used(), "each page has its place");
        assert!(!self.joined && !ids.is_empty(), "rows lie in the bodies of pages");
        let bytes = ids.len() * PAGE_BYTES;
        let used = self.filled - ids.len().saturating_sub(1) * PAGE_BODY_BYTES;
        self.buffer[bytes - (PAGE_BODY_BYTES - used)..bytes].fill(0);
        for (page, id) in self.buffer[..bytes].chunks_exact_mut(PAGE_BYTES).zip(ids) {
            let page = page.first_chunk_mut().expect("a chunk has the size of a page");
            PageMut(page).format_header(PageKind::Data, *id, unit, 0, 0);
        }
        &mut self.buffer[..bytes]
    }

    /// Empties the block for writing.
    pub(crate) fn clear(&mut self) {
        (self.filled, self.joined) = (0, false);
    }

    /// The buffer of some pages, for reading into it.
    pub(crate) fn pages_mut(&mut self, pages: Range<usize>) -> &mut [u8] {
        assert!(pages.start < pages.end && pages.end <= self.pages, "pages of the block");
        self.joined = false;
        &mut self.buffer[pages.start * PAGE_BYTES..pages.end * PAGE_BYTES]
    }

    /// Moves the `filled` bytes of rows, which lie in the bodies of pages, into one piece.
    pub(crate) fn join(&mut self, filled: usize) {
        assert!(filled <= self.pages * PAGE_BODY_BYTES, "what is in the block fits");
        if !std::mem::replace(&mut self.joined, true) {
            for page in 0..filled.div_ceil(PAGE_BODY_BYTES) {
                let body = page * PAGE_BYTES + PAGE_HEADER_BYTES;
                self.buffer.copy_within(body..body + PAGE_BODY_BYTES, page * PAGE_BODY_BYTES);
            }
        } else {
            assert_eq!(self.filled, filled, "what is together stays as it is");
        }
        self.filled = filled;
    }

    /// The bytes of rows, in one piece.
    pub(crate) fn joined(&self) -> &[u8] {
        debug_assert!(self.joined, "rows are in one piece");
        &self.buffer[..self.filled]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::PageView;

    /// Bytes come back in order, whatever pieces they were put in; the headers are between them
    /// on the way, and nothing of an earlier filling is behind them.
    #[test]
    fn bytes_are_parted_into_pages_and_put_together_again() {
        let memory = BlockMemory::new(&Memory::new(1 << 20));
        let mut block = Block::new(&memory, 3);
        assert_eq!((block.put(&[9; 9000]), block.put(&[9; 9000])), (8096, 8096));
        block.clear();
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8 + 1).collect();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let n = block.put(&rest[..rest.len().min(7)]);
            rest = &rest[n..];
        }
        assert_eq!((block.len(), block.pages_used(), block.is_full()), (10_000, 2, false));
        let ids = [PageId::new(1, 8), PageId::new(1, 12)];
        let pages = block.formatted(&ids, base::AllocUnitId(7)).to_vec();
        assert!(pages[8192 + 96 + 1904..].iter().all(|b| *b == 0));
        for (page, id) in pages.chunks_exact(8192).zip(ids) {
            let view = PageView(page.first_chunk().expect("a page"));
            assert_eq!((view.page_id(), view.alloc_unit().0), (id, 7));
        }
        block.join(10_000);
        assert_eq!(block.joined(), bytes);
        block.pages_mut(0..2).copy_from_slice(&pages);
        block.join(9_999);
        assert_eq!(block.joined(), &bytes[..9_999]);
    }

    /// Where memory is short a block is one page, which needs no leave.
    #[test]
    fn a_block_is_one_page_where_memory_is_short() {
        let memory = Memory::new(100_000 * SHARE);
        let blocks = BlockMemory::new(&memory);
        let (large, small) = (Block::new(&blocks, 8), Block::new(&blocks, 8));
        assert_eq!((large.pages(), small.pages(), memory.reserved_bytes()), (8, 1, 65_536));
        assert!(Block::try_new(&blocks, 8).is_none());
        drop(large);
        assert_eq!(memory.reserved_bytes(), 0);
        assert!(Block::try_new(&blocks, 8).is_some());
    }
}
