//! What is wrong with maps and chains, and a list of it that has a bound.
//!
//! Invariants
//!  1. A list keeps at most [`FINDINGS_MAX`]; what comes after them is counted.

use base::{AllocUnitId, ExtentId, PageId};
use page::Damage;
use std::collections::BTreeSet;

/// Findings that one list keeps: a spoilt map alone tells lies of 63,904 extents.
pub const FINDINGS_MAX: usize = 20_000;

/// What is wrong with the maps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// Two units own an extent: 8904.
    OwnedTwice(ExtentId, AllocUnitId, AllocUnitId),
    /// A unit owns an extent that the GAM says is free: 8904.
    OwnedButFree(ExtentId, AllocUnitId),
    /// The GAM says taken, and the extent has no owner: 8905.
    Lost(ExtentId),
    /// The GAM says that an extent is free, and it is mixed: 8903.
    MixedButFree(ExtentId),
    /// The GAM or SGAM gives away an extent that holds maps, or lies behind the file's end.
    NotToGive(ExtentId, PageId),
    /// The SGAM says what is not so of a mixed extent, or calls one mixed that is not: 8904.
    Mixed(ExtentId),
    /// The byte of a page: found, expected: 8948.
    Pfs(PageId, u8, u8),
    /// A page is allocated as an IAM page and is in no chain: 8906.
    NoChain(PageId, u8),
    /// A unit owns an extent that holds maps, or lies behind the end of its file: 2579.
    Stray(ExtentId, AllocUnitId),
    /// The DIFF or ML page says of an extent what is not so: 2515.
    Changed(ExtentId, PageId),
    /// A page of the maps cannot be used: 8946.
    Unreadable(PageId, AllocUnitId, &'static str),
    /// A field in the header of a page of the maps: 8939.
    Header(PageId, AllocUnitId, Damage),
    /// Two IAM pages of a chain cover one interval: 8947.
    IntervalTwice(AllocUnitId, PageId, PageId),
    /// An IAM page is not the one that its predecessor leads to: 2577.
    Chain(AllocUnitId, PageId, u32, u32),
}

/// Findings in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first of them.
    pub kept: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
}

impl Findings {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.more == 0
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(finding);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn append(&mut self, others: Findings) {
        self.more += others.more;
        for finding in others.kept {
            self.push(finding);
        }
    }

    /// Only what another look has found, too. Of what neither has kept there is as much as the
    /// look that found less of it says.
    pub fn seen_twice(mut self, other: &Findings) -> Findings {
        let known: BTreeSet<&Finding> = other.kept.iter().collect();
        let count = self.kept.len();
        self.kept.retain(|f| known.contains(f));
        debug_assert!(self.kept.len() <= count, "nothing is added");
        self.more = self.more.min(other.more);
        self
    }
}
