//! Reverts records of a tree: several of a leaf in one group.
//!
//! A record that grows may have no room on its leaf. Then the leaf is split first, in groups of
//! their own, as an undo does.

use super::{Former, GROUP_BYTES, GROUP_LOG_BYTES, RevertLog, Tally, key_of};
use crate::error::RowResult;
use crate::hobt::RowHobt;
use btree::{LeafWrite, STRUCTURE_LOG_BYTES_MAX, SplitPolicy};
use buffer::{Change, Undo};
use page::Field;
use wal::TransactionChain;

impl RowHobt {
    /// Reverts records by aborted transactions on the leaf of a key, from the key on, as many as
    /// one group takes. How many: 0 where there is none.
    pub(super) fn revert_entries(&self, log: &mut RevertLog, key: &[Field<'_>]) -> RowResult<u64> {
        debug_assert_eq!(key.len(), self.tree().order().len(), "a place has a whole key");
        loop {
            log.reserve(GROUP_LOG_BYTES)?;
            let leaf = self.tree().seek_write(key)?;
            let formers = self.formers_on(&leaf)?;
            let Some(first) = formers.first() else { return Ok(0) };
            let view = leaf.view();
            let now = view.record(first.slot).expect("its record was just read");
            let bytes = first.record.len();
            if bytes <= now.len() + usize::from(view.free_count()) {
                return self.put_formers(log, leaf, &formers);
            }
            let place = key_of(self, now, leaf.page_id())?;
            drop(leaf);
            log.reserve(STRUCTURE_LOG_BYTES_MAX)?;
            let fields = place.fields();
            let half = SplitPolicy::Half;
            let ghosts = self.split(&mut log.group, fields.as_slice(), bytes, half)?;
            log.moved.extend(ghosts.into_iter().flatten());
        }
    }

    /// What the records of a leaf become, from the slot at hand on.
    fn formers_on(&self, leaf: &LeafWrite<'_>) -> RowResult<Vec<Former>> {
        let (view, page) = (leaf.view(), leaf.page_id());
        let (mut formers, mut bytes) = (Vec::new(), 0);
        for slot in leaf.slot()..view.slot_count() {
            let what = "a slot holds no record";
            let record = view.record(slot).ok_or_else(|| self.home.pages.corrupt(page, what))?;
            if let Some(former) = self.former_of(record, (page, slot))? {
                bytes += record.len() + former.record.len();
                formers.push(former);
                if bytes > GROUP_BYTES {
                    break;
                }
            }
        }
        Ok(formers)
    }

    /// Puts them in the place of their records, as far as the leaf has room. The first has.
    fn put_formers(
        &self,
        log: &mut RevertLog,
        leaf: LeafWrite<'_>,
        formers: &[Former],
    ) -> RowResult<u64> {
        let id = leaf.page_id();
        let mut change = Change::new(&self.home.pages, &mut log.group);
        let (page, _) = leaf.join(&mut change);
        let (mut tally, mut refused, mut ghosts) = (Tally::default(), Ok(()), false);
        for former in formers {
            let view = change.view(page);
            let now = view.record(former.slot).expect("the page is latched still");
            if former.record.len() > now.len() + usize::from(view.free_count()) {
                break;
            }
            let before = now.to_vec();
            let (slot, record) = (former.slot, &former.record);
            refused = self.tree().replace(&mut change, page, slot, record, Undo::Never);
            if refused.is_err() {
                break;
            }
            ghosts |= page::is_ghost_record(record);
            self.tally(&mut tally, &before, former);
        }
        // With nothing changed, there is nothing to finish.
        if tally.reverted == 0 {
            return refused.map(|()| 0).map_err(Into::into);
        }
        if ghosts {
            self.home.ghosts().note(id);
        }
        let logged = change.logged_bytes() as u64;
        debug_assert!(logged <= GROUP_LOG_BYTES, "{logged} bytes were reserved");
        change.finish_then(&mut TransactionChain::default(), || self.free_reverted(&tally));
        self.count_rows(tally.rows);
        Ok(tally.reverted)
    }
}
