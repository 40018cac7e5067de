//! Functions in FROM that make rows of their arguments: STRING_SPLIT, GENERATE_SERIES, OPENJSON.
//!
//! They are known by a name without schema. Columns of OPENJSON's WITH are read as text and then
//! converted like a CAST.

use crate::binder::Binder;
use crate::expressions::convert::declared_type;
use crate::expressions::deduction::takes_any_type;
use crate::names::from::{FromPart, check_alias_count};
use crate::names::hint::{self, Use};
use crate::names::scope::{Columns, DerivedColumn, Source};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use builtins::{JsonColumn, TableFunction};
use plan::{FunctionRows, Logical, Scalar, ScalarKind, ScalarType, Slot};
use std::ops::RangeInclusive;
use tsql::ast;
use types::{Collation, Family, Length, SqlType};

/// What makes a function's rows.
type MakeRows<B> = fn(&mut B, &ast::TableFunction) -> SqlResult<Rows>;

/// A function's rows with their names and types.
struct Rows {
    function: TableFunction,
    arguments: Vec<Scalar>,
    columns: Vec<(Box<str>, ScalarType)>,
    /// What WITH makes of the columns.
    converted: Vec<SqlType>,
}

impl Binder<'_> {
    /// The rows of a function of that name; None when there is none.
    pub(crate) fn row_function(&mut self, f: &ast::TableFunction) -> SqlResult<Option<FromPart>> {
        let name = &f.call.name;
        let Some((counts, kind)) = Self::row_function_named(name) else { return Ok(None) };
        let given = f.call.arguments.len();
        if given > *counts.end() {
            return Err(SqlError::new(messages::TOO_MANY_PROC_ARGUMENTS, &[name]));
        }
        if given < *counts.start() {
            let e = SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[name]);
            return Err(e.with_state(3));
        }
        hint::read(&f.hints, None, self.collation, Use::Read)?;
        let rows: Rows = kind(self, f)?;
        self.rows_of(f, rows).map(Some)
    }

    /// Whether a name is that of a function which is built in.
    pub(crate) fn is_row_function(name: &ast::ObjectName) -> bool {
        Self::row_function_named(name).is_some()
    }

    /// The function of rows that a name means, with the counts of its arguments.
    fn row_function_named(
        name: &ast::ObjectName,
    ) -> Option<(RangeInclusive<usize>, MakeRows<Self>)> {
        if name.schema.is_some() || name.database.is_some() || name.server.is_some() {
            return None;
        }
        Some(match name.object.to_ascii_uppercase().as_str() {
            "STRING_SPLIT" => (2..=3, Self::string_split),
            "GENERATE_SERIES" => (2..=3, Self::generate_series),
            "OPENJSON" => (1..=2, Self::open_json),
            _ => return None,
        })
    }

    fn rows_of(&mut self, f: &ast::TableFunction, rows: Rows) -> SqlResult<FromPart> {
        let name = &f.call.name;
        let shown = f.alias.as_ref().map_or_else(|| name.object.text.clone(), |a| a.text.clone());
        if !f.columns.is_empty() {
            check_alias_count(&shown, rows.columns.len(), &f.columns)?;
        }
        let slots: Vec<Slot> = rows.columns.iter().map(|_| self.new_slot()).collect();
        let mut derived = Vec::with_capacity(slots.len());
        for (n, ((column, ty), slot)) in rows.columns.into_iter().zip(&slots).enumerate() {
            let name = f.columns.get(n).map_or(column, |given| given.text.clone());
            derived.push(DerivedColumn { name, slot: *slot, ty, user_type_id: 0, identity: false });
        }
        let (function, arguments) = (rows.function, rows.arguments);
        let read = FunctionRows { function, arguments, columns: slots };
        let mut tree = Logical::Function(Box::new(read));
        if !rows.converted.is_empty() {
            let mut columns = Vec::with_capacity(derived.len());
            for (column, to) in derived.iter_mut().zip(rows.converted) {
                let text = Scalar { kind: ScalarKind::Column(column.slot), ty: column.ty };
                let converted = self.converted(text, to);
                (column.slot, column.ty) = (self.new_slot(), converted.ty);
                columns.push((column.slot, converted));
            }
            tree = Logical::Compute { input: Box::new(tree), columns };
        }
        let source = Source {
            name: shown.clone(),
            schema: None,
            database: None,
            shown,
            aliased: f.alias.is_some(),
            columns: Columns::Derived(derived),
            body: None,
        };
        Ok(FromPart { tree, sources: vec![source] })
    }

    fn row_arguments(&mut self, f: &ast::TableFunction) -> SqlResult<Vec<Scalar>> {
        if !f.schema.is_empty() && !f.call.name.object.eq_ignore_ascii_case("OPENJSON") {
            return Err(unsupported("WITH columns of a function", f.call.span.line));
        }
        f.call.arguments.iter().map(|a| self.expr(a)).collect()
    }

    fn string_split(&mut self, f: &ast::TableFunction) -> SqlResult<Rows> {
        let mut arguments = self.row_arguments(f)?;
        let ordinal = match arguments.len() {
            3 => arguments.pop().map_or(Ok(false), |x| enable_ordinal(&x))?,
            _ => false,
        };
        for (n, x) in arguments.iter().enumerate() {
            if !x.ty.sql_type.is_character() && !takes_any_type(x) {
                return Err(invalid(x.ty.sql_type, n, "string_split"));
            }
        }
        let [text, separator] = <[Scalar; 2]>::try_from(arguments)
            .map_err(|_| SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[&f.call.name]))?;
        let wide = [&text, &separator].iter().any(|x| x.ty.sql_type.family() == Family::NChar);
        let length = match text.ty.sql_type {
            SqlType::VarChar(length) | SqlType::NVarChar(length) => length,
            SqlType::Char(n) | SqlType::NChar(n) => Length::N(n),
            _ => Length::N(1),
        };
        let length = match length {
            Length::N(n) if wide && n > 4000 => Length::Max,
            other => other,
        };
        let (sql_type, max) = match wide {
            true => (SqlType::NVarChar(length), SqlType::NVARCHAR_MAX),
            false => (SqlType::VarChar(length), SqlType::VARCHAR_MAX),
        };
        let text = self.implicit(text, sql_type)?;
        let separator = self.implicit(separator, max)?;
        let collation = text.ty.collation;
        let ty = ScalarType { nullable: false, ..text.ty };
        let mut columns: Vec<(Box<str>, ScalarType)> = vec![("value".into(), ty)];
        if ordinal {
            columns.push(("ordinal".into(), self.plain(SqlType::BigInt, false)));
        }
        let function = TableFunction::StringSplit(collation);
        Ok(Rows { function, arguments: vec![text, separator], columns, converted: Vec::new() })
    }

    fn generate_series(&mut self, f: &ast::TableFunction) -> SqlResult<Rows> {
        let arguments = self.row_arguments(f)?;
        let mut common: Option<SqlType> = None;
        for (n, x) in arguments.iter().enumerate().filter(|(_, x)| !takes_any_type(x)) {
            let this = x.ty.sql_type;
            common = Some(match (common, this) {
                (_, SqlType::Bit) => return Err(invalid(this, n, "generate_series")),
                (None, _) if matches!(this.family(), Family::Integer | Family::Decimal) => this,
                (None, _) => return Err(invalid(this, n, "generate_series")),
                (Some(a), b) if a == b => a,
                (Some(a), b) => {
                    decimals(a, b).ok_or_else(|| SqlError::new(messages::SERIES_TYPES, &[]))?
                }
            });
        }
        let ty = common.unwrap_or(SqlType::Int);
        let converted = arguments.into_iter().map(|x| self.implicit(x, ty));
        Ok(Rows {
            function: TableFunction::GenerateSeries(ty),
            arguments: converted.collect::<SqlResult<_>>()?,
            columns: vec![("value".into(), self.plain(ty, false))],
            converted: Vec::new(),
        })
    }

    fn open_json(&mut self, f: &ast::TableFunction) -> SqlResult<Rows> {
        let bound = self.row_arguments(f)?;
        let mut arguments = Vec::with_capacity(bound.len());
        for x in bound {
            arguments.push(self.implicit(x, SqlType::NVARCHAR_MAX)?);
        }
        let text = ScalarType { nullable: true, ..arguments[0].ty };
        if f.schema.is_empty() {
            let key = ScalarType {
                collation: Collation::LATIN1_BIN2,
                ..self.plain(SqlType::nvarchar(4000), false)
            };
            let kind = self.plain(SqlType::Int, false);
            let columns = vec![("key".into(), key), ("value".into(), text), ("type".into(), kind)];
            let function = TableFunction::OpenJson;
            return Ok(Rows { function, arguments, columns, converted: Vec::new() });
        }
        let (mut read, mut columns, mut converted) = (Vec::new(), Vec::new(), Vec::new());
        for c in &f.schema {
            let to = declared_type(&c.type_name, 1)?;
            if c.as_json && to != SqlType::NVARCHAR_MAX {
                return Err(SqlError::new(messages::JSON_AS_JSON_TYPE, &[]).at_line(c.name.line));
            }
            if to.family() == Family::Binary {
                return Err(unsupported("binary columns of OPENJSON", c.name.line));
            }
            read.push(JsonColumn::new(&c.name, c.path.as_deref(), c.as_json)?);
            columns.push((c.name.text.clone(), text));
            converted.push(to);
        }
        let function = TableFunction::OpenJsonWith(read.into());
        Ok(Rows { function, arguments, columns, converted })
    }
}

