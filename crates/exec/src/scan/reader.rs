//! `Reader`: puts the row of a cursor into slots.
//!
//! It examines a row as cheaply as possible, and only as long as the row qualifies: first tests on
//! its stored bytes (`row_test.rs`), then the filters of joins above (`join_filter.rs`), then the
//! rest of the residual predicate, for which it decodes the columns, then the other columns.

use super::row_test::RowTest;
use crate::expr::Cond;
use crate::join::JoinFilter;
use crate::run::Run;
use access::{Field, PageHint, RowCursor, corrupt_value};
use base::{PageId, SqlResult};
use plan::{Predicate, ScanColumn, Slot};
use std::collections::BTreeSet;
use types::{Value, decode_storage};

/// What is read of each row.
pub(crate) struct Reader {
    columns: Vec<ScanColumn>,
    tests: Vec<RowTest>,
    /// Filters of joins, by the join's number.
    filters: Vec<(usize, JoinFilter)>,
    /// Columns that filters read.
    filtered: Vec<ScanColumn>,
    /// Columns that the residual reads.
    first: Vec<ScanColumn>,
    /// All other columns that operators above read.
    rest: Vec<ScanColumn>,
    /// What is read above, where that is known to be less than all columns.
    above: Option<BTreeSet<Slot>>,
    rid: Option<Slot>,
    hint: Option<Slot>,
    location: Option<Slot>,
    /// What must be true beside the tests.
    residual: Option<Residual>,
    /// Everything that must be true, for rows whose bytes the tests cannot tell of.
    whole: Option<Cond>,
}

struct Residual {
    cond: Cond,
    reads: BTreeSet<Slot>,
    /// It runs subqueries, which read slots that are not listed.
    all: bool,
    /// It may ask where the row is.
    placed: bool,
}

impl Reader {
    pub(crate) fn new(
        columns: &[ScanColumn],
        rid: Option<Slot>,
        hint: Option<Slot>,
        location: Option<Slot>,
        residual: Option<&Predicate>,
    ) -> SqlResult<Reader> {
        let (mut tests, mut others) = (Vec::new(), Vec::new());
        for conjunct in residual.cloned().map(Predicate::conjuncts).unwrap_or_default() {
            match RowTest::new(&conjunct, columns) {
                Some(test) => tests.push(test),
                None => others.push(conjunct),
            }
        }
        let rest = match Predicate::all(others) {
            None => None,
            Some(p) => {
                let reads = p.reads();
                let all = !reads.subqueries.is_empty();
                let asked = |slot: Option<Slot>| slot.is_some_and(|s| reads.slots.contains(&s));
                let placed = all || location.is_some() || asked(rid) || asked(hint);
                Some(Residual { cond: Cond::new(&p)?, reads: reads.slots, all, placed })
            }
        };
        let mut reader = Reader {
            columns: columns.to_vec(),
            tests,
            filters: Vec::new(),
            filtered: Vec::new(),
            first: Vec::new(),
            rest: Vec::new(),
            above: None,
            rid,
            hint,
            location,
            residual: rest,
            whole: residual.map(Cond::new).transpose()?,
        };
        reader.arrange();
        Ok(reader)
    }

    /// Decides which columns are read when.
    fn arrange(&mut self) {
        let key =
            |c: &ScanColumn| self.filters.iter().any(|(_, f)| f.keys.iter().any(|k| k.0 == c.slot));
        let (filtered, others): (Vec<_>, Vec<_>) = self.columns.iter().copied().partition(key);
        let needed = |c: &ScanColumn| {
            self.residual.as_ref().is_some_and(|r| r.all || r.reads.contains(&c.slot))
        };
        (self.first, self.rest) = others.into_iter().partition(needed);
        if let Some(above) = &self.above {
            self.rest.retain(|c| above.contains(&c.slot));
        }
        self.filtered = filtered;
    }

    /// No other slots are read above: a column that only tests ask about is not decoded.
    pub(crate) fn give_only(&mut self, above: BTreeSet<Slot>) {
        self.above = Some(above);
        self.arrange();
    }

