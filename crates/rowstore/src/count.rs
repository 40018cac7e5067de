//! Counting rows: what sys.partitions shows.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use base::PageId;
use buffer::ReadAhead;
use os::wait::Waiter;
use page::RecordKind;

impl RowHobt {
    /// Counts the live rows, for sys.partitions after a start.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn count_all(&self, waiter: &Waiter) -> RowResult<u64> {
        let mut rows = 0;
        match &self.tree {
            Some(tree) => {
                let mut ahead = ReadAhead::new();
                let mut at =
                    tree.seek(btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast })?;
                while let Some(leaf) = at {
                    // Not `check`, which may give others their turn: the leaf is latched.
                    waiter.cancellation().map_or(Ok(()), Err)?;
                    rows += u64::from(!RecordKind::of(leaf.record()[0]).is_ghost());
                    let edge = leaf.slot() + 1 == leaf.view().slot_count();
                    at = match edge {
                        true => self.beyond_leaf(tree, leaf, &mut ahead)?,
                        false => leaf.forward()?,
                    };
                }
            }
            None => {
                let (mut ahead, mut before) = (ReadAhead::whole(), PageId::NONE);
                for id in self.home.space.unit_pages(&self.unit, waiter)?.pages {
                    waiter.check()?;
                    ahead.step(&self.home.pages, before, id);
                    before = id;
                    let guard = self.home.pages.read(id)?;
                    let view = guard.view();
                    let live =
                        |s: &u16| view.record(*s).is_some_and(|r| !RecordKind::of(r[0]).is_ghost());
                    rows += (0..view.slot_count()).filter(live).count() as u64;
                }
            }
        }
        Ok(rows)
    }

    /// The first record behind a leaf, which is let go while pages are read ahead.
    fn beyond_leaf<'t>(
        &self,
        tree: &'t btree::Tree,
        leaf: btree::LeafRead<'t>,
        ahead: &mut ReadAhead,
    ) -> RowResult<Option<btree::LeafRead<'t>>> {
        let mut position = btree::Position::default();
        leaf.save(&mut position)?;
        let (from, to) = (leaf.page_id(), leaf.view().next_page());
        drop(leaf);
        ahead.step(&self.home.pages, from, to);
        Ok(match tree.resume_next(&position, btree::Bias::FirstAbove)? {
            btree::Next::Record(leaf) => Some(leaf),
            btree::Next::End(_) => None,
        })
    }

    /// Rows as sys.partitions shows them, uncommitted ones included; counted at the first
    /// question after a start.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation, and then nothing is known yet.
    pub fn row_count(&self, waiter: &Waiter) -> base::SqlResult<u64> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.rows_known.load(Relaxed) == 0 {
            let counted = self.count_all(waiter).map_err(|e| self.sql(e))?;
            self.rows.store(counted as i64, Relaxed);
            self.rows_known.store(1, Relaxed);
        }
        Ok(self.rows.load(Relaxed).max(0) as u64)
    }
}
