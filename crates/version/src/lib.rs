//! The version store: what records were before, for those who read as of an earlier moment.
//!
//! A [`VersionStore`] keeps opaque bytes under a page and a slot; who points there, and whether
//! anybody still needs them, its callers know. Its first implementation is [`TempdbStore`], one an
//! instance, on pages of tempdb that are changed without a log: nothing of it is wanted after a
//! restart, since no snapshot lives that long. [`Stores`] has the stores of one database: it
//! chooses where versions go, and finds them by their pointers. See README.md for the protocol and
//! its numbered rules.

#![forbid(unsafe_code)]

mod append;
mod error;
mod format;
mod place;
mod reclaim;
mod scan;
mod store;
mod stores;
mod tempdb_store;

pub use error::VersionError;
pub use format::{Origin, StoredVersion, VERSION_FRONT_BYTES};
pub use page::{StoreKind, VersionPtr};
pub use place::Place;
pub use scan::PageCopy;
pub use store::{Reclamation, Usage, VersionStore};
pub use stores::{SharedStore, Stores};
pub use tempdb_store::TempdbStore;
