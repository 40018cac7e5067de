//! A stored heap or index as the database that owns it sees it: the border of storage.
//!
//! ```text
//!   exec, ddl            Hobt           rows: scan, write, load
//!   database, sysviews   StoredHobt  =  Hobt
//!                                     + Shape        columns, units, other columns
//!                                     + Verifier     CHECKDB
//!                                     + Upkeep       ghosts, order of pages, the end
//!                                     + Statistics   sizes and counts
//!                                     + PageReader   DBCC PAGE
//! ```
//!
//! A storage format implements these traits, and [`StorageFormat`](crate::StorageFormat) for
//! itself. A method that has a body answers for a format that keeps nothing of the kind: no pages,
//! no ghosts, no values off the rows.
//!
//! Invariants
//!  1. A call is an indirect call. What is called once a row is a write, a step of a cursor, and in
//!     CHECKDB the hash of an entry; all else is called once a scan, a statement or a page.
//!  2. The crates above name no format. A format finds its own hobts behind `dyn StoredHobt` by
//!     [`TableSink::as_any`](crate::TableSink::as_any), for its undo and for entries put together.

use crate::{
    Deed, EntryPart, Growth, Hobt, HobtPlaces, HobtSpec, HobtUnit, LevelStats, RowLocation,
    RowReport, ScanMode, SourceSize, TreeSplits, Use,
};
use base::{AllocUnitId, PageId, SqlResult};
use lock::Resource;
use os::wait::{CancelReason, Waiter};
use page::RowLayout;
use std::sync::Arc;
use txn::Lifetime;
use work::{Engine, GhostRule, Work};

/// A heap or an index in whatever format it is stored.
pub trait StoredHobt: Hobt + Shape + Verifier + Upkeep + Statistics + PageReader {}

impl<T: Hobt + Shape + Verifier + Upkeep + Statistics + PageReader> StoredHobt for T {}

/// What a hobt is made of, and how it becomes another with the same rows.
pub trait Shape: Send + Sync {
    /// What it is made of.
    fn spec(&self) -> &HobtSpec;

    /// Where its rows are.
    fn places(&self) -> HobtPlaces;

    /// The layout of the records that it shows: those of its verifier, those on its pages.
    fn layout(&self) -> &RowLayout;

    /// The allocation units that have its pages; none where it has no pages.
    fn units(&self) -> Vec<HobtUnit> {
        Vec::new()
    }

    /// The hobt of the pieces of values that are off its rows, if a row may have such.
    fn large(&self) -> Option<Arc<dyn StoredHobt>> {
        None
    }

    /// The same hobt with other columns behind those that all its rows have. Where it has no unit
    /// for values off the rows and the number of one is handed in, the unit is made, within the
    /// transaction of `work`. A statement that has it open under the old columns may go on with it.
    ///
    /// # Errors
    /// 1105, 9002, damaged maps.
    fn with_columns(
        &self,
        work: &mut Work,
        spec: HobtSpec,
        large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>>;

    /// The same hobt without its unit for values off the rows, which has just been undone.
    fn without_large(&self) -> Arc<dyn StoredHobt>;

    /// The same hobt, just made and without rows, in the place of another. What is counted of the
    /// other goes on, where both are of one format.
    fn in_place_of(&self, former: &dyn StoredHobt) -> Arc<dyn StoredHobt>;
}

/// What CHECKDB asks of a hobt.
pub trait Verifier: Send + Sync {
    /// Checks everything that it keeps. Nobody changes it meanwhile. `row` sees every live record
    /// that has the form of its layout; the record's page is latched.
    ///
    /// # Errors
    /// The waiter's cancellation, which is looked for at each page: half a report is none.
    fn verify(
        &self,
        waiter: &Waiter,
        row: &mut dyn FnMut(RowLocation<'_>),
    ) -> Result<RowReport, CancelReason>;

    /// The hash of an index entry that is made of these parts of a record, as
    /// [`ElementHash`](crate::ElementHash) has it in every format: of each part the length of its
    /// value and then its bytes, of NULL the number `u64::MAX`. `None` when the record's bytes make
    /// no sense, or a value off it cannot be read.
    fn entry_hash(&self, row: RowLocation<'_>, parts: &[EntryPart]) -> Option<u128>;

    /// A copy of the record of a place that `verify` has shown.
    fn record_at(&self, page: PageId, slot: u16) -> Option<Vec<u8>>;
}

/// What became of the ghosts of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CleanOutcome {
    /// It has no ghosts any more, or is no page of this hobt.
    Done,
    /// Others hold its ghosts, or the table.
    Busy,
}

/// How far a sweep for records by aborted transactions has come in a hobt; its format alone reads
/// it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SweepPosition(pub Vec<u8>);

/// What a step of such a sweep did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SweepStep {
    /// Pages that were looked at.
    pub pages: usize,
    /// Records that were reverted.
    pub reverted: u64,
    /// Where the next step begins; `None` at the end of the hobt.
    pub next: Option<SweepPosition>,
}

/// What keeps a hobt in order, and what ends it.
pub trait Upkeep: Send + Sync {
    /// Removes the ghosts of a page that nobody needs. It waits for nothing but the page.
    ///
    /// # Errors
    /// Damaged pages, log; the ghosts stay.
    fn clean_page(&self, _work: &Work, _page: PageId) -> SqlResult<CleanOutcome> {
        Ok(CleanOutcome::Done)
    }

    /// The ghosts on a page, each by the lifetimes that keep it by a rule and the bytes of its
    /// record. A ghost whose deleter has not committed is passed over.
    ///
    /// # Errors
    /// Pages that cannot be read.
    fn ghost_lifetimes(
        &self,
        (_engine, _rule): (&Engine, GhostRule),
        _page: PageId,
    ) -> SqlResult<Vec<(Lifetime, usize)>> {
        Ok(Vec::new())
    }

