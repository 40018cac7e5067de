//! Making pages ahead: the background sees to it that writers find empty pages, so that they need
//! not wait while the database's maps change or its file grows.
//!
//! What is made ahead follows the demand: as many pages as places took since the last time, and at
//! most as many as `ADR Preallocation Factor` says. A store in which nobody writes has none ahead:
//! they go back to the database with other empty extents (`reclaim.rs`).

use super::{DatabaseStore, PAGES_AHEAD, PAGES_TAKEN, PageUse};
use crate::error::VersionError;
use std::sync::atomic::Ordering::Relaxed;

impl DatabaseStore {
    /// Makes pages ahead; how many empty pages wait now. Writers that want an extent have their
    /// turn between two.
    pub(super) fn grow_ahead(&self, pages_max: usize) -> Result<usize, VersionError> {
        let taken = self.counts.sum(PAGES_TAKEN);
        let demand = taken.saturating_sub(self.taken_before.swap(taken, Relaxed));
        // When the demand ends, half of what waits goes each time.
        let ahead = (self.ahead.load(Relaxed) / 2).max(demand as usize).min(pages_max);
        self.ahead.store(ahead, Relaxed);
        loop {
            let _one = self.growing.lock();
            let empty = self.roster.lock().empty_count();
            if demand == 0 || empty >= ahead || self.refused.lock().is_some() {
                return Ok(empty);
            }
            let ids = self.new_extent()?;
            self.counts.add(PAGES_AHEAD, ids.len() as u64);
            let mut roster = self.roster.lock();
            ids.iter().rev().for_each(|page| roster.enter(*page, PageUse::Empty));
        }
    }

    /// Empty pages that stay with the store, beside those that are always kept.
    pub(super) fn kept_ahead(&self) -> usize {
        self.ahead.load(Relaxed)
    }
}
