//! `SQLServer:Access Methods`: how rows are reached.

use super::{Counter, Kind, counter, events};
use crate::view::System;
use os::counters::Event;

pub(crate) fn access_methods(system: &System<'_>) -> Vec<Counter> {
    let mut counters = events(
        system,
        [
            ("Full Scans/sec", Event::FullScan),
            ("Range Scans/sec", Event::RangeScan),
            ("Probe Scans/sec", Event::ProbeScan),
            ("Forwarded Records/sec", Event::Forwarded),
            ("Skipped Ghosted Records/sec", Event::GhostSkipped),
            ("Index Searches/sec", Event::IndexSearch),
            ("Page Splits/sec", Event::PageSplit),
        ],
    );
    let escalations = system.engine.locks.counters().escalations;
    counters.push(counter("Table Lock Escalations/sec", Kind::Total, escalations));
    counters
}
