//! MERGE of what has INSTEAD OF triggers, and every UPDATE of it: nothing is changed, the rows that
//! would be are captured, each action's for its own trigger.
//!
//! ```text
//!   plan::Merge, captured      WHEN … INSERT   new rows        → inserted
//!                              WHEN … UPDATE   old and new     → deleted, inserted
//!                              WHEN … DELETE   old rows        → deleted
//! ```
//!
//! The target of such a plan is a table of captured rows: it says which types and NULLs new rows
//! may have. Rows of the target have numbers, by which one that is met twice is known (8672); a
//! view has no other key.
//!
//! Invariants
//!  1. Every action that the clauses name has a trigger, or none has: 5316.

use crate::binder::Binder;
use crate::changes::merge::{Clauses, action_source, makes_row};
use crate::changes::output::{made_row, pseudo};
use crate::changes::parent::{Parent, refuse_output};
use crate::changes::row_slots::{RowAction, column_scalar};
use crate::changes::update::AffectedRows;
use crate::expressions::constant::zero;
use crate::names::resolve::where_true;
use crate::names::scope::Columns;
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Events, Table};
use plan::{
    Assignment, ColumnSource, FollowUp, Insert, KeptSlots, LockHints, Logical, Merge, MergeAction,
    OldRow, Output, Predicate, References, Scalar, ScalarType, Slot, Statement, TableNo, Target,
    WindowCall, WindowFunction,
};
use std::collections::BTreeSet;
use tsql::ast;
use types::SqlType;

/// The captured rows of all actions, as targets.
struct CapturedTargets {
    update: Target,
    insert: Option<Target>,
    delete: Option<Target>,
}

/// What a captured change is made of.
pub(crate) struct CapturedParts {
    /// Its rows.
    pub(crate) tree: Logical,
    /// What tells a row of the target from others; NULL where there is none.
    pub(crate) row: Slot,
    /// The target's columns in those rows.
    pub(crate) old: Vec<Scalar>,
    pub(crate) has_source: Option<Slot>,
    pub(crate) clauses: Clauses,
}