    /// Moves its rows together, leaves being filled to `percent`, and brings its pages into order;
    /// with `large` those of values off the rows, too. Each step stays, whatever becomes of the
    /// transaction; others read and write meanwhile.
    ///
    /// # Errors
    /// Damaged pages, log, cancellation; what was done stays.
    fn reorganize(&self, _work: &mut Work, _percent: u8, _large: bool) -> SqlResult<()> {
        Ok(())
    }

    /// Empties a small hobt at once, without a ghost; whether it did. Only its owner knows of the
    /// hobt, and no open transaction has changed it.
    ///
    /// # Errors
    /// A full log, pages that cannot be read.
    fn empty_if_small(&self) -> SqlResult<bool> {
        Ok(false)
    }

    /// Goes over so many pages from a position on, or from the begin, and reverts the records whose
    /// writers are in the aborted map (`txn`, rule 8): the version before each takes its place. No
    /// transaction undoes that. When a sweep has come to the end of a hobt, the hobt has no record
    /// by a transaction that was in the map when the sweep began: who moves records meanwhile moves
    /// none past the sweep. A step that looks at no page and is not the last has found the table
    /// locked. A sweep waits for nothing but pages, and may be repeated at any time.
    ///
    /// # Errors
    /// Damaged pages, a full log, no room; what was reverted stays so.
    fn revert_aborted(
        &self,
        _work: &Work,
        _from: Option<&SweepPosition>,
        _budget: usize,
    ) -> SqlResult<SweepStep> {
        Ok(SweepStep::default())
    }

    /// Goes over so many pages likewise, and takes out of their records the former rows that stand
    /// there and that nobody needs any more. With `every` also where none was left since a pass has
    /// begun, as after a start.
    ///
    /// # Errors
    /// Damaged pages, a full log.
    fn drop_in_row_versions(
        &self,
        _work: &Work,
        _from: Option<&SweepPosition>,
        (_budget, _every): (usize, bool),
    ) -> SqlResult<SweepStep> {
        Ok(SweepStep::default())
    }

    /// Its drop, or the rollback of who made it, is certain: its pages are freed from now on. The
    /// caller holds the table's Sch-M.
    fn mark_dropped(&self);

    /// Whether no statement may use it any more. The answer is certain with a lock on the table. A
    /// reader without one that meets pages that make no sense asks whether they have another owner
    /// by now.
    fn is_dropped(&self) -> bool;

    /// Whether only the transaction that made it knows of it, which is at work on it.
    fn is_private(&self) -> bool;
}

/// How large a hobt is, and what was done to it.
pub trait Statistics: Send + Sync {
    /// Rows as sys.partitions shows them, uncommitted ones included; counted at the first question
    /// after a start.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation, and then nothing is known yet.
    fn row_count(&self, waiter: &Waiter) -> SqlResult<u64>;

    /// Rows and pages, near enough to choose plans by. It reads some pages at most.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    fn measured_size(&self, waiter: &Waiter) -> SqlResult<SourceSize>;

    /// How often something was done since it was opened, or for how long.
    fn counted(&self, _deed: Deed) -> u64 {
        0
    }

    /// When it was used last, in wall nanoseconds; 0: never.
    fn last_used(&self, _how: Use) -> i64 {
        0
    }

    /// How its tree came by its pages since the hobt was opened.
    fn splits(&self) -> TreeSplits {
        TreeSplits::default()
    }

    /// The same with the trees that it took the place of.
    fn all_splits(&self) -> TreeSplits {
        self.splits()
    }

    /// Rows that a load has put into it, where that is known, and rows since then.
    fn inserts_since_built(&self) -> (Option<u64>, u64) {
        (None, 0)
    }

    /// How its tree has grown; `None` of a heap.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    fn growth(&self, _waiter: &Waiter) -> SqlResult<Option<Growth>> {
        Ok(None)
    }

    /// Its levels, the root's last. Each page is true at its moment, the whole is not.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    fn physical_stats(
        &self,
        _mode: ScanMode,
        _engine: &Engine,
        _waiter: &Waiter,
    ) -> SqlResult<Vec<LevelStats>> {
        Ok(Vec::new())
    }

    /// How many of its pages are above its leaves. No leaf is read.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    fn pages_above_leaves(&self, _engine: &Engine, _waiter: &Waiter) -> SqlResult<u64> {
        Ok(0)
    }
}

/// What a page of a hobt says beyond its rows: for DBCC PAGE.
pub trait PageReader: Send + Sync {
    /// The columns of an entry above the leaves, the key's in order; none of a heap.
    fn interior_layout(&self) -> Option<&RowLayout> {
        None
    }

    /// Where an entry above the leaves leads; none of a heap, and where its bytes make no sense.
    fn child_of(&self, _entry: &[u8]) -> Option<PageId> {
        None
    }

    /// The lock of a leaf's record; none of a heap, and where its bytes make no sense.
    fn key_lock(&self, _record: &[u8]) -> Option<Resource> {
        None
    }
}

/// Finds hobts by the unit that log records carry: for the undo of a format. `database` implements
/// it, which also knows hobts of transactions that are not committed.
pub trait HobtDirectory: Send + Sync {
    /// The hobt that owns a unit, opened if need be.
    fn by_unit(&self, unit: AllocUnitId) -> Option<Arc<dyn StoredHobt>>;

    /// The transaction that made a unit was undone: its hobt is gone.
    fn undone(&self, unit: AllocUnitId);
}
