//! Access: rows of a heap or an index, all or ranges of its key. Beside it: what else brings rows
//! into a plan.
//!
//! ```text
//!   lookup                    from an index's entry to the row
//!   virtual_scan              a system view; table_function: rows that a builtin makes
//!   reader, row_test          puts the row of a cursor into slots, if it qualifies
//!   seek, sample, stored      ranges of a key; some pages of all; values in their stored form
//! ```

mod lookup;
mod reader;
mod row_test;
mod sample;
mod seek;
mod stored;
mod table_function;
mod virtual_scan;

pub(crate) use lookup::Lookup;
pub(crate) use reader::hint_of;
pub(crate) use stored::StoredValues;
pub(crate) use table_function::FunctionRows;
pub(crate) use virtual_scan::VirtualScan;

use crate::join::JoinFilter;
use crate::operator::Operator;
use crate::run::Run;
use access::ScanRange;
use base::SqlResult;
use plan::{LockHints, Slot};
use reader::Reader;
use sample::Pages;
use seek::Seeks;
use std::collections::BTreeSet;

/// A scan or seek of one hobt.
pub(crate) struct Scan {
    id: usize,
    hobt: usize,
    cursor: usize,
    reader: Reader,
    seeks: Option<Seeks>,
    backward: bool,
    /// Only the rows of some pages.
    sample: Option<Pages>,
    locks: LockHints,
    /// Workers share its rows.
    divided: bool,
    /// The range being read, and whether there is one.
    range: usize,
    reading: bool,
}

/// Begins or begins again with a range.
pub(crate) fn start(
    run: &mut Run<'_>,
    hobt: usize,
    cursor: usize,
    range: &ScanRange<'_>,
    locks: &LockHints,
) -> SqlResult<()> {
    if let Some(open) = run.cursors.at(cursor) {
        return open.rewind(run.work, range);
    }
    let locks = run.lock_plan(locks);
    let hobts = run.hobts;
    let opened = hobts[hobt].scan(run.work, range, &locks)?;
    *run.cursors.at(cursor) = Some(opened);
    Ok(())
}

impl Scan {
    /// `above` has the slots that are read above of it, where that is known to be less than all.
    pub(crate) fn new(
        id: usize,
        hobt: usize,
        cursor: usize,
        a: &plan::Access,
        above: Option<BTreeSet<Slot>>,
    ) -> SqlResult<Scan> {
        let mut reader = Reader::new(&a.columns, a.rid, a.hint, a.location, a.residual.as_ref())?;
        if let Some(above) = above {
            reader.give_only(above);
        }
        Ok(Scan {
            id,
            hobt,
            cursor,
            reader,
            seeks: a.seek.as_ref().map(|s| Seeks::new(s, a.backward)).transpose()?,
            backward: a.backward,
            sample: a.sample.map(Pages::new),
            locks: a.locks,
            divided: a.divided,
            range: 0,
            reading: false,
        })
    }

    /// Begins the next range; false when there is none.
    fn begin(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.divided && run.worker.is_some() {
            return self.begin_part(run);
        }
        match &self.seeks {
            None if self.range == 0 => {
                let all = ScanRange { backward: self.backward, ..ScanRange::default() };
                start(run, self.hobt, self.cursor, &all, &self.locks)?;
            }
            Some(seeks) if self.range < seeks.count() => {
                seeks.with_range(self.range, |range| {
                    start(run, self.hobt, self.cursor, range, &self.locks)
                })?;
            }
            _ => return Ok(false),
        }
        self.range += 1;
        Ok(true)
    }
}

impl Scan {
    /// Begins the next part that no other worker has, of the first range that has one.
    fn begin_part(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Some(team) = run.team else { return Ok(false) };
        let locks = run.lock_plan(&self.locks);
        let all = ScanRange { backward: self.backward, ..ScanRange::default() };
        let seeks = self.seeks.as_ref();
        let parts = team.divided(
            self.cursor,
            self.hobt,
            run.work,
            &mut |each| match seeks {
                None => each(&all),
                Some(s) => (0..s.count()).try_for_each(|n| s.with_range(n, &mut *each)),
            },
            &locks,
        )?;
        while let Some(range) = parts.get(self.range) {
            if let Some(part) = range.next(run.work)? {
                run.next_part(self.cursor, part);
                return Ok(true);
            }
            self.range += 1;
        }
        Ok(false)
    }
}

impl Operator for Scan {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.range = 0;
        self.reading = false;
        if let Some(sample) = &mut self.sample {
            sample.open(run);
        }
        if let Some(seeks) = &mut self.seeks {
            seeks.open(run)?;
        }
        self.reading = self.begin(run)?;
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.reading {
            run.tick()?;
            let Some(cursor) = run.cursors.at(self.cursor) else { return Ok(false) };
            if !cursor.next(run.work)? {
                self.reading = self.begin(run)?;
                continue;
            }
            if self.seeks.as_ref().is_some_and(|s| s.unique) {
                self.reading = false;
            }
            let sampled = match &self.sample {
                Some(sample) => cursor.hint().is_none_or(|hint| sample.takes(hint.page)),
                None => true,
            };
            if sampled && self.reader.read(run, self.cursor)? {
                return Ok(true);
            }
            run.counts.of(self.id).refused();
            if let Some(cursor) = run.cursors.at(self.cursor) {
                cursor.release_row(run.work);
            }
        }
        Ok(false)
    }

    #[inline]
    fn recheck(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Some(cursor) = run.cursors.at(self.cursor) else { return Ok(true) };
        let same = cursor.recheck()?;
        // Also where its only row was given.
        self.reading |= !same;
        Ok(same)
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.reader.set_filter(join, filter)
    }

    fn close(&mut self) {
        self.reading = false;
        self.reader.forget_filters();
    }
}
