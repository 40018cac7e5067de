//! Counts the runs of statements and programs: for their plans, for the session, and for the
//! calling programs.

use crate::program::steps::{LastRun, Place, PlaceId};
use crate::request::activation::{Activation, ReadyPlace};
use crate::request::meter::{Meter, Sums};
use crate::session::Session;
use crate::showplan::describe::has_operators;
use crate::showplan::ran::ran;
use base::limits::PAGE_BYTES;
use os::clock::monotonic_ns;
use plancache::Run;
use showplan::{ResourceUse, RunFigures};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Session {
    /// Begins to measure a run.
    #[inline]
    pub(crate) fn meter(&mut self) -> Meter {
        if self.state.settings.shows_what_ran() {
            self.spent.took.waited_before = Some(Box::new(os::wait::thread_waits()));
        }
        let clock_ns = monotonic_ns();
        let entry = &self.state.entry;
        // Saves a second reading of the wall clock.
        let since = clock_ns.saturating_sub(entry.request_began_ns.load(Relaxed));
        Meter {
            began_at: entry.request_began_at.load(Relaxed) + since as i64,
            clock_ns,
            cpu_ns: self.spent.processor.at(clock_ns),
            dirtied: work::pages_dirtied(),
            lock_requests: work::lock_requests(),
        }
    }

    /// A run of a place has succeeded. Counts it for its plan, and its pages for the session and
    /// for the calling programs.
    pub(crate) fn count_run(&mut self, act: &Activation, place: PlaceId, meter: &Meter, rows: u64) {
        let Some(ready) = act.ready[place].as_deref() else { return };
        let now = monotonic_ns();
        let mut run = reads(ready);
        run.elapsed_ns = now.saturating_sub(meter.clock_ns);
        run.cpu_ns = self.spent.processor.at(now).saturating_sub(meter.cpu_ns);
        let workers_ns = ready.executor.workers_cpu_ns();
        run.cpu_ns += workers_ns;
        run.degree = ready.executor.degree() as u64;
        run.threads = ready.executor.threads() as u64;
        run.logical_writes = work::pages_dirtied().saturating_sub(meter.dirtied);
        let workers_locks = ready.executor.workers_lock_requests();
        run.lock_requests = work::lock_requests() - meter.lock_requests + workers_locks;
        run.rows = rows;
        if let Some(memory) = ready.executor.memory() {
            run.spilled_pages = ready.executor.spilled_bytes().div_ceil(PAGE_BYTES as u64);
            run.grant_bytes = memory.granted_bytes.unwrap_or(0) as u64;
            run.used_grant_bytes = memory.max_used_bytes as u64;
            run.ideal_grant_bytes = memory.ideal_bytes as u64;
        }
        let began = (meter.began_at, meter.clock_ns);
        self.count(&act.program, Some(place), began, &run);
        let place = &act.program.value.places[place];
        self.spent.run.add(&run, workers_ns, workers_locks);
        let after_qualification = self.spent.took.qualified.take();
        self.spent.took.last = ResourceUse { after_qualification, ..took(&run) };
        if ready.keeps_last {
            keep_last(place, ready, &run, self.spent.took.last);
        }
        // No other thread writes these counters, so no atomic addition is needed.
        let entry = &self.state.entry;
        if workers_ns > 0 {
            entry.cpu_ns.fetch_add(workers_ns, Relaxed);
        }
        entry.reads.store(entry.reads.load(Relaxed) + run.physical_reads, Relaxed);
        entry.logical_reads.store(entry.logical_reads.load(Relaxed) + run.logical_reads, Relaxed);
        entry.writes.store(entry.writes.load(Relaxed) + run.logical_writes, Relaxed);
    }

    /// Counts the work of an index build's workers, for the session and for the calling programs.
    pub(crate) fn count_makers(&mut self, did: exec::MakersWork) {
        self.spent.run.add(&Run::default(), did.cpu_ns, did.lock_requests);
        if did.cpu_ns > 0 {
            self.state.entry.cpu_ns.fetch_add(did.cpu_ns, Relaxed);
        }
    }

    /// Counts a run of a whole program that began with this meter and these sums.
    pub(crate) fn count_program(&mut self, act: &Activation, meter: &Meter, before: &Sums) {
        let now = monotonic_ns();
        let sums = &self.spent.run;
        let run = Run {
            elapsed_ns: now.saturating_sub(meter.clock_ns),
            cpu_ns: self.spent.processor.at(now).saturating_sub(meter.cpu_ns)
                + (sums.workers_ns - before.workers_ns),
            logical_writes: work::pages_dirtied().saturating_sub(meter.dirtied),
            logical_reads: sums.logical_reads - before.logical_reads,
            physical_reads: sums.physical_reads - before.physical_reads,
            spilled_pages: sums.spilled_pages - before.spilled_pages,
            rows: sums.rows - before.rows,
            ghosts_skipped: sums.ghosts_skipped - before.ghosts_skipped,
            versions_traversed: sums.versions_traversed - before.versions_traversed,
            lock_requests: work::lock_requests() - meter.lock_requests
                + (sums.workers_locks - before.workers_locks),
            ..Run::default()
        };
        self.count(&act.program, None, (meter.began_at, meter.clock_ns), &run);
    }
}

/// Keeps the figures of a run for sys.dm_exec_query_plan_stats.
#[cold]
pub(crate) fn keep_last(place: &Place, ready: &ReadyPlace, run: &Run, took: ResourceUse) {
    if has_operators(&ready.plan) {
        let ran = RunFigures { took: Some(took), ..ran(ready, run.rows) };
        *place.last.lock() = Some(Box::new(LastRun { plan: Arc::clone(&ready.plan), ran }));
    }
}

pub(crate) fn took(run: &Run) -> ResourceUse {
    ResourceUse {
        cpu_ns: run.cpu_ns,
        elapsed_ns: run.elapsed_ns,
        lock_requests: run.lock_requests,
        after_qualification: None,
    }
}

/// The reads of an executor's last run.
pub(crate) fn reads(ready: &ReadyPlace) -> Run {
    let mut run = Run::default();
    for (_, _, reads) in ready.executor.reads() {
        for pages in [&reads.pages, &reads.lob] {
            run.logical_reads += pages.logical;
            run.physical_reads += pages.physical + pages.read_ahead;
        }
        run.ghosts_skipped += reads.ghosts;
        run.versions_traversed += reads.versions;
    }
    run
}
