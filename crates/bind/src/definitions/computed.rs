//! Computed columns: their types, their values in new rows, and what they depend on.
//!
//! One that is not stored is put in place of its name wherever that is read (resolve.rs). One
//! that is stored, because it is PERSISTED or part of an index, is computed when a row comes, and
//! again when a column that it reads is changed; where a statement spells its expression it is
//! read instead (matched.rs).
//!
//! Deterministic is what gives the same in every session: no clock, no setting, and no conversion
//! between text and dates without a style that says how (`types::conversion_is_deterministic`).

use crate::binder::Binder;
use crate::environment::Environment;
use crate::expressions::collation::check_column;
use crate::expressions::draws::DrawRule;
use base::SqlResult;
use builtins::Function;
use catalog::view::Table;
use plan::{Coercibility, Scalar, ScalarKind, ScalarType, Slot};
use std::collections::BTreeSet;
use types::datetime::DatePart;
use types::{Collation, SqlType, Value, conversion_is_deterministic};

/// What is known of a computed column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedType {
    /// Their type.
    pub sql_type: SqlType,
    /// Whether one may be NULL: also where an operation may overflow.
    pub nullable: bool,
    /// How they compare, if characters.
    pub collation: Collation,
    /// How firmly.
    pub coercibility: Coercibility,
    /// The same columns always give the same value.
    pub deterministic: bool,
    /// No float decides it.
    pub precise: bool,
    /// The names of the columns that they are computed from.
    pub reads: Vec<Box<str>>,
}

impl ComputedType {
    /// Whether the column at a place of a table can be made of it.
    ///
    /// # Errors
    /// 451 for text without collation.
    pub fn check_collation(&self, place: usize) -> SqlResult<()> {
        let ty = ScalarType::new(self.sql_type, self.nullable);
        let ty = ScalarType { collation: self.collation, coercibility: self.coercibility, ..ty };
        check_column(ty, "CREATE TABLE", place).map_err(|e| e.with_state(16))
    }
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
    let mut value = binder.over_row(table, &slots, text)?;
    let reads = value.reads();
    let own = !reads.session && !binder.folding.is_undetermined();
    let deterministic = own && is_deterministic(&mut value);
    let read = |slot: &Option<Slot>| slot.is_some_and(|slot| reads.slots.contains(&slot));
    let named = table.columns.iter().zip(&slots).filter(|(_, slot)| read(slot));
    let names = named.map(|(c, _)| c.name.clone()).collect();
    let nullable = value.ty.nullable || may_overflow(&value);
    let ScalarType { sql_type, collation, coercibility, .. } = value.ty;
    let precise = is_precise(value);
    let reads = names;
    Ok(ComputedType { sql_type, nullable, collation, coercibility, deterministic, precise, reads })
}

/// Whether no part of an expression is a float.
fn is_precise(mut value: Scalar) -> bool {
    let mut precise = true;
    value.rewrite(&mut |x| {
        precise &= !matches!(x.ty.sql_type, SqlType::Real | SqlType::Float);
    });
    precise
}

/// Whether every part of an expression is deterministic.
fn is_deterministic(value: &mut Scalar) -> bool {
    let mut all = true;
    value.rewrite(&mut |x| {
        all &= match &x.kind {
            ScalarKind::Cast { operand, style, .. } => {
                let (from, to) = (operand.ty.sql_type, x.ty.sql_type);
                let known = style.as_ref().map(|s| s.as_constant().and_then(Value::as_i64));
                // A style that is not constant is none that says how.
                let style = known.map(|n| n.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1));
                conversion_is_deterministic(from, to, style)
            }
            ScalarKind::Function { function, args, arg_types } => {
                (function.deterministic || is_fixed_part(function.name, args))
                    && converts_nothing(function, arg_types)
            }
            ScalarKind::Call(_) => false,
            _ => true,
        };
    });
    all
}

/// DATEPART of anything but weeks and weekdays, which DATEFIRST decides.
fn is_fixed_part(function: &str, args: &[Scalar]) -> bool {
    let part = args.first().and_then(Scalar::as_constant).and_then(Value::as_i64);
    let floats = [DatePart::Week as i64, DatePart::Weekday as i64];
    function == "DATEPART" && part.is_some_and(|part| !floats.contains(&part))
}

/// Functions that read a date in their first argument, beside those that take a part of it.
const OF_DATES: [&str; 6] = ["DAY", "MONTH", "YEAR", "EOMONTH", "SWITCHOFFSET", "TODATETIMEOFFSET"];

/// Functions whose arguments are converted to one type.
const OF_ONE_TYPE: [&str; 4] = ["ISNULL", "CHOOSE", "GREATEST", "LEAST"];

/// Functions that take every argument as text.
const OF_TEXT: [&str; 20] = [
    "ASCII",
    "CHARINDEX",
    "CONCAT",
    "CONCAT_WS",
    "LEFT",
    "LEN",
    "LOWER",
    "LTRIM",
    "PATINDEX",
    "QUOTENAME",
    "REPLACE",
    "REPLICATE",
    "REVERSE",
    "RIGHT",
    "RTRIM",
    "STUFF",
    "SUBSTRING",
    "TRIM",
    "UNICODE",
    "UPPER",
];

/// Whether a function reads no text as a date, and writes no date as text.
fn converts_nothing(function: &Function, arg_types: &[SqlType]) -> bool {
    let to_date = function.date_part && arg_types.iter().skip(1).any(|t| t.is_character())
        || OF_DATES.contains(&function.name) && arg_types.first().is_some_and(|t| t.is_character());
    // What its arguments have in common is a date, or text.
    let of_one_type = OF_ONE_TYPE.contains(&function.name)
        && arg_types.iter().any(|t| t.is_character() || *t == SqlType::Variant)
        && arg_types.iter().any(|t| t.is_temporal());
    let old = |t: &SqlType| matches!(t, SqlType::DateTime | SqlType::SmallDateTime);
    let to_text = OF_TEXT.contains(&function.name) && arg_types.iter().any(old);
    !(to_date || to_text || of_one_type)
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
        self.computes_column = true;
        let value = self.nested(1, |b| b.drawing(rule, |b| b.within(scope, |b| b.expr(&expr))));
        self.ansi_nulls = session;
        self.computes_column = false;
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
