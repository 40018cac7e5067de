//! Frees emptied leaves.
//!
//! A leaf without records is unlinked, its separator removed and its page freed, in one group. An
//! interior page whose only entry that was is freed with it, and so on up to the first page with
//! two entries. The root stays, and so does the last leaf.
//!
//! The left neighbour is hard to latch. It comes before the leaf in the order of latches, but only
//! the leaf knows it. Under the same parent it is the child of the slot before; waiting for it is
//! safe while the parent is latched. Otherwise its id is read from the leaf, and both are latched
//! without waiting (rule 4). When that fails, the thread releases everything.

use crate::error::BtreeResult;
use crate::kinds::{Operation, kind};
use crate::split::link;
use crate::tree::Tree;
use base::PageId;
use buffer::{Change, Undo, WriteGuard};
use page::Field;
use wal::{Group, TransactionChain};

/// Levels that one group may free. More than two of them occur only in trees that lose nearly all
/// their rows.
const FREED_LEVELS_MAX: u8 = 4;
/// Attempts to latch a left neighbour without waiting.
const ATTEMPTS: u32 = 4;
/// Bytes of log that freeing takes at most.
pub const FREE_LOG_BYTES_MAX: u64 = 2048;

/// What became of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOutcome {
    /// It, and as many pages above it as only led to it, are free.
    Pages(u8),
    /// The leaf has records, or is the last leaf, or too many levels above it have only one entry.
    Kept,
    /// Other threads had a page latched; the caller can try again.
    Busy,
}

/// A page to be freed, and its neighbours, under their exclusive latches.
struct DoomedPage<'t> {
    left: Option<WriteGuard<'t>>,
    page: WriteGuard<'t>,
    right: Option<WriteGuard<'t>>,
}

impl DoomedPage<'_> {
    fn ids(&self) -> impl Iterator<Item = PageId> {
        let others = [self.left.as_ref(), self.right.as_ref()];
        [Some(self.page.id()), others[0].map(WriteGuard::id), others[1].map(WriteGuard::id)]
            .into_iter()
            .flatten()
    }
}

/// What an attempt found.
enum FreeAttempt<'t> {
    /// The page above all, the slot to remove from it, and the pages to free, top-down.
    Ready(WriteGuard<'t>, u16, Vec<DoomedPage<'t>>),
    /// The page at this level has one entry only: the attempt must begin further up.
    Higher,
    Kept,
    /// A left neighbour could not be latched; it is read after everything is released.
    Busy(PageId),
}

