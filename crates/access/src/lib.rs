//! The door through which everything above reads and writes rows: sources, sinks, cursors,
//! spills, bulk loads.
//!
//! Implemented by `rowstore` (heaps and indexes) and `sysviews` (views over snapshots), used by
//! `exec`, `ddl` and `catalog`. The unit is the hobt: nothing here maintains one index because
//! another changed. Rows cross as fields, the stored bytes of columns; what they mean is the
//! plan's.

#![forbid(unsafe_code)]

mod bulk;
mod capture;
mod cursor;
mod growth;
mod locks;
mod resolve;
mod sink;
mod spill;
mod together;

pub use bulk::{BulkLoad, Fill, Loader};
pub use capture::{Capture, next_note, note_field};
pub use cursor::{
    Division, KeyBound, PageHint, PageSample, RowCursor, ScanRange, SourceSize, TableReads,
    TableSource, Use,
};
pub use growth::{Growth, GrowthPart};
pub use locks::{Granule, Isolation, LockPlan, Strength};
pub use page::{Field, RowView};
pub use resolve::{Hobt, Hobts};
pub use sink::{Inserted, RowKey, TableSink, WriteError};
pub use spill::{Spill, SpillFile};
pub use together::{Entry, TOGETHER_MAX, Together};
