//! Which columns a plan would be chosen better with statistics of: those that conditions, joins
//! and groupings name.
//!
//! A table that is asked for one row by a whole unique key wants nothing: there is nothing to
//! choose.

use catalog::view::{Object, Table};
use plan::{CompareOp, Get, Logical, LogicalPlan, Predicate, Reads, Slot, SubqueryId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A table of a statement, and ordinals of its columns in their order.
#[derive(Clone, Debug)]
pub struct WantedColumns {
    /// The table.
    pub table: Arc<Table>,
    /// The columns.
    pub columns: BTreeSet<usize>,
}

/// The user tables of a statement with the columns that want statistics; `references` are what
/// its table numbers count.
pub fn wanted(plan: &LogicalPlan, references: &[Object]) -> Vec<WantedColumns> {
    let mut found = ColumnUse::default();
    for tree in plan.statement.source().into_iter().chain(plan.subqueries.iter().map(|s| &s.source))
    {
        found.tree(tree);
    }
    let mut all = BTreeMap::new();
    for get in &found.gets {
        let Some(Object::Table(table)) = references.get(get.table.0 as usize) else { continue };
        if table.object_id.table_variable().is_some() {
            continue;
        }
        let key = (table.database, table.object_id);
        let entry = all.entry(key).or_insert_with(|| WantedColumns {
            table: Arc::clone(table),
            columns: BTreeSet::new(),
        });
        if !found.is_one_row(get, table) {
            let read = get.columns.iter().filter(|c| found.read.contains(&c.slot));
            entry.columns.extend(read.map(|c| c.column).filter(|&c| has_order(table, c)));
        }
    }
    all.into_values().collect()
}

/// Whether a column's values can be put into a histogram.
fn has_order(table: &Table, column: usize) -> bool {
    table.columns.get(column).is_some_and(|c| c.computed.is_none() && !c.sql_type.is_max())
}

#[derive(Default)]
struct ColumnUse {
    gets: Vec<Get>,
    /// Slots that conditions, joins and groupings read.
    read: BTreeSet<Slot>,
    /// Slots that must equal something that no row decides.
    equal: BTreeSet<Slot>,
}

impl ColumnUse {
    fn tree(&mut self, tree: &Logical) {
        tree.for_each(&mut |node| match node {
            Logical::Get(get) => self.gets.push((**get).clone()),
            Logical::Filter { predicate, .. } => {
                self.condition(predicate);
                self.equalities(predicate);
            }
            Logical::Join { on, .. } => self.condition(on),
            Logical::Aggregate(grouping) => {
                self.read.extend(grouping.keys.iter().map(|(slot, _)| *slot));
            }
            Logical::Distinct { columns, .. } => {
                self.read.extend(columns.iter().map(|(slot, _)| *slot));
            }
            _ => {}
        });
    }

    fn condition(&mut self, predicate: &Predicate) {
        let Reads { slots, .. } = predicate.reads();
        self.read.extend(slots);
    }

    fn equalities(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::And(parts) => parts.iter().for_each(|p| self.equalities(p)),
            Predicate::Compare { op: CompareOp::Equal, left, right, .. } => {
                for (column, other) in [(left, right), (right, left)] {
                    let reads = other.reads();
                    let none: BTreeSet<SubqueryId> = BTreeSet::new();
                    if let Some(slot) = column.as_column()
                        && reads.slots.is_empty()
                        && reads.subqueries == none
                    {
                        self.equal.insert(slot);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a whole unique key is asked for.
    fn is_one_row(&self, get: &Get, table: &Table) -> bool {
        let is_equal = |column: usize| {
            get.columns.iter().any(|c| c.column == column && self.equal.contains(&c.slot))
        };
        let unique =
            table.indexes.iter().filter(|i| i.unique && !i.key.is_empty() && i.filter.is_none());
        unique.into_iter().any(|i| i.key.iter().all(|k| is_equal(k.column)))
    }
}
