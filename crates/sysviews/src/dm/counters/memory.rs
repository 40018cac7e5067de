//! `SQLServer:Memory Manager`: reserved memory by consumer, and waits for memory.

use super::{Counter, Kind, any_pages, counter, kb};
use crate::view::System;
use base::limits::PAGE_BYTES;

pub(crate) fn memory(system: &System<'_>) -> Vec<Counter> {
    let now = |name, value: u64| counter(name, Kind::Now, value);
    let semaphores = system.semaphores.semaphores();
    let sum =
        |of: fn(&exec::SemaphoreRow) -> usize| semaphores.iter().map(of).sum::<usize>() as u64;
    let cached = any_pages(system)
        .map_or(0, |pages| (pages.pool().frame_count() - pages.pool().free_count()) * PAGE_BYTES);
    vec![
        now("Database Cache Memory (KB)", kb(cached as u64)),
        now("Granted Workspace Memory (KB)", kb(sum(|s| s.granted_bytes))),
        now("Lock Memory (KB)", kb(system.engine.locks.counters().memory_bytes)),
        now("Maximum Workspace Memory (KB)", kb(sum(|s| s.target_bytes))),
        now("Memory Grants Outstanding", sum(|s| s.grantee_count)),
        now("Memory Grants Pending", sum(|s| s.waiter_count)),
        now("Target Server Memory (KB)", kb(system.memory.limit_bytes() as u64)),
        now("Total Server Memory (KB)", kb(system.memory.reserved_bytes() as u64)),
    ]
}
