//! The clockwork of the process: deadlock monitor, lazy writer, ghost cleaner, statistics.

use crate::instance::Instance;
use crate::store_watch::StoreWatch;
use base::{DatabaseId, PageId};
use lock::{Deadlock, DeadlockWitness};
use os::clock::monotonic_ns;
use os::wait::{WaitKind, Waiter, Wake};
use session::Definitions;
use std::collections::BTreeMap;
use std::sync::Arc;
use sysviews::Surroundings;
use version::VersionStore as _;
use work::{Engine, TraceFlag};

/// How often the lazy writer looks for free frames.
const LAZY_WRITER_NS: u64 = 20_000_000;

/// How often the ghost cleaner looks whether pages are noted, and for versions that everybody has
/// left behind.
const GHOST_CLEANER_NS: u64 = 1_000_000_000;
/// Pages of the version store of a step.
const VERSION_PAGES: usize = 64;
/// How often it is looked whether statistics are to be updated in the background.
const STATISTICS_NS: u64 = 500_000_000;
/// Pages of a step; between steps databases may be dropped and others run.
const GHOST_PAGES: usize = 32;

/// Writes deadlocks to the error log, and keeps a report of each for `system_health`. Trace flags
/// 1204 and 1222 bring the report into the log, too: SQL Server's texts differ, their facts do not.
struct Witness(Arc<Instance>);

impl DeadlockWitness for Witness {
    fn saw(&self, deadlock: &Deadlock) {
        let victim = deadlock.members.get(deadlock.victim).map(|m| m.session.0);
        let line = format!(
            "Deadlock of {} processes; process {} is the victim.",
            deadlock.members.len(),
            victim.unwrap_or(0)
        );
        self.0.write_log("spid6s", &line);
        // It asks sessions and definitions as views do: nothing here waits for a lock.
        let instance: &Instance = &self.0;
        let report = instance.events.deadlock(
            deadlock,
            &Surroundings {
                engine: instance.engine(),
                sessions: &instance.registry,
                view: &|session, database| Definitions::view(instance, session, database),
            },
        );
        let flags = &instance.engine().trace_flags;
        if flags.is_on(TraceFlag::DeadlockReport) || flags.is_on(TraceFlag::DeadlockResources) {
            instance.log.report("spid6s", &report);
        }
    }
}

impl Instance {
    pub(crate) fn start_workers(&self) {
        let mut workers = self.workers.lock();
        let instance = self.arc();
        let stopping = Arc::clone(&self.stopping);
        workers.push(os::task::spawn_background("lazy writer", move || {
            let pool = Arc::clone(&instance.env.pool);
            drop(instance);
            while pause(&stopping, WaitKind::LazyWriterSleep, LAZY_WRITER_NS) {
                pool.lazy_write();
            }
        }));
        let me = std::sync::Weak::clone(&self.me);
        let stopping = Arc::clone(&self.stopping);
        workers.push(os::task::spawn_background("ghost cleaner", move || {
            let (mut places, mut watch) = (GhostPlaces::new(), StoreWatch::new());
            while pause(&stopping, WaitKind::SleepTask, GHOST_CLEANER_NS) {
                let Some(instance) = me.upgrade() else { return };
                instance.clean_ghosts(&mut places);
                instance.sweep_graves();
                clean_versions(instance.engine(), &instance.stopping);
                instance.watch_stores(&mut watch);
            }
        }));
        let me = std::sync::Weak::clone(&self.me);
        let stopping = Arc::clone(&self.stopping);
        workers.push(os::task::spawn_background("statistics", move || {
            while pause(&stopping, WaitKind::SleepTask, STATISTICS_NS) {
                let Some(instance) = me.upgrade() else { return };
                instance.gather_later();
            }
        }));
        let instance = self.arc();
        let stopping = Arc::clone(&self.stopping);
        let wanted = Arc::clone(&self.search_wanted);
        let ring = Arc::clone(&wanted);
        self.engine().locks.on_deadlock_search_wanted(Box::new(move || ring.signal()));
        workers.push(os::task::spawn("deadlock monitor", move || {
            let locks = Arc::clone(&instance.engine().locks);
            let witness = Witness(Arc::clone(&instance));
            let mut next_ms = 100;
            while stopping.check().is_ok() {
                let until = monotonic_ns() + next_ms.min(100) * 1_000_000;
                let _ = wanted.wait(WaitKind::RequestForDeadlockSearch, Some(until));
                next_ms = locks.deadlock_step(&witness).next_in_ms;
                // A circle may go through the memory of queries.
                instance.semaphores.relieve(|| {
                    let waits = locks.waits().into_iter();
                    waits.filter_map(|w| Some((w.session, w.blocker?.session))).collect()
                });
            }
        }));
    }
}

/// Where the ghost cleaner goes on, by database: pages that others hold do not keep it from the
/// rest.
pub(crate) type GhostPlaces = BTreeMap<DatabaseId, PageId>;

impl Instance {
    /// Looks at the pages that are noted, database by database, in small steps. Where a whole step
    /// is in others' hands the rest waits for the next time, which begins behind it. While trace
    /// flag 661 is on no step begins; what is noted stays noted.
    pub(crate) fn clean_ghosts(&self, places: &mut GhostPlaces) {
        let ids: Vec<_> = self.databases.read().keys().copied().collect();
        places.retain(|id, _| ids.contains(id));
        for id in ids {
            while self.stopping.check().is_ok() {
                let _one = self.cleaning.lock();
                // Asked again at each step: a long run ends soon after the flag was turned on.
                if self.engine().trace_flags.is_on(TraceFlag::GhostCleanerOff) {
                    return;
                }
                let Some(database) = self.database(id) else { break };
                // What cannot be cleaned now is met again by a reader, and is only space.
                let Ok(step) = database.clean_ghosts(places.get(&id).copied(), GHOST_PAGES) else {
                    break;
                };
                match step.last {
                    Some(last) => drop(places.insert(id, last)),
                    None => drop(places.remove(&id)),
                }
                if step.last.is_none() || step.busy == step.pages {
                    break;
                }
            }
        }
    }
}

impl Instance {
    /// Removes ghosts off their pages that no snapshot needs any more.
    pub(crate) fn sweep_graves(&self) {
        let open: Vec<_> = self.databases.read().keys().copied().collect();
        for database in open.into_iter().filter_map(|id| self.database(id)) {
            database.home().graveyards().sweep(self.engine());
        }
    }
}

/// Ends what everybody has left behind: numbers of transactions, and versions.
fn clean_versions(engine: &Engine, stopping: &Waiter) {
    let transactions = &engine.transactions;
    let (commits, snapshots) = (&transactions.commits, &transactions.snapshots);
    if !engine.has_versions() {
        return;
    }
    commits.collapse(|| transactions.points());
    let horizon = snapshots.store_horizon(commits);
    let is_past = |superseder| commits.is_past(superseder, horizon);
    let mut from = Some(0);
    while let Some(at) = from
        && stopping.check().is_ok()
    {
        // What cannot be cleaned now is tried again, and is only space.
        let step = engine.shared_store().reclaim(at, VERSION_PAGES, &is_past);
        from = step.ok().and_then(|step| step.next);
    }
}

/// Waits a while; false when the instance stops.
fn pause(stopping: &Waiter, kind: WaitKind, ns: u64) -> bool {
    !matches!(stopping.wait(kind, Some(monotonic_ns() + ns)), Wake::Cancelled(_))
}
