//! What sys.dm_db_index_physical_stats shows of each level of a hobt.

/// How much is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanMode {
    /// The levels above the leaves (or the maps of a heap): nothing of what is on a leaf.
    Limited,
    /// Every page.
    Detailed,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelStats {
    /// 0 is the leaf.
    pub level: u8,
    /// Pages.
    pub pages: u64,
    /// Runs of physically consecutive pages.
    pub fragments: u64,
    /// Pages whose successor by key is not their successor in the file among those of the level; of
    /// a heap, ends of fragments.
    pub out_of_order: u64,
    /// What is on the pages, where they were read.
    pub contents: Option<Contents>,
}

/// What the pages of a level hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Mean over pages of the space in use, in percent.
    pub space_used_percent: f64,
    /// Records that are not ghosts; a forwarded row is one, and its stub another.
    pub records: u64,
    /// Rows that are away from their RID.
    pub forwarded: u64,
    /// Ghosts that may be removed now.
    pub ghosts: u64,
    /// Ghosts whose deleter goes on, or whose row a snapshot needs.
    pub version_ghosts: u64,
    /// Records that have a former version which is there still, ghosts that are their own among
    /// them.
    pub versions: u64,
    /// Records with an in-row version: the row before, as what differs from it.
    pub in_row: u64,
    /// Bytes of these versions.
    pub in_row_bytes: u64,
    /// Versions of the records in the version store of their own database.
    pub off_row: u64,
    /// Bytes of all records, ghosts included.
    pub record_bytes: u64,
    /// Records, ghosts included.
    pub all_records: u64,
    /// The shortest record.
    pub min_record_bytes: u64,
    /// The longest record.
    pub max_record_bytes: u64,
}
