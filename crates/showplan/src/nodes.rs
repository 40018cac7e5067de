//! Operators of a statement that runs, one by one: sys.dm_exec_query_profiles.

use crate::columns::Columns;
use crate::names::Names;
use crate::statement::{Count, RunFigures};
use crate::tree::{Op, Tree};
use base::{DatabaseId, HobtId, ObjectId};
use plan::PhysicalPlan;

/// An operator, with what it did so far in each thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its number, from 0.
    pub id: u32,
    /// What does it.
    pub physical: &'static str,
    /// What was expected.
    pub estimate: plan::Estimate,
    /// What it reads or changes.
    pub object: Option<(DatabaseId, ObjectId, HobtId)>,
    /// By thread, the statement's own first.
    pub threads: Vec<Count>,
}

/// The operators of a plan in the order of their numbers.
pub fn nodes(plan: &PhysicalPlan, names: &dyn Names, ran: &RunFigures) -> Vec<Node> {
    let columns = Columns::of(plan, names);
    let tree = Tree::of(plan, &columns, Some(ran));
    let mut nodes = Vec::new();
    tree.root.iter().chain(tree.subqueries.iter().flatten()).for_each(|op| add(op, &mut nodes));
    nodes.sort_by_key(|n| n.id);
    nodes
}

fn add(op: &Op<'_>, nodes: &mut Vec<Node>) {
    let threads = match op.threads.is_empty() {
        true => op.count.into_iter().collect(),
        false => op.threads.clone(),
    };
    nodes.push(Node {
        id: op.id,
        physical: op.physical,
        estimate: op.estimate,
        object: op.object(),
        threads,
    });
    op.inputs.iter().for_each(|input| add(input, nodes));
}
