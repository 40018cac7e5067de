//! What a plan holds in memory: every allocation that hangs on it, counted.
//!
//! The plan cache is charged with it (`plancache::Cache::charge`). An allocation counts with what
//! an allocator of size classes gives for it; names and values that a plan shares with others count
//! as its own. `cargo xtask prove query.8` compares the sum with what a server grows by.
//!
//! One line a type lists the fields that allocate; whoever adds such a field adds it here.

use crate::*;
use std::sync::Arc;
use types::{Collation, SqlType, Value};

/// What stands behind a value, beyond its own bytes.
pub(crate) trait Held {
    /// Bytes on the heap.
    fn held(&self) -> usize;
}

/// What an allocation of so many bytes takes: a multiple of 16, and an eighth more of a large one
/// that lies between two classes.
const fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=128 => bytes.next_multiple_of(16),
        _ => (bytes + bytes / 16).next_multiple_of(16),
    }
}

/// Types that hold nothing.
macro_rules! nothing {
    ($($ty:ty),+ $(,)?) => {
        $(impl Held for $ty {
            fn held(&self) -> usize {
                0
            }
        })+
    };
}

/// Structs, and their fields that hold something.
macro_rules! fields {
    ($($ty:ty: $($field:ident),+;)+) => {
        $(impl Held for $ty {
            fn held(&self) -> usize {
                0 $(+ self.$field.held())+
            }
        })+
    };
}

nothing!(bool, u8, usize, Slot, SubqueryId, FollowUpId, VariableId, ScanColumn, MergeKey, SortKey);
nothing!(SplitColumn);
nothing!(EntryField, KeyPart, PageSample, Estimate, Reference, JoinHint, SqlType, Collation);
nothing!((Slot, Collation), (Slot, Slot, Collation), (base::DatabaseId, u64));

impl<T: Held> Held for Vec<T> {
    fn held(&self) -> usize {
        allocated(self.capacity() * size_of::<T>()) + self.iter().map(T::held).sum::<usize>()
    }
}

impl<T: Held> Held for Box<[T]> {
    fn held(&self) -> usize {
        allocated(size_of_val(&**self)) + self.iter().map(T::held).sum::<usize>()
    }
}

impl Held for Box<str> {
    fn held(&self) -> usize {
        allocated(self.len())
    }
}

impl<T: Held> Held for Box<T> {
    fn held(&self) -> usize {
        allocated(size_of::<T>()) + (**self).held()
    }
}

impl<T: Held> Held for Option<T> {
    fn held(&self) -> usize {
        self.as_ref().map_or(0, T::held)
    }
}

/// Pairs of which both may hold something.
macro_rules! pairs {
    ($($a:ty, $b:ty;)+) => {
        $(impl Held for ($a, $b) {
            fn held(&self) -> usize {
                self.0.held() + self.1.held()
            }
        })+
    };
}

pairs! {
    Slot, Scalar;
    VariableId, Scalar;
    VariableId, Option<Value>;
    VariableId, Value;
    VariableId, ScalarType;
    Predicate, Scalar;
    Physical, Vec<Slot>;
}

nothing!(ScalarType);

fields! {
    Scalar: kind;
    UserCall: name, args;
    Access: source, columns, seek, residual;
    Source: table, index, alias;
    Seek: types, descending, collations, ranges;
    SeekRange: equal, null_matches, lower, upper;
    Bound: value;
    KeyLookup: input, source, locator, types, columns, residual;
    VirtualScan: name, arguments, columns, residual;
    FunctionRows: arguments, columns;
    Exchange: input, kind, columns;
    Split: input, columns;
    IndexSpool: input, keys, carried, equal, lower, upper, predicate;
    IndexChange<Physical>: target, source, before, after;
    Wide: changes;
    NestedLoops: outer, inner, predicate, inner_slots;
    HashJoin: build, probe, keys, residual, build_slots, probe_slots;
    MergeJoin: left, right, keys, residual, left_slots, right_slots;
    MergeUnion: left, right, left_slots, right_slots, columns, keys;
    Recursion<Physical>: name, anchor, anchor_slots, members, columns, work;
    Top: count, ties, offset;
    AggregateCall: argument, separator;
    WindowCall: function;
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
    Kept: slots;
    ForeignKeyCheck: conflict, predicate;
    Conflict: name, table, column;
    Output: sent, into;
    OutputSent: columns, values;
    OutputInto: target, columns, nested;
    NestedRows: columns, filter;
    Subquery<Physical>: source, columns, outer;
    Header: databases, references, statistics, fires, hints, compiled_for;
    UsedStatistics: columns, missing;
    Fired: columns;
    QueryHints: joins, optimize_for;
    PhysicalPlan: statement, subqueries, follow_ups, header, estimates;
}

impl Held for Value {
    fn held(&self) -> usize {
        match self {
            Value::Char(b) | Value::NChar(b) | Value::Binary(b) => allocated(b.heap_bytes()),
            _ => 0,
        }
    }
}

