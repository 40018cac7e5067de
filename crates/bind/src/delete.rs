//! DELETE.

use crate::binder::{Binder, unsupported};
use crate::referential::{Done, RowSlots};
use crate::scope::{Clause, Scope};
use crate::select::filtered;
use crate::target::{TargetTable, set_target};
use base::SqlResult;
use plan::{Delete, EntryField, Logical, Statement, Target};
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
        let changed = self.changed_rows(&s.target, &s.from, None)?;
        let table = changed.target.table.clone();
        let scope = Scope::new(changed.from.sources, Clause::Where);
        let filter = self.within(scope, |b| b.dml_filter(s.filter.as_ref()))?;
        let mut target = self.target(&changed.target, changed.locks);
        let needed = self.needed_to_delete(&changed.target, &target);
        let old = self.old_row(changed.no, &table, |n| needed.contains(&n));
        let filter = self.present(filter, changed.no, &table, &old);
        let mut tree = filtered(changed.from.tree, filter);
        set_target(&mut tree, changed.no, &old);
        let tree = self.dml_top(tree, s.top.as_deref())?;
        let slots = RowSlots { old: &old.columns, new: &[] };
        target.references = self.references(&changed.target, Done::Delete, slots, None)?;
        let delete = Delete { target, source: tree, old, distinct_rows: changed.joined };
        Ok(Statement::Delete(Box::new(delete)))
    }

    /// The columns that find a row in each of its indexes, and those that rows refer to.
    pub(crate) fn needed_to_delete(
        &self,
        deleted: &TargetTable,
        target: &Target,
    ) -> BTreeSet<usize> {
        let keys = target.indexes.iter().flat_map(|i| i.key.iter().map(|k| i.fields[k.field]));
        let keys = keys.filter_map(|f| match f {
            EntryField::Column(c) => Some(c),
            EntryField::Uniquifier | EntryField::Rid => None,
        });
        keys.chain(self.referenced_columns(deleted)).collect()
    }
}
