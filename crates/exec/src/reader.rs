//! `Reader`: the row a cursor stands on, put into slots.
//!
//! Columns that the residual predicate reads come first; the others are decoded only of rows for
//! which it is true.

use crate::cond::Cond;
use crate::run::Run;
use access::{Field, PageHint, RowCursor};
use base::{PageId, SqlError, SqlResult, limits, messages};
use plan::{Predicate, ScanColumn, Slot};
use std::collections::BTreeSet;
use types::{Value, decode_storage};

/// What is read of each row.
pub(crate) struct Reader {
    first: Vec<ScanColumn>,
    rest: Vec<ScanColumn>,
    rid: Option<Slot>,
    hint: Option<Slot>,
    residual: Option<Cond>,
}

impl Reader {
    pub(crate) fn new(
        columns: &[ScanColumn],
        rid: Option<Slot>,
        hint: Option<Slot>,
        residual: Option<&Predicate>,
    ) -> SqlResult<Reader> {
        let reads = residual.map(Predicate::reads).unwrap_or_default();
        // A subquery reads slots that are not listed: then everything comes first.
        let all = !reads.subqueries.is_empty();
        let slots: BTreeSet<Slot> = reads.slots;
        let needed = |c: &ScanColumn| all || slots.contains(&c.slot);
        let (first, rest) = columns.iter().copied().partition(needed);
        Ok(Reader { first, rest, rid, hint, residual: residual.map(Cond::new).transpose()? })
    }

    /// Reads the row that cursor `at` stands on; false when the residual is not true of it.
    #[inline]
    pub(crate) fn read(&self, run: &mut Run<'_>, at: usize) -> SqlResult<bool> {
        if let Some(residual) = &self.residual {
            let Some(cursor) = run.cursors.at(at) else { return Ok(false) };
            decode_all(&self.first, cursor.as_ref(), run.frame)?;
            if !residual.holds(run)? {
                return Ok(false);
            }
        }
        let Some(cursor) = run.cursors.at(at) else { return Ok(false) };
        let cursor = cursor.as_ref();
        decode_all(&self.rest, cursor, run.frame)?;
        if let Some(slot) = self.rid {
            let rid = cursor.rid().map_or(Value::Null, |rid| Value::varbinary(&rid));
            run.frame[slot.0 as usize] = rid;
        }
        if let Some(slot) = self.hint {
            run.frame[slot.0 as usize] = cursor.hint().map_or(Value::Null, hint_value);
        }
        Ok(true)
    }

    /// Reads all columns of a cursor that is not among the run's; true when the residual holds.
    pub(crate) fn read_from(&self, run: &mut Run<'_>, cursor: &dyn RowCursor) -> SqlResult<bool> {
        decode_all(&self.first, cursor, run.frame)?;
        decode_all(&self.rest, cursor, run.frame)?;
        self.residual.as_ref().map_or(Ok(true), |p| p.holds(run))
    }

    /// The slots that it writes.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        self.first.iter().chain(&self.rest).map(|c| c.slot).collect()
    }
}

#[inline]
fn decode_all(columns: &[ScanColumn], from: &dyn RowCursor, to: &mut [Value]) -> SqlResult<()> {
    for c in columns {
        to[c.slot.0 as usize] = match from.field(c.field)? {
            Field::Null => Value::Null,
            Field::Inline(bytes) => {
                decode_storage(bytes, c.sql_type).map_err(|e| corrupt(&e, from))?
            }
            Field::OffRow(_) => return Err(corrupt(&"a value off the row was not fetched", from)),
        };
    }
    Ok(())
}

/// 824: the stored bytes of the row are no values.
#[cold]
fn corrupt(what: &dyn std::fmt::Display, cursor: &dyn RowCursor) -> SqlError {
    let page = cursor.hint().map_or(PageId::NONE, |h| h.page);
    let offset = page.page as usize * limits::PAGE_BYTES;
    let file = format!("file {}", page.file);
    SqlError::new(messages::PAGE_CORRUPT, &[what, &"read", &page, &"-", &offset, &file])
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
