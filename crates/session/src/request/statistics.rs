//! SET STATISTICS IO and TIME: messages after a statement's rows that report its reads and its
//! time.

use crate::answer::output::Output;
use crate::request::activation::ReadyPlace;
use crate::session::Session;
use crate::session::state::State;
use access::TableReads;
use base::{DatabaseId, HobtId, SqlError, messages};
use plan::PhysicalPlan;
use std::time::Duration;

/// The start time of something: by the clock, and by the thread's processor clock.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch {
    clock_ns: u64,
    cpu_ns: u64,
}

impl Stopwatch {
    pub(crate) fn now() -> Stopwatch {
        Stopwatch { clock_ns: os::clock::monotonic_ns(), cpu_ns: os::clock::thread_cpu_ns() }
    }

    /// Milliseconds since then: of the thread and its workers, and by the clock.
    fn passed_ms(self, workers: Duration) -> (u128, u128) {
        let now = Stopwatch::now();
        let passed = |from, to: u64| Duration::from_nanos(to.saturating_sub(from));
        let cpu = passed(self.cpu_ns, now.cpu_ns) + workers;
        (cpu.as_millis(), passed(self.clock_ns, now.clock_ns).as_millis())
    }
}

impl Session {
    /// Reports how long a text took to compile.
    pub(crate) fn tell_compile_time(&self, began: Option<Stopwatch>, out: &mut Output<'_>) {
        if let Some(began) = began {
            let (cpu, elapsed) = began.passed_ms(Duration::ZERO);
            out.message(&SqlError::new(messages::STATISTICS_COMPILE, &[&cpu, &elapsed]));
        }
    }

    /// Reports of a statement's run what the session's settings ask for.
    pub(crate) fn tell_statistics(
        &self,
        ready: &ReadyPlace,
        began: Option<Stopwatch>,
        out: &mut Output<'_>,
    ) {
        if self.state.settings.statistics_io {
            for (table, reads) in by_table(ready) {
                out.message(&io_message(&table, &reads));
            }
            self.tell_met(ready, out);
        }
        if let Some(began) = began {
            let workers = Duration::from_nanos(ready.executor.workers_cpu_ns());
            let (cpu, elapsed) = began.passed_ms(workers);
            out.message(&SqlError::new(messages::STATISTICS_TIME, &[&cpu, &elapsed]));
        }
    }

    /// Reports ghosts, versions and lock requests of the whole statement, on a line of our own
    /// behind those of tables. Locks are counted by thread, not by table, so that a request costs
    /// no more. And a table's line keeps the form that tools expect.
    fn tell_met(&self, ready: &ReadyPlace, out: &mut Output<'_>) {
        let of_all = |of: fn(&TableReads) -> u64| -> u64 {
            ready.executor.reads().map(|(.., reads)| of(reads)).sum()
        };
        let (ghosts, versions) = (of_all(|r| r.ghosts), of_all(|r| r.versions));
        let locks = self.spent.took.last.lock_requests;
        if [ghosts, versions, locks] != [0; 3] {
            let met = SqlError::new(messages::STATISTICS_STATEMENT, &[&ghosts, &versions, &locks]);
            out.message(&met);
        }
    }
}

impl State {
    /// The present time, if the session reports how long the following step takes.
    pub(crate) fn began(&self) -> Option<Stopwatch> {
        self.settings.statistics_time.then(Stopwatch::now)
    }
}

/// The line of one table.
fn io_message(table: &str, reads: &TableReads) -> SqlError {
    let (pages, lob) = (&reads.pages, &reads.lob);
    // Our own figures come last, and only if there are any.
    let of_our_own = match (reads.ghosts, reads.versions) {
        (0, 0) => String::new(),
        (g, v) => format!(", ghost records skipped {g}, versions traversed {v}"),
    };
    SqlError::new(
        messages::STATISTICS_IO,
        &[
            &table,
            &reads.scans,
            &pages.logical,
            &pages.physical,
            &pages.read_ahead,
            &lob.logical,
            &lob.physical,
            &lob.read_ahead,
            &of_our_own,
        ],
    )
}

/// The reads of each table, with those of its indexes, in the order of the plan.
fn by_table(ready: &ReadyPlace) -> Vec<(String, TableReads)> {
    let names = names(&ready.plan);
    let mut tables: Vec<(String, TableReads)> = Vec::new();
    for (database, hobt, reads) in ready.executor.reads() {
        let Some((.., name)) = names.iter().find(|n| (n.0, n.1) == (database, hobt)) else {
            continue;
        };
        match tables.iter_mut().find(|(table, _)| table == name) {
            Some((_, sum)) => sum.add(reads),
            None => tables.push((name.to_string(), *reads)),
        }
    }
    tables
}

/// The table of each heap and index of a plan.
fn names(plan: &PhysicalPlan) -> Vec<(DatabaseId, HobtId, &str)> {
    let mut names = Vec::new();
    for tree in plan.statement.source().into_iter().chain(plan.subqueries.iter().map(|s| &s.source))
    {
        tree.for_each(&mut |node| {
            let Some(source) = node.describe().stored().map(|rows| rows.source) else { return };
            let table = source.table.split_once('.').map_or(&*source.table, |(_, table)| table);
            names.push((source.database, source.hobt, table));
        });
    }
    if let Some(target) = plan.statement.target() {
        let index = |i: &plan::IndexTarget| (target.database, i.hobt, &*target.table_name);
        names.extend(target.indexes.iter().map(index));
    }
    names
}