    /// Takes the filter of a join, if all of its keys are columns here.
    pub(crate) fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.filters.retain(|(of, _)| *of != join);
        let own = |slot: Slot| self.columns.iter().any(|c| c.slot == slot);
        let taken = filter.filter(|f| f.keys.iter().all(|k| own(k.0)));
        self.filters.extend(taken.map(|f| (join, f.clone())));
        self.arrange();
        taken.is_some()
    }

    pub(crate) fn forget_filters(&mut self) {
        if !self.filters.is_empty() {
            self.filters.clear();
            self.arrange();
        }
    }

    /// Reads the row that cursor `at` stands on; false when the residual is not true of it.
    #[inline]
    pub(crate) fn read(&self, run: &mut Run<'_>, at: usize) -> SqlResult<bool> {
        let Some(cursor) = run.cursors.at(at) else { return Ok(false) };
        let cursor = cursor.as_ref();
        if !self.tests.is_empty() {
            match self.passes_tests(cursor) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => return self.read_whole(run, at),
            }
        }
        if !self.filters.is_empty() {
            decode_all(&self.filtered, cursor, run.frame)?;
            if !self.filters.iter().all(|(_, f)| f.passes(run.frame)) {
                return Ok(false);
            }
        }
        if let Some(residual) = &self.residual {
            decode_all(&self.first, cursor, run.frame)?;
            if residual.placed {
                // What must be true may be asked of the place.
                self.locate(run.frame, cursor);
            }
            if !residual.cond.holds(run)? {
                return Ok(false);
            }
        }
        let placed = self.rid.or(self.hint).or(self.location).is_some();
        if self.rest.is_empty() && !placed {
            return Ok(true);
        }
        let Some(cursor) = run.cursors.at(at) else { return Ok(false) };
        let cursor = cursor.as_ref();
        decode_all(&self.rest, cursor, run.frame)?;
        self.locate(run.frame, cursor);
        Ok(true)
    }

    /// The tests' answer, unless some bytes do not tell.
    #[inline]
    fn passes_tests(&self, cursor: &dyn RowCursor) -> Option<bool> {
        let row = cursor.view()?;
        for test in &self.tests {
            if !test.holds(&row)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The same for a row that has to be decoded to be judged.
    #[cold]
    fn read_whole(&self, run: &mut Run<'_>, at: usize) -> SqlResult<bool> {
        let Some(cursor) = run.cursors.at(at) else { return Ok(false) };
        decode_all(&self.columns, cursor.as_ref(), run.frame)?;
        self.locate(run.frame, cursor.as_ref());
        if let Some(p) = &self.whole
            && !p.holds(run)?
        {
            return Ok(false);
        }
        Ok(true)
    }

    fn locate(&self, frame: &mut [Value], cursor: &dyn RowCursor) {
        if let Some(slot) = self.rid {
            let rid = cursor.rid().map_or(Value::Null, |rid| Value::varbinary(&rid));
            frame[slot.0 as usize] = rid;
        }
        if let Some(slot) = self.hint {
            frame[slot.0 as usize] = cursor.hint().map_or(Value::Null, hint_value);
        }
        if let Some(slot) = self.location {
            let place = cursor.hint().map_or(Value::Null, |hint| Value::varbinary(&hint.bytes()));
            frame[slot.0 as usize] = place;
        }
    }

    /// Reads all columns of a cursor that is not among the run's; true when the residual holds.
    pub(crate) fn read_from(&self, run: &mut Run<'_>, cursor: &dyn RowCursor) -> SqlResult<bool> {
        decode_all(&self.columns, cursor, run.frame)?;
        self.whole.as_ref().map_or(Ok(true), |p| p.holds(run))
    }

    /// The slots that it writes.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        self.columns.iter().map(|c| c.slot).collect()
    }
}

#[inline]
fn decode_all(columns: &[ScanColumn], from: &dyn RowCursor, to: &mut [Value]) -> SqlResult<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let Some(row) = from.view() else {
        return columns.iter().try_for_each(|c| decode_field(c, from, to));
    };
    for c in columns {
        to[c.slot.0 as usize] = match row.field(c.field) {
            Some(Field::Null) => Value::Null,
            Some(Field::Inline(bytes)) => {
                decode_storage(bytes, c.sql_type).map_err(|e| corrupt_value(&e, from))?
            }
            Some(Field::OffRow(_)) | None => {
                decode_field(c, from, to)?;
                continue;
            }
        };
    }
    Ok(())
}

fn decode_field(c: &ScanColumn, from: &dyn RowCursor, to: &mut [Value]) -> SqlResult<()> {
    to[c.slot.0 as usize] = match from.field(c.field)? {
        Field::Null => Value::Null,
        Field::Inline(bytes) => {
            decode_storage(bytes, c.sql_type).map_err(|e| corrupt_value(&e, from))?
        }
        Field::OffRow(_) => {
            return Err(corrupt_value(&"a value off the row was not fetched", from));
        }
    };
    Ok(())
}

/// A page hint as a bigint: file, page, slot.
fn hint_value(hint: PageHint) -> Value {
    let bits = ((hint.page.file.0 as u64) << 48) | ((hint.page.page as u64) << 16);
    Value::BigInt((bits | hint.slot as u64) as i64)
}

/// What [`hint_value`] made.
pub(crate) fn hint_of(value: &Value) -> Option<PageHint> {
    let Value::BigInt(n) = *value else { return None };
    let bits = n as u64;
    let page = PageId::new((bits >> 48) as u16, (bits >> 16) as u32);
    Some(PageHint { page, slot: bits as u16 })
}
