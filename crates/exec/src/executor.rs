//! `Executor`: a plan that is ready to run, any number of times.
//!
//! It owns its operators, the frame and every buffer they reuse, so running it again allocates
//! nothing of its own. It serves one run at a time; sessions that share a plan have an executor
//! each. After a panic the caller drops it.

use crate::build::Builder;
use crate::change::Body;
use crate::exchange::{Branch, Crew, CrewLoan, Report, ThreadReservation};
use crate::expr::{Subplan, append};
use crate::memory::{Grant, GrantPool as _, GrantRow, Needs, RowBuffer, SharedGrant};
use crate::run::{
    ExecContext, FollowUp, Loan, OperatorCount, Outcome, Progress, RowFeed, RowSink, Run, Tallies,
    ThreadWork, WITHIN,
};
use access::{Hobt, Isolation, TableReads, Use};
use base::{DatabaseId, HobtId, SqlError, SqlResult, messages};
use os::wait::ThreadWaits;
use plan::{GrantHints, PhysicalPlan};
use std::sync::{Arc, Weak};
use types::Value;
use work::{PageReads, Work};

/// A plan ready to run.
pub struct Executor {
    body: Body,
    /// An expression over variables: nothing is read, counted or granted.
    bare: bool,
    subplans: Vec<Option<Box<Subplan>>>,
    follow_ups: Vec<Option<Box<dyn FollowUp>>>,
    changed_rows: Vec<Option<Box<RowBuffer>>>,
    frame: Vec<Value>,
    /// What the statement's own thread counts in.
    tallies: Arc<Tallies>,
    progress: Arc<Progress>,
    timed: bool,
    hobt_ids: Vec<(DatabaseId, HobtId)>,
    /// Empty between runs: a plan that waits in a cache keeps no hobt alive.
    hobts: Vec<Arc<dyn Hobt>>,
    /// The hobts of an earlier run. They are used again without a lookup while definitions have not
    /// changed.
    known: Vec<Weak<dyn Hobt>>,
    known_at: Option<u64>,
    /// What the plan does with each hobt.
    uses: Vec<(usize, Use)>,
    /// The hobt of each cursor.
    cursors: Vec<usize>,
    /// The operator of each cursor.
    cursor_nodes: Vec<usize>,
    /// What each cursor has read in the last run.
    cursor_reads: Vec<TableReads>,
    /// The hobt to which reads are charged that no cursor made.
    changed: Option<usize>,
    /// What the last run has read of each hobt.
    reads: Vec<TableReads>,
    needs: Needs,
    grant: GrantHints,
    /// The memory of the last run.
    memory: Option<GrantRow>,
    /// What workers run, where there are any.
    branches: Vec<Branch>,
    /// How many workers a branch has at most.
    workers_max: usize,
    /// What the workers did in the last run.
    crew: CrewWork,
}

/// What the workers of a run did.
#[derive(Default)]
struct CrewWork {
    /// How many workers each branch had; 0: there were none.
    degree: usize,
    threads: usize,
    /// By number, the statement's own first.
    by_thread: Vec<ThreadWork>,
    cpu_ns: u64,
    lock_requests: u64,
    waits: Option<Box<ThreadWaits>>,
}

impl Executor {
    /// Makes a plan ready.
    ///
    /// # Errors
    /// 191 when it nests too deeply; a feature that row mode does not have.
    pub fn new(plan: &PhysicalPlan) -> SqlResult<Executor> {
        Executor::of(plan, Builder::new(plan, false))
    }

    /// The same with operators that are timed, which costs two looks at the clock a row and
    /// operator.
    ///
    /// # Errors
    /// As [`Executor::new`].
    pub fn timed(plan: &PhysicalPlan) -> SqlResult<Executor> {
        Executor::of(plan, Builder::new(plan, true))
    }

    /// The same with scans in batch mode wherever a scan may be: same rows, same order.
    ///
    /// # Errors
    /// As [`Executor::new`].
    pub fn by_batches(plan: &PhysicalPlan) -> SqlResult<Executor> {
        let mut builder = Builder::new(plan, false);
        builder.by_batches = true;
        Executor::of(plan, builder)
    }

