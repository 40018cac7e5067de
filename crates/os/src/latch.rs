//! Latch classes: what the engine's short locks protect, and how long threads waited for them
//! (sys.dm_os_latch_stats).
//!
//! A free latch costs nothing here: only a thread that finds one taken reads the clock. The wait is
//! also counted in sys.dm_os_wait_stats, as LATCH_SH or LATCH_EX, or for a page as PAGELATCH_SH or
//! PAGELATCH_EX.

use crate::sync::PaddedCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! latch_classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal,)*) => {
        /// What a latch protects.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[repr(u8)]
        pub enum LatchClass {
            $($(#[$doc])* $class,)*
        }

        impl LatchClass {
            /// Every class, in the order of the discriminants.
            pub const ALL: &[LatchClass] = &[$(LatchClass::$class),*];

            /// The name that sys.dm_os_latch_stats shows: SQL Server's, where it has one for this.
            pub const fn name(self) -> &'static str {
                match self { $(LatchClass::$class => $name),* }
            }
        }
    };
}

latch_classes! {
    /// A page in memory.
    Buffer = "BUFFER",
    /// The log's tail, its flushes, its growth.
    LogManager = "LOG_MANAGER",
    /// Extents that are free or reserved.
    Extents = "ALLOC_EXTENT_CACHE",
    /// Pages with free space of a heap or an index.
    FreeSpace = "ALLOC_FREESPACE_CACHE",
    /// Growth of a data file.
    FileGrowth = "FGCB_ADD_REMOVE",
    /// Checkpoints of a database, one at a time.
    Checkpoint = "DATABASE_CHECKPOINT",
    /// A partition of the lock table. Our own name.
    LockPartition = "LOCK_PARTITION",
    /// The order in which transactions become visible. Our own name.
    CommitTable = "COMMIT_TABLE",
    /// Every latch without a class of its own. Our own name.
    #[default]
    Other = "OTHER",
}

struct Total {
    requests: AtomicU64,
    time_ns: AtomicU64,
    longest_ns: AtomicU64,
}

#[allow(clippy::declare_interior_mutable_const)]
const NO_TOTAL: Total = Total {
    requests: AtomicU64::new(0),
    time_ns: AtomicU64::new(0),
    longest_ns: AtomicU64::new(0),
};

static TOTALS: [PaddedCell<Total>; LatchClass::ALL.len()] =
    [const { PaddedCell(NO_TOTAL) }; LatchClass::ALL.len()];

/// One row of sys.dm_os_latch_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatchTotal {
    /// What was waited for.
    pub class: LatchClass,
    /// Waits ended.
    pub requests: u64,
    /// How long they were.
    pub time_ns: u64,
    /// The longest one.
    pub longest_ns: u64,
}

/// Every class's totals since start or [`clear_totals`]. Each number is exact, but they are not
/// read at one instant.
pub fn totals() -> Vec<LatchTotal> {
    let row = |&class: &LatchClass| {
        let t = &TOTALS[class as usize];
        LatchTotal {
            class,
            requests: t.requests.load(Relaxed),
            time_ns: t.time_ns.load(Relaxed),
            longest_ns: t.longest_ns.load(Relaxed),
        }
    };
    LatchClass::ALL.iter().map(row).collect()
}

/// `DBCC SQLPERF('sys.dm_os_latch_stats', CLEAR)`.
pub fn clear_totals() {
    for t in &TOTALS {
        t.requests.store(0, Relaxed);
        t.time_ns.store(0, Relaxed);
        t.longest_ns.store(0, Relaxed);
    }
}

/// Counts a wait that has ended.
pub(crate) fn note(class: LatchClass, time_ns: u64) {
    let t = &TOTALS[class as usize];
    t.requests.fetch_add(1, Relaxed);
    t.time_ns.fetch_add(time_ns, Relaxed);
    t.longest_ns.fetch_max(time_ns, Relaxed);
}
