//! Computed columns: their types, their values in new rows, and what they depend on.
//!
//! One that is not stored is put in place of its name wherever that is read (resolve.rs). One
//! that is stored, because it is PERSISTED or part of an index, is computed when a row comes, and
//! again when a column that it reads is changed; where a statement spells its expression it is
//! read instead (matched.rs).

use crate::binder::Binder;
use crate::environment::Environment;
use crate::next_value::DrawRule;
use base::SqlResult;
use catalog::view::Table;
use plan::{Scalar, ScalarKind, ScalarType, Slot};
use std::collections::BTreeSet;
use types::{Collation, SqlType, Value};

/// What is known of a computed column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedType {
    /// Their type.
    pub sql_type: SqlType,
    /// Whether one may be NULL: also where an operation may overflow.
    pub nullable: bool,
    /// How they compare, if characters.
    pub collation: Collation,
    /// The same columns always give the same value.
    pub deterministic: bool,
    /// No float decides it.
    pub precise: bool,
    /// The names of the columns that they are computed from.
    pub reads: Vec<Box<str>>,
}

/// The type of an expression over the columns of a table.
///
/// # Errors
/// The first thing that has no meaning: 207, 1046 …
pub fn bind_computed(
    environment: &Environment<'_>,
    table: &Table,
    text: &str,
) -> SqlResult<ComputedType> {
    let mut binder = Binder::new(environment);
    let slots: Vec<Option<Slot>> = table.columns.iter().map(|_| Some(binder.new_slot())).collect();
    let value = binder.over_row(table, &slots, text)?;
    let reads = value.reads();
    let deterministic = !reads.volatile && !reads.session;
    let read = |slot: &Option<Slot>| slot.is_some_and(|slot| reads.slots.contains(&slot));
    let named = table.columns.iter().zip(&slots).filter(|(_, slot)| read(slot));
    let names = named.map(|(c, _)| c.name.clone()).collect();
    let nullable = value.ty.nullable || may_overflow(&value);
    let ScalarType { sql_type, collation, .. } = value.ty;
    let precise = is_precise(value);
    Ok(ComputedType { sql_type, nullable, collation, deterministic, precise, reads: names })
}

/// Whether no part of an expression is a float.
fn is_precise(mut value: Scalar) -> bool {
    let mut precise = true;
    value.rewrite(&mut |x| {
        precise &= !matches!(x.ty.sql_type, SqlType::Real | SqlType::Float);
    });
    precise
}

/// Whether arithmetic decides the value.
fn may_overflow(value: &Scalar) -> bool {
    match &value.kind {
        ScalarKind::Binary { .. } | ScalarKind::Negate(_) => true,
        ScalarKind::Cast { operand, .. } => may_overflow(operand),
        _ => false,
    }
}

impl Binder<'_> {
    /// An expression in which the names of a table's columns mean slots.
    pub(crate) fn over_row(
        &mut self,
        table: &Table,
        slots: &[Option<Slot>],
        text: &str,
    ) -> SqlResult<Scalar> {
        let expr = tsql::parse_expression(text, tsql::ParseOptions::default())?;
        let scope = self.new_row_scope(table, slots);
        let rule = DrawRule::Refused(base::messages::NEXT_VALUE_NESTED);
        // A table is made under ANSI_NULLS ON: whoever reads it reads the same.
        let session = std::mem::replace(&mut self.ansi_nulls, true);
        let value = self.nested(1, |b| b.drawing(rule, |b| b.within(scope, |b| b.expr(&expr))));
        self.ansi_nulls = session;
        value
    }

    /// The value that a stored computed column has in a row.
    pub(crate) fn computed_value(
        &mut self,
        table: &Table,
        column: usize,
        slots: &[Option<Slot>],
    ) -> SqlResult<Option<Scalar>> {
        let c = &table.columns[column];
        if c.sql_type == SqlType::RowVersion {
            return Ok(Some(self.next_row_version(table)));
        }
        let stored = c.computed.as_ref().filter(|_| c.physical.is_some());
        let Some(computed) = stored else { return Ok(None) };
        let value = self.over_row(table, slots, &computed.text)?;
        self.for_column(value, table, column).map(Some)
    }

    /// What a rowversion column takes in each row that comes or is changed.
    fn next_row_version(&self, table: &Table) -> Scalar {
        let function = &builtins::NEXT_ROW_VERSION;
        let database = i16::try_from(table.database.0).unwrap_or(i16::MAX);
        let args = vec![self.constant(Value::SmallInt(database), SqlType::SmallInt)];
        let arg_types = Box::new([SqlType::SmallInt]);
        let ty = self.plain(SqlType::RowVersion, false);
        Scalar { kind: ScalarKind::Function { function, args, arg_types }, ty }
    }

    /// The stored computed columns that read one of these; a rowversion changes with any.
    pub(crate) fn dependents(
        &mut self,
        table: &Table,
        changed: &BTreeSet<usize>,
    ) -> SqlResult<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let versioned = |c: &catalog::view::Column| c.sql_type == SqlType::RowVersion;
        if let Some(column) = table.columns.iter().position(versioned) {
            found.extend((!changed.is_empty()).then_some(column));
        }
        if !table.columns.iter().any(catalog::view::Column::is_stored_computed) {
            return Ok(found);
        }
        let slots: Vec<Option<Slot>> =
            table.columns.iter().map(|_| Some(self.new_slot())).collect();
        for column in 0..table.columns.len() {
            if versioned(&table.columns[column]) {
                continue;
            }
            let Some(value) = self.computed_value(table, column, &slots)? else { continue };
            let reads = value.reads().slots;
            if changed.iter().any(|&c| slots[c].is_some_and(|slot| reads.contains(&slot))) {
                found.insert(column);
            }
        }
        Ok(found)
    }
}