impl Tree {
    /// Frees the leaf that a key belongs to, if it has no records. The caller holds no latch.
    ///
    /// Logs one group of at most [`FREE_LOG_BYTES_MAX`].
    ///
    /// # Errors
    /// 823, 824 or 701, before anything is changed.
    pub fn free_if_empty(&self, group: &mut Group, key: &[Field<'_>]) -> BtreeResult<FreeOutcome> {
        assert_eq!(key.len(), self.shape.order.len(), "a leaf is named by a whole key");
        let (mut top, mut attempts) = (1, 0);
        loop {
            debug_assert!(attempts < ATTEMPTS && top <= FREED_LEVELS_MAX, "rule 4: it ends");
            match self.find_doomed(key, top)? {
                FreeAttempt::Ready(above, slot, doomed) => {
                    let pages = doomed.len() as u8;
                    assert_eq!(pages, top, "a page of each level below the one above all");
                    self.unlink(group, (above, slot), doomed)?;
                    return Ok(FreeOutcome::Pages(pages));
                }
                FreeAttempt::Kept => return Ok(FreeOutcome::Kept),
                FreeAttempt::Higher if top == FREED_LEVELS_MAX => return Ok(FreeOutcome::Kept),
                FreeAttempt::Higher => top += 1,
                FreeAttempt::Busy(page) => {
                    attempts += 1;
                    if attempts == ATTEMPTS {
                        return Ok(FreeOutcome::Busy);
                    }
                    // Waits until its holder releases it, and reads it into memory. A reader of the
                    // page will report damage.
                    drop(self.pages.read(page));
                }
            }
        }
    }

    /// Latches what freeing the leaf takes when the page at level `top` keeps an entry.
    fn find_doomed(&self, key: &[Field<'_>], top: u8) -> BtreeResult<FreeAttempt<'_>> {
        let Some(above) = self.write_at(&self.sought(key), top)? else {
            return Ok(FreeAttempt::Kept);
        };
        debug_assert_eq!(above.view().level(), top, "the level that was asked for");
        if above.view().slot_count() < 2 {
            let last = above.id() == self.root;
            return Ok(if last { FreeAttempt::Kept } else { FreeAttempt::Higher });
        }
        let place = (above.id(), above.view());
        let first_slot = self.child_slot(place, &self.sought(key), true)?;
        debug_assert!(first_slot < above.view().slot_count(), "the slot of an entry");
        let mut doomed: Vec<DoomedPage<'_>> = Vec::with_capacity(usize::from(top));
        let mut slot = first_slot;
        for level in (0..top).rev() {
            let parent = doomed.last().map_or(&above, |d| &d.page);
            let id = self.child(parent.id(), parent.view(), slot)?;
            let mut held = vec![above.id()];
            held.extend(doomed.iter().flat_map(DoomedPage::ids));
            let next = match self.latch_doomed(parent, slot, (id, level), &held)? {
                Ok(next) => next,
                Err(found) => return Ok(found),
            };
            let count = next.page.view().slot_count();
            if level == 0 && count > 0 {
                return Ok(FreeAttempt::Kept);
            }
            if level > 0 && count > 1 {
                // It got a second entry since this began so high; begin lower.
                return Ok(FreeAttempt::Busy(id));
            }
            debug_assert!(
                next.ids().all(|id| !held.contains(&id)),
                "rule 12: a page is latched once"
            );
            doomed.push(next);
            slot = 0;
        }
        self.inspect(&above)?;
        debug_assert_eq!(doomed.len(), usize::from(top), "a page of each level");
        debug_assert!(
            doomed.iter().all(|d| d.page.id() != self.root),
            "the root is fixed for life"
        );
        Ok(FreeAttempt::Ready(above, first_slot, doomed))
    }

    /// Latches a child and its neighbours from left to right.
    fn latch_doomed<'t>(
        &'t self,
        parent: &WriteGuard<'t>,
        slot: u16,
        (id, level): (PageId, u8),
        held: &[PageId],
    ) -> BtreeResult<Result<DoomedPage<'t>, FreeAttempt<'t>>> {
        debug_assert!(held.contains(&parent.id()), "the way down is held");
        debug_assert!(slot < parent.view().slot_count(), "the slot of an entry");
        self.is_not_held(id, held)?;
        let (left, page) = if slot > 0 {
            let left = self.child(parent.id(), parent.view(), slot - 1)?;
            if left == id {
                return Err(self.corrupt(parent.id(), "two entries lead to one page"));
            }
            self.is_not_held(left, held)?;
            let left = self.pages.write(left)?;
            (Some(left), self.pages.write(id)?)
        } else {
            // The page cannot go while its parent is latched, but its left neighbour can.
            let left = {
                let page = self.pages.read(id)?;
                self.check_page(id, page.view(), level)?;
                page.view().prev_page()
            };
            let guard = match left.is_none() {
                true => None,
                false if left == id => {
                    return Err(self.corrupt(id, "the page is its own neighbour"));
                }
                false => match self.pages.try_write(left) {
                    Some(guard) => Some(guard),
                    None => return Ok(Err(FreeAttempt::Busy(left))),
                },
            };
            let Some(page) = self.pages.try_write(id) else {
                return Ok(Err(FreeAttempt::Busy(id)));
            };
            if page.view().prev_page() != left {
                return Ok(Err(FreeAttempt::Busy(id)));
            }
            (guard, page)
        };
        self.check_page(id, page.view(), level)?;
        if let Some(left) = &left {
            self.check_page(left.id(), left.view(), level)?;
            if left.view().next_page() != id || page.view().prev_page() != left.id() {
                return Err(self.corrupt(id, "the page does not know its left neighbour"));
            }
        }
        let mut held = held.to_vec();
        held.extend(left.as_ref().map(WriteGuard::id));
        let right = self.right_neighbour(&page, level, &held)?;
        debug_assert_eq!(left.is_none(), page.view().prev_page().is_none(), "both neighbours");
        debug_assert_eq!(right.is_none(), page.view().next_page().is_none(), "are latched");
        Ok(Ok(DoomedPage { left, page, right }))
    }

    /// One group: neighbours are linked past each page, the page's own links are cleared so that no
    /// thread takes it for a page of the tree, and the entry that led there is removed.
    fn unlink<'t>(
        &'t self,
        group: &mut Group,
        (above, slot): (WriteGuard<'t>, u16),
        doomed: Vec<DoomedPage<'t>>,
    ) -> BtreeResult<()> {
        let top = doomed.len() as u8;
        assert!((1..=FREED_LEVELS_MAX).contains(&top), "a bounded number of latches");
        assert!(above.view().slot_count() >= 2, "the page above keeps an entry");
        assert_eq!(doomed.last().map(|d| d.page.view().slot_count()), Some(0), "an empty leaf");
        let mut change = Change::new(&self.pages, group);
        let above = change.add(above);
        let mut latched = Vec::with_capacity(doomed.len());
        for d in doomed {
            let ids = (d.page.view().prev_page(), d.page.view().next_page());
            let left = d.left.map(|g| change.add(g));
            let page = change.add(d.page);
            let right = d.right.map(|g| change.add(g));
            latched.push((left, page, right, ids));
        }
        // This comes first, because damaged maps are found before anything is logged.
        for &(_, page, _, _) in &latched {
            self.space.free(&mut change, &self.unit, page)?;
        }
        let expunge = kind(Operation::Expunge, self.context(top));
        change.apply(above, self.unit.id, expunge, slot, &[], Undo::Never);
        debug_assert!(change.view(above).slot_count() > 0, "an interior page keeps an entry");
        for (i, &(left, page, right, (prev, next))) in latched.iter().enumerate() {
            let links = kind(Operation::Link, self.context(top - 1 - i as u8));
            let mut set = |page, side, id| {
                change.apply(page, self.unit.id, links, 0, &[&link(side, id)], Undo::Never);
            };
            if let Some(left) = left {
                set(left, 1, next);
            }
            if let Some(right) = right {
                set(right, 0, prev);
            }
            set(page, 0, PageId::NONE);
            set(page, 1, PageId::NONE);
            let v = change.view(page);
            debug_assert!(
                v.prev_page().is_none() && v.next_page().is_none(),
                "rule 7: no link stays"
            );
        }
        assert!(change.logged_bytes() as u64 <= FREE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
        (0..top).for_each(|level| self.splits.freed(level));
        Ok(())
    }
}
