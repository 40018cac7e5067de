//! The door through which everything above reads and writes rows, and the border of storage:
//! sources, sinks, cursors, spills, bulk loads; stored hobts and storage formats.
//!
//! The unit is the hobt: nothing here maintains one index because another changed. Rows cross as
//! fields, the stored bytes of columns; what they mean is the plan's. A reader of batches names the
//! types of the columns, and gets vectors. `exec`, `ddl` and `catalog` use a [`Hobt`]; `database`
//! and `sysviews` hold a [`StoredHobt`] and do not know its format. `rowstore` implements both,
//! `sysviews` implements sources over snapshots.

#![forbid(unsafe_code)]

mod activity;
mod batches;
mod bulk;
mod capture;
mod cursor;
mod entry_group;
mod fingerprint;
mod format;
mod growth;
mod locks;
mod physical;
mod report;
mod resolve;
mod sink;
mod source;
mod spec;
mod spill;
mod stored;

pub use activity::{Deed, LevelSplits, TreeSplits};
pub use batches::{BatchColumn, BatchCursor, BatchRows, RowBatches, corrupt_value};
pub use bulk::{BulkLoad, Fill, Loader};
pub use capture::{Capture, next_note, note_field};
pub use cursor::{KeyBound, PageHint, RowCursor, ScanRange, TableReads};
pub use entry_group::{Entry, EntryGroup, TOGETHER_MAX};
pub use fingerprint::{Batch, ElementHash, Fingerprint, differences};
pub use format::{Formats, StorageFormat};
pub use growth::{Growth, GrowthPart};
pub use locks::{Granule, Isolation, LockPlan, Strength};
pub use page::{Field, RowView};
pub use physical::{Contents, LevelStats, ScanMode};
pub use report::{EntryPart, RowFinding, RowLocation, RowReport};
pub use resolve::{Hobt, Hobts};
pub use sink::{InsertOutcome, RowKey, TableSink, WriteError};
pub use source::{Division, PageSample, SourceSize, TableSource, Use};
pub use spec::{HobtKind, HobtPlaces, HobtSpec, HobtUnit};
pub use spill::{Spill, SpillFile};
pub use stored::{
    CleanOutcome, HobtDirectory, PageReader, Shape, Statistics, StoredHobt, SweepPosition,
    SweepStep, Upkeep, Verifier,
};
