//! Rows with locks and ghosts: heaps, clustered and secondary indexes, settling, undo.
//!
//! A `RowHobt` is a heap or a B-tree with the lock protocol of rows. It tries locks under the
//! page latch; when it must wait, it releases the latch, waits, and looks again. Deletes leave
//! ghosts. Their deleter removes them right after its commit ([`work::Settler`]), or a rollback
//! revives them in place. README.md has the protocol and its numbered rules.
//!
//! ```text
//!   border, format   the traits of `access`: what others see of a heap or an index
//!   hobt             `RowHobt`, and what changes while it is open
//!   heap, index      scans, writes and what belongs to them, each on its structure of pages
//!   large            values that are off their rows
//!   locking          which lock a row needs, and the gap below it
//!   versions         what a reader as of a moment sees, and what a writer leaves for it
//!   revert           records of aborted transactions, and what comes back in their place
//!   ghosts           deleted records, and who removes them
//!   capture          notes for a build beside writers
//!   load, spill      rows in bulk: into an empty hobt, and onto pages of tempdb
//!   undo, verify     rollback; whether all is as it must be
//!   figures          what views and the optimizer ask for
//! ```

#![forbid(unsafe_code)]

mod border;
mod capture;
mod current;
mod division;
mod emptied;
mod error;
mod figures;
mod format;
mod ghosts;
mod heap;
mod hobt;
mod index;
mod large;
mod load;
mod locking;
mod physical_stats;
mod place;
mod revert;
mod spill;
mod undo;
mod verify;
mod versions;

pub use format::RowFormat;
pub use ghosts::clean::may_leave_ghost;
pub use heap::redo::{HEAP_KINDS, HeapRedo};
pub use spill::TempSpill;
pub use undo::RowUndo;
pub use versions::kept::{KeepReason, KeptVersion, kept_versions};
