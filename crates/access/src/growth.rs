//! What became of a tree since it was built, for whoever chooses how full to build it again.

/// How a tree has grown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Its rows now.
    pub rows: u64,
    /// Rows that it was built with, where it was built since it was opened.
    pub built: Option<u64>,
    /// Rows put into it one by one since it was built or opened.
    pub inserts: u64,
    /// Leaves that were added at its right edge, for rows in the order of its key.
    pub appends: u64,
    /// Leaves that were split elsewhere.
    pub splits: u64,
    /// Those of them where the new row was to be the last of its leaf.
    pub at_end: u64,
    /// Those of them that the split before had left.
    pub beside_last: u64,
    /// Rows that a full leaf holds.
    pub rows_a_page: u64,
    /// Its leaves from left to right, in some parts.
    pub parts: Vec<GrowthPart>,
}

/// Some leaves of a tree, side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrowthPart {
    /// Rows there, in some measure that is the same for all parts.
    pub rows: u64,
    /// Splits there, of some that were kept of all.
    pub splits: u64,
}
