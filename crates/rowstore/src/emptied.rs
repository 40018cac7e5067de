//! Empties a small heap or index at once: a table variable's, between two calls of a function.
//!
//! Its one page is formatted again, in one log group that no transaction undoes. The cost does not
//! depend on what is on the page, and no ghosts are left.
//!
//! Invariants
//!  1. Only its owner knows of the hobt, and no open transaction has changed it. So no rollback
//!     needs what was on the page.
//!  2. A hobt that has more pages, or rows that a reader may need as of an earlier moment, is left
//!     as it is. The caller then drops it.

use crate::error::RowResult;
use crate::heap::redo::kinds;
use crate::hobt::state::HeapHints;
use crate::hobt::{RowHobt, leaf_kind};
use access::HobtKind;
use btree::Tree;
use buffer::{Change, Undo, WriteGuard};
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Log that it takes to format a page.
const FORMAT_LOG_BYTES: u64 = 512;

impl RowHobt {
    /// Empties a hobt of one page, and its tree of large values. Returns whether it did
    /// (invariant 2).
    ///
    /// # Errors
    /// A full log, pages that cannot be read.
    pub(crate) fn empty_if_small(&self) -> base::SqlResult<bool> {
        for hobt in [self.large.as_deref(), Some(self)].into_iter().flatten() {
            if !hobt.format_only_page().map_err(|e| self.sql(e))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Formats the page of a hobt that has only one. Returns whether it has only one.
    fn format_only_page(&self) -> RowResult<bool> {
        let former = !self.state.graves.is_empty() || self.home.versioning() != 0;
        if former || self.is_dropped() {
            return Ok(false);
        }
        let mut log = LogReservation::none(self.home.log());
        log.grow(FORMAT_LOG_BYTES)?;
        let Some(guard) = self.only_page()? else { return Ok(false) };
        // An empty page is left as it is.
        if guard.view().slot_count() > 0 {
            self.format_page(guard);
        }
        self.state.rows.store(0, Relaxed);
        self.state.rows_known.store(1, Relaxed);
        Ok(true)
    }

    /// The only page of a hobt, latched; `None` if it has more.
    fn only_page(&self) -> RowResult<Option<WriteGuard<'_>>> {
        // For a heap that was made before it was opened, this is not known without a look at the
        // maps.
        let made_since = self.state.built.load(Relaxed) != 0;
        if self.spec.kind == HobtKind::Heap && (!made_since || self.state.hints.lock().grown) {
            return Ok(None);
        }
        let guard = self.home.pages.write(self.places.root)?;
        let view = guard.view();
        let alone = view.level() == 0 && view.alloc_unit() == self.spec.unit;
        Ok(alone.then_some(guard))
    }

    fn format_page(&self, guard: WriteGuard<'_>) {
        let id = guard.id();
        let mut group = Group::new();
        let mut change = Change::new(&self.home.pages, &mut group);
        let page = change.add(guard);
        match self.spec.kind {
            HobtKind::Heap => {
                let min_len = self.layout.min_len().to_le_bytes();
                change.apply(page, self.spec.unit, kinds::FORMAT, 0, &[&min_len], Undo::Never);
                self.state.promised.forget_ended(id);
                *self.state.hints.lock() =
                    HeapHints { pages: vec![id], sought: true, grown: false };
            }
            kind => {
                let kind = leaf_kind(kind);
                Tree::format_root(&mut change, page, &self.unit, kind, &self.layout);
            }
        }
        debug_assert_eq!(change.view(page).slot_count(), 0, "nothing is left");
        debug_assert_eq!(change.view(page).alloc_unit(), self.spec.unit, "it is the hobt's still");
        change.finish(&mut TransactionChain::default());
    }
}
