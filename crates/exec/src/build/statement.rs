//! Builds what a statement does: the change of its target, OUTPUT, and what follows from it.
//!
//! Targets, sources and OUTPUT number their hobts and nodes in the order in which they are built.

use super::Builder;
use crate::change::{
    Body, Clause, ColumnValue, Delete, IndexChange, Insert, Merge, Output, Refusal, RowInsert,
    Rows, Target, Update,
};
use crate::expr::{Cond, Expr, Subplan};
use crate::memory::RowBuffer;
use crate::run::FollowUp;
use access::Use;
use base::SqlResult;
use plan::{ColumnSource, MergeAction, Physical, PhysicalPlan, Scalar, Slot, Statement};

impl Builder {
    /// The statement.
    pub(crate) fn body(&mut self, statement: &Statement<Physical>) -> SqlResult<Body> {
        Ok(match statement {
            Statement::Query(q) => {
                let columns = q.columns.iter().map(|c| c.slot).collect();
                Body::Query(Rows::new(self.node(&q.source)?, columns))
            }
            Statement::Assign(a) => {
                let assignment =
                    |(v, x): &(plan::VariableId, Scalar)| Ok((v.0 as usize, Expr::new(x)?));
                Body::Assign {
                    source: self.node(&a.source)?,
                    assignments: a.assignments.iter().map(assignment).collect::<SqlResult<_>>()?,
                }
            }
            Statement::Insert(insert) => Body::Insert(Box::new(self.insert(insert)?)),
            Statement::Update(update) => Body::Update(Box::new(self.update(update)?)),
            Statement::Delete(delete) => Body::Delete(Box::new(self.delete(delete)?)),
            Statement::Merge(merge) => Body::Merge(Box::new(self.merge(merge)?)),
            Statement::Scalar(x) => Body::Scalar(Expr::new(x)?),
            Statement::Condition(p) => Body::Condition(Cond::new(p)?),
        })
    }

    /// The subqueries, by number.
    pub(crate) fn subplans(&mut self, plan: &PhysicalPlan) -> SqlResult<Vec<Option<Box<Subplan>>>> {
        let subplan = |s: &plan::Subquery<Physical>| {
            let fixed = s.outer.is_empty() && !(self.assigns && s.session);
            let root = self.node(&s.source)?;
            let asserts = matches!(s.source, Physical::Assert(_));
            Ok(Some(Box::new(Subplan::new(root, s.columns.first().copied(), fixed, asserts))))
        };
        plan.subqueries.iter().map(subplan).collect()
    }

    /// The follow-ups, by number; the trees of their sources come after those of subqueries.
    pub(crate) fn follow_ups(
        &mut self,
        plan: &PhysicalPlan,
    ) -> SqlResult<Vec<Option<Box<dyn FollowUp>>>> {
        let database = plan.statement.target().map(|t| t.database_name.clone());
        let one = |f: &plan::FollowUp<Physical>| {
            let built: Box<dyn FollowUp> = match f {
                plan::FollowUp::Refuse { conflict, source } => Box::new(Refusal {
                    source: self.node(source)?,
                    conflict: conflict.clone(),
                    database: database.clone().unwrap_or_default(),
                    verb: self.verb.unwrap_or_default(),
                }),
                plan::FollowUp::Change(statement) => Box::new(self.body(statement)?),
                plan::FollowUp::Index(change) => Box::new(self.index_change(change)?),
            };
            Ok(Some(built))
        };
        plan.follow_ups.iter().map(one).collect()
    }

    fn index_change(&mut self, change: &plan::IndexChange<Physical>) -> SqlResult<IndexChange> {
        let target = self.target(&change.target, "UPDATE")?;
        IndexChange::new(change, target, self.node(&change.source)?)
    }

