//! `Place`: the page of a store that one unit of work fills.

use crate::database_store::PlaceBudget;
use crate::format::VERSION_FRONT_BYTES;
use base::PageId;
use page::slot_cost;

/// Where a unit of work puts its versions: a page that nobody else fills. A store gives it and
/// keeps it up to date; a place is of one store.
#[derive(Default)]
pub struct Place {
    page: Option<PageId>,
    /// Bytes that are free on it at least: others only take out.
    room: usize,
    /// Where the next empty slot is looked for.
    slot: u16,
    /// Where a store puts a version's bytes together.
    pub(crate) scratch: Vec<u8>,
    /// Log for what a store with logged pages puts on it.
    pub(crate) log: PlaceBudget,
}

impl Place {
    /// Whether a record of that length can be appended.
    pub fn has_room(&self, record_bytes: usize) -> bool {
        let bytes = VERSION_FRONT_BYTES + record_bytes;
        self.page.is_some() && slot_cost(bytes) <= self.room && self.log.covers(bytes)
    }

    /// Its page; `None` while it has none.
    pub fn page(&self) -> Option<PageId> {
        self.page
    }

    /// The slot that was filled last on its page: the next empty one is looked for from there on.
    pub fn slot(&self) -> u16 {
        self.slot
    }

    /// Gets a page with so many free bytes.
    pub fn take(&mut self, page: PageId, room: usize) {
        debug_assert!(self.page.is_none(), "it has left the page before");
        (self.page, self.room, self.slot) = (Some(page), room, 0);
    }

    /// A slot of its page was filled; so many bytes are free now.
    pub fn filled(&mut self, slot: u16, room: usize) {
        debug_assert!(self.page.is_some(), "it has a page");
        (self.room, self.slot) = (room, slot);
    }

    /// Has no page any more.
    pub fn clear(&mut self) {
        self.page = None;
    }
}
