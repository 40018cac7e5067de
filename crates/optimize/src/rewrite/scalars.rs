//! Scalar aggregates of correlated subqueries become joins with groups.
//!
//! ```text
//!   t.x > (SELECT AVG(u.x) FROM u WHERE u.a = t.a)
//!
//!   t LEFT JOIN (SELECT u.a, AVG(u.x) AS s FROM u GROUP BY u.a) ON u.a = t.a    t.x > s
//! ```
//! After W. Kim, "On Optimizing an SQL-like Nested Query" (TODS 1982), with the outer join that
//! R. Ganski and H. Wong added (SIGMOD 1987): a row without partner has the aggregate of no rows,
//! which is NULL, and 0 for COUNT. What is computed of aggregates is computed above the join, so it
//! meets that NULL or 0 too.
//!
//! Running the subquery for each row is still among the ways to the answer: the join may open the
//! groups for each row of `t`, where the equality is sought below the grouping.
//!
//! It is done where the subquery is aggregates without GROUP BY whose only ties to the row outside
//! are equalities, each between an expression of its own and one of the outer row.

use crate::node::{Reader, Slots, writes};
use crate::order::equality;
use builtins::Aggregate;
use plan::{
    AggregateCall, Grouping, JoinKind, Logical, LogicalPlan, Predicate, Reads, Scalar, ScalarKind,
    ScalarType, Slot, SortKey, Statement, Subquery, SubqueryId,
};
use std::collections::{BTreeMap, BTreeSet};
use types::{Collation, SqlType, Value};

/// A statement of more subqueries runs them for each row: each join is searched beside all that
/// are there already.
pub(super) const JOINED_MAX: usize = 200;

/// Makes joins of such subqueries; those that no expression runs any more.
pub(crate) fn join_scalars(plan: &mut LogicalPlan) -> BTreeSet<SubqueryId> {
    let many = plan.subqueries.len() > JOINED_MAX;
    if many || plan.subqueries.iter().all(|s| s.outer.is_empty()) {
        return BTreeSet::new();
    }
    let uses = uses(plan);
    let mut joins = Joins { uses, slots: plan.slots, joined: BTreeSet::new() };
    for n in 0..plan.subqueries.len() {
        let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let mut source = std::mem::replace(&mut plan.subqueries[n].source, nothing);
        joins.tree(&mut source, &plan.subqueries[..n]);
        plan.subqueries[n].source = source;
    }
    if let Some(source) = plan.statement.source_mut() {
        joins.tree(source, &plan.subqueries);
    }
    if let Statement::Update(update) = &mut plan.statement {
        for assignment in &mut update.assignments {
            joins.expression(&mut assignment.value, &mut update.source, &plan.subqueries);
        }
    }
    plan.slots = joins.slots;
    joins.joined
}

/// How many nodes and values of a plan run each subquery.
pub(super) fn uses(plan: &LogicalPlan) -> BTreeMap<SubqueryId, usize> {
    let mut uses = BTreeMap::new();
    let mut note = |ids: BTreeSet<SubqueryId>| {
        ids.into_iter().for_each(|id| *uses.entry(id).or_insert(0) += 1);
    };
    let trees = plan.statement.source().into_iter();
    for tree in trees.chain(plan.subqueries.iter().map(|s| &s.source)) {
        tree.for_each(&mut |node| match node {
            Logical::Filter { predicate, .. } | Logical::Join { on: predicate, .. } => {
                note(predicate.reads().subqueries);
            }
            Logical::Compute { columns, .. } => {
                columns.iter().for_each(|(_, x)| note(x.reads().subqueries));
            }
            _ => {}
        });
    }
    if let Statement::Update(update) = &plan.statement {
        update.assignments.iter().for_each(|a| note(a.value.reads().subqueries));
    }
    uses
}

pub(super) struct Joins {
    pub(super) uses: BTreeMap<SubqueryId, usize>,
    pub(super) slots: u32,
    pub(super) joined: BTreeSet<SubqueryId>,
}

/// A subquery taken apart.
pub(super) struct SubqueryParts {
    /// Its groups, by what the outer row is compared with.
    pub(super) groups: Logical,
    pub(super) on: Predicate,
    /// Its value, of columns of the groups.
    pub(super) value: Scalar,
}

/// See [`Joins::keys`].
struct Keys {
    input: Logical,
    keys: Vec<(Slot, Collation)>,
    on: Predicate,
}

impl Joins {
    fn tree(&mut self, tree: &mut Logical, subqueries: &[Subquery<Logical>]) {
        tree.for_each_mut(&mut |node| match node {
            Logical::Filter { input, predicate } => {
                for id in predicate.reads().subqueries {
                    let mut found = false;
                    predicate.clone().rewrite(&mut |x| found |= runs(x, id));
                    if found && let Some(value) = self.join(id, input, subqueries) {
                        predicate.rewrite(&mut |x| replace(x, id, &value));
                    }
                }
            }
            Logical::Compute { input, columns } => {
                for (_, x) in columns {
                    self.expression(x, input, subqueries);
                }
            }
            _ => {}
        });
    }

