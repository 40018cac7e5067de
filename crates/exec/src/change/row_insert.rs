//! A new row of a target: computed, tested, and written to each of its hobts.
//!
//! INSERT, MERGE and OUTPUT … INTO use it.

use super::target::{Locator, Target, TypedExpr, WriteOutcome};
use crate::run::Run;
use access::LockPlan;
use base::{SqlError, SqlResult, messages};
use plan::{ColumnSource, IdentityColumn, Slot};
use types::{Decimal, SqlType, Value, convert, fit_number};

/// What a column of a new row is set to.
pub(crate) enum ColumnValue {
    Value(TypedExpr),
    Identity,
    /// Computed from the other columns.
    Computed(TypedExpr),
}

impl ColumnValue {
    pub(crate) fn new(source: &ColumnSource) -> SqlResult<ColumnValue> {
        Ok(match source {
            ColumnSource::Value(x) => ColumnValue::Value(TypedExpr::new(x)?),
            ColumnSource::Identity => ColumnValue::Identity,
            ColumnSource::Computed(x) => ColumnValue::Computed(TypedExpr::new(x)?),
        })
    }
}

/// Inserts rows into a table, one by one.
pub(crate) struct RowInsert {
    pub(crate) target: Target,
    /// The columns that are set: ordinal, slot, value.
    columns: Vec<(usize, Slot, ColumnValue)>,
    /// The same slots by ordinal, as the target wants them.
    slots: Vec<Option<Slot>>,
    identity: Option<IdentityColumn>,
}

impl RowInsert {
    pub(crate) fn new(
        target: Target,
        columns: Vec<(usize, Slot, ColumnValue)>,
        identity: Option<IdentityColumn>,
    ) -> SqlResult<RowInsert> {
        let mut slots: Vec<Option<Slot>> = vec![None; target.table.columns.len()];
        columns.iter().for_each(|&(column, slot, _)| slots[column] = Some(slot));
        target.check_slots(None, Some(&slots))?;
        Ok(RowInsert { target, columns, slots, identity })
    }

    /// Computes the new row and tests it.
    pub(crate) fn compute(&self, run: &mut Run<'_>) -> SqlResult<()> {
        self.fill(run)?;
        self.target.check(run)
    }

    /// Writes the new row.
    pub(crate) fn put(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<WriteOutcome> {
        match self.target.ignores_duplicates() {
            true => self.write_or_take_back(run, locks),
            false => self.write(run, locks),
        }
    }

    /// Computes the new row.
    fn fill(&self, run: &mut Run<'_>) -> SqlResult<()> {
        for (column, slot, source) in &self.columns {
            let value = match source {
                ColumnValue::Value(x) => {
                    let value = x.expr.eval(run)?;
                    self.target.fit(run, value, x.sql_type, *column)?
                }
                ColumnValue::Identity => self.next_identity(run, *column)?,
                ColumnValue::Computed(_) => continue,
            };
            run.set(*slot, value);
        }
        for (column, slot, source) in &self.columns {
            if let ColumnValue::Computed(x) = source {
                let value = x.expr.eval(run)?;
                let value = self.target.fit(run, value, x.sql_type, *column)?;
                run.set(*slot, value);
            }
        }
        self.note_given(run)
    }

    fn next_identity(&self, run: &mut Run<'_>, column: usize) -> SqlResult<Value> {
        let Some(identity) = &self.identity else {
            return Err(SqlError::new(messages::INTERNAL, &[&"the plan has no identity column"]));
        };
        let table = &self.target.table;
        let identities = run.identity;
        let work = run.writer(table.is_private());
        let n = identities.next(work, table.database, table.object, identity)?;
        run.outcome.identity = Some(n);
        identity_value(n, table.columns[column].sql_type)
    }

    /// IDENTITY_INSERT: tells the identity source the value that the row has.
    fn note_given(&self, run: &mut Run<'_>) -> SqlResult<()> {
        let Some(identity) = self.identity.as_ref().filter(|i| i.explicit) else { return Ok(()) };
        let Some(slot) = self.slots[identity.column] else { return Ok(()) };
        let value = run.slot(slot);
        let n = match value {
            Value::Decimal(d) => Some(d.whole()),
            other => other.as_i64().map(i128::from),
        };
        let Some(n) = n else { return Ok(()) };
        run.outcome.identity = Some(n);
        let table = &self.target.table;
        let identities = run.identity;
        identities.given(run.writer(table.is_private()), table.database, table.object, identity, n)
    }

    /// The base row first: its write gives the locator that the other indexes store.
    fn write(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<WriteOutcome> {
        if self.target.insert_together(run, &self.slots, locks)? {
            return Ok(WriteOutcome::Written);
        }
        let mut locator = Locator::NONE;
        for index in 0..self.target.index_count() {
            if !self.target.is_narrow(index) {
                continue;
            }
            match self.target.insert(run, index, &self.slots, &locator, locks)? {
                Ok(of_base) if index == 0 => locator = of_base,
                Ok(_) => {}
                Err(why) => return Ok(why),
            }
        }
        self.target.set_place(run, &locator);
        Ok(WriteOutcome::Written)
    }

    /// As `write`; a duplicate in one index removes the row from the other indexes.
    fn write_or_take_back(
        &mut self,
        run: &mut Run<'_>,
        locks: &LockPlan,
    ) -> SqlResult<WriteOutcome> {
        let private = self.target.table.is_private();
        let mark = run.writer(private).mark();
        let written = self.write(run, locks)?;
        if written != WriteOutcome::Written {
            let database = &self.target.table.database_name;
            run.writer(private).roll_back_to(&mark).map_err(|e| e.into_sql(database))?;
        }
        Ok(written)
    }
}

/// An identity value in its column's type; 8115 where the type has no room for it.
fn identity_value(n: i128, to: SqlType) -> SqlResult<Value> {
    let overflow = || {
        let to = to.error_name();
        SqlError::new(messages::ARITHMETIC_OVERFLOW_CONVERT, &[&"IDENTITY", &to]).with_state(1)
    };
    if let Some(value) = fit_number(n, to) {
        return Ok(value);
    }
    let d = Decimal::new(n, 0).filter(|_| matches!(to, SqlType::Decimal { .. }));
    let d = Value::Decimal(d.ok_or_else(overflow)?);
    convert(&d, SqlType::decimal(38, 0), to, 0).map_err(|_| overflow())
}
