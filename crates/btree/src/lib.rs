//! Slotted records in key order on pages: search, insert, split, delete, cursor, verify, apply.
//!
//! A tree stores opaque records; the caller hands in their order and layout. A ghost is just a
//! record of another kind. Nothing here knows of transactions or locks. The caller that changes a
//! record says which transaction undoes the change, and may inspect the latched leaf first. See
//! README.md for the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod bulk;
mod compact;
mod error;
mod exchange;
mod free;
mod guess;
mod key;
mod kinds;
mod leaf;
mod modify;
mod order;
mod redo;
mod seek;
mod separators;
mod split;
mod split_counters;
mod spot;
mod target_key;
mod tree;
mod verify;

pub use bulk::{BULK_PAGE_LOG_BYTES, BulkLoad};
pub use compact::{CompactOutcome, LeafUse, Leaves};
pub use error::{BtreeError, BtreeResult};
pub use free::{FREE_LOG_BYTES_MAX, FreeOutcome};
pub use key::{KeyBuf, key_fields, spell};
pub use kinds::{Difference, InRowDifference, KINDS, LoggedChange, logged, may_leave_ghost};
pub use leaf::{LeafEnd, LeafRead, LeafWrite, Position, Successor};
pub use modify::{expunge_log_bytes, ghost_log_bytes, insert_log_bytes, replace_log_bytes};
pub use order::{KeyFields, KeyOrder, ORDER_COLUMNS_MAX};
pub use redo::BtreeRedo;
pub use seek::{Bias, LeafPair, SearchKey};
pub use split::{STRUCTURE_LOG_BYTES_MAX, SplitPolicy};
pub use split_counters::{LevelSplits, SplitCounters, TreeSplits};
pub use spot::{LatchedSpot, Spot};
pub use tree::{RECORD_MAX, Tree, TreeOptions};
