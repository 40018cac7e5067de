//! The entries of one new row that are put into several hobts of its table at once.
//!
//! First every entry is spelled and its place looked for; then all are put, in one log group. So
//! each of the two runs its code for one entry after the other, and the log is asked once a row.

use base::PageId;

/// Hobts that a row may be put into so.
pub const TOGETHER_MAX: usize = 16;
/// Bytes that its records may have together: a log group has 60 KB.
const BYTES_MAX: usize = 32 << 10;

/// An entry, and where it is to be put.
#[derive(Default)]
pub struct Entry {
    /// Which hobt, as its caller numbers them.
    pub hobt: usize,
    /// The stored record.
    pub record: Vec<u8>,
    /// What tells its key to the lock manager.
    pub key_hash: u64,
    /// The leaf that the key belongs to.
    pub page: PageId,
    /// What tells whether it still does.
    pub reshaped: u64,
}

/// The entries of one row; their buffers are kept for the next.
#[derive(Default)]
pub struct EntryGroup {
    entries: Vec<Entry>,
    count: usize,
}

impl EntryGroup {
    /// Another row.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Room for one entry more; `None` where they are too many.
    pub fn next(&mut self, hobt: usize) -> Option<&mut Entry> {
        if self.count == TOGETHER_MAX || self.bytes() > BYTES_MAX {
            return None;
        }
        if self.count == self.entries.len() {
            self.entries.push(Entry::default());
        }
        self.count += 1;
        let entry = &mut self.entries[self.count - 1];
        entry.hobt = hobt;
        entry.record.clear();
        Some(entry)
    }

    /// Bytes of their records. The last one, which may go beyond the bound, is a record's.
    pub fn bytes(&self) -> usize {
        self.entries().iter().map(|entry| entry.record.len()).sum()
    }

    /// Those of the row at hand, in the order in which they were prepared.
    pub fn entries(&self) -> &[Entry] {
        &self.entries[..self.count]
    }
}
