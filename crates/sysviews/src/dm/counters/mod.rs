//! The objects of sys.dm_os_performance_counters, one in each file.

mod access_methods;
mod buffer_manager;
mod databases;
mod locks;
mod memory;
pub(crate) mod plans;
pub(crate) mod sessions;
mod transactions;

pub(crate) use access_methods::access_methods;
pub(crate) use buffer_manager::buffer_manager;
pub(crate) use databases::databases;
pub(crate) use locks::locks;
pub(crate) use memory::memory;
pub(crate) use transactions::transactions;

use crate::view::System;
use buffer::Pages;
use os::counters::{Counters, Event};
use std::sync::Arc;

/// The kind of a value, by Windows's number.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// PERF_COUNTER_LARGE_RAWCOUNT: the present value.
    Now = 65_792,
    /// PERF_COUNTER_BULK_COUNT: a count since the start. For a rate, read it twice.
    Total = 272_696_576,
    /// PERF_LARGE_RAW_FRACTION: the dividend of the base that follows.
    Part = 537_003_264,
    /// PERF_AVERAGE_BULK: divide its growth by that of the base that follows.
    Average = 1_073_874_176,
    /// PERF_LARGE_RAW_BASE
    Base = 1_073_939_712,
}

/// A counter of an object.
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    /// Empty if the object has no instances.
    pub(crate) instance: String,
    pub(crate) kind: Kind,
    pub(crate) value: u64,
}

/// A counter of an object without instances.
pub(crate) fn counter(name: &'static str, kind: Kind, value: u64) -> Counter {
    Counter { name, instance: String::new(), kind, value }
}

/// Counters of an instance of an object.
fn of_instance<const N: usize>(
    instance: &str,
    values: [(&'static str, Kind, u64); N],
) -> impl Iterator<Item = Counter> {
    let counter = |(name, kind, value)| Counter { name, instance: instance.into(), kind, value };
    values.map(counter).into_iter()
}

/// The name of the sum of all instances.
pub(crate) const TOTAL: &str = "_Total";

/// Whole kilobytes of bytes.
pub(crate) fn kb(bytes: u64) -> u64 {
    bytes / 1024
}

/// The pages of any open database: all databases share the pool.
fn any_pages(system: &System<'_>) -> Option<Arc<Pages>> {
    system.databases.all().first().map(|d| Arc::clone(d.pages()))
}

/// The instance's counts of some events.
fn events<const N: usize>(system: &System<'_>, wanted: [(&'static str, Event); N]) -> Vec<Counter> {
    let pages = any_pages(system);
    let counters: Option<&Counters> = pages.as_ref().map(|p| p.counters());
    let sum = |event| counters.map_or(0, |c| c.sum(event));
    wanted.map(|(name, event)| counter(name, Kind::Total, sum(event))).into()
}
