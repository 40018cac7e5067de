//! Definitions as data: immutable views in memory, compiled-in system tables on disk.
//!
//! * [`view`]: what readers get. A [`view::DatabaseView`] is replaced as a whole.
//! * [`SYSTEM_TABLES`]: what a database's definitions are made of on disk. Their layouts are
//!   constants; [`SystemHobts`] opens them.
//! * [`load`] reads the system tables into a view; [`Changes`] writes the difference that a
//!   definition's change makes, in the changer's transaction; a [`Delta`] is the same change to
//!   a view, and the [`Publisher`] applies the deltas of a committed transaction to the view
//!   that everybody sees.
//! * [`statistics`]: what is known of the values of columns, as data.
//! * [`Builder`]: heaps and trees made and dropped, which `database` implements.
//! * [`Ids`], [`Identities`]: numbers that are given out once; [`Modifications`]: how many rows
//!   were changed since.
//!
//! Nothing here knows T-SQL: names come resolved, expressions are text.
//!
//! README.md has the protocol of a change, with numbered rules.

#![forbid(unsafe_code)]

mod changes;
mod definition;
mod delta;
mod error;
mod files;
mod filter_text;
mod guard;
mod identity;
mod ids;
mod load;
mod modifications;
mod module_rows;
mod options;
mod property_rows;
mod rows;
mod sequence;
mod sequence_rows;
mod spec;
pub mod statistics;
mod synonym_rows;
mod sysrows;
mod type_rows;
pub mod view;

pub use changes::Changes;
pub use delta::{Delta, Publisher, apply, preview};
pub use error::CatalogError;
pub use files::{FileGrowth, FileOwner, FileSetting, FileSettings};
pub use guard::{
    lock_name, lock_object, lock_object_to_build, lock_object_to_write, lock_schema,
    lock_schema_name, try_share_object, while_unchanged,
};
pub use identity::{Identities, IdentityStore, ROW_VERSIONS};
pub use ids::Ids;
pub use load::{CatalogContents, ObjectDates, load, load_for_undo, object_dates};
pub use modifications::Modifications;
pub use options::{
    DatabaseOption, DatabaseOptions, DelayedDurability, PageVerify, RecoveryModel, UserAccess,
};
pub use spec::{
    Builder, DroppedUnit, HobtColumn, HobtPlaces, HobtSpec, SystemHobts, UnitKind, UnitPlaces,
};
pub use sysrows::{FIRST_USER_HOBT, SYSTEM_TABLES, SystemColumn, SystemTable, SystemTableId};
