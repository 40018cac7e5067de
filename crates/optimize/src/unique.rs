//! Relations no two rows of which are equal in some columns: DISTINCT of them does nothing.

use crate::convert::Optimizer;
use crate::node::{Slots, writes};
use crate::order::equality;
use catalog::view::Object;
use plan::{Get, JoinKind, Logical, Predicate, Scalar, Slot};

impl Optimizer<'_> {
    /// No two rows of a relation are equal in all of some columns.
    pub(crate) fn rows_differ(&self, tree: &Logical, columns: &Slots) -> bool {
        let has = |slot: &Slot| columns.contains(slot);
        match tree {
            Logical::Get(get) => self.has_unique_key(get, columns),
            Logical::Values { rows, .. } => rows.len() <= 1,
            Logical::Filter { input, .. }
            | Logical::Compute { input, .. }
            | Logical::Sort { input, .. }
            | Logical::Top { input, .. }
            | Logical::Window { input, .. } => self.rows_differ(input, columns),
            Logical::Aggregate(g) => g.keys.iter().all(|(slot, _)| has(slot)),
            Logical::Distinct { columns: own, .. } => own.iter().all(|(slot, _)| has(slot)),
            Logical::Join { kind: JoinKind::Semi | JoinKind::Anti, left, .. } => {
                self.rows_differ(left, columns)
            }
            Logical::Join { kind: JoinKind::Inner | JoinKind::Left, left, right, on, .. } => {
                // Each left row has one partner at most.
                let own = writes(right);
                self.rows_differ(left, columns) && self.rows_differ(right, &compared(on, &own))
            }
            _ => false,
        }
    }

    fn has_unique_key(&self, get: &Get, columns: &Slots) -> bool {
        let Some(Object::Table(table)) = self.references.get(get.table.0 as usize) else {
            return false;
        };
        let is_asked = |column: usize| {
            get.columns.iter().any(|c| c.column == column && columns.contains(&c.slot))
        };
        let whole = table.indexes.iter().filter(|i| i.filter.is_none());
        let unique = whole.filter(|i| i.unique && !i.disabled && !i.key.is_empty());
        unique.into_iter().any(|i| i.key.iter().all(|k| is_asked(k.column)))
    }
}

/// Columns of a side that a condition compares with what is the same for one row of the other.
fn compared(on: &Predicate, own: &Slots) -> Slots {
    let column = |x: &Scalar, other: &Scalar, collation| {
        let slot = crate::sarg::column_of(x).filter(|slot| own.contains(slot))?;
        let alike = !x.ty.sql_type.is_character() || x.ty.collation == collation;
        (alike && other.reads().slots.is_disjoint(own)).then_some(slot)
    };
    let parts = on.clone().conjuncts();
    let keys = parts.iter().filter_map(equality);
    keys.filter_map(|(a, b, c)| column(a, b, c).or_else(|| column(b, a, c))).collect()
}