    fn of(plan: &PhysicalPlan, mut builder: Builder) -> SqlResult<Executor> {
        let body = builder.body(&plan.statement)?;
        let subplans = builder.subplans(plan)?;
        let follow_ups = builder.follow_ups(plan)?;
        let tallies = Tallies::new(builder.nodes, builder.cursors.len());
        let needs = Needs::of(plan, body.kept());
        let reads = !builder.hobts.is_empty() || !builder.branches.is_empty();
        let bare = matches!(body, Body::Scalar(_) | Body::Condition(_))
            && subplans.is_empty()
            && !reads
            && needs.operators == 0;
        Ok(Executor {
            progress: Progress::new(Arc::clone(&tallies), builder.cursor_nodes.clone()),
            tallies,
            timed: builder.timed,
            body,
            bare,
            subplans,
            follow_ups,
            changed_rows: builder.changed_rows,
            frame: vec![Value::Null; plan.slots as usize],
            reads: vec![TableReads::default(); builder.hobts.len()],
            hobt_ids: builder.hobts,
            uses: builder.uses,
            hobts: Vec::new(),
            known: Vec::new(),
            known_at: None,
            cursor_reads: vec![TableReads::default(); builder.cursors.len()],
            cursor_nodes: builder.cursor_nodes,
            cursors: builder.cursors,
            changed: builder.changed,
            needs,
            grant: plan.header.grant,
            memory: None,
            branches: builder.branches,
            workers_max: plan.header.workers,
            crew: CrewWork::default(),
        })
    }

    /// Runs a query, an assignment or a change. On an error the caller rolls back to its mark.
    ///
    /// # Errors
    /// What the statement meets.
    pub fn run(
        &mut self,
        context: &mut ExecContext<'_>,
        out: &mut dyn RowSink,
    ) -> SqlResult<Outcome> {
        self.with_run(context, |body, run| {
            body.run(run, out)?;
            Ok(run.outcome)
        })
    }

    /// Runs an INSERT of variables again for each row of a bulk load, as one statement.
    ///
    /// # Errors
    /// What the statement meets, or the client's.
    pub fn load(
        &mut self,
        context: &mut ExecContext<'_>,
        feed: &mut dyn RowFeed,
    ) -> SqlResult<Outcome> {
        self.with_run(context, |body, run| match body {
            Body::Insert(insert) => {
                insert.load(run, feed)?;
                Ok(run.outcome)
            }
            _ => Err(SqlError::new(messages::INTERNAL, &[&"a bulk load runs an INSERT"])),
        })
    }

    /// The value of a plan that is an expression.
    ///
    /// # Errors
    /// What evaluation meets.
    pub fn evaluate(&mut self, context: &mut ExecContext<'_>) -> SqlResult<Value> {
        self.with_run(context, |body, run| match body {
            Body::Scalar(x) => x.eval(run),
            _ => Err(SqlError::new(messages::INTERNAL, &[&"the plan is no expression"])),
        })
    }

    /// Gives a variable the value of a plan that is an expression.
    ///
    /// # Errors
    /// What evaluation meets.
    pub fn assign(&mut self, context: &mut ExecContext<'_>, variable: usize) -> SqlResult<()> {
        self.with_run(context, |body, run| match body {
            Body::Scalar(x) => append::assign(variable, x, run),
            _ => Err(SqlError::new(messages::INTERNAL, &[&"the plan is no expression"])),
        })
    }

    /// The truth of a plan that is a condition; `None` is unknown.
    ///
    /// # Errors
    /// What evaluation meets.
    pub fn decide(&mut self, context: &mut ExecContext<'_>) -> SqlResult<Option<bool>> {
        self.with_run(context, |body, run| match body {
            Body::Condition(p) => p.eval(run),
            _ => Err(SqlError::new(messages::INTERNAL, &[&"the plan is no condition"])),
        })
    }

    /// What each operator did in the last run, in preorder: the statement's tree, then those of
    /// its subqueries.
    pub fn counts(&self) -> Vec<OperatorCount> {
        let mut counts = self.tallies.counts();
        counts.drain(..=WITHIN);
        for thread in self.crew.by_thread.iter().skip(1) {
            counts.iter_mut().zip(thread.counts()).for_each(|(sum, of)| sum.add(of));
        }
        counts
    }

