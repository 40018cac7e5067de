//! Settling: the deleter removes its ghost under its own lock, right after its commit.
//!
//! The ghost is found again by its key; if it is live again (revived by a later insert of the
//! same transaction) or gone, there is nothing to do.

use crate::error::RowResult;
use crate::heap_redo::kinds;
use crate::hobt::{HobtKind, RowHobt};
use base::PageId;
use buffer::{Change, Undo};
use page::RecordKind;
use wal::{Group, LogReservation, TransactionChain};
use work::{Settled, Settler};

impl Settler for RowHobt {
    fn settle(&self, group: &mut Group, key: &[u8], hint: (PageId, u16)) -> Settled {
        let done = match self.spec.kind {
            HobtKind::Heap => self.settle_heap(group, hint),
            HobtKind::Clustered | HobtKind::Nonclustered => self.settle_entry(group, key),
        };
        // Whatever hinders it now, the ghost is committed and only takes space.
        if done.is_ok() { Settled::Done } else { Settled::Later }
    }
}

impl RowHobt {
    fn settle_entry(&self, group: &mut Group, key: &[u8]) -> RowResult<()> {
        let tree = self.tree();
        let mut log = LogReservation::none(self.home.log());
        log.grow(512)?;
        let Some(fields) = btree::key_fields(key) else { return Ok(()) };
        let leaf = tree.seek_write(fields.as_slice())?;
        let Some(record) = leaf.record() else { return Ok(()) };
        if !RecordKind::of(record[0]).is_ghost() {
            return Ok(());
        }
        let last = leaf.view().slot_count() == 1 && leaf.page_id() != tree.root();
        let mut change = Change::new(&self.home.pages, group);
        let (page, slot) = leaf.join(&mut change);
        tree.expunge(&mut change, page, slot, Undo::Never)?;
        change.finish(&mut TransactionChain::default());
        if last {
            log.grow(4096)?;
            tree.free_if_empty(group, fields.as_slice())?;
        }
        Ok(())
    }

    fn settle_heap(&self, group: &mut Group, (page, slot): (PageId, u16)) -> RowResult<()> {
        let mut log = LogReservation::none(self.home.log());
        log.grow(512)?;
        let guard = self.home.pages.write(page)?;
        let view = guard.view();
        if view.alloc_unit() != self.spec.unit
            || !view.record(slot).is_some_and(|r| RecordKind::of(r[0]).is_ghost())
        {
            return Ok(());
        }
        self.heap_fits(&guard, kinds::CLEAR, slot, &[])?;
        let mut change = Change::new(&self.home.pages, group);
        let page_ref = change.add(guard);
        change.apply(page_ref, self.spec.unit, kinds::CLEAR, slot, &[], Undo::Never);
        change.finish(&mut TransactionChain::default());
        self.remember_room(page);
        Ok(())
    }
}