impl Binder<'_> {
    /// The target of a MERGE where that has INSTEAD OF triggers for what its clauses do.
    pub(crate) fn merge_parent(&mut self, s: &ast::Merge) -> SqlResult<Option<Parent>> {
        let ast::DmlTargetKind::Table(name) = &s.target.kind else { return Ok(None) };
        let Some(found) = self.named_target(&s.target, &[]) else { return Ok(None) };
        let events: Vec<Events> = events_of(&s.clauses);
        let fires = |b: &Self, e: &Events| b.fires_instead(&found.database, &found.object, *e);
        let fires: Vec<Option<bool>> = events.iter().map(|e| fires(self, e)).collect();
        if fires.iter().all(Option::is_none) {
            return Ok(None);
        }
        self.header.session_bound = true;
        if fires.contains(&None) {
            let e = SqlError::new(messages::MERGE_INSTEAD_OF_SOME, &[&name.object]);
            return Err(e.at_line(s.target.span.line));
        }
        match (fires.contains(&Some(true)), fires.contains(&Some(false))) {
            (false, _) => Ok(None),
            (true, false) => Ok(self.parent_of(found, events[0])),
            (true, true) => {
                let what = "MERGE within an INSTEAD OF trigger of a target that has others";
                Err(unsupported(what, s.target.span.line))
            }
        }
    }

    /// A MERGE whose target has INSTEAD OF triggers.
    pub(crate) fn instead_merge(
        &mut self,
        s: &ast::Merge,
        parent: &Parent,
    ) -> SqlResult<Statement<Logical>> {
        self.refer_parent(parent)?;
        refuse_output(s.output.as_deref(), parent)?;
        let mut target = self.read_target(&s.target, s.alias.as_ref())?;
        let row = self.number_rows(&mut target.tree);
        let (from, own) = self.merge_join(s, target)?;
        let mut tree = from.tree;
        let has_source = self.source_flag(s, &mut tree);
        let beside = from.sources[1..].to_vec();
        let no = match own.columns {
            Columns::Reference(no) => no,
            _ => TableNo(u32::MAX),
        };
        let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let changed = AffectedRows {
            target: parent.target(),
            no,
            source: own.clone(),
            from: crate::names::from::FromPart { tree: nothing, sources: Vec::new() },
            locks: LockHints::default(),
            joined: false,
            through: None,
        };
        let clauses = self.merge_clauses(s, &changed, &beside)?;
        let old = self.old_values(parent.table(), &own)?;
        let old = old.into_iter().map(|x| where_true(is_there(row), x)).collect();
        if let Columns::Reference(no) = own.columns {
            self.references.make_nullable(no);
        }
        let parts = CapturedParts { tree, row, old, has_source, clauses };
        let top = self.merge_top(s.top.as_deref())?;
        let output = s.output.as_deref();
        let mut merge = self.captured_merge(parent, parts, |b, new, action| {
            let Some(o) = output else { return Ok(None) };
            let inserted = made_row(parent.table(), new, Some(makes_row(action)));
            let deleted = pseudo("deleted", own.columns.clone());
            let own = vec![inserted, deleted, action_source(action)];
            b.output(o, [own, beside].concat()).map(Some)
        })?;
        merge.top = top;
        Ok(Statement::Merge(Box::new(merge)))
    }

    /// The plan of a captured change. `output` is given the slots of the new row and of `$action`.
    pub(crate) fn captured_merge(
        &mut self,
        parent: &Parent,
        parts: CapturedParts,
        output: impl FnOnce(&mut Self, &[Option<Slot>], Slot) -> SqlResult<Option<Output>>,
    ) -> SqlResult<Merge<Logical>> {
        let table = parent.table();
        let CapturedParts { mut tree, row, old, has_source, mut clauses } = parts;
        let mut computed = Vec::new();
        let slot = |x: Scalar| {
            x.as_column().unwrap_or_else(|| {
                let slot = self.new_slot();
                computed.push((slot, x));
                slot
            })
        };
        let old: Vec<Option<Slot>> = old.into_iter().map(slot).map(Some).collect();
        if !computed.is_empty() {
            tree = Logical::Compute { input: Box::new(tree), columns: computed };
        }
        let new: Vec<Option<Slot>> = old.iter().map(|_| Some(self.new_slot())).collect();
        self.captured_sources(table, &mut clauses, &new)?;
        let captured = self.captured_targets(parent, &clauses, (&old, &new))?;
        let (clause, action) = (self.new_slot(), self.new_slot());
        let output = output(self, &new, action)?.map(Box::new);
        Ok(Merge {
            captured: true,
            target: captured.update,
            inserts: captured.insert,
            deletes: captured.delete,
            source: tree,
            old: OldRow { columns: old, uniquifier: None, rid: Some(row), hint: None },
            new,
            has_target: row,
            has_source,
            clauses: clauses.clauses,
            identity: None,
            top: None,
            clause,
            action,
            output,
        })
    }

    /// Numbers rows: the number's slot is NULL where an outer join has none of them.
    pub(crate) fn number_rows(&mut self, tree: &mut Logical) -> Slot {
        let (number, row) = (self.new_slot(), self.new_slot());
        let ty = ScalarType::new(SqlType::BigInt, false);
        let call = WindowCall { function: WindowFunction::RowNumber, output: number, ty };
        let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let input = Box::new(std::mem::replace(tree, nothing));
        let (partition, order) = (Vec::new(), Vec::new());
        let window = Logical::Window { input, partition, order, calls: vec![call] };
        let bytes = self.converted(Scalar::column(number, ty), SqlType::Binary(8));
        *tree = Logical::Compute { input: Box::new(window), columns: vec![(row, bytes)] };
        row
    }

    /// Values that no table gives: none of an identity column, and those of computed columns, also
    /// of such that are stored nowhere.
    fn captured_sources(
        &mut self,
        table: &Table,
        clauses: &mut Clauses,
        new: &[Option<Slot>],
    ) -> SqlResult<()> {
        let computed = |n: &usize| table.columns[*n].computed.is_some();
        let computed: Vec<usize> = (0..table.columns.len()).filter(computed).collect();
        for clause in &mut clauses.clauses {
            for &n in &computed {
                let Some(c) = &table.columns[n].computed else { continue };
                let value = self.over_row(table, new, &c.text)?;
                let value = self.for_column(value, table, n)?;
                match &mut clause.action {
                    MergeAction::Insert(sources) => sources[n] = ColumnSource::Computed(value),
                    MergeAction::Update(set) => {
                        set.push(Assignment { column: Some(n), variable: None, value });
                    }
                    MergeAction::Delete => {}
                }
            }
            let MergeAction::Insert(sources) = &mut clause.action else { continue };
            for (c, source) in table.columns.iter().zip(sources) {
                if matches!(source, ColumnSource::Identity) {
                    *source = ColumnSource::Value(zero(c.sql_type));
                }
            }
        }
        Ok(())
    }

    fn captured_targets(
        &mut self,
        parent: &Parent,
        clauses: &Clauses,
        (old, new): (&[Option<Slot>], &[Option<Slot>]),
    ) -> SqlResult<CapturedTargets> {
        let does = |event: Events| clauses.clauses.iter().any(|c| event_of(&c.action) == event);
        let all: BTreeSet<usize> = (0..new.len()).collect();
        let (mut insert, mut update, mut delete) = (None, None, None);
        if does(Events::INSERT) {
            let first = self.note(parent, Events::INSERT, RowAction::Update(&all));
            insert = Some(self.captured_target(parent, &[("inserted", first, new)])?);
        }
        if does(Events::UPDATE) {
            let first = self.note(parent, Events::UPDATE, RowAction::Update(&clauses.changed));
            let rows = [("inserted", first, new), ("deleted", first + 1, old)];
            update = Some(self.captured_target(parent, &rows)?);
        }
        if does(Events::DELETE) {
            let first = self.note(parent, Events::DELETE, RowAction::Delete);
            delete = Some(self.captured_target(parent, &[("deleted", first + 1, old)])?);
        }
        // What no clause does is done by none of its target.
        let other = update.as_ref().or(insert.as_ref()).or(delete.as_ref()).cloned();
        let missing = || SqlError::new(messages::INTERNAL, &[&"a MERGE without actions"]);
        let other = other.ok_or_else(missing)?;
        let idle = Target { references: References::default(), ..other };
        Ok(CapturedTargets { update: update.unwrap_or(idle), insert, delete })
    }

    /// Tables of captured rows that are filled when all rows are known.
    fn captured_target(
        &mut self,
        parent: &Parent,
        rows: &[(&str, u16, &[Option<Slot>])],
    ) -> SqlResult<Target> {
        let slots: BTreeSet<Slot> =
            rows.iter().flat_map(|(_, _, row)| row.iter().copied().flatten()).collect();
        let kept = KeptSlots { id: self.new_changed(), slots: slots.into_iter().collect() };
        let mut references = References::default();
        for (name, number, row) in rows {
            let id = self.subplans.reserve_follow_up();
            let target = self.captures(parent, name, *number, false)?;
            let value = |(n, slot): (usize, &Option<Slot>)| {
                slot.map(|slot| column_scalar(parent.table(), n, slot))
            };
            let values = row.iter().enumerate().filter_map(value).collect();
            let source = Logical::Changed { id: kept.id, columns: kept.slots.clone() };
            let columns = self.values_into(values);
            let insert = Insert { target, source, columns, identity: None, output: None };
            self.subplans.set_follow_up(id, FollowUp::Change(Statement::Insert(Box::new(insert))));
            references.follow_ups.push(id);
        }
        references.kept = Some(kept);
        let (name, number, _) = rows[0];
        let target = self.captures(parent, name, number, true)?;
        Ok(Target { references, ..target })
    }
}

/// Whether a row has one of the target.
fn is_there(row: Slot) -> Predicate {
    let ty = ScalarType::new(SqlType::Binary(8), true);
    Predicate::Not(Box::new(Predicate::IsNull(Box::new(Scalar::column(row, ty)))))
}

fn event_of(action: &MergeAction) -> Events {
    match action {
        MergeAction::Insert(_) => Events::INSERT,
        MergeAction::Update(_) => Events::UPDATE,
        MergeAction::Delete => Events::DELETE,
    }
}

/// What clauses do, each once.
fn events_of(clauses: &[ast::MergeClause]) -> Vec<Events> {
    let event = |c: &ast::MergeClause| match c.action {
        ast::MergeAction::Insert { .. } => Events::INSERT,
        ast::MergeAction::Update(_) => Events::UPDATE,
        ast::MergeAction::Delete => Events::DELETE,
    };
    let done: Vec<Events> = clauses.iter().map(event).collect();
    let all = [Events::INSERT, Events::UPDATE, Events::DELETE];
    all.into_iter().filter(|e| done.contains(e)).collect()
}