    /// Bytes that its operators spilled in the last run.
    pub fn spilled_bytes(&self) -> u64 {
        let workers = self.crew.by_thread.iter().skip(1).flat_map(ThreadWork::counts);
        self.tallies.spilled_bytes() + workers.map(|c| c.spilled_bytes).sum::<u64>()
    }

    /// Whether its operators are timed.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// The progress of its runs, for views.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// What workers waited for in the last run.
    pub fn workers_waits(&self) -> Option<&ThreadWaits> {
        self.crew.waits.as_deref()
    }

    /// What the last run has read, by heap or index; STATISTICS IO.
    pub fn reads(&self) -> impl Iterator<Item = (DatabaseId, HobtId, &TableReads)> {
        self.hobt_ids.iter().zip(&self.reads).map(|(&(d, h), reads)| (d, h, reads))
    }

    /// What the operators that read pages have read in the last run, by their place among
    /// [`Executor::counts`].
    pub fn operator_reads(&self) -> impl Iterator<Item = (usize, &TableReads)> {
        let places = self.cursor_nodes.iter().map(|node| node - WITHIN - 1);
        places.zip(&self.cursor_reads)
    }

    /// The memory of the last run, as it was at its end; `None` when it needed none.
    pub fn memory(&self) -> Option<&GrantRow> {
        self.memory.as_ref()
    }

    /// How many workers each branch had in the last run; 1 when the statement ran alone.
    pub fn degree(&self) -> usize {
        self.crew.degree.max(1)
    }

    /// How many threads the last run had beside its own.
    pub fn threads(&self) -> usize {
        self.crew.threads
    }

    /// Processor time of the workers in the last run.
    pub fn workers_cpu_ns(&self) -> u64 {
        self.crew.cpu_ns
    }

    /// Locks that the workers asked for in the last run.
    pub fn workers_lock_requests(&self) -> u64 {
        self.crew.lock_requests
    }

    /// What each thread did in the last run, the statement's own first; none when it ran alone.
    pub fn by_thread(&self) -> impl Iterator<Item = &ThreadWork> {
        self.crew.by_thread.iter()
    }

    fn with_run<R>(
        &mut self,
        context: &mut ExecContext<'_>,
        f: impl FnOnce(&mut Body, &mut Run<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        if self.bare {
            return self.run_bare(context, f);
        }
        assert!(self.hobts.is_empty(), "an executor serves one run at a time");
        self.tallies.clear();
        self.reads.fill(TableReads::default());
        self.cursor_reads.fill(TableReads::default());
        self.memory = None;
        self.crew = CrewWork::default();
        let reserved = self.reserve(context);
        let degree = reserved.as_ref().map_or(1, |r| r.degree);
        // The wait for memory comes first: nothing is held yet that other statements may want.
        let needs = Needs { degree, ..self.needs };
        let grant = Grant::ask(context.grant, needs, self.grant, context.work)?;
        let result = self.find_hobts(context).and_then(|()| {
            self.note_uses();
            match reserved {
                None => self.run_alone(context, grant, f),
                Some(reserved) => self.run_with_crew(context, grant, &reserved, f),
            }
        });
        self.frame.fill(Value::Null);
        self.hobts.clear();
        result
    }

    /// A run of a plan that needs only variables.
    fn run_bare<R>(
        &mut self,
        context: &mut ExecContext<'_>,
        f: impl FnOnce(&mut Body, &mut Run<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        debug_assert!(self.memory.is_none() && self.crew.degree == 0, "it never has any");
        let lent = Loan {
            hobts: &[],
            frame: &mut self.frame,
            subplans: &mut [],
            follow_ups: &mut [],
            changed: &mut [],
            counts: &self.tallies,
            grant: Grant::ask(context.grant, self.needs, self.grant, context.work)?,
            team: None,
        };
        let result = f(&mut self.body, &mut Run::new(context, lent));
        self.frame.fill(Value::Null);
        result
    }

    /// Reserves workers for a plan that can use some. The isolation level must keep no locks on
    /// rows that were read: such locks belong to one transaction and are taken by one thread.
    fn reserve<'w>(&self, context: &ExecContext<'w>) -> Option<ThreadReservation<'w>> {
        if self.branches.is_empty() || self.workers_max < 2 || os::sched::current().is_some() {
            return None;
        }
        match context.isolation {
            Isolation::ReadUncommitted | Isolation::ReadCommitted | Isolation::Snapshot => {}
            Isolation::RepeatableRead | Isolation::Serializable => return None,
        }
        let workers = context.grant.workers?;
        workers.reserve(context.work.session(), self.branches.len(), self.workers_max)
    }

