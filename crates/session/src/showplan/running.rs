//! Running statements as other sessions see them: sys.dm_exec_query_profiles and
//! dm_exec_query_statistics_xml. The rows of every statement are counted (`exec::Progress`); its
//! operators are timed only if the session asks for figures of its runs.
//!
//! Showing a statement costs a push onto a list of its session and a pop: two short locks.

use crate::program::steps::{PlaceId, Program, Step};
use crate::session::settings::Settings;
use crate::showplan::cached::step_offsets;
use crate::showplan::describe::{has_operators, ran_so_far, set_options, statement_of};
use crate::showplan::names::{PlanNames, Views};
use exec::{Executor, Progress};
use plan::PhysicalPlan;
use plancache::Entry;
use std::sync::Arc;

/// A statement that a session runs or ran.
pub struct RunningStatement {
    program: Arc<Entry<Program>>,
    plan: Arc<PhysicalPlan>,
    place: PlaceId,
    progress: Arc<Progress>,
    timed: bool,
}

impl std::fmt::Debug for RunningStatement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunningStatement({})", self.place)
    }
}

/// An operator of a running statement, as dm_exec_query_profiles shows it.
pub use showplan::Node as RunningNode;

impl RunningStatement {
    /// The visible part of a ready place; `None` if it has no operators.
    pub(crate) fn of(
        program: &Arc<Entry<Program>>,
        place: PlaceId,
        plan: &Arc<PhysicalPlan>,
        executor: &Executor,
    ) -> Option<Arc<RunningStatement>> {
        let running = || RunningStatement {
            program: Arc::clone(program),
            plan: Arc::clone(plan),
            place,
            progress: Arc::clone(executor.progress()),
            timed: executor.is_timed(),
        };
        has_operators(plan).then(running).map(Arc::new)
    }

    /// A run begins.
    pub(crate) fn begin(&self) {
        // Timing needs the start time.
        self.progress.set_began(if self.timed { os::clock::monotonic_ns() } else { 1 });
    }

    /// The run has ended.
    pub(crate) fn end(&self) {
        self.progress.set_began(0);
    }

    /// The program of the statement.
    pub fn program(&self) -> &Arc<Entry<Program>> {
        &self.program
    }

    /// When it began, by the monotonic clock, if its operators are timed.
    pub fn began_ns(&self) -> u64 {
        if self.timed { self.progress.began_ns() } else { 0 }
    }

    /// Its operators with the figures of each thread so far; empty if it has ended.
    pub fn nodes(&self, views: &dyn Views) -> Vec<RunningNode> {
        let program = &self.program.value;
        let names = PlanNames { views, temp: None, program };
        let ran = ran_so_far(&self.progress, self.timed);
        ran.map_or_else(Vec::new, |ran| showplan::nodes(&self.plan, &names, &ran))
    }

    /// The pages that it has read so far, and how many of them came from disk.
    pub(crate) fn pages(&self) -> (u64, u64) {
        let (mut logical, mut physical) = (0, 0);
        for thread in self.progress.now().unwrap_or_default() {
            for (_, reads) in thread.operator_reads() {
                for pages in [&reads.pages, &reads.lob] {
                    logical += pages.logical;
                    physical += pages.physical + pages.read_ahead;
                }
            }
        }
        (logical, physical)
    }

    /// Its plan with the figures so far, as a document; `None` if it has ended.
    pub fn document(&self, views: &dyn Views, build: &str) -> Option<String> {
        let ran = ran_so_far(&self.progress, self.timed)?;
        let program = &self.program.value;
        let statement = statement_of(program, self.step()?, &self.plan, ran);
        let names = PlanNames { views, temp: None, program };
        let options = set_options(Settings::switches_of(self.program.key().options));
        Some(showplan::xml(&[statement], &names, build, &options))
    }

    /// Its position in the text, as `statement_start_offset` and `statement_end_offset` show it.
    pub fn offsets(&self) -> Option<(i32, i32)> {
        self.step().map(|step| step_offsets(&self.program, step))
    }

    fn step(&self) -> Option<&Step> {
        self.program.value.steps.iter().find(|s| s.place() == Some(self.place))
    }
}
