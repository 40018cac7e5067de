//! The newest plan of one statement, and whether a plan is still good.

use base::DatabaseId;
use os::sync::RwLock;
use plan::{Header, PhysicalPlan};
use std::sync::Arc;

/// Whether every database still has the version that the plan's names were resolved in.
pub fn is_current(header: &Header, version: impl Fn(DatabaseId) -> Option<u64>) -> bool {
    header.databases.iter().all(|&(database, bound_in)| version(database) == Some(bound_in))
}

/// Where a statement keeps its newest plan for all sessions that run it.
#[derive(Debug, Default)]
pub struct PlanCell(RwLock<Option<Arc<PhysicalPlan>>>);

impl PlanCell {
    /// The plan, when there is one and it is current.
    pub fn get(&self, version: impl Fn(DatabaseId) -> Option<u64>) -> Option<Arc<PhysicalPlan>> {
        let held = self.0.read();
        held.as_ref().filter(|p| is_current(&p.header, version)).cloned()
    }

    /// Keeps a plan, unless it serves one session only or wants to be made each time.
    pub fn keep(&self, plan: &Arc<PhysicalPlan>) {
        if !plan.header.session_bound && !plan.header.recompile {
            *self.0.write() = Some(Arc::clone(plan));
        }
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
    fn a_plan_is_good_until_one_of_its_databases_moves() {
        let databases = vec![(DatabaseId(5), 7), (DatabaseId(6), 1)];
        let cell = PlanCell::default();
        cell.keep(&plan(Header { databases, ..Header::default() }));
        let version = |seven| move |d: DatabaseId| Some(if d.0 == 5 { seven } else { 1 });
        assert!(cell.get(version(7)).is_some());
        assert!(cell.get(version(8)).is_none());
        assert!(cell.get(|_| None).is_none(), "a dropped database has no version");
    }

    #[test]
    fn plans_of_one_session_and_plans_to_be_remade_are_not_shared() {
        let cell = PlanCell::default();
        cell.keep(&plan(Header { session_bound: true, ..Header::default() }));
        cell.keep(&plan(Header { recompile: true, ..Header::default() }));
        assert!(cell.get(|_| Some(0)).is_none());
    }
}
