//! The log records of heap pages, and the only code that changes these pages.
//!
//! | kind | slot | payload |
//! |---|---|---|
//! | FORMAT | | pminlen 2 |
//! | INSERT | its slot, empty or the next | the record |
//! | GHOST, UNGHOST | its slot | |
//! | CLEAR | its slot | the record, where the row has moved on |
//! | REPLACE | its slot | length of old 2, old record, new record |
//! | DROP_IN_ROW | | slots 2 each: the in-row versions of their records go |
//!
//! Slots of a heap keep their numbers, because indexes name rows by page and slot.

use page::{PageBytes, PageKind, PageMut, PageView, fits};
use wal::{ApplyError, PageOp, RecordDescription, RecordView, RedoHandler};

/// Kinds of heap pages.
pub(crate) mod kinds {
    use wal::{Kind, kinds::FIRST_OF_HEAP};
    pub(crate) const FORMAT: Kind = Kind(FIRST_OF_HEAP);
    pub(crate) const INSERT: Kind = Kind(FIRST_OF_HEAP + 1);
    pub(crate) const GHOST: Kind = Kind(FIRST_OF_HEAP + 2);
    pub(crate) const UNGHOST: Kind = Kind(FIRST_OF_HEAP + 3);
    pub(crate) const CLEAR: Kind = Kind(FIRST_OF_HEAP + 4);
    pub(crate) const REPLACE: Kind = Kind(FIRST_OF_HEAP + 5);
    pub(crate) const DROP_IN_ROW: Kind = Kind(FIRST_OF_HEAP + 6);
}

/// The kinds of heap pages, for the tables of redo and undo handlers.
pub const HEAP_KINDS: std::ops::RangeInclusive<u8> =
    wal::kinds::FIRST_OF_HEAP..=wal::kinds::FIRST_OF_HEAP + 6;

/// The redo handler of heap pages.
pub struct HeapRedo;

const MISFIT: ApplyError = ApplyError("the record does not fit the heap page");

/// Checks the page after an operation.
fn inspect(v: PageView<'_>, op: &PageOp<'_>) {
    let record = v.record(op.slot);
    let ghost = record.map(page::is_ghost_record);
    match op.kind {
        kinds::INSERT => debug_assert_eq!(record, Some(op.payload), "it reads as it was written"),
        kinds::GHOST => debug_assert_eq!(ghost, Some(true), "the row is a ghost"),
        kinds::UNGHOST => debug_assert_eq!(ghost, Some(false), "the row lives"),
        kinds::CLEAR => debug_assert_eq!(v.slot_offset(op.slot), Some(0), "the slot is free"),
        kinds::DROP_IN_ROW => {}
        _ => debug_assert_eq!(record, old_and_new(op.payload).map(|p| p.1), "the new row"),
    }
    debug_assert_eq!(v.kind(), Some(PageKind::Data), "it is a heap's page still");
}

/// The records before and after a REPLACE.
pub(crate) fn old_and_new(p: &[u8]) -> Option<(&[u8], &[u8])> {
    let n = usize::from(u16::from_le_bytes([*p.first()?, *p.get(1)?]));
    Some((p.get(2..2 + n)?, &p[2 + n..]))
}

/// Whether a REPLACE leaves a ghost. Damaged bytes count as yes.
pub(crate) fn leaves_ghost(payload: &[u8]) -> bool {
    let new = old_and_new(payload).map(|(_, new)| new).filter(|new| !new.is_empty());
    new.is_none_or(page::is_ghost_record)
}

