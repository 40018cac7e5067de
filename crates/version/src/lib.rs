//! The version store: what records were before, for those who read as of an earlier moment.
//!
//! A [`VersionStore`] keeps opaque bytes under a page and a slot; who points there, and whether
//! anybody still needs them, its callers know. There are two implementations. [`TempdbStore`], one
//! an instance, is on pages of tempdb that are changed without a log: nothing of it is wanted after
//! a restart, since no snapshot lives that long. [`DatabaseStore`], one a database, is on pages of
//! the database itself, logged for redo alone: its versions survive. [`Stores`] has the stores of
//! one database: it chooses where versions go, and finds them by their pointers. See README.md for
//! the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod append;
mod database_store;
mod error;
mod format;
mod page_copy;
mod place;
mod reclaim;
mod scan;
mod store;
mod stores;
mod tempdb_store;

pub use database_store::{DatabaseStore, StoreNote, VERSION_KINDS, VersionRedo, verify_store};
pub use error::VersionError;
pub use format::{Origin, StoredVersion, UNIT as VERSION_UNIT, VERSION_FRONT_BYTES};
pub use page::{StoreKind, VersionPtr};
pub use page_copy::{PageCopy, versions_of};
pub use place::Place;
pub use store::{Activity, Reclamation, Usage, VersionStore};
pub use stores::{SharedStore, Stores};
pub use tempdb_store::TempdbStore;