impl Held for ScalarKind {
    fn held(&self) -> usize {
        use ScalarKind as K;
        match self {
            K::Constant(value) => value.held(),
            K::Column(_) | K::Variable(_) | K::Global(_) | K::Subquery(_) => 0,
            K::Negate(x) | K::BitNot(x) => x.held(),
            K::Binary { left, right, .. } => left.held() + right.held(),
            K::Case { branches, otherwise } => branches.held() + otherwise.held(),
            K::Coalesce(list) => list.held(),
            K::Cast { operand, style, .. } => operand.held() + style.held(),
            K::Function { args, arg_types, .. } => args.held() + arg_types.held(),
            K::Method { method, args } => method.query.text().len() + args.held(),
            K::Call(call) => call.held(),
            K::Let { value, body, .. } => value.held() + body.held(),
        }
    }
}

impl Held for Predicate {
    fn held(&self) -> usize {
        use Predicate as P;
        match self {
            P::Constant(_) | P::Exists(_) => 0,
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.held() + right.held()
            }
            P::IsNull(x) => x.held(),
            P::Like { operand, pattern, .. } => operand.held() + pattern.held(),
            P::InList { operand, list, .. } => operand.held() + list.held(),
            P::Quantified { operand, .. } => operand.held(),
            P::Not(p) => p.held(),
            P::And(parts) | P::Or(parts) => parts.held(),
            P::Let { value, body, .. } => value.held() + body.held(),
        }
    }
}

impl Held for LikeText {
    fn held(&self) -> usize {
        match self {
            LikeText::Compiled(pattern) => {
                allocated(size_of_val(&**pattern) + 2 * size_of::<usize>()) + pattern.heap_bytes()
            }
            LikeText::Dynamic { pattern, escape } => pattern.held() + escape.held(),
        }
    }
}

impl Held for WindowFunction {
    fn held(&self) -> usize {
        self.arguments().map(Scalar::held).sum()
    }
}

impl Held for ColumnSource {
    fn held(&self) -> usize {
        match self {
            ColumnSource::Value(x) | ColumnSource::Computed(x) => x.held(),
            ColumnSource::Identity => 0,
        }
    }
}

impl Held for MergeAction {
    fn held(&self) -> usize {
        match self {
            MergeAction::Update(set) => set.held(),
            MergeAction::Delete => 0,
            MergeAction::Insert(values) => values.held(),
        }
    }
}

impl Held for FollowUp<Physical> {
    fn held(&self) -> usize {
        match self {
            FollowUp::Refuse { conflict, source } => conflict.held() + source.held(),
            FollowUp::Change(statement) => statement.held(),
            FollowUp::Index(change) => change.held(),
        }
    }
}

impl Held for Statement<Physical> {
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

impl Held for ExchangeKind {
    fn held(&self) -> usize {
        match self {
            ExchangeKind::Gather => 0,
            ExchangeKind::GatherOrdered(keys) => keys.held(),
            ExchangeKind::Repartition(keys) => keys.held(),
        }
    }
}

impl Held for Physical {
    fn held(&self) -> usize {
        use Physical as P;
        match self {
            P::Access(a) => a.held(),
            P::Lookup(l) => l.held(),
            P::Virtual(v) => v.held(),
            P::Function(call) => call.held(),
            P::Constants { rows, columns } => rows.held() + columns.held(),
            P::Changed { columns, .. } => columns.held(),
            P::Filter { input, predicate } | P::StartupFilter { input, predicate } => {
                input.held() + predicate.held()
            }
            P::Assert { input, .. } => input.held(),
            P::Compute { input, columns } => input.held() + columns.held(),
            P::NestedLoops(j) => j.held(),
            P::HashJoin(j) => j.held(),
            P::MergeJoin(j) => j.held(),
            P::Sort { input, keys, carried, .. } => input.held() + keys.held() + carried.held(),
            P::TopSort { input, top, keys, carried } => {
                input.held() + top.held() + keys.held() + carried.held()
            }
            P::Top { input, top } => input.held() + top.held(),
            P::HashAggregate { input, keys, calls } | P::StreamAggregate { input, keys, calls } => {
                input.held() + keys.held() + calls.held()
            }
            P::Window { input, partition, order, calls, carried } => {
                let own = partition.held() + order.held() + calls.held() + carried.held();
                input.held() + own
            }
            P::MergeUnion(u) => u.held(),
            P::Recursive(r) => r.held(),
            P::Concatenation { inputs, columns } => inputs.held() + columns.held(),
            P::Spool { input, carried } => input.held() + carried.held(),
            P::Exchange(e) => e.held(),
            P::Split(s) => s.held(),
            P::IndexSpool(s) => s.held(),
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
    use types::SqlType;

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
        let row = Physical::Constants { rows: vec![list], columns: vec![Slot(1), Slot(2)] };
        let outer = allocated(size_of::<Vec<Scalar>>()) + allocated(2 * size_of::<Slot>());
        assert_eq!(row.held(), outer + own + of_text);
        let predicate = Predicate::IsNull(Box::new(int));
        let filter = Physical::Filter { input: Box::new(row.clone()), predicate };
        let boxes = allocated(size_of::<Physical>()) + allocated(size_of::<Scalar>());
        assert_eq!(filter.held(), row.held() + boxes);
    }

    #[test]
    fn a_kept_plan_has_no_room_to_spare() {
        let mut slots = Vec::with_capacity(1000);
        slots.push(Slot(1));
        let plan = |columns| Plan {
            statement: Statement::Query(Query {
                source: Physical::Constants { rows: Vec::new(), columns },
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