impl RedoHandler for HeapRedo {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let mut p = PageMut(page);
        if op.kind == kinds::FORMAT {
            let min_len = op.payload.get(..2).ok_or(MISFIT)?;
            let min_len = u16::from_le_bytes([min_len[0], min_len[1]]);
            p.format(PageKind::Data, op.page, op.unit, 0, min_len);
            debug_assert_eq!(p.view().slot_count(), 0, "a new page has no rows");
            debug_assert_eq!(p.view().alloc_unit(), op.unit, "a new page is its unit's");
            return Ok(());
        }
        if p.view().kind() != Some(PageKind::Data) {
            return Err(MISFIT);
        }
        fits(p.view(), op.kind, op.slot, op.payload).map_err(ApplyError)?;
        match op.kind {
            kinds::INSERT if op.slot == p.view().slot_count() => p.insert(op.slot, op.payload),
            kinds::INSERT => p.fill_slot(op.slot, op.payload),
            kinds::GHOST => {
                p.set_record_kind(op.slot, fits::ghost(p.view(), op.slot).map_err(ApplyError)?);
            }
            kinds::UNGHOST => {
                p.set_record_kind(op.slot, fits::unghost(p.view(), op.slot).map_err(ApplyError)?);
            }
            kinds::CLEAR => p.empty_slot(op.slot),
            kinds::DROP_IN_ROW => page::drop_in_row(p.0, op.payload).map_err(ApplyError)?,
            kinds::REPLACE => p.replace(op.slot, old_and_new(op.payload).ok_or(MISFIT)?.1),
            _ => return Err(ApplyError("not a kind of heap pages")),
        }
        inspect(p.view(), op);
        Ok(())
    }

    fn describe<'a>(&self, record: &RecordView<'a>) -> RecordDescription<'a> {
        let (p, heap) = (record.payload(), "LCX_HEAP");
        match record.kind() {
            kinds::FORMAT => RecordDescription {
                format: Some((PageKind::Data as u8, 0)),
                ..RecordDescription::new("LOP_FORMAT_PAGE", heap)
            },
            kinds::INSERT => RecordDescription::new("LOP_INSERT_ROWS", heap).with(p),
            kinds::UNGHOST => RecordDescription::new("LOP_INSERT_ROWS", heap),
            kinds::GHOST => RecordDescription::new("LOP_DELETE_ROWS", heap),
            kinds::CLEAR if p.is_empty() => RecordDescription::new("LOP_EXPUNGE_ROWS", heap),
            kinds::CLEAR => RecordDescription::new("LOP_EXPUNGE_ROWS", heap).with(p),
            kinds::DROP_IN_ROW => RecordDescription::new("LOP_MODIFY_ROW", heap),
            _ => {
                let (old, new) = old_and_new(p).unzip();
                RecordDescription {
                    contents: [old, new, None],
                    offset_in_row: Some(0),
                    modify_size: new.map(|new| new.len() as u16),
                    elements: Some(2),
                    ..RecordDescription::new("LOP_MODIFY_ROW", heap)
                }
            }
        }
    }

    fn explain(&self, record: &RecordView<'_>) -> String {
        match record.kind() {
            kinds::UNGHOST => "A ghost is revived".to_owned(),
            kinds::DROP_IN_ROW => {
                format!("{} in-row versions are dropped", record.payload().len() / 2)
            }
            _ => String::new(),
        }
    }
}

/// Checks that an operation fits a heap page, which may be damaged. A writer calls it before it
/// logs the operation, and redo calls it again.
pub(crate) fn fits(
    v: PageView<'_>,
    kind: wal::Kind,
    slot: u16,
    payload: &[u8],
) -> Result<(), &'static str> {
    if v.kind() != Some(PageKind::Data) {
        return Err(MISFIT.0);
    }
    fits::header(v)?;
    match kind {
        kinds::INSERT if slot == v.slot_count() => fits::insert(v, slot, payload),
        kinds::INSERT => fits::fill(v, slot, payload),
        kinds::GHOST => fits::ghost(v, slot).map(|_| ()),
        kinds::UNGHOST => fits::unghost(v, slot).map(|_| ()),
        kinds::CLEAR => fits::remove(v, slot).map(|_| ()),
        kinds::REPLACE => {
            let (old, new) = old_and_new(payload).ok_or(MISFIT.0)?;
            if v.record(slot) != Some(old) {
                return Err("the record is not the one that was logged");
            }
            fits::replace(v, slot, new)
        }
        kinds::DROP_IN_ROW => page::check_drop_in_row(v, payload),
        _ => Err("not a kind of heap pages"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{AllocUnitId, PageId};
    use page::at;

    /// A page whose header contradicts itself, as a bad disk leaves it under a right checksum, is
    /// refused by every operation; the writers of `page`, which assert, never see it.
    #[test]
    fn a_page_that_contradicts_itself_is_refused() {
        let (id, unit) = (PageId::new(1, 77), AllocUnitId(3));
        let row = [0x10, 0, 8, 0, 7, 0, 0, 0, 1, 0, 0];
        let mut replace = vec![11, 0];
        replace.extend_from_slice(&row);
        replace.extend_from_slice(&row);
        let mut sound = Box::new([0; 8192]);
        PageMut(&mut sound).format(PageKind::Data, id, unit, 0, 8);
        PageMut(&mut sound).insert(0, &row);
        let apply = |kind, slot, payload: &[u8], page: &mut PageBytes| {
            HeapRedo.apply(&PageOp { kind, page: id, slot, unit, payload }, page)
        };
        let lies = [(at::FREE_COUNT, 8096), (at::FREE_DATA, 8191), (at::SLOT_COUNT, 5000)];
        for (field, lie) in lies {
            for kind in [kinds::INSERT, kinds::CLEAR, kinds::REPLACE, kinds::GHOST] {
                let payload = if kind == kinds::REPLACE { &replace[..] } else { &row };
                let slot = u16::from(kind == kinds::INSERT);
                let mut page = sound.clone();
                assert_eq!(apply(kind, slot, payload, &mut page), Ok(()), "{kind:?}, sound");
                let mut page = sound.clone();
                page[field..field + 2].copy_from_slice(&u16::to_le_bytes(lie));
                assert!(apply(kind, slot, payload, &mut page).is_err(), "{kind:?}, {field}");
            }
        }
        assert!(apply(kinds::INSERT, 1, &[], &mut sound).is_err(), "no record is empty");
    }
}
