//! The end of a binding: what was mentioned on the way is written into the tree.

use crate::binder::Binder;
use crate::environment::Bound;
use crate::names::reference::Reference;
use crate::tree::flag_rows;
use base::SqlResult;
use plan::{
    FollowUp, Get, GetColumn, Header, Logical, LogicalPlan, Plan, Reads, Slot, Statement, Subquery,
    VirtualGet,
};
use std::collections::BTreeSet;

impl Binder<'_> {
    /// The plan: columns that were mentioned are now known, so are reads of subqueries.
    pub(crate) fn finish(&mut self, mut statement: Statement<Logical>) -> SqlResult<Bound> {
        self.table_hints_met()?;
        let mut flags = self.references.flags();
        if !flags.is_empty() {
            let trees = source_of(&mut statement).into_iter().chain(self.subplans.trees());
            trees.for_each(|tree| flag_rows(tree, &mut flags));
        }
        self.match_stored(&mut statement);
        for database in self.followed.take() {
            self.depend(&database);
        }
        let known = self.known_checks();
        let (subqueries, follow_ups) = std::mem::take(&mut self.subplans).into_parts();
        let mut plan: LogicalPlan = Plan {
            statement,
            subqueries,
            follow_ups,
            slots: self.references.slot_count(),
            header: Header {
                dialect: self.folding.decided_by(),
                ..std::mem::take(&mut self.header)
            },
            estimates: Vec::new(),
        };
        let mentioned = |(reference, checks): (&Reference, _)| MentionedTable {
            columns: reference.columns(),
            location: reference.location,
            checks,
        };
        let used: Vec<MentionedTable> = self.references.iter().zip(known).map(mentioned).collect();
        if let Some(source) = source_of(&mut plan.statement) {
            fill_columns(source, &used);
        }
        for subquery in &mut plan.subqueries {
            fill_columns(&mut subquery.source, &used);
        }
        for follow_up in &mut plan.follow_ups {
            let source = match follow_up {
                FollowUp::Refuse { source, .. } => Some(source),
                FollowUp::Change(statement) => source_of(statement),
                FollowUp::Index(change) => Some(&mut change.source),
            };
            if let Some(source) = source {
                fill_columns(source, &used);
            }
        }
        outer_reads(&mut plan.subqueries);
        let references = std::mem::take(&mut self.references).into_objects();
        Ok(Bound { plan, references, into: self.into.take() })
    }

    fn match_stored(&mut self, statement: &mut Statement<Logical>) {
        let stored = self.stored_expressions();
        if stored.is_empty() {
            return;
        }
        if let Some(source) = source_of(statement) {
            self.read_stored(source, &stored);
        }
        let mut subplans = std::mem::take(&mut self.subplans);
        for tree in subplans.trees() {
            self.read_stored(tree, &stored);
        }
        self.subplans = subplans;
    }
}

/// What a statement mentions of a table, and what is known of that.
struct MentionedTable {
    columns: Vec<GetColumn>,
    location: Option<Slot>,
    checks: Vec<plan::Predicate>,
}

fn source_of(statement: &mut Statement<Logical>) -> Option<&mut Logical> {
    match statement {
        Statement::Query(q) => Some(&mut q.source),
        Statement::Assign(a) => Some(&mut a.source),
        Statement::Insert(i) => Some(&mut i.source),
        Statement::Update(u) => Some(&mut u.source),
        Statement::Delete(d) => Some(&mut d.source),
        Statement::Merge(m) => Some(&mut m.source),
        Statement::Scalar(_) | Statement::Condition(_) => None,
    }
}

fn fill_columns(tree: &mut Logical, used: &[MentionedTable]) {
    tree.for_each_mut(&mut |node| match node {
        Logical::Get(get) => fill_get(get, used),
        Logical::Virtual(get) => fill_virtual(get, used),
        _ => {}
    });
}

fn fill_get(get: &mut Get, used: &[MentionedTable]) {
    let mentioned = &used[get.table.0 as usize];
    get.columns.clone_from(&mentioned.columns);
    get.location = mentioned.location;
    get.checks.clone_from(&mentioned.checks);
}

fn fill_virtual(get: &mut VirtualGet, used: &[MentionedTable]) {
    get.columns.clone_from(&used[get.table.0 as usize].columns);
}

/// For each subquery the slots it reads and doesn't write, those of subqueries within it included,
/// and whether it reads variables.
/// A subquery's number is greater than those it contains, so one pass in order suffices.
fn outer_reads(subqueries: &mut [Subquery<Logical>]) {
    for n in 0..subqueries.len() {
        let mut reads = Reads::default();
        let mut writes = BTreeSet::new();
        subqueries[n].source.reads_and_writes(&mut reads, &mut writes);
        let mut outer = reads.slots;
        for inner in &reads.subqueries {
            debug_assert!((inner.0 as usize) < n, "a subquery is numbered after those within it");
            outer.extend(subqueries[inner.0 as usize].outer.iter().copied());
            reads.session |= subqueries[inner.0 as usize].session;
        }
        outer.extend(subqueries[n].columns.iter().copied());
        subqueries[n].outer = outer.difference(&writes).copied().collect();
        subqueries[n].session = reads.session;
    }
}
