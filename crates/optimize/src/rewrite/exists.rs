//! EXISTS beside other conditions becomes a join with groups.
//!
//! ```text
//!   t.x = 1 OR EXISTS (SELECT * FROM u WHERE u.a = t.a)
//!
//!   t LEFT JOIN (SELECT u.a FROM u GROUP BY u.a) ON u.a = t.a    t.x = 1 OR u.a IS NOT NULL
//! ```
//! A condition that must hold by itself is a semi join, which is searched with the other joins; in
//! an OR, a NOT or a CASE a row may be wanted without a partner. A partner's key is not NULL, since
//! it equals something, and groups have each key once: so no row comes twice.
//!
//! It is done under the same conditions as for aggregates (`scalars`): all that ties the subquery
//! to the row outside are equalities. Whether it pays depends on how many rows ask: the caller
//! compares both plans.

use super::scalars::{JOINED_MAX, Joins, SubqueryParts, beside, uses};
use crate::node::Reader;
use crate::order::without_effect;
use plan::{Logical, LogicalPlan, Predicate, Scalar, ScalarKind, SubqueryId};
use std::collections::BTreeSet;

/// The plan with such joins, and the subqueries that no expression runs there; none where there
/// are none.
pub(crate) fn with_joined_exists(
    plan: &LogicalPlan,
) -> Option<(LogicalPlan, BTreeSet<SubqueryId>)> {
    let many = plan.subqueries.len() > JOINED_MAX;
    if many || plan.subqueries.iter().all(|s| s.outer.is_empty()) || !has_some(plan) {
        return None;
    }
    let mut plan = plan.clone();
    let mut joins = Joins { uses: uses(&plan), slots: plan.slots, joined: BTreeSet::new() };
    for n in 0..plan.subqueries.len() {
        let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let mut source = std::mem::replace(&mut plan.subqueries[n].source, nothing);
        join_in(&mut joins, &mut source, &plan);
        plan.subqueries[n].source = source;
    }
    let mut statement = plan.statement.clone();
    if let Some(source) = statement.source_mut() {
        join_in(&mut joins, source, &plan);
    }
    plan.statement = statement;
    plan.slots = joins.slots;
    (!joins.joined.is_empty()).then_some((plan, joins.joined))
}

fn has_some(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let trees = plan.statement.source().into_iter();
    for tree in trees.chain(plan.subqueries.iter().map(|s| &s.source)) {
        tree.for_each(&mut |node| {
            found |= match node {
                Logical::Filter { predicate, .. } => !beside_others(predicate).is_empty(),
                Logical::Compute { columns, .. } => {
                    columns.iter().any(|(_, x)| !within_scalar(x).is_empty())
                }
                _ => false,
            };
        });
    }
    found
}

fn join_in(joins: &mut Joins, tree: &mut Logical, plan: &LogicalPlan) {
    tree.for_each_mut(&mut |node| match node {
        Logical::Filter { input, predicate } => {
            for id in beside_others(predicate) {
                if let Some(found) = join(joins, id, input, plan) {
                    replace(predicate, id, &found);
                }
            }
        }
        Logical::Compute { input, columns } => {
            for (_, x) in columns {
                for id in within_scalar(x) {
                    if let Some(found) = join(joins, id, input, plan) {
                        replace_within(x, id, &found);
                    }
                }
            }
        }
        _ => {}
    });
}

/// Joins groups with the relation for whose rows the subquery is run; what tells a partner.
fn join(
    joins: &mut Joins,
    id: SubqueryId,
    input: &mut Logical,
    plan: &LogicalPlan,
) -> Option<Predicate> {
    let subqueries = &plan.subqueries;
    let outer = joins.outer_of(id, input, subqueries)?;
    let source = without_effect(&subqueries.get(id.0 as usize)?.source, true);
    let SubqueryParts { groups, on, value } = joins.keyed(source, &outer, Reader { subqueries })?;
    beside(input, groups, on);
    joins.joined.insert(id);
    Some(Predicate::Not(Box::new(Predicate::IsNull(Box::new(value)))))
}

/// The EXISTS of a condition that are no conditions by themselves.
fn beside_others(p: &Predicate) -> BTreeSet<SubqueryId> {
    let mut found = BTreeSet::new();
    match p {
        Predicate::Exists(_) => {}
        Predicate::Not(inner) if matches!(&**inner, Predicate::Exists(_)) => {}
        Predicate::And(parts) => parts.iter().for_each(|p| found.extend(beside_others(p))),
        other => collect(other, &mut found),
    }
    found
}

fn collect(p: &Predicate, found: &mut BTreeSet<SubqueryId>) {
    direct(p, found);
    if !p.reads().subqueries.is_empty() {
        p.clone().rewrite(&mut |x| found.extend(of_case(x)));
    }
}

fn within_scalar(x: &Scalar) -> BTreeSet<SubqueryId> {
    let mut found = BTreeSet::new();
    if !x.reads().subqueries.is_empty() {
        x.clone().rewrite(&mut |x| found.extend(of_case(x)));
    }
    found
}

fn of_case(x: &Scalar) -> BTreeSet<SubqueryId> {
    let mut found = BTreeSet::new();
    if let ScalarKind::Case { branches, .. } = &x.kind {
        branches.iter().for_each(|(when, _)| direct(when, &mut found));
    }
    found
}

/// Those of a condition, without what its scalars have.
fn direct(p: &Predicate, found: &mut BTreeSet<SubqueryId>) {
    match p {
        Predicate::Exists(id) => {
            found.insert(*id);
        }
        Predicate::Not(p) | Predicate::Let { body: p, .. } => direct(p, found),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|p| direct(p, found)),
        _ => {}
    }
}

fn replace(p: &mut Predicate, id: SubqueryId, found: &Predicate) {
    replace_direct(p, id, found);
    p.rewrite(&mut |x| replace_in_case(x, id, found));
}

fn replace_within(x: &mut Scalar, id: SubqueryId, found: &Predicate) {
    x.rewrite(&mut |x| replace_in_case(x, id, found));
}

fn replace_in_case(x: &mut Scalar, id: SubqueryId, found: &Predicate) {
    if let ScalarKind::Case { branches, .. } = &mut x.kind {
        branches.iter_mut().for_each(|(when, _)| replace_direct(when, id, found));
    }
}

fn replace_direct(p: &mut Predicate, id: SubqueryId, found: &Predicate) {
    match p {
        Predicate::Exists(own) if *own == id => *p = found.clone(),
        Predicate::Not(p) | Predicate::Let { body: p, .. } => replace_direct(p, id, found),
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter_mut().for_each(|p| replace_direct(p, id, found));
        }
        _ => {}
    }
}