    /// A run by the session's own thread.
    fn run_alone<R>(
        &mut self,
        context: &mut ExecContext<'_>,
        grant: Grant<'_>,
        f: impl FnOnce(&mut Body, &mut Run<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let lent = Loan {
            hobts: &self.hobts,
            frame: &mut self.frame,
            subplans: &mut self.subplans,
            follow_ups: &mut self.follow_ups,
            changed: &mut self.changed_rows,
            counts: &self.tallies,
            grant,
            team: None,
        };
        let before = all_read(context.work);
        let mut run = Run::new(context, lent);
        let result = f(&mut self.body, &mut run);
        let each = self.cursors.iter().zip(&mut self.cursor_reads).enumerate();
        note_reads(&mut run, each, before, &mut self.reads, self.changed);
        self.memory = run.memory();
        // Operators drop their rows before the grant goes to a statement that waits for the memory.
        close_all(&mut self.body, &mut run);
        result
    }

    /// A run with workers: all of them have ended when it returns.
    fn run_with_crew<R>(
        &mut self,
        context: &mut ExecContext<'_>,
        grant: Grant<'_>,
        reserved: &ThreadReservation<'_>,
        f: impl FnOnce(&mut Body, &mut Run<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let shared = SharedGrant::new(grant, reserved.degree);
        let lent_to_crew = CrewLoan {
            hobts: &self.hobts,
            resolver: context.hobts,
            spill: context.spill,
            branches: &self.branches,
            make_tree: &|branch| Builder::of_branch(branch).node(&branch.input),
            grant: &shared,
            variables: context.variables.to_vec(),
            now: context.facts.clock(),
            date_first: context.facts.fact(builtins::Fact::DateFirst)?,
            dialect: context.facts.dialect(),
            isolation: context.isolation,
            as_of: context.as_of,
            degree: reserved.degree,
            slots: self.frame.len(),
            cursors: self.cursors.len(),
            tallies: self.tallies_of_workers(reserved.degree),
        };
        let crew = Crew::new(lent_to_crew, context.work);
        let lent = Loan {
            hobts: &self.hobts,
            frame: &mut self.frame,
            subplans: &mut self.subplans,
            follow_ups: &mut self.follow_ups,
            changed: &mut self.changed_rows,
            counts: &self.tallies,
            grant: shared.of_worker(),
            team: Some(&crew),
        };
        let before = all_read(context.work);
        let mut run = Run::new(context, lent);
        let body = &mut self.body;
        let result = os::task::scope(|scope| {
            let _dismissed = Dismissal(&crew);
            crew.start(scope);
            f(body, &mut run)
        });
        let each = self.cursors.iter().zip(&mut self.cursor_reads).enumerate();
        note_reads(&mut run, each, before, &mut self.reads, self.changed);
        close_all(&mut self.body, &mut run);
        drop(run);
        self.memory = shared.row();
        if let Some(payload) = crew.stop.take_panic() {
            std::panic::resume_unwind(payload);
        }
        let reports = crew.into_reports();
        self.crew = CrewWork { degree: reserved.degree, ..CrewWork::default() };
        self.crew.threads = reserved.threads();
        self.note_reports(reports);
        self.progress.set_workers(Vec::new());
        result
    }

    /// Counters for each worker, shown in `progress`.
    fn tallies_of_workers(&self, degree: usize) -> Vec<Arc<Tallies>> {
        let (operators, cursors) = (self.tallies.operators(), self.tallies.cursors());
        let count = self.branches.len() * degree;
        let all: Vec<_> = (0..count).map(|_| Tallies::new(operators, cursors)).collect();
        let numbered = all.iter().enumerate().map(|(n, t)| (n % degree + 1, Arc::clone(t)));
        self.progress.set_workers(numbered.collect());
        all
    }

    /// Adds what workers did to what the statement did.
    fn note_reports(&mut self, reports: Vec<Report>) {
        let own = ThreadWork {
            counts: self.tallies.counts(),
            reads: self.cursor_reads.clone(),
            cursor_nodes: self.cursor_nodes.clone(),
        };
        let none = ThreadWork {
            counts: vec![OperatorCount::default(); own.counts.len()],
            reads: vec![TableReads::default(); own.reads.len()],
            cursor_nodes: own.cursor_nodes.clone(),
        };
        self.crew.by_thread = vec![none; self.crew.degree];
        self.crew.by_thread.insert(0, own);
        for report in reports {
            self.crew.cpu_ns += report.cpu_ns;
            self.crew.lock_requests += report.lock_requests;
            let thread = &mut self.crew.by_thread[report.thread];
            self.crew.waits.get_or_insert_default().add(&report.waits);
            thread.add_counts(&report.tallies);
            for (at, reads) in report.reads.iter().enumerate() {
                thread.reads[at].add(reads);
                self.cursor_reads[at].add(reads);
                self.reads[self.cursors[at]].add(reads);
            }
        }
    }

    /// Counts a run as one use by each operator, as of its begin, whatever its outcome.
    fn note_uses(&self) {
        if self.uses.is_empty() {
            return;
        }
        let now = os::clock::about_now();
        for &(hobt, how) in &self.uses {
            self.hobts[hobt].used(how, now);
        }
    }

    fn find_hobts(&mut self, context: &ExecContext<'_>) -> SqlResult<()> {
        let epoch = context.hobts.epoch();
        if epoch.is_some() && epoch == self.known_at {
            self.hobts.extend(self.known.iter().map_while(Weak::upgrade));
            if self.hobts.len() == self.hobt_ids.len() {
                return Ok(());
            }
            self.hobts.clear();
        }
        self.known_at = None;
        for &(database, hobt) in &self.hobt_ids {
            self.hobts.push(context.hobts.hobt(database, hobt)?);
        }
        self.known.clear();
        self.known.extend(self.hobts.iter().map(Arc::downgrade));
        self.known_at = epoch;
        Ok(())
    }
}

/// Dismisses the workers, also when the run panics.
struct Dismissal<'c, 'e>(&'c Crew<'e>);

impl Drop for Dismissal<'_, '_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// The run is over: operators drop what they keep.
fn close_all(body: &mut Body, run: &mut Run<'_>) {
    body.close();
    run.subplans.iter_mut().flatten().for_each(|s| s.reset());
    run.follow_ups.iter_mut().flatten().for_each(|f| f.close());
    run.changed.iter_mut().flatten().for_each(|rows| rows.drop_rows());
}

/// Pages that this thread has read so far, and versions that the unit of work has followed.
fn all_read(work: &Work) -> (PageReads, u64) {
    (work::page_reads(), work.tell_traversed())
}

/// Adds what each cursor has read to its hobt, and what else was read since `before` to the one
/// that was changed.
fn note_reads<'c>(
    run: &mut Run<'_>,
    cursors: impl Iterator<Item = (usize, (&'c usize, &'c mut TableReads))>,
    before: (PageReads, u64),
    to: &mut [TableReads],
    changed: Option<usize>,
) {
    let (pages, versions) = all_read(run.work);
    let (mut pages, mut versions) = (pages.since(before.0), versions - before.1);
    for (at, (&hobt, own)) in cursors {
        let Some(reads) = run.cursors.reads(at) else { continue };
        pages = pages.since(reads.pages).since(reads.lob);
        versions -= reads.versions;
        to[hobt].add(&reads);
        *own = reads;
    }
    if let Some(hobt) = changed {
        to[hobt].add(&TableReads { pages, versions, ..TableReads::default() });
    }
}

/// Makes a plan ready and runs it once.
///
/// # Errors
/// What the statement meets.
pub fn run(
    plan: &PhysicalPlan,
    context: &mut ExecContext<'_>,
    out: &mut dyn RowSink,
) -> SqlResult<Outcome> {
    Executor::new(plan)?.run(context, out)
}
