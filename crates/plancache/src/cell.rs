//! The newest plan of one statement, and what its runs took.

use crate::statistics::{ExecutionCounts, Run, Statistics};
use os::sync::RwLock;
use plan::{Header, PhysicalPlan};
use std::sync::Arc;

/// Where a statement keeps its newest plan for all sessions that run it, and what is counted of
/// that plan's runs.
#[derive(Debug, Default)]
pub struct PlanCell {
    kept: RwLock<Option<CachedPlan>>,
    statistics: Statistics,
}

#[derive(Debug)]
struct CachedPlan {
    plan: Arc<PhysicalPlan>,
    shared: bool,
    made_at: i64,
    generation: u64,
}

/// A statement's newest plan, as views show it.
#[derive(Clone, Debug)]
pub struct ShownPlan {
    /// The plan; of a statement that is compiled for each session or run, the last one.
    pub plan: Arc<PhysicalPlan>,
    /// The wall time of its compilation.
    pub made_at: i64,
    /// How many plans the statement had, with this one.
    pub generation: u64,
    /// What was counted of it; `None` when it never ran to its end.
    pub counted: Option<ExecutionCounts>,
}

impl PlanCell {
    /// The plan, when there is one that others may use and it is found current.
    pub fn get(&self, is_current: impl FnOnce(&Header) -> bool) -> Option<Arc<PhysicalPlan>> {
        let held = self.kept.read().as_ref().filter(|k| k.shared).map(|k| Arc::clone(&k.plan));
        held.filter(|plan| is_current(&plan.header))
    }

    /// Keeps a plan, and says whether it does. One that is not for others, serves one session, or
    /// wants to be made each time, is kept only to be shown, and not in the place of a better one.
    pub fn keep(&self, plan: &Arc<PhysicalPlan>, shared: bool) -> bool {
        let header = &plan.header;
        let shared = shared && !header.session_bound && !header.recompile;
        let mut held = self.kept.write();
        let same = held.as_ref().is_some_and(|k| Arc::ptr_eq(&k.plan, plan));
        if same || !shared && !header.recompile && held.as_ref().is_some_and(|k| k.shared) {
            return false;
        }
        // What each session makes for itself counts as one plan: its tables have other ids, its
        // shape is the same.
        let goes_on = !shared && !header.recompile;
        let (generation, made_at) = match &*held {
            Some(k) if goes_on => (k.generation, k.made_at),
            Some(k) => (k.generation + 1, os::clock::now().0),
            None => (1, os::clock::now().0),
        };
        if !goes_on {
            self.statistics.forget();
        }
        *held = Some(CachedPlan { plan: Arc::clone(plan), shared, made_at, generation });
        true
    }

    /// Counts a run of the newest plan that began at a wall time.
    pub fn count(&self, began_at: i64, run: &Run) {
        self.statistics.add(began_at, run);
    }

    /// The newest plan as views show it.
    pub fn shown(&self) -> Option<ShownPlan> {
        let held = self.kept.read();
        let k = held.as_ref()?;
        Some(ShownPlan {
            plan: Arc::clone(&k.plan),
            made_at: k.made_at,
            generation: k.generation,
            counted: self.statistics.counted(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Plan, Predicate, Statement};

    fn plan(header: Header) -> Arc<PhysicalPlan> {
        Arc::new(Plan {
            statement: Statement::Condition(Predicate::Constant(Some(true))),
            subqueries: Vec::new(),
            follow_ups: Vec::new(),
            slots: 0,
            header,
            estimates: Vec::new(),
        })
    }

    #[test]
    fn a_plan_is_given_while_it_is_current() {
        let cell = PlanCell::default();
        assert!(cell.get(|_| true).is_none());
        cell.keep(&plan(Header::default()), true);
        assert!(cell.get(|_| true).is_some());
        assert!(cell.get(|_| false).is_none());
    }

    #[test]
    fn plans_of_one_session_and_plans_to_be_remade_are_shown_and_not_shared() {
        let cell = PlanCell::default();
        for header in [
            Header { session_bound: true, ..Header::default() },
            Header { recompile: true, ..Header::default() },
        ] {
            cell.keep(&plan(header), true);
            assert!(cell.get(|_| true).is_none());
            assert!(cell.shown().is_some());
        }
    }

    #[test]
    fn another_plan_begins_to_count_anew() {
        let cell = PlanCell::default();
        let first = plan(Header::default());
        assert!(cell.keep(&first, true));
        cell.count(1, &Run::default());
        assert!(!cell.keep(&first, true), "the same");
        let shown = cell.shown().unwrap();
        assert_eq!((shown.generation, shown.counted.unwrap().executions), (1, 1));
        assert!(cell.keep(&plan(Header::default()), true));
        let shown = cell.shown().unwrap();
        assert_eq!((shown.generation, shown.counted), (2, None));
        assert!(!cell.keep(&plan(Header::default()), false), "not instead of one for all");
    }

    #[test]
    fn plans_that_each_session_makes_for_itself_count_as_one() {
        let cell = PlanCell::default();
        let own = Header { session_bound: true, ..Header::default() };
        cell.keep(&plan(own.clone()), true);
        cell.count(1, &Run::default());
        cell.keep(&plan(own), true);
        let shown = cell.shown().unwrap();
        assert_eq!((shown.generation, shown.counted.unwrap().executions), (1, 1));
    }
}
