//! `SQLServer:Locks`: requests and waits by kind of resource.

use super::{Counter, Kind, TOTAL, of_instance};
use crate::view::System;
use lock::KindCounters;

pub(crate) fn locks(system: &System<'_>) -> Vec<Counter> {
    let mut kinds = system.engine.locks.kind_counters();
    kinds.sort_unstable_by_key(|(kind, _)| kind.counter_name());
    let total = kinds.iter().fold(KindCounters::default(), |sum, (_, one)| sum.and(*one));
    let mut all = of_kind(TOTAL, &total).collect::<Vec<_>>();
    for (kind, counters) in &kinds {
        all.extend(of_kind(kind.counter_name(), counters));
    }
    all
}

fn of_kind(instance: &str, c: &KindCounters) -> impl Iterator<Item = Counter> {
    let waited_ms = c.waited_ns / 1_000_000;
    let values = [
        ("Lock Requests/sec", Kind::Total, c.requests),
        ("Lock Timeouts/sec", Kind::Total, c.timeouts + c.refused_at_once),
        ("Number of Deadlocks/sec", Kind::Total, c.deadlocks),
        ("Lock Waits/sec", Kind::Total, c.waits),
        ("Lock Wait Time (ms)", Kind::Total, waited_ms),
        ("Average Wait Time (ms)", Kind::Average, waited_ms),
        ("Average Wait Time Base", Kind::Base, c.ended),
        ("Lock Timeouts (timeout > 0)/sec", Kind::Total, c.timeouts),
    ];
    of_instance(instance, values)
}
