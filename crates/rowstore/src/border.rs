//! `RowHobt` behind the traits of `access`, through which the crates above use a heap or an index.
//!
//! Each method decides by the kind of the hobt, counts the operation, and turns errors into SQL
//! errors. Other files do the work.

use crate::heap::scan::HeapCursor;
use crate::hobt::RowHobt;
use crate::index::entry_group;
use crate::index::scan::IndexCursor;
use access::{
    CleanOutcome, Deed, Division, Entry, EntryGroup, EntryPart, Growth, HobtKind, HobtPlaces,
    HobtSpec, HobtUnit, InsertOutcome, LevelSplits, LevelStats, LockPlan, PageReader, PageSample,
    RowCursor, RowKey, RowLocation, RowReport, ScanMode, ScanRange, Shape, SourceSize, Statistics,
    StoredHobt, SweepPosition, SweepStep, TableSink, TableSource, TreeSplits, Upkeep, Use,
    Verifier, WriteError,
};
use base::{AllocUnitId, PageId, SqlResult};
use lock::Resource;
use os::clock::WallTime;
use os::wait::{CancelReason, Waiter};
use page::{Field, RowLayout};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::Lifetime;
use work::{Engine, GhostRule, Work};

impl TableSource for RowHobt {
    fn used(&self, how: Use, at: WallTime) {
        self.note_use(how, at);
    }

    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        let locks = &self.moment(locks);
        Ok(match self.spec.kind {
            HobtKind::Heap => {
                let scan = HeapCursor::open(self, work, range, locks).map_err(|e| self.sql(e))?;
                scan.count();
                Box::new(scan)
            }
            HobtKind::Clustered | HobtKind::Nonclustered => {
                let scan = IndexCursor::open(self, work, range, locks).map_err(|e| self.sql(e))?;
                scan.count();
                scan
            }
        })
    }

    fn size(&self) -> SourceSize {
        SourceSize { rows: self.state.rows.load(Relaxed).max(0) as u64, pages: 0 }
    }

    fn sample(
        &self,
        work: &mut Work,
        wanted: &dyn Fn(SourceSize) -> u64,
    ) -> SqlResult<Option<PageSample<'_>>> {
        self.sample_pages(work, wanted).map_err(|e| self.sql(e))
    }

    fn divide(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
        readers: usize,
    ) -> SqlResult<Option<Box<dyn Division + '_>>> {
        self.divided(work, range, &self.moment(locks), readers).map_err(|e| self.sql(e)).map(Some)
    }
}

