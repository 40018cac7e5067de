//! The door through which everything above reads and writes rows: sources, sinks, cursors,
//! spills, bulk loads.
//!
//! Implemented by `rowstore` (heaps and indexes) and `sysviews` (views over snapshots), used by
//! `exec`, `ddl` and `catalog`. The unit is the hobt: nothing here maintains one index because
//! another changed. Rows cross as fields, the stored bytes of columns; what they mean is the
//! plan's. Whoever reads by batches names the types of the columns, and gets vectors.

#![forbid(unsafe_code)]

mod batches;
mod bulk;
mod capture;
mod cursor;
mod growth;
mod locks;
mod resolve;
mod sink;
mod source;
mod spill;
mod together;

pub use batches::{BatchColumn, BatchCursor, BatchRows, RowBatches, corrupt_value};
pub use bulk::{BulkLoad, Fill, Loader};
pub use capture::{Capture, next_note, note_field};
pub use cursor::{KeyBound, PageHint, RowCursor, ScanRange, TableReads};
pub use growth::{Growth, GrowthPart};
pub use locks::{Granule, Isolation, LockPlan, Strength};
pub use page::{Field, RowView};
pub use resolve::{Hobt, Hobts};
pub use sink::{Inserted, RowKey, TableSink, WriteError};
pub use source::{Division, PageSample, SourceSize, TableSource, Use};
pub use spill::{Spill, SpillFile};
pub use together::{Entry, TOGETHER_MAX, Together};