    /// Joins what an expression over a relation runs with the relation.
    fn expression(
        &mut self,
        x: &mut Scalar,
        input: &mut Logical,
        subqueries: &[Subquery<Logical>],
    ) {
        for id in x.reads().subqueries {
            let mut found = false;
            x.clone().rewrite(&mut |x| found |= runs(x, id));
            if found && let Some(value) = self.join(id, input, subqueries) {
                x.rewrite(&mut |x| replace(x, id, &value));
            }
        }
    }

    /// Joins a subquery with the relation for whose rows it is run; its value above that.
    fn join(
        &mut self,
        id: SubqueryId,
        input: &mut Logical,
        subqueries: &[Subquery<Logical>],
    ) -> Option<Scalar> {
        let subquery = subqueries.get(id.0 as usize)?;
        let outer = self.outer_of(id, input, subqueries)?;
        let SubqueryParts { groups, on, value } =
            self.apart(subquery, &outer, Reader { subqueries })?;
        beside(input, groups, on);
        self.joined.insert(id);
        Some(value)
    }

    /// What a subquery reads of the relation for whose rows it is run, where that is all that it
    /// reads from outside, and nobody else runs it.
    pub(super) fn outer_of(
        &self,
        id: SubqueryId,
        input: &Logical,
        subqueries: &[Subquery<Logical>],
    ) -> Option<Slots> {
        let outer: Slots = subqueries.get(id.0 as usize)?.outer.iter().copied().collect();
        let own = self.uses.get(&id) == Some(&1) && !outer.is_empty();
        (own && outer.is_subset(&writes(input))).then_some(outer)
    }

    /// The groups of rows by what ties them to the outer row; the value is a key, of all groups.
    pub(super) fn keyed(
        &mut self,
        source: &Logical,
        outer: &Slots,
        reader: Reader<'_>,
    ) -> Option<SubqueryParts> {
        let mut input = source.clone();
        let mut ties = Vec::new();
        untie(&mut input, outer, reader, &mut ties);
        let mut whole = Reads::default();
        input.reads_and_writes(&mut whole, &mut Slots::new());
        if ties.is_empty() || whole.volatile || !reader.free(&input).is_disjoint(outer) {
            return None;
        }
        let Keys { input, keys, on } = self.keys(ties, input, outer)?;
        let ty = ScalarType::new(SqlType::Int, true);
        let value = Scalar::column(keys.first()?.0, ty);
        let groups = Logical::Aggregate(Box::new(Grouping { input, keys, calls: Vec::new() }));
        Some(SubqueryParts { groups, on, value })
    }

    fn apart(
        &mut self,
        subquery: &Subquery<Logical>,
        outer: &Slots,
        reader: Reader<'_>,
    ) -> Option<SubqueryParts> {
        let mut computed = Vec::new();
        let grouping = aggregates(&subquery.source, &mut computed)?;
        let Grouping { mut input, calls, .. } = grouping.clone();
        let mut ties = Vec::new();
        untie(&mut input, outer, reader, &mut ties);
        let mut read = reader.free(&input);
        for call in &calls {
            let arguments = call.argument.iter().chain(&call.separator);
            arguments.for_each(|x| read.extend(reader.scalar(x)));
        }
        let mut whole = Reads::default();
        input.reads_and_writes(&mut whole, &mut Slots::new());
        if ties.is_empty() || whole.volatile || !read.is_disjoint(outer) {
            return None;
        }
        let Keys { input, keys, on } = self.keys(ties, input, outer)?;
        let value = value(&calls, computed, *subquery.columns.first()?)?;
        let groups = Logical::Aggregate(Box::new(Grouping { input, keys, calls }));
        Some(SubqueryParts { groups, on, value })
    }

