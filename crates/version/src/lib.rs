//! The version store: what records were before, for those who read as of an earlier moment.
//!
//! One an instance, on pages of tempdb that are changed without a log: nothing of it is wanted
//! after a restart, since no snapshot lives that long. It keeps opaque bytes under a page and a
//! slot; who points there, and whether anybody still needs them, its callers know. See README.md
//! for the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod append;
mod error;
mod format;
mod reclaim;
mod scan;
mod store;

pub use append::Place;
pub use error::VersionError;
pub use format::{Origin, StoredVersion, VERSION_FRONT_BYTES};
pub use reclaim::Reclaimed;
pub use scan::PageCopy;
pub use store::{Store, Usage, VersionPtr};