/// The type that holds the numbers of two decimal types.
fn decimals(a: SqlType, b: SqlType) -> Option<SqlType> {
    let parts = |t: SqlType| match t {
        SqlType::Decimal { precision, scale } => Some((precision - scale, scale)),
        _ => None,
    };
    let ((a_whole, a_scale), (b_whole, b_scale)) = (parts(a)?, parts(b)?);
    let scale = a_scale.max(b_scale);
    Some(SqlType::decimal((a_whole.max(b_whole) + scale).min(types::PRECISION_MAX), scale))
}

/// STRING_SPLIT's third argument: 0, 1 or NULL, written out.
fn enable_ordinal(x: &Scalar) -> SqlResult<bool> {
    let Some(value) = x.as_constant() else {
        return Err(SqlError::new(messages::ORDINAL_NOT_CONSTANT, &[]));
    };
    if value.is_null() {
        return Ok(false);
    }
    match (x.ty.sql_type.family(), value.as_i64()) {
        (Family::Integer, Some(n @ (0 | 1))) => Ok(n == 1),
        (Family::Integer, Some(n)) => {
            Err(SqlError::new(messages::ARGUMENT_VALUE_INVALID, &[&n, &3, &"string_split"]))
        }
        _ => Err(invalid(x.ty.sql_type, 2, "string_split")),
    }
}

/// 8116
fn invalid(ty: SqlType, n: usize, function: &str) -> SqlError {
    let facts: [&dyn std::fmt::Display; 3] = [&ty.error_name(), &(n + 1), &function];
    SqlError::new(messages::ARGUMENT_TYPE_INVALID, &facts)
}
