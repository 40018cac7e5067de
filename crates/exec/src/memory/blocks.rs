//! Elements and bytes by place, in blocks.
//!
//! A vector that doubles copies itself into fresh memory: a third of a second for hundreds of
//! megabytes, in which nobody looks for an attention, and three times its memory meanwhile.
//!
//! Invariants
//!  1. Nothing moves once its block is full.
//!  2. A row, and the bytes of one push, lie in one block.

use std::ops::{Index, IndexMut};

/// Rows of a block, as a power of two.
const ROW_BITS: u32 = 13;
/// Elements that there stays room for when all are forgotten.
const KEPT: usize = 256;
/// Bytes of a block, as a power of two. What is longer has a block of its own.
const BYTE_BITS: u32 = 18;
const BYTES: usize = 1 << BYTE_BITS;
/// Bytes that there is first room for.
const FIRST_BYTES: usize = 256;

/// Rows of a number of elements each. A row costs no allocation but every 8,192nd, or what `BITS`
/// say.
pub(crate) struct Blocks<T, const BITS: u32 = ROW_BITS> {
    /// Full ones, one that is filled, and empty ones.
    blocks: Vec<Vec<T>>,
    /// Elements of a row.
    width: usize,
    rows: usize,
}

impl<T, const BITS: u32> Blocks<T, BITS> {
    const ROWS: usize = 1 << BITS;

    /// No rows of so many elements.
    pub(crate) const fn new(width: usize) -> Blocks<T, BITS> {
        Blocks { blocks: Vec::new(), width, rows: 0 }
    }

    /// How many elements a row has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Adds the row that `write` appends to a vector.
    ///
    /// # Errors
    /// Those of `write`; the row is not there then.
    #[inline]
    pub(crate) fn push_with<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (block, from) = (self.rows >> BITS, (self.rows & (Self::ROWS - 1)) * self.width);
        if block == self.blocks.len() {
            let full = if block == 0 { 0 } else { Self::ROWS * self.width };
            self.blocks.push(Vec::with_capacity(full));
        }
        let block = &mut self.blocks[block];
        let written = write(block);
        if written.is_err() {
            block.truncate(from);
            return written;
        }
        debug_assert_eq!(block.len(), from + self.width, "a row has its width");
        self.rows += 1;
        Ok(())
    }

    /// Adds a row of one element.
    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        let Ok(()) = self.push_with(|block| {
            block.push(element);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// The elements of a row.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> &[T] {
        let from = (at & (Self::ROWS - 1)) * self.width;
        &self.blocks[at >> BITS][from..from + self.width]
    }

    /// Likewise, to be changed.
    #[inline]
    pub(crate) fn row_mut(&mut self, at: usize) -> &mut [T] {
        let from = (at & (Self::ROWS - 1)) * self.width;
        &mut self.blocks[at >> BITS][from..from + self.width]
    }

    /// All elements, row by row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    /// Memory that the next row needs beyond what there is.
    pub(crate) fn growth_bytes(&self) -> usize {
        let block = self.rows >> BITS;
        let Some(block) = self.blocks.get(block) else {
            let rows = if block == 0 { 4 } else { Self::ROWS };
            return rows * self.width * size_of::<T>();
        };
        let full = block.capacity() - block.len() < self.width;
        if full { block.capacity().max(4 * self.width) * size_of::<T>() } else { 0 }
    }

    /// Whether the next row begins a block.
    pub(crate) fn is_full(&self) -> bool {
        self.rows & (Self::ROWS - 1) == 0
    }

    /// The rows from one on, which lie in the last block.
    pub(crate) fn tail_mut(&mut self, from: usize) -> &mut [T] {
        if from == self.rows {
            return &mut [];
        }
        debug_assert_eq!(from >> BITS, (self.rows - 1) >> BITS, "they lie in one block");
        &mut self.blocks[from >> BITS][(from & (Self::ROWS - 1)) * self.width..]
    }

    /// Memory that is held.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(|b| b.capacity() * size_of::<T>()).sum()
    }

    /// Forgets all rows, not the memory.
    pub(crate) fn empty(&mut self) {
        self.blocks.iter_mut().for_each(Vec::clear);
        self.rows = 0;
    }

    /// Gives all memory back without a look at the elements, which own nothing that is to be freed.
    pub(crate) fn forget(&mut self) {
        for block in self.blocks.drain(..) {
            block.into_iter().for_each(std::mem::forget);
        }
        self.rows = 0;
    }

    /// Forgets all rows; the memory of few stays.
    pub(crate) fn clear(&mut self) {
        self.blocks.truncate(1);
        for block in &mut self.blocks {
            block.clear();
            block.shrink_to(KEPT);
        }
        self.rows = 0;
    }
}

impl<T, const BITS: u32> Index<usize> for Blocks<T, BITS> {
    type Output = T;

    /// The first element of a row.
    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.row(at)[0]
    }
}

impl<T, const BITS: u32> IndexMut<usize> for Blocks<T, BITS> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.row_mut(at)[0]
    }
}

/// Bytes by place.
#[derive(Default)]
pub(crate) struct ByteBlocks {
    blocks: Vec<Vec<u8>>,
}

