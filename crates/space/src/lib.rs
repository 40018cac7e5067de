//! Who owns which page: extents, allocation maps, free space, file growth.
//!
//! Flat pages at fixed arithmetic positions (GAM, SGAM, PFS, DIFF, ML) and a chain of IAM pages
//! for each allocation unit: no search structure, so nothing below needs an allocator. Pages are
//! *claimed* before any latch is taken and *allocated* within the change that uses them. See
//! README.md for the protocol.

#![forbid(unsafe_code)]

mod allocate;
mod check;
mod claim;
mod drop_unit;
mod error;
mod finding;
mod format;
mod grow;
mod iam;
mod map;
mod page_set;
mod redo;
mod space;
mod survey;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
mod unit;

pub use allocate::UnitChange;
pub use claim::Claim;
pub use error::SpaceError;
pub use finding::{FINDINGS_MAX, Finding, Findings};
pub use format::{
    FIRST_FREE_EXTENT, FileFacts, facts_of as file_facts, format_file, read_file_facts,
};
pub use grow::GrowthOptions;
pub use iam::IamFacts;
pub use map::{boot_page, diff_page, gam_page, ml_page, pfs_page, sgam_page};
pub use page_set::PageSet;
pub use redo::{SpaceRedo, kinds};
pub use space::Space;
pub use survey::{UnitPages, UnitSurvey, map_fault};
pub use unit::AllocUnit;
