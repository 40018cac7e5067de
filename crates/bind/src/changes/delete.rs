//! DELETE.

use crate::binder::Binder;
use crate::changes::output::deleted;
use crate::changes::row_slots::{RowAction, RowSlots};
use crate::changes::target::{TargetTable, set_target};
use crate::changes::updatable_columns::given_deleted;
use crate::names::scope::{Clause, Scope};
use crate::tree::filtered;
use base::SqlResult;
use catalog::view::Events;
use plan::{Delete, EntryField, Logical, Statement, Target};
use std::collections::BTreeSet;
use tsql::ast;

impl Binder<'_> {
    pub(crate) fn delete(&mut self, s: &ast::Delete) -> SqlResult<Statement<Logical>> {
        self.options(&s.options)?;
        self.embeds = self.header.recompile;
        self.with_ctes(s.with.as_deref(), |b| b.delete_rows(s))
    }

    fn delete_rows(&mut self, s: &ast::Delete) -> SqlResult<Statement<Logical>> {
        let changed = self.changed_rows(&s.target, &s.from, None)?;
        if changed.through.is_some()
            && let Some(parent) =
                self.base_parent(&changed.target, Events::DELETE, s.output.as_deref())?
        {
            return self.instead_delete_through(s, &parent, changed);
        }
        let table = changed.target.table.clone();
        let no = changed.no;
        let own = match changed.through {
            Some(_) => given_deleted(&changed.source),
            None => deleted(no),
        };
        let sources = [vec![own], changed.beside()].concat();
        let scope = Scope::new(changed.from.sources, Clause::Where);
        let filter = self.within(scope, |b| b.dml_filter(s.filter.as_ref(), Some(no)))?;
        let mut target = self.target(&changed.target, changed.locks);
        let needed = self.needed_to_delete(&changed.target, &target);
        let output = match &s.output {
            Some(o) => Some(Box::new(self.output(o, sources)?)),
            None => None,
        };
        let old = self.old_row(no, &table, |n| needed.contains(&n));
        let mut tree = changed.from.tree;
        let filter = filter.and(self.present(&mut tree, no, &table, &old));
        tree = filtered(tree, filter);
        set_target(&mut tree, no, &old);
        let tree = self.dml_top(tree, s.top.as_deref())?;
        let slots = RowSlots { old: &old.columns, new: &[] };
        target.references = self.references(&changed.target, RowAction::Delete, slots, None)?;
        let distinct_rows = changed.joined;
        let delete = Delete { target, source: tree, old, distinct_rows, output };
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
            EntryField::Dropped | EntryField::Uniquifier | EntryField::Rid => None,
        });
        // A trigger may ask for any of them.
        let all = if self.fires(deleted, Events::DELETE) { deleted.table.columns.len() } else { 0 };
        let filters = target.indexes.iter().filter_map(|i| i.filter.as_deref());
        let read = filters.flat_map(|f| f.tests.iter().map(|t| t.column));
        keys.chain(read).chain(self.referenced_columns(deleted)).chain(0..all).collect()
    }
}
