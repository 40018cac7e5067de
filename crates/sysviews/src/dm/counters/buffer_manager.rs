//! `SQLServer:Buffer Manager`: pages in memory, and their reads and writes.

use super::{Counter, Kind, any_pages, counter, events};
use crate::view::System;
use os::counters::Event;

pub(crate) fn buffer_manager(system: &System<'_>) -> Vec<Counter> {
    let Some(pages) = any_pages(system) else { return Vec::new() };
    let (pool, counters) = (pages.pool(), pages.counters());
    // Read first: each miss is one of the lookups that are read next.
    let misses = counters.sum(Event::PageLookupMiss);
    let lookups = counters.sum(Event::PageLookup);
    let frames = pool.frame_count() as u64;
    let mut all = vec![
        counter("Buffer cache hit ratio", Kind::Part, lookups.saturating_sub(misses)),
        counter("Buffer cache hit ratio base", Kind::Base, lookups),
        counter("Page lookups/sec", Kind::Total, lookups),
        counter("Database pages", Kind::Now, frames - pool.free_count() as u64),
        counter("Target pages", Kind::Now, frames),
    ];
    all.extend(events(
        system,
        [
            ("Lazy writes/sec", Event::LazyWrite),
            ("Readahead pages/sec", Event::ReadAhead),
            ("Page reads/sec", Event::PageRead),
            ("Page writes/sec", Event::PageWrite),
            ("Checkpoint pages/sec", Event::CheckpointWrite),
        ],
    ));
    all
}
