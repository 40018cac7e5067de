//! Rows with locks and ghosts: heaps, clustered and secondary indexes, settling, undo.
//!
//! A `RowHobt` is a heap or a B-tree with the lock protocol of rows. It tries locks under the
//! page latch; when it must wait, it releases the latch, waits, and looks again. Deletes leave
//! ghosts. Their deleter removes them right after its commit ([`work::Settler`]), or a rollback
//! revives them in place. README.md has the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod activity;
mod bare_ghosts;
mod beside;
mod border;
mod burial;
mod capture;
mod captures;
mod chunks;
mod clean;
mod count;
mod current;
mod deeds;
mod division;
mod emptied;
mod entry_hash;
mod entry_lock;
mod error;
mod format;
mod gap;
mod graveyard;
mod growth;
mod heap_forward;
mod heap_redo;
mod heap_scan;
mod heap_slots;
mod heap_undo;
mod heap_write;
mod hobt;
mod hobt_state;
mod index_scan;
mod index_write;
mod kept;
mod large;
mod load;
mod page_order;
mod physical_stats;
mod piece;
mod place;
mod promised;
mod reorganize;
mod sample;
mod settle;
mod spill;
mod spill_block;
mod together;
mod undo;
mod values;
mod verify;
mod versions;
mod writer;

pub use clean::may_leave_ghost;
pub use format::RowFormat;
pub use heap_redo::{HEAP_KINDS, HeapRedo};
pub use kept::{KeptFor, KeptVersion, kept_versions};
pub use spill::TempSpill;
pub use undo::RowUndo;