    /// What rows are grouped by for equalities with the outer row, computed where it must be.
    fn keys(&mut self, ties: Vec<Predicate>, input: Logical, outer: &Slots) -> Option<Keys> {
        let mut columns = Vec::new();
        let mut keys: Vec<(Slot, Collation)> = Vec::new();
        let mut on = Vec::with_capacity(ties.len());
        for tie in ties {
            let (p, key) = self.key(tie, outer, &mut columns)?;
            if keys.iter().any(|k| k.0 == key.0 && k.1 != key.1) {
                return None;
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
            on.push(p);
        }
        let input = match columns.is_empty() {
            true => input,
            false => Logical::Compute { input: Box::new(input), columns },
        };
        Some(Keys { input, keys, on: Predicate::all(on)? })
    }

    /// An equality with the outer row as a join has it, and what groups are made by for it.
    fn key(
        &mut self,
        tie: Predicate,
        outer: &Slots,
        columns: &mut Vec<(Slot, Scalar)>,
    ) -> Option<(Predicate, (Slot, Collation))> {
        let (a, b, collation) = equality(&tie)?;
        let of = |x: &Scalar| {
            let slots = x.reads().slots;
            (!slots.is_empty()).then(|| (slots.is_subset(outer), slots.is_disjoint(outer)))
        };
        let (own, other) = match (of(a)?, of(b)?) {
            ((true, _), (_, true)) => (b, a),
            ((_, true), (true, _)) => (a, b),
            _ => return None,
        };
        // A column that is widened without loss makes the same groups.
        if let Some(slot) = crate::sarg::column_of(own) {
            return Some((tie, (slot, collation)));
        }
        let slot = Slot(self.slots);
        self.slots += 1;
        columns.push((slot, own.clone()));
        let p = Predicate::Compare {
            op: plan::CompareOp::Equal,
            left: Box::new(Scalar::column(slot, own.ty)),
            right: Box::new(other.clone()),
            collation,
        };
        Some((p, (slot, collation)))
    }
}

/// Joins groups with a relation, whose rows keep the order that they were put in.
pub(super) fn beside(input: &mut Logical, groups: Logical, on: Predicate) {
    if let Logical::Sort { input, .. } = input {
        return beside(input, groups, on);
    }
    let keys = order_of(input).map(<[SortKey]>::to_vec);
    let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
    let join = Logical::Join {
        kind: JoinKind::Left,
        left: Box::new(std::mem::replace(input, nothing)),
        right: Box::new(groups),
        on,
        hint: None,
        apply: false,
    };
    *input = match keys {
        Some(keys) => Logical::Sort { input: Box::new(join), keys },
        None => join,
    };
}

/// The order that a relation's rows were put in.
fn order_of(tree: &Logical) -> Option<&[SortKey]> {
    match tree {
        Logical::Sort { keys, .. } => Some(keys),
        Logical::Top { input, .. }
        | Logical::Filter { input, .. }
        | Logical::Compute { input, .. } => order_of(input),
        _ => None,
    }
}

/// The aggregates of a subquery that has nothing above them but what is computed of them.
fn aggregates<'t>(
    tree: &'t Logical,
    computed: &mut Vec<&'t (Slot, Scalar)>,
) -> Option<&'t Grouping> {
    match tree {
        Logical::Compute { input, columns } => {
            let found = aggregates(input, computed)?;
            computed.extend(columns);
            Some(found)
        }
        Logical::Aggregate(g) if g.keys.is_empty() => g.calls.iter().all(of_none).then_some(g),
        _ => None,
    }
}

/// Whether it is known what an aggregate gives of no rows.
fn of_none(call: &AggregateCall) -> bool {
    use Aggregate as A;
    matches!(
        call.function,
        A::Count
            | A::CountBig
            | A::Sum
            | A::Avg
            | A::Min
            | A::Max
            | A::Stdev
            | A::StdevP
            | A::Var
            | A::VarP
    )
}

/// Takes the conditions that read the outer row out of filters and inner joins.
fn untie(tree: &mut Logical, outer: &Slots, reader: Reader<'_>, ties: &mut Vec<Predicate>) {
    let mut take = |p: &mut Predicate| {
        let parts = std::mem::replace(p, Predicate::TRUE).conjuncts();
        let (tied, own): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|p| !reader.predicate(p).is_disjoint(outer));
        ties.extend(tied);
        *p = Predicate::all(own).unwrap_or(Predicate::TRUE);
    };
    match tree {
        Logical::Filter { input, predicate } => {
            take(predicate);
            untie(input, outer, reader, ties);
        }
        Logical::Join { kind: JoinKind::Inner, left, right, on, .. } => {
            take(on);
            untie(left, outer, reader, ties);
            untie(right, outer, reader, ties);
        }
        _ => {}
    }
}

/// The value of a subquery in columns of its groups; none where it may differ each time.
fn value(calls: &[AggregateCall], computed: Vec<&(Slot, Scalar)>, of: Slot) -> Option<Scalar> {
    let mut values: BTreeMap<Slot, Scalar> = BTreeMap::new();
    for call in calls {
        let mut ty = call.ty;
        ty.nullable = true;
        let column = Scalar::column(call.output, ty);
        let zero = match call.function {
            Aggregate::Count => Some(Scalar::constant(Value::Int(0), SqlType::Int)),
            Aggregate::CountBig => Some(Scalar::constant(Value::BigInt(0), SqlType::BigInt)),
            _ => None,
        };
        let value = match zero {
            Some(zero) => Scalar { kind: ScalarKind::Coalesce(vec![column, zero]), ty: call.ty },
            None => column,
        };
        values.insert(call.output, value);
    }
    for (slot, x) in computed {
        let reads = x.reads();
        if reads.volatile || !reads.subqueries.is_empty() {
            return None;
        }
        let mut x = x.clone();
        x.rewrite(&mut |x| {
            if let Some(value) = x.as_column().and_then(|s| values.get(&s)) {
                *x = value.clone();
            }
        });
        values.insert(*slot, x);
    }
    values.remove(&of)
}

fn runs(x: &Scalar, id: SubqueryId) -> bool {
    matches!(x.kind, ScalarKind::Subquery(own) if own == id)
}

fn replace(x: &mut Scalar, id: SubqueryId, value: &Scalar) {
    if runs(x, id) {
        x.kind = value.kind.clone();
    }
}
