//! Redo of the test's own records: slotted pages without order.

use page::{PageBytes, PageKind, PageMut, PageView};
use wal::{ApplyError, Kind, PageOp, RecordDescription, RecordView, RedoHandler};

pub(crate) const TAG: Kind = Kind(0xF0);
pub(crate) const FORMAT: Kind = Kind(0xF1);
pub(crate) const INSERT: Kind = Kind(0xF2);
pub(crate) const REMOVE: Kind = Kind(0xF3);
pub(crate) const PATCH: Kind = Kind(0xF4);

pub(crate) struct TestRedo;

/// A record of a length: what `page` takes for a row.
pub(crate) fn record(fill: u8, bytes: usize) -> Vec<u8> {
    assert!(bytes >= 12);
    let mut r = vec![fill; bytes];
    r[..2].copy_from_slice(&[0x10, 0]);
    r[2..4].copy_from_slice(&((bytes - 3) as u16).to_le_bytes());
    r[bytes - 3..].copy_from_slice(&[1, 0, 0]);
    r
}

fn ok(holds: bool, what: &'static str) -> Result<(), ApplyError> {
    if holds { Ok(()) } else { Err(ApplyError(what)) }
}

impl RedoHandler for TestRedo {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let count = PageView(page).slot_count();
        let mut p = PageMut(page);
        if op.kind != FORMAT {
            ok(p.view().kind() == Some(PageKind::Data), "the page is not formatted")?;
            ok(p.view().alloc_unit() == op.unit, "the page is of another unit")?;
        }
        match op.kind {
            FORMAT => p.format(PageKind::Data, op.page, op.unit, 0, 8),
            INSERT => {
                ok(op.slot <= count && p.has_room(op.payload.len()), "no room to insert")?;
                p.insert(op.slot, op.payload);
            }
            REMOVE => {
                ok(op.slot < count, "nothing to remove")?;
                p.remove(op.slot);
            }
            PATCH => {
                let within = usize::from(u16::from_le_bytes([op.payload[0], op.payload[1]]));
                let bytes = &op.payload[2..];
                let len = p.view().record(op.slot).map_or(0, <[u8]>::len);
                ok(within + bytes.len() <= len, "nothing to patch")?;
                p.patch(op.slot, within, bytes);
            }
            _ => return Err(ApplyError("not a kind of the test")),
        }
        Ok(())
    }

    fn describe<'a>(&self, _: &RecordView<'a>) -> RecordDescription<'a> {
        RecordDescription::default()
    }
}
