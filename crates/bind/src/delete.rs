//! DELETE.

use crate::binder::{Binder, unsupported};
use crate::scope::{Clause, Scope};
use crate::select::filtered;
use crate::target::set_target;
use base::SqlResult;
use plan::{Delete, EntryField, Logical, Statement};
use std::collections::BTreeSet;
use tsql::ast;

impl Binder<'_> {
    pub(crate) fn delete(&mut self, s: &ast::Delete) -> SqlResult<Statement<Logical>> {
        if let Some(output) = &s.output {
            return Err(unsupported("OUTPUT", output.span.line));
        }
        self.options(&s.options)?;
        self.with_ctes(s.with.as_deref(), |b| b.delete_rows(s))
    }

    fn delete_rows(&mut self, s: &ast::Delete) -> SqlResult<Statement<Logical>> {
        let changed = self.changed_rows(&s.target, &s.from)?;
        let table = changed.target.table.clone();
        let scope = Scope::new(changed.from.sources, Clause::Where);
        let filter = self.within(scope, |b| b.dml_filter(s.filter.as_ref()))?;
        let target = self.target(&changed.target, changed.locks);
        // What finds the row in each of its indexes.
        let keys: BTreeSet<usize> = target
            .indexes
            .iter()
            .flat_map(|i| i.key.iter().map(|k| i.fields[k.field]))
            .filter_map(|f| match f {
                EntryField::Column(c) => Some(c),
                EntryField::Uniquifier | EntryField::Rid => None,
            })
            .collect();
        let old = self.old_row(changed.no, &table, |n| keys.contains(&n));
        let filter = self.present(filter, changed.no, &table, &old);
        let mut tree = filtered(changed.from.tree, filter);
        set_target(&mut tree, changed.no, &old);
        let tree = self.dml_top(tree, s.top.as_deref())?;
        let delete = Delete { target, source: tree, old, distinct_rows: changed.joined };
        Ok(Statement::Delete(Box::new(delete)))
    }
}
