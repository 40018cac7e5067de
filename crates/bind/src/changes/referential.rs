//! What a change owes to foreign keys: checks of new rows, and follow-ups of changed ones.
//!
//! See `plan::References` for the picture. A follow-up that changes rows is bound like any UPDATE
//! or DELETE, with the changed rows as the other side of a join; so it maintains indexes, tests
//! CHECKs and has follow-ups of its own. The recursion ends because actions that lead back to a
//! table cannot be declared (1785).

use crate::binder::Binder;
use crate::changes::row_slots::{RowAction, RowSlots, column_scalar};
use crate::changes::target::{TargetTable, set_target};
use base::SqlResult;
use catalog::view::{DatabaseView, ForeignKey, Object, ReferentialAction, Table};
use plan::{
    Assignment, ChangedId, CompareOp, Conflict, Delete, FollowUp, FollowUpId, ForeignKeyCheck, Get,
    JoinKind, KeptSlots, Level, LockHints, Logical, OldRow, Predicate, References, Scalar, Slot,
    Statement, Subquery, TableNo,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::Collation;

/// A foreign key that refers to a target, with the slots of the key referred to.
struct Referrer {
    table: Arc<Table>,
    key: ForeignKey,
    /// By column of the key: ordinal in the table referred to, old slot, new slot.
    columns: Vec<(usize, Slot, Option<Slot>)>,
}

/// A constraint reads what is there now.
const ENFORCING: LockHints = LockHints { level: Some(Level::Enforcing), ..LockHints::read() };

impl Binder<'_> {
    /// The columns of a table that foreign keys refer to.
    pub(crate) fn referenced_columns(&self, target: &TargetTable) -> BTreeSet<usize> {
        let table = &target.table;
        let referring = target.database.referring(table.object_id);
        let mut columns = BTreeSet::new();
        for other in referring {
            let keys = other.foreign_keys.iter().filter(|k| k.referenced == table.object_id);
            let ids = keys.flat_map(|k| k.columns.iter().map(|c| c.referenced));
            columns.extend(ids.filter_map(|id| table.ordinal(id)));
        }
        columns
    }

    /// What the change of a target owes. `obeyed` is the foreign key that the change itself obeys.
    pub(crate) fn references(
        &mut self,
        target: &TargetTable,
        done: RowAction<'_>,
        slots: RowSlots<'_>,
        obeyed: Option<&ForeignKey>,
    ) -> SqlResult<References> {
        let mut references = References::default();
        let mut kept = BTreeSet::new();
        let guarded = !self.environment.unguarded.constraints;
        for key in target.table.foreign_keys.iter().filter(|k| !k.disabled) {
            let concerned = match done {
                RowAction::Insert => guarded,
                RowAction::Update(columns) => {
                    key.columns.iter().any(|c| columns.contains(&c.column))
                }
                RowAction::Delete => false,
            };
            if !concerned || obeyed.is_some_and(|o| o.object_id == key.object_id) {
                continue;
            }
            let Some(check) = self.foreign_check(target, key, slots.new)? else { continue };
            if check.deferred {
                let own = key.columns.iter().filter_map(|c| slots.new.get(c.column));
                kept.extend(own.copied().flatten());
            }
            references.checks.push(check);
        }
        let referrers = self.referrers(target, done, slots);
        for (_, old, new) in referrers.iter().flat_map(|r| &r.columns) {
            kept.insert(*old);
            kept.extend(*new);
        }
        let capture = self.capture(target, done, slots)?;
        kept.extend(capture.iter().flat_map(|c| c.slots()));
        if kept.is_empty() && capture.is_none() {
            return Ok(references);
        }
        let kept = KeptSlots { id: self.new_changed(), slots: kept.into_iter().collect() };
        if let Some(capture) = capture {
            let changed = Logical::Changed { id: kept.id, columns: kept.slots.clone() };
            references.follow_ups = self.capture_follow_ups(target, capture, &changed)?;
        }
        for referrer in referrers {
            let changed = Logical::Changed { id: kept.id, columns: kept.slots.clone() };
            let id = self.follow_up(target, done, &referrer, changed)?;
            references.follow_ups.push(id);
        }
        references.kept = Some(kept);
        Ok(references)
    }

    /// The foreign keys that a change of their target's rows concerns.
    fn referrers(
        &self,
        target: &TargetTable,
        done: RowAction<'_>,
        slots: RowSlots<'_>,
    ) -> Vec<Referrer> {
        let parent = &target.table;
        if matches!(done, RowAction::Insert) || parent.is_temp {
            return Vec::new();
        }
        let mut found = Vec::new();
        for table in target.database.referring(parent.object_id) {
            for key in table.foreign_keys.iter().filter(|k| !k.disabled) {
                let column = |c: &catalog::view::ForeignKeyColumn| {
                    let at = parent.ordinal(c.referenced)?;
                    let old = slots.old.get(at).copied().flatten()?;
                    Some((at, old, slots.new.get(at).copied().flatten()))
                };
                if key.referenced != parent.object_id {
                    continue;
                }
                let columns: Option<Vec<_>> = key.columns.iter().map(column).collect();
                let Some(columns) = columns else { continue };
                let concerned = match done {
                    RowAction::Update(changed) => {
                        columns.iter().any(|(at, ..)| changed.contains(at))
                    }
                    RowAction::Delete => true,
                    RowAction::Insert => false,
                };
                if concerned {
                    found.push(Referrer { table: Arc::clone(&table), key: key.clone(), columns });
                }
            }
        }
        found
    }

    /// That a new row's key is NULL somewhere, or exists.
    fn foreign_check(
        &mut self,
        target: &TargetTable,
        key: &ForeignKey,
        new: &[Option<Slot>],
    ) -> SqlResult<Option<ForeignKeyCheck>> {
        let table = &target.table;
        let Some(parent) = target.database.table(key.referenced) else { return Ok(None) };
        let (get, no) = self.enforced_get(&target.database, &parent, ENFORCING)?;
        let mut absent = Vec::new();
        let mut equal = Predicate::TRUE;
        let mut first = None;
        for c in &key.columns {
            let own = new.get(c.column).copied().flatten();
            let (Some(own), Some(at)) = (own, parent.ordinal(c.referenced)) else {
                return Ok(None);
            };
            let value = column_scalar(table, c.column, own);
            if value.ty.nullable {
                absent.push(Predicate::IsNull(Box::new(value.clone())));
            }
            let slot = self.references.use_column(no, at);
            first = first.or(Some((slot, column_scalar(&parent, at, slot).ty)));
            equal = equal.and(equality(column_scalar(&parent, at, slot), value));
        }
        let Some((slot, ty)) = first else { return Ok(None) };
        let source = Logical::Filter { input: Box::new(get), predicate: equal };
        let (columns, outer) = (vec![slot], Vec::new());
        let (scalar, session) = (false, false);
        let subquery = Subquery { source, columns, ty, scalar, outer, session };
        absent.push(Predicate::Exists(self.subplans.add_subquery(subquery)));
        let predicate = match absent.len() {
            1 => absent.remove(0),
            _ => Predicate::Or(absent),
        };
        let same = parent.object_id == table.object_id;
        let kind = if same { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
        let columns: Vec<usize> =
            key.columns.iter().filter_map(|c| parent.ordinal(c.referenced)).collect();
        let conflict = conflict(kind, key, &parent, &columns);
        Ok(Some(ForeignKeyCheck { conflict, predicate, deferred: same }))
    }

    /// A reference to a table that the text does not name.
    fn enforced_get(
        &mut self,
        database: &DatabaseView,
        table: &Arc<Table>,
        locks: LockHints,
    ) -> SqlResult<(Logical, TableNo)> {
        let no = self.refer(database, Object::Table(Arc::clone(table)))?;
        let get = Get {
            table: no,
            alias: table.name.clone(),
            columns: Vec::new(),
            checks: Vec::new(),
            locks,
            index: None,
            further: Vec::new(),
            force_seek: false,
            seek_columns: 0,
            force_scan: false,
            sample: None,
            target: None,
            location: None,
        };
        Ok((Logical::Get(Box::new(get)), no))
    }

    fn follow_up(
        &mut self,
        target: &TargetTable,
        done: RowAction<'_>,
        referrer: &Referrer,
        changed: Logical,
    ) -> SqlResult<FollowUpId> {
        let id = self.subplans.reserve_follow_up();
        let action = match done {
            RowAction::Delete => referrer.key.on_delete,
            RowAction::Update(_) | RowAction::Insert => referrer.key.on_update,
        };
        let moved = match done {
            RowAction::Update(_) => really_changed(&target.table, &referrer.columns),
            RowAction::Delete | RowAction::Insert => Predicate::TRUE,
        };
        let changed = crate::tree::filtered(changed, moved);
        let bound = self.nested(1, |b| match (action, done) {
            (ReferentialAction::NoAction, _) => b.refusal(target, done, referrer, changed),
            (ReferentialAction::Cascade, RowAction::Delete) => {
                b.cascade_delete(target, referrer, changed)
            }
            _ => b.cascade_update(target, referrer, changed, action),
        })?;
        self.subplans.set_follow_up(id, bound);
        Ok(id)
    }

    /// NO ACTION: rows that refer to a key which is no more.
    fn refusal(
        &mut self,
        target: &TargetTable,
        done: RowAction<'_>,
        referrer: &Referrer,
        changed: Logical,
    ) -> SqlResult<FollowUp<Logical>> {
        let (child, key) = (&referrer.table, &referrer.key);
        let (get, no) = self.enforced_get(&target.database, child, ENFORCING)?;
        let on = self.refers(target, referrer, no);
        let mut source = joined(JoinKind::Semi, changed, get, on);
        // Another row may have taken the key that this one gave up.
        if let RowAction::Update(_) = done {
            let parent = &target.table;
            let (get, no) = self.enforced_get(&target.database, parent, ENFORCING)?;
            let mut on = Predicate::TRUE;
            for &(at, old, _) in &referrer.columns {
                let own = column_scalar(parent, at, self.references.use_column(no, at));
                on = on.and(equality(own, column_scalar(parent, at, old)));
            }
            source = joined(JoinKind::Anti, source, get, on);
        }
        let same = child.object_id == target.table.object_id;
        let kind = if same { "SAME TABLE REFERENCE" } else { "REFERENCE" };
        let columns: Vec<usize> = key.columns.iter().map(|c| c.column).collect();
        Ok(FollowUp::Refuse { conflict: conflict(kind, key, child, &columns), source })
    }

    /// That a row of the table that refers has the old key of a changed row.
    fn refers(&mut self, target: &TargetTable, referrer: &Referrer, no: TableNo) -> Predicate {
        let mut on = Predicate::TRUE;
        for (c, &(at, old, _)) in referrer.key.columns.iter().zip(&referrer.columns) {
            let slot = self.references.use_column(no, c.column);
            let own = column_scalar(&referrer.table, c.column, slot);
            on = on.and(equality(own, column_scalar(&target.table, at, old)));
        }
        on
    }

    fn cascade_delete(
        &mut self,
        target: &TargetTable,
        referrer: &Referrer,
        changed: Logical,
    ) -> SqlResult<FollowUp<Logical>> {
        let (child, mut source, no, locks) = self.cascade_source(target, referrer, changed)?;
        let mut of = self.target(&child, locks);
        let needed = self.needed_to_delete(&child, &of);
        let old = self.old_row(no, &child.table, |n| needed.contains(&n));
        set_target(&mut source, no, &old);
        let slots = RowSlots { old: &old.columns, new: &[] };
        of.references = self.references(&child, RowAction::Delete, slots, None)?;
        let delete = Delete { target: of, source, old, distinct_rows: false, output: None };
        Ok(FollowUp::Change(Statement::Delete(Box::new(delete))))
    }

    fn cascade_update(
        &mut self,
        target: &TargetTable,
        referrer: &Referrer,
        changed: Logical,
        action: ReferentialAction,
    ) -> SqlResult<FollowUp<Logical>> {
        let (child, mut source, no, locks) = self.cascade_source(target, referrer, changed)?;
        let mut assignments = Vec::with_capacity(referrer.columns.len());
        let mut columns = BTreeSet::new();
        for (c, &(at, old, new)) in referrer.key.columns.iter().zip(&referrer.columns) {
            let value = match action {
                ReferentialAction::SetDefault => self.default_value(&child.table, c.column)?,
                ReferentialAction::Cascade => column_scalar(&target.table, at, new.unwrap_or(old)),
                ReferentialAction::SetNull | ReferentialAction::NoAction => {
                    Scalar::null(child.table.columns[c.column].sql_type)
                }
            };
            columns.insert(c.column);
            assignments.push(Assignment { column: Some(c.column), variable: None, value });
        }
        let old: OldRow = self.old_row(no, &child.table, |_| true);
        set_target(&mut source, no, &old);
        // What is copied from the key referred to refers to it.
        let obeyed = (action == ReferentialAction::Cascade).then_some(&referrer.key);
        let parts = crate::changes::update::Parts { source, old, assignments, columns, locks };
        let update = self.update_of(&child, parts, obeyed)?;
        Ok(FollowUp::Change(Statement::Update(Box::new(update))))
    }

    /// Changed rows joined with the rows that refer to them, which are about to be changed.
    fn cascade_source(
        &mut self,
        target: &TargetTable,
        referrer: &Referrer,
        changed: Logical,
    ) -> SqlResult<(TargetTable, Logical, TableNo, LockHints)> {
        let locks = LockHints { level: Some(Level::Enforcing), ..LockHints::change() };
        let (get, no) = self.enforced_get(&target.database, &referrer.table, locks)?;
        let on = self.refers(target, referrer, no);
        let source = joined(JoinKind::Inner, changed, get, on);
        let database = Arc::clone(&target.database);
        let child = TargetTable { table: Arc::clone(&referrer.table), database };
        Ok((child, source, no, locks))
    }

    pub(crate) fn new_changed(&mut self) -> ChangedId {
        self.changed += 1;
        ChangedId(self.changed - 1)
    }
}

fn joined(kind: JoinKind, left: Logical, right: Logical, on: Predicate) -> Logical {
    let (left, right) = (Box::new(left), Box::new(right));
    Logical::Join { kind, left, right, on, hint: None, apply: false }
}

/// Both sides have one type and collation: no other foreign key can be made.
fn equality(left: Scalar, right: Scalar) -> Predicate {
    let collation = left.ty.collation;
    let (left, right) = (Box::new(left), Box::new(right));
    Predicate::Compare { op: CompareOp::Equal, left, right, collation }
}

/// That an UPDATE gave the key another value, be it another spelling of the same.
fn really_changed(table: &Table, columns: &[(usize, Slot, Option<Slot>)]) -> Predicate {
    let mut parts = Vec::new();
    for &(at, old, new) in columns {
        let Some(new) = new.filter(|&n| n != old) else { continue };
        let left = Box::new(column_scalar(table, at, old));
        let right = Box::new(column_scalar(table, at, new));
        parts.push(Predicate::IsDistinct { left, right, collation: Collation::LATIN1_BIN2 });
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => Predicate::Or(parts),
    }
}

fn conflict(kind: &'static str, key: &ForeignKey, table: &Table, columns: &[usize]) -> Conflict {
    let column = match columns {
        [one] => table.columns.get(*one).map(|c| c.name.clone()),
        _ => None,
    };
    Conflict { kind, name: key.name.clone(), table: table.two_part_name().into(), column }
}
