//! Expressions of a statement that a computed column stores: the column is read instead, so that
//! its index serves `WHERE JSON_VALUE(doc, '$.x') = 'a'` as it serves the column's name.
//!
//! An expression matches when it binds to the same tree: the same functions, constants and columns,
//! of the same types. Below an outer join's side that may be absent nothing is matched: of no row
//! the expression may be a value, and the column is NULL.

use crate::binder::Binder;
use catalog::view::Column;
use plan::{Logical, Predicate, Scalar, ScalarKind, TableNo};

/// The expression of a stored column.
pub(crate) struct StoredExpression {
    value: Scalar,
    table: TableNo,
    column: usize,
}

impl Binder<'_> {
    /// Those of all tables that the statement reads, as far as it mentions what they read.
    pub(crate) fn stored_expressions(&mut self) -> Vec<StoredExpression> {
        let mut all = Vec::new();
        for n in 0..self.references.len() {
            let no = TableNo(n as u32);
            let Some(table) = self.references.table(no) else { continue };
            let any = table.columns.iter().any(Column::is_stored_computed);
            if !any || self.references.is_nullable(no) {
                continue;
            }
            let used = self.references.used(no);
            let slots: Vec<_> = (0..table.columns.len()).map(|c| used.get(&c).copied()).collect();
            let stored = table.columns.iter().enumerate().filter(|(_, c)| c.is_stored_computed());
            for (column, c) in stored {
                let Some(computed) = &c.computed else { continue };
                // What it reads may not be mentioned: then it does not stand there either.
                let Ok(value) = self.over_row(&table, &slots, &computed.text) else { continue };
                let plain = matches!(value.kind, ScalarKind::Column(_) | ScalarKind::Constant(_));
                if !plain {
                    all.push(StoredExpression { value, table: no, column });
                }
            }
        }
        all
    }

    /// Reads stored columns instead of their expressions in a tree's conditions and columns.
    pub(crate) fn read_stored(&mut self, tree: &mut Logical, stored: &[StoredExpression]) {
        let mut change = |x: &mut Scalar| {
            if let Some(s) = stored.iter().find(|s| s.value.kind == x.kind) {
                x.kind = ScalarKind::Column(self.references.use_column(s.table, s.column));
            }
        };
        tree.for_each_mut(&mut |node| match node {
            Logical::Filter { predicate: p, .. } | Logical::Join { on: p, .. } => {
                p.rewrite(&mut change);
                read_directly(p);
            }
            Logical::Compute { columns, .. } => {
                columns.iter_mut().for_each(|(_, x)| x.rewrite(&mut change));
            }
            _ => {}
        });
    }
}

/// A BETWEEN whose operand has become a column needs no slot for it.
fn read_directly(p: &mut Predicate) {
    match p {
        Predicate::Not(p) => read_directly(p),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter_mut().for_each(read_directly),
        Predicate::Let { slot, value, body } => {
            read_directly(body);
            let (from, Some(to)) = (*slot, value.as_column()) else { return };
            let mut body = std::mem::replace(&mut **body, Predicate::TRUE);
            body.rewrite(&mut |x| {
                if x.as_column() == Some(from) {
                    x.kind = ScalarKind::Column(to);
                }
            });
            *p = body;
        }
        _ => {}
    }
}
