//! `SQLServer:Transactions`: open transactions, and the version store.

use super::{Counter, Kind, counter, kb};
use crate::view::System;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, SqlResult, TransactionId};
use std::sync::atomic::Ordering::Relaxed;

/// tempdb
const TEMPDB: DatabaseId = DatabaseId(2);

pub(crate) fn transactions(system: &System<'_>) -> SqlResult<Vec<Counter>> {
    let now = os::clock::now().0;
    let all = &system.engine.transactions;
    let mut open = all.open();
    // The engine's own transactions are not counted.
    open.retain(|o| o.session.is_user());
    let writes = |t: TransactionId| open.iter().any(|o| o.id == t && o.xsn.is_some());
    let users = system.engine.version_users();
    let of_users = users.iter().filter(|u| u.session.is_user());
    let snapshots: Vec<_> = of_users.filter(|u| u.moment.is_some()).collect();
    let updates = snapshots.iter().filter(|u| writes(u.transaction)).count();
    let writers = open.iter().filter(|o| o.xsn.is_some()).count();
    let versioned = open.iter().filter(|o| o.xsn.is_some() || o.reads_versions);
    let longest_ns = versioned.map(|o| now.saturating_sub(o.began_at)).max().unwrap_or(0).max(0);
    // The store in tempdb is there once tempdb is; the others are those of accelerated databases.
    let own = system.databases.all().into_iter().map(|d| d.home().version_usage());
    let stores: Vec<_> = own.chain(system.engine.version_usage()).collect();
    let (generated, cleaned) =
        (stores.iter().map(|s| s.generated).sum(), stores.iter().map(|s| s.cleaned).sum());
    let (pages, units) =
        (stores.iter().map(|s| s.pages).sum::<u64>(), stores.iter().map(|s| s.units).sum());
    let at = |name, value: u64| counter(name, Kind::Now, value);
    let page_kb = kb(PAGE_BYTES as u64);
    let mut counters = vec![
        at("Transactions", open.len() as u64),
        at("Snapshot Transactions", snapshots.len() as u64),
        at("Update Snapshot Transactions", updates as u64),
        at("NonSnapshot Version Transactions", writers.saturating_sub(updates) as u64),
        counter("Update conflict ratio", Kind::Part, all.update_conflicts.load(Relaxed)),
        counter("Update conflict ratio Base", Kind::Base, all.snapshot_updates.load(Relaxed)),
        at("Longest Transaction Running Time", longest_ns as u64 / 1_000_000_000),
        counter("Version Generation rate (KB/s)", Kind::Total, kb(generated)),
        counter("Version Cleanup rate (KB/s)", Kind::Total, kb(cleaned)),
        at("Version Store Size (KB)", pages * page_kb),
        at("Version Store unit count", units),
        // A unit a store, for as long as the store is there.
        at("Version Store unit creation", units),
        at("Version Store unit truncation", 0),
    ];
    if let Some(tempdb) = system.databases.get(TEMPDB) {
        let free = tempdb.space().free_pages();
        let free = free.map_err(|e| e.into_sql("", &tempdb.home().name()))?;
        counters.push(at("Free Space in tempdb (KB)", free * page_kb));
    }
    Ok(counters)
}
