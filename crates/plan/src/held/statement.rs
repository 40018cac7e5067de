//! What statements hold: changes, their targets, the plan around them.

use super::{HeldBytes, allocated, fields, nothing};
use crate::*;
use std::sync::Arc;

nothing!(FollowUpId, EntryField, KeyPart, Estimate, Reference, JoinHint, base::DatabaseId);

fields! {
    IndexChange<Physical>: target, source, before, after;
    WideChange: changes;
    ResultColumn: name;
    Query<Physical>: source, columns;
    SelectAssign<Physical>: source, assignments;
    Insert<Physical>: target, source, columns, output;
    Update<Physical>: target, source, old, new, assignments, output;
    Delete<Physical>: target, source, old, output;
    Merge<Physical>: target, inserts, deletes, source, old, new, clauses, top, output;
    MergeClause: condition, action;
    InsertColumn: source;
    Assignment: value;
    OldRow: columns;
    Target: database_name, schema_name, table_name, columns, indexes, checks, references, wide;
    TargetColumn: name;
    IndexTarget: name, fields, key;
    CheckConstraint: name, column, predicate;
    References: checks, kept, follow_ups;
    KeptSlots: slots;
    ForeignKeyCheck: conflict, predicate;
    Conflict: name, table, column;
    Output: sent, into;
    OutputResult: columns, values;
    OutputInto: target, columns, nested;
    NestedRows: columns, filter;
    Subquery<Physical>: source, columns, outer;
    Header: databases, references, statistics, fires, hints, compiled_for;
    UsedStatistics: columns, missing;
    TriggerFiring: columns;
    QueryHints: joins, optimize_for;
    PhysicalPlan: statement, subqueries, follow_ups, header, estimates;
}

impl HeldBytes for ColumnSource {
    fn held(&self) -> usize {
        match self {
            ColumnSource::Value(x) | ColumnSource::Computed(x) => x.held(),
            ColumnSource::Identity => 0,
        }
    }
}

impl HeldBytes for MergeAction {
    fn held(&self) -> usize {
        match self {
            MergeAction::Update(set) => set.held(),
            MergeAction::Delete => 0,
            MergeAction::Insert(values) => values.held(),
        }
    }
}

impl HeldBytes for FollowUp<Physical> {
    fn held(&self) -> usize {
        match self {
            FollowUp::Refuse { conflict, source } => conflict.held() + source.held(),
            FollowUp::Change(statement) => statement.held(),
            FollowUp::Index(change) => change.held(),
        }
    }
}

impl HeldBytes for Statement<Physical> {
    fn held(&self) -> usize {
        match self {
            Statement::Query(q) => q.held(),
            Statement::Assign(a) => a.held(),
            Statement::Insert(i) => i.held(),
            Statement::Update(u) => u.held(),
            Statement::Delete(d) => d.held(),
            Statement::Merge(m) => m.held(),
            Statement::Scalar(x) => x.held(),
            Statement::Condition(p) => p.held(),
        }
    }
}

impl PhysicalPlan {
    /// What it holds, itself in a shared box of its own.
    pub fn bytes(self: &Arc<Self>) -> usize {
        allocated(size_of::<Self>() + 2 * size_of::<usize>()) + self.held()
    }

    /// The plan to be kept: a copy in which no list has room for more than it holds. Lists that
    /// grew one by one have room for four, which is a fifth of a plan over three tables.
    pub fn compact(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{SqlType, Value};

    /// Each allocation counts once, by its class: a list, what its elements point to, and theirs.
    #[test]
    fn allocations_are_counted_to_the_leaves() {
        assert_eq!((allocated(0), allocated(1), allocated(16), allocated(17)), (0, 16, 16, 32));
        let int = Scalar::constant(Value::Int(1), SqlType::Int);
        assert_eq!(int.held(), 0);
        let text = Value::varchar("a text that is longer than what stands inline");
        let long = Scalar::constant(text, SqlType::varchar(50));
        let of_text = long.held();
        assert!((45..=96).contains(&of_text), "{of_text}");
        let list = vec![int.clone(), long];
        let own = allocated(2 * size_of::<Scalar>());
        assert_eq!(list.held(), own + of_text);
        let row =
            Physical::Constants(Constants { rows: vec![list], columns: vec![Slot(1), Slot(2)] });
        let outer = allocated(size_of::<Vec<Scalar>>()) + allocated(2 * size_of::<Slot>());
        assert_eq!(row.held(), outer + own + of_text);
        let predicate = Predicate::IsNull(Box::new(int));
        let filter = Physical::Filter(Filter { input: Box::new(row.clone()), predicate });
        let boxes = allocated(size_of::<Physical>()) + allocated(size_of::<Scalar>());
        assert_eq!(filter.held(), row.held() + boxes);
    }

    #[test]
    fn a_kept_plan_has_no_room_to_spare() {
        let mut slots = Vec::with_capacity(1000);
        slots.push(Slot(1));
        let plan = |columns| Plan {
            statement: Statement::Query(Query {
                source: Physical::Constants(Constants { rows: Vec::new(), columns }),
                columns: Vec::new(),
            }),
            subqueries: Vec::new(),
            follow_ups: Vec::new(),
            slots: 2,
            header: Header::default(),
            estimates: Vec::new(),
        };
        let exact = Arc::new(plan(vec![Slot(1)])).bytes();
        let roomy = Arc::new(plan(slots));
        assert!(roomy.bytes() > exact + 1000, "{}", roomy.bytes());
        assert_eq!(roomy.compact().bytes(), exact);
    }
}
