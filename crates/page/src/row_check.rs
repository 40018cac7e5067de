//! Whether a record has the form of its layout: what CHECKDB asks of each.
//!
//! Invariants
//!  1. A record that [`RowLayout::encode`] built is sound, also one from before columns were
//!     added.
//!  2. Nothing here panics, whatever the bytes are.

use crate::forward::{STATUS_B, has_home, trailer_bytes};
use crate::header::u16_at;
use crate::in_row::in_row_former;
use crate::layout::{Place, RowLayout};
use crate::record::{HAS_IN_ROW, HAS_NULLS, HAS_TAG, HAS_VARIABLE, OFF_ROW, RecordKind, body_end};

/// What is wrong with a record: a test that failed, and its two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// The test.
    pub test: &'static str,
    /// What was found.
    pub found: usize,
    /// What it should be, or the limit.
    pub wanted: usize,
}

type CheckResult = Result<(), RowFault>;

fn test(holds: bool, test: &'static str, found: usize, wanted: usize) -> CheckResult {
    if holds { Ok(()) } else { Err(RowFault { test, found, wanted }) }
}

const SHORT: RowFault = RowFault { test: "record is long enough", found: 0, wanted: 1 };
/// Bits of the first byte that no record has.
const STATUS_UNUSED: u8 = 0x01;
/// An in-row version that cannot be read, or whose row has not the form of the layout.
const IN_ROW_FAULT: RowFault = RowFault { test: "in-row version is a row", found: 0, wanted: 1 };

impl RowLayout {
    /// Whether a record of the right kind has the form of this layout.
    ///
    /// # Errors
    /// The first test that fails.
    pub fn check(&self, record: &[u8]) -> Result<(), RowFault> {
        let status = *record.first().ok_or(SHORT)?;
        let used = usize::from(status & !STATUS_UNUSED);
        test(status & STATUS_UNUSED == 0, "status A has known bits", usize::from(status), used)?;
        self.check_in_row(record, status)?;
        let fixed_end = self.check_front(record)?;
        let (stored, after_nulls) = self.check_nulls(record, status, fixed_end)?;
        let wanted = self.fixed_end_of(stored);
        test(fixed_end == wanted, "fixed data ends where its columns do", fixed_end, wanted)?;
        let trailer = if self.is_of_entries() { 0 } else { trailer_bytes(record[1]) };
        let end = body_end(record).and_then(|end| end.checked_sub(trailer)).ok_or(SHORT)?;
        self.check_variable(record.get(..end).ok_or(SHORT)?, status, after_nulls, stored)
    }

    /// Whether a record's in-row version gives a row of this layout.
    fn check_in_row(&self, record: &[u8], status: u8) -> CheckResult {
        if status & HAS_IN_ROW == 0 {
            return Ok(());
        }
        test(status & HAS_TAG != 0, "in-row version has a version tag", 0, 1)?;
        let mut former = Vec::new();
        in_row_former(record, &mut former).ok_or(IN_ROW_FAULT)?;
        self.check(&former)
    }

    /// Where the fixed columns end, as the record says.
    fn check_front(&self, record: &[u8]) -> Result<usize, RowFault> {
        if self.is_of_entries() {
            return Ok(self.fixed_end_of(self.column_count()));
        }
        let front = record.get(..4).ok_or(SHORT)?;
        let used = usize::from(front[1] & STATUS_B);
        test(front[1] & !STATUS_B == 0, "status B has known bits", usize::from(front[1]), used)?;
        let (kind, away) = (RecordKind::of(front[0]), has_home(front[1]));
        let sound = kind.is_ghost() || away == (kind == RecordKind::Forwarded);
        let (found, wanted) = (usize::from(away), usize::from(!away));
        test(sound, "a forwarded row has its RID", found, wanted)?;
        Ok(usize::from(u16_at(front, 2)))
    }

