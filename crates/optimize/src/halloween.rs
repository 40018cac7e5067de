//! Halloween protection: a change must not meet its own rows.
//!
//! A spool between source and change reads everything first. It is needed when
//!
//!  1. an INSERT's source reads its target;
//!  2. an UPDATE changes a key column of the index by which it finds its rows;
//!  3. an UPDATE or DELETE reads its target a second time: by a join, or in a subquery;
//!  4. OUTPUT INTO puts rows into a table that the source reads.
//!  5. an UPDATE looks for its rows once for each row of something else, by columns that it
//!     changes: what it has changed may fit a later one;
//!  6. a function of the user is called: it may read the target, and sees what its caller has done.
//!
//! It is not needed when the source gives one row at most, or has read everything already.
//! Subqueries and functions in the values of a change run above the source: where they may read the
//! target, their values are computed below the spool.

use crate::convert::Optimizer;
use crate::node::{Node, Slots};
use plan::{
    ColumnSource, Delete, Insert, Logical, Opening, Physical, Scalar, Slot, Spool, Subquery,
    Target, Update,
};

impl Optimizer<'_> {
    /// How often a tree and the subqueries it runs read a target.
    fn reads_of(&self, tree: &Physical, target: &Target) -> usize {
        let mut count = 0;
        tree.for_each(&mut |node| {
            let scan = node.describe().stored().filter(|rows| !rows.is_lookup());
            let own = |s: &plan::Source| is_target(target, s.database, s.object);
            count += usize::from(scan.is_some_and(|rows| own(rows.source)));
        });
        count
    }

    /// Whether anything that expressions run reads a target: a subquery, or perhaps a function.
    fn expressions_read(&self, target: &Target) -> bool {
        if self.calls {
            return true;
        }
        let unjoined = (0u32..).zip(self.subqueries);
        let runs = |id| !self.joined.contains(&id) && !self.enforcing.contains(&id);
        let mut left = unjoined.filter(|(n, _)| runs(plan::SubqueryId(*n)));
        left.any(|(_, s)| self.logical_reads(s, target))
    }

    fn logical_reads(&self, subquery: &Subquery<Logical>, target: &Target) -> bool {
        let mut tree = subquery.source.clone();
        let mut found = false;
        tree.for_each_mut(&mut |node| {
            if let Logical::Get(get) = node
                && let Some(catalog::view::Object::Table(t)) =
                    self.references.get(get.table.0 as usize)
            {
                found |= is_target(target, t.database, t.object_id);
            }
        });
        found
    }

    /// Rule 5.
    fn feeds_itself(&self, tree: &Physical, output: Option<&plan::Output>) -> bool {
        let into = output.and_then(|o| o.into.as_ref());
        into.is_some_and(|i| self.reads_of(tree, &i.target) > 0 || self.expressions_read(&i.target))
    }

    pub(crate) fn protect_insert(
        &self,
        insert: &mut Insert<Logical>,
        source: Node,
        needed: &Slots,
    ) -> Node {
        let nested = self.expressions_read(&insert.target);
        let into = self.feeds_itself(&source.tree, insert.output.as_deref());
        let reads = self.reads_of(&source.tree, &insert.target) > 0 || nested || into;
        if source.single || !reads {
            return source;
        }
        let mut early = Vec::new();
        for column in &mut insert.columns {
            if let ColumnSource::Value(x) = &mut column.source {
                self.compute_early(x, &mut early);
            }
        }
        self.spooled(source, early, needed)
    }

    pub(crate) fn protect_update(
        &self,
        update: &mut Update<Logical>,
        source: Node,
        needed: &Slots,
    ) -> Node {
        let again = self.reads_of(&source.tree, &update.target) > 1
            || self.feeds_itself(&source.tree, update.output.as_deref());
        let nested = self.expressions_read(&update.target);
        let moves = self.scans_changed_key(&source.tree, &update.target)
            || looks_again(&source.tree, update, false);
        if source.single || !(again || nested || moves) {
            return source;
        }
        let mut early = Vec::new();
        if nested {
            for assignment in &mut update.assignments {
                self.compute_early(&mut assignment.value, &mut early);
            }
        }
        self.spooled(source, early, needed)
    }

    pub(crate) fn protect_delete(
        &self,
        delete: &Delete<Logical>,
        source: Node,
        needed: &Slots,
    ) -> Node {
        let again = self.reads_of(&source.tree, &delete.target) > 1
            || self.feeds_itself(&source.tree, delete.output.as_deref());
        if source.single || !(again || self.expressions_read(&delete.target)) {
            return source;
        }
        self.spooled(source, Vec::new(), needed)
    }

    /// Whether the rows are found by an index whose key the update changes.
    fn scans_changed_key(&self, tree: &Physical, target: &Target) -> bool {
        let mut found = false;
        tree.for_each(&mut |node| {
            if let Some(rows) = node.describe().stored().filter(|rows| !rows.is_lookup()) {
                let source = rows.source;
                let index = target.indexes.iter().find(|i| i.hobt == source.hobt);
                let own = is_target(target, source.database, source.object);
                found |= own && index.is_some_and(|i| i.key_changes && !i.key.is_empty());
            }
        });
        found
    }

    /// A value that runs a subquery or calls a function moves below the spool.
    fn compute_early(&self, x: &mut Scalar, early: &mut Vec<(Slot, Scalar)>) {
        let reads = x.reads();
        if reads.subqueries.is_empty() && !(self.calls && reads.volatile) {
            return;
        }
        let slot = self.new_slot();
        let column = Scalar::column(slot, x.ty);
        early.push((slot, std::mem::replace(x, column)));
    }

    fn spooled(&self, source: Node, early: Vec<(Slot, Scalar)>, needed: &Slots) -> Node {
        let mut carried = needed.clone();
        carried.extend(early.iter().map(|(slot, _)| *slot));
        let node = match early.is_empty() {
            true => source,
            false => self.computed(source, early),
        };
        let reads_all = matches!(node.tree, Physical::Sort(_) | Physical::TopSort(_));
        if reads_all {
            return node;
        }
        let carried = carried.into_iter().collect();
        let cost = self.prices.spool(node.rows, node.width, 1.0);
        node.gathered(cost, |input| Physical::Spool(Spool { input: Box::new(input), carried }))
    }
}

/// Rule 6: rows of the target are tested by columns that an update changes, in the side of a loop
/// that is opened again and again.
fn looks_again(tree: &Physical, update: &Update<Logical>, reopened: bool) -> bool {
    let changed = |p: &plan::Predicate| {
        let reads = p.reads().slots;
        let old = |c: usize| update.old.columns.get(c).copied().flatten();
        let columns = update.assignments.iter().filter_map(|a| a.column);
        columns.filter_map(old).any(|slot| reads.contains(&slot))
    };
    let own = |s: &plan::Source| reopened && is_target(&update.target, s.database, s.object);
    let operator = tree.describe();
    let rows = operator.stored();
    if rows.is_some_and(|rows| own(rows.source) && rows.residual.is_some_and(changed)) {
        return true;
    }
    let per_row = |n| operator.opening(n) == Opening::PerRow;
    let mut inputs = tree.inputs().into_iter().enumerate();
    inputs.any(|(n, input)| looks_again(input, update, reopened || per_row(n)))
}

fn is_target(target: &Target, database: base::DatabaseId, object: base::ObjectId) -> bool {
    target.database == database && target.object == object
}
