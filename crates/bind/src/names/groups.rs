//! What a query groups by.

use plan::{Scalar, ScalarType, Slot};

/// A GROUP BY clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The expressions, each once.
    pub(crate) keys: Vec<Scalar>,
    /// The slots that hold them above the groups: a column's own where one set has them all.
    pub(crate) slots: Vec<Slot>,
    /// Which of them each set groups by; `None`: all, in one set.
    pub(crate) sets: Option<Vec<Vec<usize>>>,
    /// For each expression, where it is said whether the set at hand leaves it out.
    pub(crate) flags: Vec<Slot>,
    /// The expressions as a subquery that is asked for each group binds them; none where all are
    /// columns.
    pub(crate) nested: Vec<Scalar>,
}

impl Groups {
    /// Whether a set may leave out an expression that another has.
    pub(crate) fn has_sets(&self) -> bool {
        self.sets.is_some()
    }

    /// The expressions with the slots that hold them above the groups.
    pub(crate) fn placed(&self) -> Vec<(Scalar, Slot)> {
        self.keys.iter().cloned().zip(self.slots.iter().copied()).collect()
    }

    /// What a subquery that is asked for each group reads instead of a column grouped by.
    pub(crate) fn of_group(&self, column: &Scalar) -> Option<Scalar> {
        let at = self.keys.iter().position(|key| key == column)?;
        let nullable = column.ty.nullable || self.has_sets();
        Some(Scalar::column(self.slots[at], ScalarType { nullable, ..column.ty }))
    }

    /// Whether there are expressions that are more than columns.
    pub(crate) fn has_expressions(&self) -> bool {
        !self.nested.is_empty()
    }

    /// What a subquery reads instead of a whole expression grouped by.
    pub(crate) fn of_group_whole(&self, x: &Scalar) -> Option<Scalar> {
        let loose = self.has_sets().then(|| loosened(x.clone()));
        let kind = &loose.as_ref().unwrap_or(x).kind;
        let at = self.nested.iter().position(|key| key.kind == *kind)?;
        let nullable = x.ty.nullable || self.has_sets();
        Some(Scalar::column(self.slots[at], ScalarType { nullable, ..x.ty }))
    }

    /// An expression with the columns that are grouped by as subqueries read them.
    pub(crate) fn as_nested(&self, key: &Scalar) -> Scalar {
        let mut nested = key.clone();
        nested.rewrite(&mut |x| {
            if x.as_column().is_some()
                && let Some(of_group) = self.of_group(x)
            {
                *x = of_group;
            }
        });
        if self.has_sets() { loosened(nested) } else { nested }
    }
}

/// Whatever a set may leave out may be NULL, and so may what is made of it.
fn loosened(mut x: Scalar) -> Scalar {
    x.rewrite(&mut |x| x.ty.nullable = true);
    x
}
