//! Bulk loading: a tree bottom-up, a heap row by row.

use crate::hobt::RowHobt;
use access::{BulkLoad, Capture, Fill, HobtKind, Loader, LockPlan, WriteError};
use base::SqlResult;
use base::limits::RECORD_BYTES_MAX;
use btree::{BULK_PAGE_LOG_BYTES, KeyFields};
use page::Field;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;
use work::Work;

/// The log that freeing one loaded page takes if its unit is undone.
const PAGE_DROP_BYTES: usize = 128;

/// A load into a B-tree: it writes pages bottom-up. Undo frees them with their unit.
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
        // Not `insert`: this does not count as an insert of a row.
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
