//! The 8 KB page and the row record as bytes: offsets, slots, checksum, layouts.
//!
//! Pure: no I/O, no locks, no catalog, no SQL types. The layouts are SQL Server's, so that
//! `sys.dm_db_index_physical_stats` and `DBCC PAGE` come out exact; see docs/formats/page.md and
//! docs/formats/row.md for the pictures.
//!
//! Reading never panics on damaged bytes: a reader gets `None` or [`Damage`] for anything that can
//! be wrong on disk. Writing asserts, because a wrong value there is a bug of the caller.

#![forbid(unsafe_code)]

mod bitmap;
mod checksum;
mod column;
mod damage;
mod finding;
pub mod fits;
mod forward;
mod header;
mod in_row;
mod key_column;
mod layout;
mod record;
mod row_check;
pub mod runs;
mod slots;

pub use bitmap::{EXTENTS_PER_INTERVAL, ExtentBits, PFS_INTERVAL, Pfs};
pub use checksum::{seal, verify};
pub use column::Column;
pub use damage::{Damage, check as check_slots, damages, header_damages};
pub use finding::{Fault, Finding};
pub use forward::{
    RID_BYTES, STUB_BYTES, forwarded, home_of, homed, kind_before, pad, rid_bytes, rid_of,
    status_b, stub, stub_target,
};
pub use header::{PageBytes, PageKind, PageMut, PageView, at};
pub use in_row::{
    InRowVersion, check_drop_in_row, drop_in_row, in_row_former, in_row_runs, in_row_version,
};
pub use key_column::{Compare, Hash, KeyColumn, Number};
pub use layout::{Field, Place, RowLayout, RowView};
pub use record::{
    IN_ROW_BYTES_MAX, Previous, RecordKind, RecordPattern, StoreKind, VersionPtr, VersionTag,
    has_null_bitmap, has_variable_columns, is_ghost_record, length as record_length, plain_record,
};
pub use row_check::RowFault;
pub use slots::slot_cost;