    /// The columns that the record has, and where its null bitmap ends.
    fn check_nulls(
        &self,
        record: &[u8],
        status: u8,
        fixed_end: usize,
    ) -> Result<(usize, usize), RowFault> {
        let has = status & HAS_NULLS != 0;
        test(
            has == self.has_null_bitmap(),
            "null bitmap is there if it must be",
            usize::from(has),
            usize::from(!has),
        )?;
        let columns = self.column_count();
        if !has {
            return Ok((columns, fixed_end));
        }
        let at = record.get(fixed_end..fixed_end + 2).ok_or(SHORT)?;
        let stored = usize::from(u16_at(at, 0));
        let all = if self.is_of_entries() { stored == columns } else { stored <= columns };
        test(all && stored > 0, "column count is the layout's", stored, columns)?;
        let end = fixed_end + 2 + stored.div_ceil(8);
        let bits = record.get(fixed_end + 2..end).ok_or(SHORT)?;
        let spare = match stored % 8 {
            0 => 0,
            used => bits[bits.len() - 1] >> used,
        };
        test(spare == 0, "null bits end with the columns", usize::from(spare), 0)?;
        Ok((stored, end))
    }

    fn check_variable(&self, record: &[u8], status: u8, at: usize, stored: usize) -> CheckResult {
        if status & HAS_VARIABLE == 0 {
            return test(at == record.len(), "record ends with its columns", record.len(), at);
        }
        let variable = |c: &usize| matches!(self.place(*c), Place::Variable { .. });
        let limit = (0..stored).filter(variable).count();
        let count = usize::from(u16_at(record.get(at..at + 2).ok_or(SHORT)?, 0));
        test(count > 0 && count <= limit, "variable columns are the layout's", count, limit)?;
        let ends = record.get(at + 2..at + 2 + 2 * count).ok_or(SHORT)?;
        let mut from = at + 2 + 2 * count;
        for n in 0..count {
            let end = usize::from(u16_at(ends, 2 * n) & !OFF_ROW);
            let sound = end >= from && end <= record.len();
            test(sound, "variable columns follow each other", end, from)?;
            if n + 1 == count {
                test(end > from, "the last variable column has bytes", end, from)?;
            }
            from = end;
        }
        test(from == record.len(), "record ends with its columns", record.len(), from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Field;
    use crate::record::RecordKind;

    fn row() -> (RowLayout, Vec<u8>) {
        let layout = RowLayout::of_rows(&[Some(4), None, Some(0), None]);
        let fields = [
            Field::Inline(&[7, 0, 0, 0]),
            Field::Inline(b"abc"),
            Field::Inline(&[1]),
            Field::Inline(b"defg"),
        ];
        let mut record = Vec::new();
        layout.encode(RecordKind::Primary, &fields, None, &mut record);
        (layout, record)
    }

    /// Each part of the form is looked at: status, fixed end, counts, null bits, offsets, length.
    #[test]
    fn a_byte_of_the_form_that_changes_is_found() {
        let (layout, record) = row();
        assert_eq!(layout.check(&record), Ok(()));
        // 4 column count, 0x0A null bits, variable count, ends.
        for (at, bit) in
            [(0, 0x80), (0, 0x10), (0, 0x20), (1, 1), (2, 1), (9, 1), (11, 0x10), (12, 4), (14, 32)]
        {
            let mut damaged = record.clone();
            damaged[at] ^= bit;
            assert!(layout.check(&damaged).is_err(), "byte {at}");
        }
        assert!(layout.check(&record[..record.len() - 1]).is_err());
        for cut in 0..record.len() {
            let _ = layout.check(&record[..cut]);
        }
    }

    /// Invariant 1: added columns may be absent.
    #[test]
    fn a_record_from_before_a_column_was_added_is_sound() {
        let (mut layout, record) = row();
        layout.add_column(Some(8), None);
        layout.add_column(None, None);
        assert_eq!(layout.check(&record), Ok(()));
        let entry = RowLayout::of_entries(&[Some(4), None], true, 0);
        let mut bytes = Vec::new();
        entry.encode(RecordKind::Index, &[Field::Inline(&[1; 4]), Field::Null], None, &mut bytes);
        assert_eq!(entry.check(&bytes), Ok(()));
        let at = bytes.len() - 3;
        bytes[at] = 1;
        assert!(entry.check(&bytes).is_err(), "an entry has all its columns");
    }
}
