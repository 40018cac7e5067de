//! What a change owes to triggers: its rows, kept in tables of their own.
//!
//! A target whose table has AFTER triggers for what is done writes the old and new values of each
//! changed row into table variables that the plan numbers from [`CAPTURES`]; the session fires the
//! triggers when the statement has changed all rows (`plan::TriggerFiring`).

use crate::binder::Binder;
use crate::changes::row_slots::{RowAction, RowSlots, column_scalar};
use crate::changes::target::TargetTable;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Events, Object, Table, captured_rows};
use plan::{
    CAPTURES, ColumnSource, FollowUp, FollowUpId, Insert, InsertColumn, LockHints, Logical, Scalar,
    Slot, Statement, TriggerFiring,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows that a target captures.
pub(crate) struct Capture {
    /// New values by column.
    inserted: Option<(u16, Vec<Scalar>)>,
    /// Old ones.
    deleted: Option<(u16, Vec<Scalar>)>,
}

impl Capture {
    /// The slots that must be kept of each changed row.
    pub(crate) fn slots(&self) -> BTreeSet<Slot> {
        let rows = self.inserted.iter().chain(&self.deleted);
        rows.flat_map(|(_, row)| row.iter().flat_map(|x| x.reads().slots)).collect()
    }
}

fn event_of(done: RowAction<'_>) -> Events {
    match done {
        RowAction::Insert => Events::INSERT,
        RowAction::Update(_) => Events::UPDATE,
        RowAction::Delete => Events::DELETE,
    }
}

impl Binder<'_> {
    /// Whether a change of a table fires triggers.
    pub(crate) fn fires(&self, target: &TargetTable, event: Events) -> bool {
        let table = &target.table;
        let mut triggers = target.database.triggers_of(table.object_id);
        !table.is_temp && triggers.any(|m| m.trigger.as_ref().is_some_and(|t| t.fires_after(event)))
    }

    /// What may not stand beside triggers: rows of OUTPUT that go to the client (334).
    pub(crate) fn beside_triggers(&self, statement: &Statement<Logical>) -> SqlResult<()> {
        if self.header.fires.is_empty() {
            return Ok(());
        }
        let (output, event) = match statement {
            Statement::Insert(s) => (&s.output, Some(Events::INSERT)),
            Statement::Update(s) => (&s.output, Some(Events::UPDATE)),
            Statement::Delete(s) => (&s.output, Some(Events::DELETE)),
            // What its clauses do is what it fires.
            Statement::Merge(s) => (&s.output, None),
            _ => return Ok(()),
        };
        let sends = output.as_ref().is_some_and(|o| o.sent.is_some());
        let Some(target) = statement.target().filter(|_| sends) else { return Ok(()) };
        // Triggers of tables that a cascade reaches may stand beside it.
        let done = |f: &TriggerFiring| event.is_none_or(|event| f.event == event.bits());
        let own = |f: &TriggerFiring| f.object == target.object && done(f);
        match self.header.fires.iter().any(own) {
            true => Err(SqlError::new(messages::OUTPUT_WITH_TRIGGERS, &[&target.table_name])),
            false => Ok(()),
        }
    }

    /// What a change captures of its rows, if anything; notes in the plan what it fires.
    pub(crate) fn capture(
        &mut self,
        target: &TargetTable,
        done: RowAction<'_>,
        slots: RowSlots<'_>,
    ) -> SqlResult<Option<Capture>> {
        let event = event_of(done);
        if event == Events::INSERT && self.environment.unguarded.triggers {
            return Ok(None);
        }
        self.not_instead(target, event)?;
        if !self.fires(target, event) {
            return Ok(None);
        }
        let table = &target.table;
        let first = CAPTURES + 2 * self.header.fires.len() as u16;
        let inserted = match done {
            RowAction::Insert | RowAction::Update(_) => {
                Some((first, self.row_values(table, slots.new)?))
            }
            RowAction::Delete => None,
        };
        let deleted = match done {
            RowAction::Update(_) | RowAction::Delete => {
                Some((first + 1, self.row_values(table, slots.old)?))
            }
            RowAction::Insert => None,
        };
        self.header.fires.push(TriggerFiring {
            database: table.database,
            object: table.object_id,
            event: event.bits(),
            inserted: inserted.as_ref().map(|i| i.0),
            deleted: deleted.as_ref().map(|d| d.0),
            columns: updated(table, done),
            instead_of: false,
        });
        Ok(Some(Capture { inserted, deleted }))
    }

    /// The follow-ups that write captured rows.
    pub(crate) fn capture_follow_ups(
        &mut self,
        target: &TargetTable,
        capture: Capture,
        changed: &Logical,
    ) -> SqlResult<Vec<FollowUpId>> {
        let mut ids = Vec::with_capacity(2);
        let parts = [("inserted", capture.inserted), ("deleted", capture.deleted)];
        for (name, part) in parts {
            let Some((number, row)) = part else { continue };
            let id = self.subplans.reserve_follow_up();
            let insert = self.captured_insert(target, (name, number), row, changed.clone())?;
            self.subplans.set_follow_up(id, FollowUp::Change(insert));
            ids.push(id);
        }
        Ok(ids)
    }

    fn captured_insert(
        &mut self,
        target: &TargetTable,
        (name, number): (&str, u16),
        row: Vec<Scalar>,
        source: Logical,
    ) -> SqlResult<Statement<Logical>> {
        let table = Arc::new(captured_rows(&target.table.columns, name, number));
        self.refer(&target.database, Object::Table(Arc::clone(&table)))?;
        let capture = TargetTable { table, database: Arc::clone(&target.database) };
        let column = |b: &mut Self, value: Scalar| InsertColumn {
            slot: b.new_slot(),
            source: ColumnSource::Value(value),
        };
        let columns = row.into_iter().map(|value| column(self, value)).collect();
        let target = self.target(&capture, LockHints::private());
        let insert = Insert { target, source, columns, identity: None, output: None };
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// The values of a row by column, computed ones too.
    fn row_values(&mut self, table: &Table, slots: &[Option<Slot>]) -> SqlResult<Vec<Scalar>> {
        let mut row = Vec::with_capacity(table.columns.len());
        for (n, c) in table.columns.iter().enumerate() {
            row.push(match (slots.get(n).copied().flatten(), &c.computed) {
                (Some(slot), _) => column_scalar(table, n, slot),
                (None, Some(computed)) => {
                    let expr =
                        tsql::parse_expression(&computed.text, tsql::ParseOptions::default())?;
                    let scope = self.new_row_scope(table, slots);
                    self.nested(1, |b| b.within(scope, |b| b.expr(&expr)))?
                }
                (None, None) => Scalar::null(c.sql_type),
            });
        }
        Ok(row)
    }
}

/// COLUMNS_UPDATED(): a bit for each column id, the lowest first.
pub(crate) fn updated(table: &Table, done: RowAction<'_>) -> Vec<u8> {
    let most = table.columns.iter().map(|c| c.column_id).max().unwrap_or(0);
    let mut bits = vec![0; (usize::try_from(most).unwrap_or(0)).div_ceil(8)];
    for (n, c) in table.columns.iter().enumerate() {
        let touched = match done {
            RowAction::Insert => true,
            RowAction::Update(columns) => columns.contains(&n),
            RowAction::Delete => false,
        };
        let at = usize::try_from(c.column_id - 1).unwrap_or(0);
        if let Some(byte) = bits.get_mut(at / 8).filter(|_| touched) {
            *byte |= 1 << (at % 8);
        }
    }
    bits
}
