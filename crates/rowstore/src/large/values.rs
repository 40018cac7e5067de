//! Compares values off the rows with the pointers in the rows.
//!
//! First both sets get fingerprints. Only where these differ, the values of the differing buckets
//! are collected and compared one by one.

use crate::hobt::RowHobt;
use crate::large::piece::{Pointer, is_whole};
use access::{Batch, ElementHash, Fingerprint, RowFinding, RowLocation, differences};
use base::PageId;
use os::wait::{CancelReason, Waiter};

/// Batches that are compared one by one before the check gives up on naming values.
const BATCHES_MAX: usize = 16;

/// The hash of a value, and the place of the value or of a pointer to it.
type PlacedValue = (u128, (PageId, u16, u64));

/// The values that the rows expect.
#[derive(Default)]
pub(crate) struct ValueCheck {
    expected: Fingerprint,
}

fn hash_of(pointer: Pointer) -> u128 {
    let mut hash = ElementHash::default();
    hash.number(pointer.value);
    hash.number(pointer.bytes);
    hash.end()
}

/// Puts values together from their pieces, in order.
struct Assembly<'f> {
    each: &'f mut dyn FnMut(Pointer, PageId, u16),
    broken: Vec<RowFinding>,
    at: Option<(Pointer, PageId, u16)>,
    pieces: u32,
    last_was_whole: bool,
}

impl Assembly<'_> {
    fn piece(&mut self, large: &RowHobt, row: RowLocation<'_>) {
        let Some((value, piece, bytes)) = large.piece(row.record) else { return };
        let (page, slot) = (row.page, row.slot);
        match &mut self.at {
            Some((pointer, ..)) if pointer.value == value => {
                if piece != self.pieces || !self.last_was_whole {
                    self.broken.push(RowFinding::ValueBroken(page, slot, value));
                }
                pointer.bytes += bytes;
            }
            _ => {
                self.end();
                if piece != 0 {
                    self.broken.push(RowFinding::ValueBroken(page, slot, value));
                }
                self.at = Some((Pointer { value, bytes }, page, slot));
            }
        }
        self.pieces = piece.wrapping_add(1);
        self.last_was_whole = is_whole(bytes);
    }

    fn end(&mut self) {
        if let Some((pointer, page, slot)) = self.at.take() {
            (self.each)(pointer, page, slot);
        }
    }
}

impl RowHobt {
    /// Calls `each` with every value of a tree of pieces. Returns what is wrong with the tree.
    fn each_value(
        &self,
        waiter: &Waiter,
        each: &mut dyn FnMut(Pointer, PageId, u16),
    ) -> Result<Vec<RowFinding>, CancelReason> {
        assert!(self.spec.pieces, "values are in a tree of pieces");
        let mut assembly =
            Assembly { each, broken: Vec::new(), at: None, pieces: 0, last_was_whole: false };
        let report = self.verify_pages(waiter, &mut |row| assembly.piece(self, row))?;
        assembly.end();
        let mut findings = report.findings;
        findings.append(&mut assembly.broken);
        Ok(findings)
    }
}

impl ValueCheck {
    pub(crate) fn see_row(&mut self, hobt: &RowHobt, row: RowLocation<'_>) {
        debug_assert!(hobt.large.is_some(), "these rows may have values off them");
        hobt.each_pointer(row.record, &mut |p| self.expected.add(hash_of(p)));
    }

    /// Checks the tree of pieces, and that it has the expected values and no others. If not all
    /// rows were seen, values without a row are not reported.
    pub(crate) fn compare(
        self,
        hobt: &RowHobt,
        large: &RowHobt,
        rows_complete: bool,
        waiter: &Waiter,
    ) -> Result<Vec<RowFinding>, CancelReason> {
        assert!(large.large.is_none(), "a piece has no pieces");
        assert_ne!(hobt.spec.unit, large.spec.unit, "values have a unit of their own");
        let mut held = Fingerprint::default();
        let mut findings = large.each_value(waiter, &mut |p, _, _| held.add(hash_of(p)))?;
        for batch in self.expected.differing(&held).iter().take(BATCHES_MAX) {
            let (missing, unknown) = collect(hobt, large, batch, waiter)?;
            if rows_complete {
                let unknown = unknown.into_iter();
                findings.extend(unknown.map(|(p, s, v)| RowFinding::ValueUnreferenced(p, s, v)));
            }
            // A damaged page of pieces is reported as a page. Its values are reported here, too,
            // because their rows have lost them.
            let missing = missing.into_iter();
            findings.extend(missing.map(|(p, s, v)| RowFinding::ValueMissing(p, s, v)));
        }
        Ok(findings)
    }
}

/// Pointers without a value, and values without a pointer, of some buckets.
#[allow(clippy::type_complexity, reason = "two lists of places")]
fn collect(
    hobt: &RowHobt,
    large: &RowHobt,
    batch: &Batch,
    waiter: &Waiter,
) -> Result<(Vec<(PageId, u16, u64)>, Vec<(PageId, u16, u64)>), CancelReason> {
    let (mut rows, mut values): (Vec<PlacedValue>, Vec<PlacedValue>) = (Vec::new(), Vec::new());
    hobt.verify_pages(waiter, &mut |row| {
        hobt.each_pointer(row.record, &mut |p| {
            let hash = hash_of(p);
            if batch.has(hash) {
                rows.push((hash, (row.page, row.slot, p.value)));
            }
        });
    })?;
    large.each_value(waiter, &mut |p, page, slot| {
        let hash = hash_of(p);
        if batch.has(hash) {
            values.push((hash, (page, slot, p.value)));
        }
    })?;
    Ok(differences(rows, values))
}
