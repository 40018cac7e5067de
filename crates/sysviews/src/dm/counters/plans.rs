//! `SQLServer:Plan Cache` and `SQLServer:SQL Statistics`: compilations, and the size of the cache.

use super::{Counter, Kind, TOTAL, counter, of_instance};
use crate::view::System;
use base::limits::PAGE_BYTES;
use plancache::Kind as Program;

pub(crate) fn statistics(system: &System<'_>) -> Vec<Counter> {
    let compiled = system.programs.counters().compiled;
    vec![
        counter("Batch Requests/sec", Kind::Total, system.sessions.requests()),
        counter("SQL Compilations/sec", Kind::Total, compiled),
    ]
}

pub(crate) fn cache(system: &System<'_>) -> Vec<Counter> {
    let (mut texts, mut objects) = ((0, 0), (0, 0));
    for entry in system.programs.entries() {
        let sum = match entry.key().kind {
            Program::AdHoc | Program::Prepared => &mut texts,
            Program::Procedure => &mut objects,
        };
        *sum = (sum.0 + 1, sum.1 + entry.bytes().div_ceil(PAGE_BYTES) as u64);
    }
    let total = (texts.0 + objects.0, texts.1 + objects.1);
    let found = system.programs.counters();
    let ratio = [
        ("Cache Hit Ratio", Kind::Part, found.hits),
        ("Cache Hit Ratio Base", Kind::Base, found.hits + found.misses),
    ];
    let mut all: Vec<Counter> = of_instance(TOTAL, ratio).collect();
    let instances = [(TOTAL, total), ("SQL Plans", texts), ("Object Plans", objects)];
    for (instance, (count, pages)) in instances {
        let values = [("Cache Pages", Kind::Now, pages), ("Cache Object Counts", Kind::Now, count)];
        all.extend(of_instance(instance, values));
    }
    all
}
