//! What is counted of a heap or an index since it was opened, under the names by which
//! sys.dm_db_index_usage_stats and sys.dm_db_index_operational_stats ask for it.

macro_rules! deeds {
    ($($deed:ident = $what:literal,)*) => {
        /// What is counted of a heap or index.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum Deed {
            $(#[doc = $what] $deed,)*
        }

        impl Deed {
            /// How many there are.
            pub const COUNT: usize = [$(Deed::$deed),*].len();
        }
    };
}

deeds! {
    LeafInsert = "A row or entry was put on a leaf, or on a heap's page.",
    RowLock = "A lock of a row, a key or a gap was asked for.",
    PageLock = "A lock of a page was asked for.",
    LeafUpdate = "A row or entry was written over by its changed self.",
    LeafGhost = "One became a ghost.",
    SingletonLookup = "A search for one row by its whole key, or by its place, began.",
    RangeScan = "A scan of all rows or of a range began.",
    VersionStored = "A former version went to the version store.",
    VersionInRow = "A former version stayed in the record of its row.",
    LeafDelete = "A row or entry was taken out at once, by a rollback.",
    ForwardedFetch = "A row was read by way of its stub.",
    LobPages = "A page of values off the rows was read.",
    LobBytes = "Bytes of such values were read.",
    PushedOffRow = "A value was put off its row for the row to fit.",
    HeapPage = "A page was added to a heap for a row.",
    RowLockWait = "A row's lock had to be waited for, or the end of its writer.",
    RowLockWaitNs = "Nanoseconds of that.",
    PromotionAttempt = "Row locks were to be exchanged for one on the table.",
    Promotion = "They were.",
    PageLatchWait = "The latch of a page had to be waited for.",
    PageLatchWaitNs = "Nanoseconds of that.",
    PageIoWait = "A page had to come from disk.",
    PageIoWaitNs = "Nanoseconds of that.",
    TreeLatchWait = "The latch of a page above the leaves had to be waited for.",
    TreeLatchWaitNs = "Nanoseconds of that.",
    TreeIoWait = "A page above the leaves had to come from disk.",
    TreeIoWaitNs = "Nanoseconds of that.",
    UserSeek = "A statement ran whose plan seeks in it.",
    UserScan = "A statement ran whose plan scans it.",
    UserLookup = "A statement ran whose plan looks rows up in it.",
    UserUpdate = "A statement ran whose plan changes it.",
    SystemScan = "It was read for statistics.",
    LastUserSeek = "Wall time in nanoseconds of the last such statement.",
    LastUserScan = "The same of scans.",
    LastUserLookup = "The same of lookups.",
    LastUserUpdate = "The same of changes.",
    LastSystemScan = "When it was read for statistics last.",
}

/// How the pages of one level came and went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LevelSplits {
    /// Pages that were added at the right edge. Of a leaf no record moved.
    pub appends: u64,
    /// Pages that were divided elsewhere: half of their records moved.
    pub splits: u64,
    /// Those of them where the new record was to be the page's last.
    pub at_end: u64,
    /// Those of them where a record that was there became longer.
    pub longer: u64,
    /// Those of them that divided a page which the split before had left. Of leaves alone.
    pub beside_last: u64,
    /// Pages that were given back, empty.
    pub freed: u64,
}

impl LevelSplits {
    /// Pages that changes of rows have added.
    pub fn allocated(&self) -> u64 {
        self.appends + self.splits
    }
}

/// How the pages of a tree came and went; nothing of a heap. Pages that a load has added do not
/// count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeSplits {
    /// Leaves.
    pub leaf: LevelSplits,
    /// The pages above them.
    pub interior: LevelSplits,
    /// How often the tree became higher, when a root was full.
    pub roots: u64,
}