impl TableSink for RowHobt {
    fn insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let noting = self.noting_insert(work, locks)?;
        let done = self.counting_waits(|| {
            self.store(work, row, |work, row| match self.spec.kind {
                HobtKind::Heap => self.heap_insert(work, row, locks),
                HobtKind::Clustered | HobtKind::Nonclustered => self.entry_insert(work, row, locks),
            })
        });
        self.note_put(noting, row, &done);
        work.give_rows_back();
        // Rows of an index that is being built do not count as inserts.
        if done.is_ok() && !self.is_private() {
            self.did(Deed::LeafInsert);
        }
        done
    }

    fn update(
        &self,
        work: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        debug_assert!(!key.fields.is_empty(), "a row is named");
        let done = self.counting_waits(|| self.update_locked(work, &key, row, locks));
        work.give_rows_back();
        done
    }

    fn delete(&self, work: &mut Work, key: RowKey<'_>, locks: &LockPlan) -> Result<(), WriteError> {
        debug_assert!(!key.fields.is_empty(), "a row is named");
        let done = self.counting_waits(|| self.delete_locked(work, &key, locks));
        work.give_rows_back();
        done
    }

    fn goes_together(&self, locks: &LockPlan) -> bool {
        self.puts_together(locks)
    }

    fn prepare(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        locks: &LockPlan,
        entry: &mut Entry,
    ) -> Result<bool, WriteError> {
        self.prepare_entry(work, row, locks, entry).map_err(|e| self.write_error(e))
    }

    fn put_together<'h>(
        &'h self,
        work: &mut Work,
        hobt: &dyn Fn(usize) -> &'h dyn TableSink,
        entries: &EntryGroup,
        locks: &LockPlan,
    ) -> Result<bool, WriteError> {
        let put = entry_group::put(work, hobt, entries, locks);
        work.give_rows_back();
        put.map_err(|e| self.write_error(e))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Changes after which the caller releases the row locks, with optimized locking.
impl RowHobt {
    fn update_locked(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let noting = self.noting_change(work, key, locks)?;
        let before = self.values_before(work, key, locks)?;
        let updated = self.store(work, row, |work, row| match self.spec.kind {
            HobtKind::Heap => self.heap_update(work, key, row, locks),
            HobtKind::Clustered | HobtKind::Nonclustered => {
                self.entry_update(work, key, row, locks)
            }
        });
        self.note_put(noting, row, &updated);
        let updated = updated?;
        self.give_up(work, &before)?;
        Ok(updated)
    }

    fn delete_locked(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        locks: &LockPlan,
    ) -> Result<(), WriteError> {
        let noting = self.noting_change(work, key, locks)?;
        let before = self.values_before(work, key, locks)?;
        let deleted = match self.spec.kind {
            HobtKind::Heap => self.heap_delete(work, key, locks),
            HobtKind::Clustered | HobtKind::Nonclustered => self.entry_delete(work, key, locks),
        };
        self.note_delete(work, noting, &deleted);
        deleted?;
        self.give_up(work, &before)
    }
}

impl Shape for RowHobt {
    fn spec(&self) -> &HobtSpec {
        &self.spec
    }

    fn places(&self) -> HobtPlaces {
        self.places
    }

    fn layout(&self) -> &RowLayout {
        &self.layout
    }

    fn units(&self) -> Vec<HobtUnit> {
        let unit = |hobt: &RowHobt| {
            let HobtSpec { unit, pieces, .. } = hobt.spec;
            HobtUnit { unit, places: hobt.places, pieces }
        };
        [Some(self), self.large.as_deref()].into_iter().flatten().map(unit).collect()
    }

    fn large(&self) -> Option<Arc<dyn StoredHobt>> {
        let large = self.large.clone()?;
        Some(large)
    }

    fn with_columns(
        &self,
        work: &mut Work,
        spec: HobtSpec,
        large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>> {
        let made = match large.filter(|_| self.large.is_none()) {
            Some(unit) => Some(self.make_large(work, unit)?),
            None => None,
        };
        Ok(self.with_layout(spec, made))
    }

    fn without_large(&self) -> Arc<dyn StoredHobt> {
        RowHobt::without_large(self)
    }

    fn in_place_of(&self, former: &dyn StoredHobt) -> Arc<dyn StoredHobt> {
        match RowHobt::of(former) {
            Some(former) => RowHobt::in_place_of(self, former),
            // Another format counts other things.
            None => self.arc(),
        }
    }
}

impl Verifier for RowHobt {
    fn verify(
        &self,
        waiter: &Waiter,
        row: &mut dyn FnMut(RowLocation<'_>),
    ) -> Result<RowReport, CancelReason> {
        RowHobt::verify(self, waiter, row)
    }

    fn entry_hash(&self, row: RowLocation<'_>, parts: &[EntryPart]) -> Option<u128> {
        RowHobt::entry_hash(self, row, parts)
    }

    fn record_at(&self, page: PageId, slot: u16) -> Option<Vec<u8>> {
        RowHobt::record_at(self, page, slot)
    }
}

impl Upkeep for RowHobt {
    fn clean_page(&self, work: &Work, page: PageId) -> SqlResult<CleanOutcome> {
        RowHobt::clean_page(self, work, page)
    }

    fn ghost_lifetimes(
        &self,
        of: (&Engine, GhostRule),
        page: PageId,
    ) -> SqlResult<Vec<(Lifetime, usize)>> {
        RowHobt::ghost_lifetimes(self, of, page)
    }

    fn reorganize(&self, work: &mut Work, percent: u8, large: bool) -> SqlResult<()> {
        RowHobt::reorganize(self, work, percent, large)
    }

    fn empty_if_small(&self) -> SqlResult<bool> {
        RowHobt::empty_if_small(self)
    }

    fn revert_aborted(
        &self,
        work: &Work,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> SqlResult<SweepStep> {
        RowHobt::revert_aborted(self, work, from, budget)
    }

    fn drop_in_row_versions(
        &self,
        work: &Work,
        from: Option<&SweepPosition>,
        (budget, every): (usize, bool),
    ) -> SqlResult<SweepStep> {
        RowHobt::drop_in_row_versions(self, work, from, (budget, every))
    }

    fn mark_dropped(&self) {
        RowHobt::mark_dropped(self);
    }

    fn is_dropped(&self) -> bool {
        RowHobt::is_dropped(self)
    }

    fn is_private(&self) -> bool {
        RowHobt::is_private(self)
    }
}

impl Statistics for RowHobt {
    fn row_count(&self, waiter: &Waiter) -> SqlResult<u64> {
        RowHobt::row_count(self, waiter)
    }

    fn measured_size(&self, waiter: &Waiter) -> SqlResult<SourceSize> {
        RowHobt::measured_size(self, waiter)
    }

    fn counted(&self, deed: Deed) -> u64 {
        RowHobt::counted(self, deed)
    }

    fn last_used(&self, how: Use) -> i64 {
        RowHobt::last_used(self, how)
    }

    fn splits(&self) -> TreeSplits {
        splits_of(RowHobt::splits(self))
    }

    fn all_splits(&self) -> TreeSplits {
        splits_of(RowHobt::all_splits(self))
    }

    fn inserts_since_built(&self) -> (Option<u64>, u64) {
        RowHobt::inserts_since_built(self)
    }

    fn growth(&self, waiter: &Waiter) -> SqlResult<Option<Growth>> {
        RowHobt::growth(self, waiter)
    }

    fn physical_stats(
        &self,
        mode: ScanMode,
        engine: &Engine,
        waiter: &Waiter,
    ) -> SqlResult<Vec<LevelStats>> {
        RowHobt::physical_stats(self, mode, engine, waiter)
    }

    fn pages_above_leaves(&self, engine: &Engine, waiter: &Waiter) -> SqlResult<u64> {
        RowHobt::pages_above_leaves(self, engine, waiter)
    }
}

fn splits_of(tree: btree::TreeSplits) -> TreeSplits {
    let level = |l: btree::LevelSplits| LevelSplits {
        appends: l.appends,
        splits: l.splits,
        at_end: l.at_end,
        longer: l.longer,
        beside_last: l.beside_last,
        freed: l.freed,
    };
    TreeSplits { leaf: level(tree.leaf), interior: level(tree.interior), roots: tree.roots }
}

impl PageReader for RowHobt {
    fn interior_layout(&self) -> Option<&RowLayout> {
        self.tree.as_ref().map(btree::Tree::interior_layout)
    }

    fn child_of(&self, entry: &[u8]) -> Option<PageId> {
        self.tree.as_ref()?.child_of(entry)
    }

    fn key_lock(&self, record: &[u8]) -> Option<Resource> {
        let mut key = btree::KeyBuf::default();
        self.tree.as_ref()?.copy_key(record, &mut key)?;
        Some(self.key_resource(key.fields().as_slice()))
    }
}
