//! Key lookup and RID lookup: from an index's entry to the row itself.
//!
//! The row is read later than its entry. If neither is locked meanwhile, the entry is checked again
//! after the row, so that both are of one moment: a change in between makes the lookup read again,
//! and is not mixed in. Entries of two indexes that a join combined into one row cannot be read
//! again. There all columns come from the row, and all conditions test it.

use super::reader::Reader;
use super::start;
use super::stored::StoredValues;
use crate::operator::{Node, Operator};
use crate::run::Run;
use access::ScanRange;
use base::SqlResult;
use plan::{LockHints, Slot};
use types::SqlType;

/// For each row of an index, the row in the heap or clustered index.
pub(crate) struct Lookup {
    id: usize,
    input: Node,
    hobt: usize,
    cursor: usize,
    locator: Vec<(Slot, SqlType)>,
    reader: Reader,
    locks: LockHints,
    key: StoredValues,
}

impl Lookup {
    pub(crate) fn new(
        id: usize,
        hobt: usize,
        cursor: usize,
        input: Node,
        l: &plan::KeyLookup,
    ) -> SqlResult<Lookup> {
        Ok(Lookup {
            id,
            input,
            hobt,
            cursor,
            locator: l.locator.iter().copied().zip(l.types.iter().copied()).collect(),
            reader: Reader::new(&l.columns, l.rid, l.hint, l.location, l.residual.as_ref())?,
            locks: l.locks,
            key: StoredValues::default(),
        })
    }

    /// Finds the row that the locator's slots name; false when it is gone or not wanted.
    fn find(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.key.clear();
        for &(slot, sql_type) in &self.locator {
            // A RID and a uniquifier are binary values, stored as they are.
            self.key.push(run.slot(slot), sql_type);
        }
        self.key.with_fields(|key| {
            start(run, self.hobt, self.cursor, &ScanRange::equal(key), &self.locks)
        })?;
        let Some(cursor) = run.cursors.at(self.cursor) else { return Ok(false) };
        if !cursor.next(run.work)? {
            return Ok(false);
        }
        if self.reader.read(run, self.cursor)? {
            return Ok(true);
        }
        run.counts.of(self.id).refused();
        if let Some(cursor) = run.cursors.at(self.cursor) {
            cursor.release_row(run.work);
        }
        Ok(false)
    }
}

impl Operator for Lookup {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.input.next(run)? {
            let found = self.find(run)?;
            if self.input.recheck(run)? && found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn close(&mut self) {
        self.input.close();
    }
}
