//! Rows with locks and ghosts: heaps, clustered and secondary indexes, settling, undo.
//!
//! A `RowHobt` is a heap or a B-tree with the lock protocol of rows. It tries locks under the
//! page latch; when it must wait, it releases the latch, waits, and looks again. Deletes leave
//! ghosts. Their deleter removes them right after its commit ([`work::Settler`]), or a rollback
//! revives them in place. README.md has the protocol and its numbered rules.
//!
//! ```text
//!   border, format   the traits of `access`, through which other crates use a heap or an index
//!   hobt             `RowHobt`, and its state while it is open
//!   heap, index      scans and writes, each on its own structure of pages
//!   large            values that are stored off their rows
//!   locking          the locks of a row, and of the gap below it
//!   versions         the versions that readers as of a moment see, and that writers keep for them
//!   ghosts           deleted records, and their removal
//!   capture          writers' notes for an online index build
//!   load, spill      rows in bulk: into an empty hobt, and to pages of tempdb
//!   undo, verify     rollback; the checks of DBCC CHECKDB
//!   figures          sizes and counters for views and the optimizer
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