impl ByteBlocks {
    /// Memory that a push of so many bytes needs beyond what there is.
    pub(crate) fn growth_bytes(&self, bytes: usize) -> usize {
        let Some(last) = self.blocks.last().filter(|b| ByteBlocks::takes(b, bytes)) else {
            return bytes.max(if self.blocks.is_empty() { FIRST_BYTES } else { BYTES });
        };
        let room = last.capacity() - last.len();
        if room >= bytes { 0 } else { ByteBlocks::grown(last, bytes) - last.capacity() }
    }

    /// Whether so many bytes go into a block. None go behind its last place, not even none.
    fn takes(block: &[u8], bytes: usize) -> bool {
        block.len() + bytes.max(1) <= BYTES
    }

    /// What a block that so many bytes still go into grows to.
    fn grown(block: &Vec<u8>, bytes: usize) -> usize {
        (block.capacity() * 2).max(block.len() + bytes).min(BYTES)
    }

    /// Appends bytes: their place, which is below 2^48 for less than 2^48 bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> u64 {
        if self.blocks.last().is_none_or(|b| !ByteBlocks::takes(b, bytes.len())) {
            let first = if self.blocks.is_empty() { FIRST_BYTES } else { BYTES };
            self.blocks.push(Vec::with_capacity(first.max(bytes.len())));
        }
        let at = self.blocks.len() - 1;
        let block = &mut self.blocks[at];
        if block.capacity() - block.len() < bytes.len() {
            block.reserve_exact(ByteBlocks::grown(block, bytes.len()) - block.len());
        }
        let place = (at as u64) << BYTE_BITS | block.len() as u64;
        block.extend_from_slice(bytes);
        place
    }

    /// What lies at a place, and behind it in its block.
    #[inline]
    pub(crate) fn from(&self, place: u64) -> &[u8] {
        &self.blocks[(place >> BYTE_BITS) as usize][place as usize & (BYTES - 1)..]
    }

    /// Whether `clear` gives memory up.
    pub(crate) fn is_large(&self) -> bool {
        self.blocks.iter().map(Vec::capacity).sum::<usize>() > BYTES
    }

    /// Forgets all bytes; the memory of few stays.
    pub(crate) fn clear(&mut self) {
        self.blocks.truncate(1);
        self.blocks.retain_mut(|b| {
            b.clear();
            b.capacity() <= BYTES
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_where_they_were_put() {
        let mut blocks = Blocks::<_>::new(3);
        for i in 0..30_000_usize {
            let row = |out: &mut Vec<usize>| {
                out.extend([i, i + 1, i + 2]);
                Ok::<(), ()>(())
            };
            blocks.push_with(row).expect("a row");
            let cut = |out: &mut Vec<usize>| {
                out.push(7);
                Err(())
            };
            assert_eq!(blocks.push_with(cut), Err(()));
        }
        assert_eq!(blocks.len(), 30_000);
        assert!((0..30_000).all(|i| blocks.row(i) == [i, i + 1, i + 2]));
        blocks.row_mut(29_999)[2] = 5;
        assert_eq!(blocks.iter().last(), Some(&5));
        blocks.clear();
        assert_eq!((blocks.len(), blocks.iter().count()), (0, 0));
    }

    #[test]
    fn rows_without_elements_are_counted() {
        let mut blocks = Blocks::<u64>::new(0);
        for _ in 0..20_000 {
            blocks.push_with(|_| Ok::<(), ()>(())).expect("a row");
        }
        assert_eq!((blocks.len(), blocks.row(19_999).len()), (20_000, 0));
    }

    #[test]
    fn growth_is_told_before_it_comes() {
        let mut blocks = Blocks::<_>::new(1);
        let mut bytes = ByteBlocks::default();
        let (mut told, mut told_bytes) = (0, 0);
        for i in 0..100_000_u64 {
            told += blocks.growth_bytes();
            blocks.push(i);
            let one = vec![i as u8; (i % 700) as usize];
            told_bytes += bytes.growth_bytes(one.len());
            bytes.push(&one);
        }
        let held = blocks.bytes();
        assert!(held <= told && told <= held + 16 * 8_192, "{told} bytes for {held}");
        let held: usize = bytes.blocks.iter().map(Vec::capacity).sum();
        assert_eq!(told_bytes, held);
    }

    #[test]
    fn bytes_lie_where_they_were_put() {
        let mut blocks = ByteBlocks::default();
        let mut placed = Vec::new();
        for i in 0..3_000_usize {
            let length = match i {
                // The second fills the block of the first to its last byte; then none come.
                8 => BYTES - 100,
                9 => 100,
                10 | 11 => 0,
                _ if i % 500 == 7 => BYTES + i,
                _ => i * 37 % 4_000,
            };
            let bytes = vec![i as u8; length];
            let place = blocks.push(&bytes);
            assert!(blocks.from(place).starts_with(&bytes), "it is there at once");
            placed.push((place, bytes));
        }
        let same = |(place, bytes): &(u64, Vec<u8>)| blocks.from(*place).starts_with(bytes);
        assert!(placed.iter().all(same));
        blocks.clear();
        assert_eq!(blocks.push(b"x"), 0);
    }
}
