//! Which column of which table a slot holds.

use plan::{Logical, Slot, TableNo};

/// Where the value of a slot comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Origin {
    /// It is computed, or nobody's.
    #[default]
    Unknown,
    Column(TableNo, usize),
    /// It has the values of another one, or some of them.
    Same(Slot),
}

/// Of all slots of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins(Vec<Origin>);

impl Origins {
    /// Notes the slots of a tree.
    pub(crate) fn note(&mut self, tree: &Logical) {
        match tree {
            Logical::Get(get) => {
                for c in &get.columns {
                    self.set(c.slot, Origin::Column(get.table, c.column));
                }
                if let Some(old) = &get.target {
                    for (n, slot) in old.columns.iter().enumerate() {
                        if let Some(slot) = slot {
                            self.set(*slot, Origin::Column(get.table, n));
                        }
                    }
                }
            }
            Logical::Virtual(_)
            | Logical::Function(_)
            | Logical::Values { .. }
            | Logical::Changed { .. } => {}
            Logical::Filter { input, .. }
            | Logical::Distinct { input, .. }
            | Logical::Window { input, .. }
            | Logical::Sort { input, .. }
            | Logical::Top { input, .. } => self.note(input),
            Logical::Compute { input, columns } => {
                self.note(input);
                for (slot, x) in columns {
                    if let Some(same) = x.as_column() {
                        self.set(*slot, Origin::Same(same));
                    }
                }
            }
            Logical::Join { left, right, .. } => {
                self.note(left);
                self.note(right);
            }
            Logical::Aggregate(g) => self.note(&g.input),
            Logical::Recursive(r) => {
                self.note(&r.anchor);
                r.members.iter().for_each(|(member, _)| self.note(member));
            }
            Logical::Concatenate { inputs, columns } => {
                inputs.iter().for_each(|(input, _)| self.note(input));
                if let Some((_, slots)) = inputs.first() {
                    for (to, from) in columns.iter().zip(slots) {
                        self.set(*to, Origin::Same(*from));
                    }
                }
            }
        }
    }

    fn set(&mut self, slot: Slot, origin: Origin) {
        let at = slot.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, Origin::Unknown);
        }
        self.0[at] = origin;
    }

    /// The column whose values a slot has.
    pub(crate) fn column(&self, slot: Slot) -> Option<(TableNo, usize)> {
        let mut at = slot;
        // A chain is as long as derived tables are nested, and never comes back.
        for _ in 0..64 {
            match self.0.get(at.0 as usize)? {
                Origin::Unknown => return None,
                Origin::Column(table, column) => return Some((*table, *column)),
                Origin::Same(next) => at = *next,
            }
        }
        None
    }
}