    fn target(&mut self, target: &plan::Target, verb: &'static str) -> SqlResult<Target> {
        let hobts: Vec<usize> =
            target.indexes.iter().map(|i| self.hobt(target.database, i.hobt)).collect();
        self.changed = self.changed.or(hobts.first().copied());
        let changed = target.indexes.iter().zip(&hobts).filter(|(i, _)| i.affected);
        for (_, &hobt) in changed {
            if !self.uses.contains(&(hobt, Use::Update)) {
                self.uses.push((hobt, Use::Update));
            }
        }
        if let Some(kept) = &target.references.kept {
            let id = kept.id.0 as usize;
            self.changed_rows.resize_with(self.changed_rows.len().max(id + 1), || None);
            self.changed_rows[id] = Some(Box::new(RowBuffer::new(kept.slots.to_vec())));
        }
        let statement = *self.verb.get_or_insert(verb);
        Target::new(target, hobts, verb, statement)
    }

    fn insert(&mut self, insert: &plan::Insert<Physical>) -> SqlResult<Insert> {
        let into =
            self.row_insert(&insert.target, all_columns(&insert.columns), insert.identity)?;
        let output = self.output(insert.output.as_deref())?;
        Ok(Insert::new(into, self.node(&insert.source)?, output))
    }

    fn row_insert<'p>(
        &mut self,
        target: &plan::Target,
        sources: impl Iterator<Item = (usize, Slot, &'p ColumnSource)>,
        identity: Option<plan::IdentityColumn>,
    ) -> SqlResult<RowInsert> {
        let given = |(column, slot, source)| Ok((column, slot, ColumnValue::new(source)?));
        let columns = sources.map(given).collect::<SqlResult<_>>()?;
        RowInsert::new(self.target(target, "INSERT")?, columns, identity)
    }

    fn output(&mut self, output: Option<&plan::Output>) -> SqlResult<Option<Output>> {
        let Some(output) = output else { return Ok(None) };
        let into = match &output.into {
            Some(i) => {
                // Rows of a change in FROM violate constraints as rows of the INSERT.
                let change = self.verb;
                if i.nested.is_some() {
                    self.verb = None;
                }
                let into = self.row_insert(&i.target, all_columns(&i.columns), i.identity)?;
                self.verb = change;
                Some(into)
            }
            None => None,
        };
        Ok(Some(Output::new(output, into)?))
    }

    fn update(&mut self, update: &plan::Update<Physical>) -> SqlResult<Update> {
        let target = self.target(&update.target, "UPDATE")?;
        let source = self.node(&update.source)?;
        let output = self.output(update.output.as_deref())?;
        Update::new(update, target, source, output)
    }

    fn delete(&mut self, delete: &plan::Delete<Physical>) -> SqlResult<Delete> {
        let target = self.target(&delete.target, "DELETE")?;
        let source = self.node(&delete.source)?;
        let output = self.output(delete.output.as_deref())?;
        Delete::new(delete, target, source, output)
    }

    fn merge(&mut self, merge: &plan::Merge<Physical>) -> SqlResult<Merge> {
        self.verb = Some("MERGE");
        let inserts = merge.inserts.as_ref().unwrap_or(&merge.target);
        let mut insert = None;
        for clause in &merge.clauses {
            if let MergeAction::Insert(values) = &clause.action {
                let sources = merge.new.iter().zip(values).enumerate();
                let sources = sources.filter_map(|(n, (slot, x))| Some((n, (*slot)?, x)));
                insert = Some(self.row_insert(inserts, sources, merge.identity)?);
            }
        }
        let clauses = merge.clauses.iter().map(Clause::new).collect::<SqlResult<_>>()?;
        let target = self.target(&merge.target, "UPDATE")?;
        let deletes = match &merge.deletes {
            Some(deletes) => Some(self.target(deletes, "DELETE")?),
            None => None,
        };
        let source = self.node(&merge.source)?;
        let output = self.output(merge.output.as_deref())?;
        Merge::new(merge, (target, deletes), source, clauses, insert, output)
    }
}

/// What an INSERT gives each column of its target.
fn all_columns(
    columns: &[plan::InsertColumn],
) -> impl Iterator<Item = (usize, Slot, &ColumnSource)> {
    columns.iter().enumerate().map(|(n, c)| (n, c.slot, &c.source))
}
