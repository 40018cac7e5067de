//! Finds ghosts in the graveyard among the rows of a heap, for readers as of a moment.
//!
//! Invariants
//!  1. A slot and its ghost in the graveyard are looked at under one latch of the slot's page: no
//!     ghost moves in between, so a row is met once, and not missed.
//!  2. A RID with a row, a ghost or a stub on the page has no ghost in the graveyard
//!     (ghosts/graveyard.rs, 3). So the graveyard is searched only for a slot that is empty, or
//!     holds a forwarded row of another RID.

use super::{HeapCursor, Progress, RowLock};
use crate::error::RowResult;
use crate::place::{NOWHERE, Place};
use crate::versions::Visibility;
use base::PageId;
use work::Work;

impl HeapCursor<'_> {
    /// Notes for which slots of a page, which was just latched, the graveyard has a ghost.
    #[inline]
    pub(super) fn note_graves(&mut self, page: PageId) {
        let graves = &self.hobt.state.graves;
        match self.plan.as_of {
            Some(at) if graves.may_be_seen(at) => graves.slots_on(page, &mut self.graved),
            Some(_) | None => self.graved.clear(),
        }
    }

    /// Copies the row that the moment sees for a slot whose row has left the page.
    #[inline]
    pub(super) fn exhume(&mut self, work: &Work, home: Place) -> RowResult<Progress> {
        if self.graved.binary_search(&home.1).is_err() {
            return Ok(Progress::On);
        }
        let Some(at) = self.plan.as_of else { return Ok(Progress::On) };
        let (hobt, mut seen) = (self.hobt, Visibility::Nothing);
        let mut former = std::mem::take(&mut self.former);
        hobt.state.graves.at(home, &mut |ghost| {
            seen = hobt.as_of(work, at, (ghost, NOWHERE), &mut former)?;
            Ok(())
        })?;
        debug_assert_ne!(seen, Visibility::AsItIs, "a ghost is no row");
        self.reads.ghosts += u64::from(seen == Visibility::Nothing);
        // Values off the row are fetched while no thread waits for the graveyard.
        self.give_seen(work, seen, (&[], &former), home)?;
        self.former = former;
        Ok(self.full(matches!(self.ask, RowLock::Short(_) | RowLock::Long(_))))
    }
}
