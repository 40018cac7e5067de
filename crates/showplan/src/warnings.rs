//! What is wrong with an operator or a plan: Warnings elements, and the Warnings column.
//!
//! A join has no predicate where each row meets each: neither a condition nor a slot that one side
//! reads of the other. A side that has one row at most is no join's fault. A conversion that nobody
//! wrote keeps a column's index from being sought and its statistics from being asked, but for
//! those that keep the order of values: the optimizer sees through them (`types::kept`).

use crate::columns::{Column, Columns};
use crate::relop::outer_references;
use crate::tree::{Op, OperatorKind};
use plan::{Expression, Physical, PhysicalPlan, Predicate, Scalar, ScalarKind, Slot};

/// A conversion that matters to the choice of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AffectingConvert {
    /// `Seek Plan` or `Cardinality Estimate`
    pub(crate) issue: &'static str,
    pub(crate) expression: String,
}

/// Each row of one side meets each of the other.
pub(crate) fn lacks_predicate(op: &Op<'_>) -> bool {
    let OperatorKind::Operator(node) = op.what else { return false };
    node.describe().display().lacks_predicate
        && outer_references(node).is_empty()
        && !node.inputs().into_iter().any(Physical::always_one_row)
}

impl Columns<'_> {
    /// The columns of an access that its plan was made without statistics of.
    pub(crate) fn without_statistics(&self, op: &Op<'_>) -> Vec<Column> {
        let OperatorKind::Operator(node) = op.what else { return Vec::new() };
        let Some(rows) = node.describe().stored() else { return Vec::new() };
        let source = rows.source;
        let names = self.missing.get(&(source.database, source.object));
        let read: Vec<_> = rows.columns.iter().map(|c| self.column(c.slot).column).collect();
        let names = names.into_iter().flatten().filter(|name| read.iter().any(|r| r == *name));
        let database = self.names.database(source.database);
        let column =
            |name: &String| Column::of_table(&database, &source.table, &source.alias, name.clone());
        names.map(column).collect()
    }

    /// The Warnings column of an operator; empty for none.
    pub(crate) fn warnings(&self, op: &Op<'_>) -> String {
        let mut all = Vec::new();
        let lacking = self.without_statistics(op);
        if !lacking.is_empty() {
            let names: Vec<String> = lacking.iter().map(Column::full).collect();
            all.push(format!("NO STATS:({})", names.join(", ")));
        }
        if lacks_predicate(op) {
            all.push("NO JOIN PREDICATE".to_owned());
        }
        if op.count.is_some_and(|c| c.spilled_bytes > 0) {
            all.push("SPILL TO TEMPDB".to_owned());
        }
        all.join(", ")
    }

    /// Conversions of columns in a plan's conditions.
    pub(crate) fn affecting_converts(&self, plan: &PhysicalPlan) -> Vec<AffectingConvert> {
        let mut found = Vec::new();
        let trees = plan.statement.source().into_iter();
        for tree in trees.chain(plan.subqueries.iter().map(|s| &s.source)) {
            tree.for_each(&mut |node| {
                node.describe().expressions(&mut |x| {
                    if let Expression::Condition(p) = x {
                        self.converts(p, &mut found);
                    }
                });
            });
        }
        found
    }

    fn converts(&self, p: &Predicate, found: &mut Vec<AffectingConvert>) {
        match p {
            Predicate::And(parts) | Predicate::Or(parts) => {
                parts.iter().for_each(|p| self.converts(p, found));
            }
            Predicate::Not(p) => self.converts(p, found),
            Predicate::Compare { left, right, .. } => {
                [left, right].into_iter().for_each(|x| self.convert(x, p, found));
            }
            Predicate::InList { operand, .. } => self.convert(operand, p, found),
            _ => {}
        }
    }

    fn convert(&self, x: &Scalar, within: &Predicate, found: &mut Vec<AffectingConvert>) {
        let Some(slot) = converted_column(x) else { return };
        let Some((database, table)) = self.table(slot) else { return };
        let mut add = |issue, expression| {
            let one = AffectingConvert { issue, expression };
            if !found.contains(&one) {
                found.push(one);
            }
        };
        add("Cardinality Estimate", self.scalar(x));
        if self.names.begins_key(database, table, &self.column(slot).column) {
            add("Seek Plan", self.predicate(within));
        }
    }
}

/// The column that is converted by nobody's wish to what is not seen through.
fn converted_column(x: &Scalar) -> Option<Slot> {
    let ScalarKind::Cast { operand, implicit, .. } = &x.kind else { return None };
    let seen_through = types::kept(operand.ty.sql_type, x.ty.sql_type).is_some();
    operand.as_column().filter(|_| implicit.0 && !seen_through)
}
