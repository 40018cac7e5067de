//! The access traits of a hobt, and bulk loading.

use crate::activity::Deed;
use crate::heap_scan::HeapCursor;
use crate::hobt::{HobtKind, RowHobt};
use crate::index_scan::IndexCursor;
use crate::together;
use access::{
    BulkLoad, Capture, Division, Entry, Fill, Inserted, Loader, LockPlan, PageSample, RowCursor,
    RowKey, ScanRange, SourceSize, TableSink, TableSource, Together, Use, WriteError,
};
use base::SqlResult;
use base::limits::RECORD_BYTES_MAX;
use btree::{BULK_PAGE_LOG_BYTES, KeyFields};
use os::clock::WallTime;
use page::Field;
use std::any::Any;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;
use work::Work;

/// A loaded page's share of the log that giving its unit back takes.
const PAGE_DROP_BYTES: usize = 128;

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
    ) -> Result<Inserted, WriteError> {
        let noting = self.noting_insert(work, locks)?;
        let done = self.counting_waits(|| {
            self.store(work, row, |work, row| match self.spec.kind {
                HobtKind::Heap => self.heap_insert(work, row, locks),
                HobtKind::Clustered | HobtKind::Nonclustered => self.entry_insert(work, row, locks),
            })
        });
        self.note_put(noting, row, &done);
        work.give_rows_back();
        // A hobt that is being built gets no inserts of others.
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
    ) -> Result<Inserted, WriteError> {
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
        entries: &Together,
        locks: &LockPlan,
    ) -> Result<bool, WriteError> {
        let put = together::put(work, hobt, entries, locks);
        work.give_rows_back();
        put.map_err(|e| self.write_error(e))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Changes whose rows are given back by the caller, where locking is optimized.
impl RowHobt {
    fn update_locked(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<Inserted, WriteError> {
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

/// A load into a B-tree: pages are written bottom-up and undone with the unit they are in.
struct TreeLoader<'h> {
    hobt: &'h RowHobt,
    load: Option<btree::BulkLoad<'h>>,
    record: Vec<u8>,
    last: Vec<u8>,
}

/// A load into a heap: row by row.
struct HeapLoader<'h> {
    hobt: &'h RowHobt,
    rows: u64,
}

impl BulkLoad for RowHobt {
    fn load(&self, work: &mut Work, fill: Fill) -> SqlResult<Box<dyn Loader + '_>> {
        assert!(work.is_active(), "a load belongs to a transaction");
        let part = work.part(&self.home);
        let reserved = part.reserve(2 * BULK_PAGE_LOG_BYTES as usize);
        reserved.map_err(|e| self.sql(e.into()))?;
        Ok(match self.spec.kind {
            HobtKind::Heap => Box::new(HeapLoader { hobt: self, rows: 0 }),
            HobtKind::Clustered | HobtKind::Nonclustered => Box::new(TreeLoader {
                hobt: self,
                load: Some(btree::BulkLoad::new(self.tree(), fill.leaf, fill.interior)),
                record: Vec::new(),
                last: Vec::new(),
            }),
        })
    }

    fn capture(&self) -> Option<&dyn Capture> {
        Some(self)
    }
}

impl Loader for TreeLoader<'_> {
    fn push(&mut self, work: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError> {
        let hobt = self.hobt;
        match hobt.layout.encoded_len(row, false) {
            bytes if hobt.large.is_none() && bytes > RECORD_BYTES_MAX => {
                Err(WriteError::KeyTooLong { bytes })
            }
            _ => hobt.store(work, row, |work, row| self.push_fitting(work, row)),
        }
    }

    fn finish(mut self: Box<Self>, work: &mut Work) -> SqlResult<u64> {
        let part = work.part(&self.hobt.home);
        let load = self.load.take().expect("a load is finished once");
        let rows = load.finish(&mut part.group).map_err(|e| self.hobt.sql(e.into()))?;
        assert_eq!(rows > 0, !self.last.is_empty(), "what was pushed is in the tree");
        self.hobt.count_rows(rows as i64);
        self.hobt.state.built.store(rows + 1, Relaxed);
        Ok(rows)
    }
}

impl TreeLoader<'_> {
    fn push_fitting(&mut self, work: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError> {
        let hobt = self.hobt;
        hobt.encode(row, &mut self.record);
        assert!(self.record.len() <= RECORD_BYTES_MAX, "the row was made to fit");
        if !self.last.is_empty() {
            debug_assert!(self.last.len() <= RECORD_BYTES_MAX, "the row before fitted");
            let mut key = KeyFields::default();
            let parsed = hobt.tree().key_of(&self.last, &mut key);
            let order = parsed.and_then(|()| hobt.tree().compare(&self.record, key.as_slice()));
            assert_ne!(order, Some(Ordering::Less), "a load is in key order");
            if order == Some(Ordering::Equal) {
                return Err(WriteError::Duplicate);
            }
        }
        let part = work.part(&hobt.home);
        let load = self.load.as_mut().expect("a load is finished once");
        let pushed = load.push(&mut part.group, &self.record);
        if pushed.map_err(|e| hobt.write_error(e.into()))? {
            part.logged(PAGE_DROP_BYTES);
            let reserved = part.reserve(2 * BULK_PAGE_LOG_BYTES as usize);
            reserved.map_err(|e| hobt.write_error(e.into()))?;
        }
        std::mem::swap(&mut self.last, &mut self.record);
        Ok(())
    }
}

impl Loader for HeapLoader<'_> {
    fn push(&mut self, work: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError> {
        debug_assert_eq!(self.hobt.spec.kind, HobtKind::Heap, "a tree is loaded in key order");
        let plan = LockPlan {
            granule: access::Granule::Table,
            ..LockPlan::change(access::Isolation::ReadCommitted)
        };
        // No row that anybody inserts.
        let hobt = self.hobt;
        hobt.store(work, row, |work, row| hobt.heap_insert(work, row, &plan))?;
        work.give_rows_back();
        self.rows += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> SqlResult<u64> {
        Ok(self.rows)
    }
}
