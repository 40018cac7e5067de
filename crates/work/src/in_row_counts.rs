//! `InRowCounts`: how many former rows stayed in the records of their rows, and how often one was
//! read there, in a database since its start. For `SQLServer:Databases`.

use os::tally::Tally;

const LEFT: usize = 0;
const READ: usize = 1;
const COUNTS: usize = 2;

/// See the module. Each count costs an addition to a cell of the thread's own.
#[derive(Default)]
pub struct InRowCounts(Tally<COUNTS>);

impl InRowCounts {
    /// A record has got an in-row version.
    #[inline]
    pub fn note_left(&self) {
        self.0.add(LEFT, 1);
    }

    /// A reader, or a writer who keeps it elsewhere, has looked at one.
    #[inline]
    pub fn note_read(&self) {
        self.0.add(READ, 1);
    }

    /// How many were made.
    pub fn generated(&self) -> u64 {
        self.0.sum(LEFT)
    }

    /// How often one was read.
    pub fn retrieved(&self) -> u64 {
        self.0.sum(READ)
    }
}
