//! EXECUTE … WITH RESULT SETS: the client gets the column names and types that the caller declares.
//!
//! ```text
//! procedure → columns, rows → [shape of the innermost EXECUTE] → … → [outermost] → client
//! ```
//!  1. A row is converted as it passes; only the current row is held.
//!  2. A set that is refused still counts as sent. If the procedure catches the error, the set is
//!     not reported as missing at the procedure's end.
//!
//! Error numbers, texts and conversions come from the probes that SqlServerSimulator records
//! (WithResultSetsTests). A character column without COLLATE has the database's collation, as in
//! every declaration; no source says so of this clause.

use crate::answer::sink::ResultColumn;
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast;
use types::datetime::Dialect;
use types::{Collation, SqlType, Value, check_implicit, convert_collated};

/// A column that a clause declares.
#[derive(Debug)]
pub(crate) struct DeclaredColumn {
    name: Box<str>,
    sql_type: SqlType,
    /// Whether the declaration writes decimal as numeric.
    numeric: bool,
    /// `None` for the database's collation.
    collation: Option<Collation>,
    nullable: bool,
}

impl DeclaredColumn {
    /// A declared column whose type has been resolved.
    ///
    /// # Errors
    /// 447, 448.
    pub(crate) fn of(it: &ast::DeclaredColumn, sql_type: SqlType) -> SqlResult<DeclaredColumn> {
        let collation = match &it.collation {
            None => None,
            Some(_) if !sql_type.is_character() => {
                return Err(SqlError::new(messages::COLLATE_TYPE, &[&sql_type.name()]));
            }
            Some(name) if name.eq_ignore_ascii_case("database_default") => None,
            Some(name) => {
                let unknown = || SqlError::new(messages::COLLATION_INVALID, &[name]);
                Some(Collation::by_name(name).ok_or_else(unknown)?)
            }
        };
        Ok(DeclaredColumn {
            name: it.name.text.clone(),
            sql_type,
            numeric: it.type_name.name.object.eq_ignore_ascii_case("numeric"),
            collation,
            nullable: it.nullable,
        })
    }

    /// The columns of a table type.
    pub(crate) fn of_table(table: &Table) -> Vec<DeclaredColumn> {
        let columns = table.columns.iter().map(|c| DeclaredColumn {
            name: c.name.clone(),
            sql_type: c.sql_type,
            numeric: c.user_type_id == NUMERIC,
            collation: Some(c.collation),
            nullable: c.nullable,
        });
        columns.collect()
    }

    fn sent(&self, default: Collation, computed: bool) -> ResultColumn {
        ResultColumn {
            name: self.name.to_string(),
            sql_type: self.sql_type,
            collation: self.collation.unwrap_or(default),
            nullable: self.nullable,
            identity: false,
            computed,
            untyped: false,
        }
    }

    fn type_name(&self) -> &'static str {
        if self.numeric { "numeric" } else { self.sql_type.name() }
    }

    /// The type with its size, as text.
    fn whole_type(&self) -> String {
        match self.sql_type {
            SqlType::Decimal { precision, scale } if self.numeric => {
                format!("numeric({precision},{scale})")
            }
            other => other.to_string(),
        }
    }
}

/// `sys.types.user_type_id` of numeric.
const NUMERIC: i32 = 108;

/// Errors of XML parsing keep their own numbers.
const XML_PARSING: std::ops::Range<i32> = 9400..9500;

/// The result sets that a clause declares.
pub(crate) type DeclaredSets = Arc<[Vec<DeclaredColumn>]>;

/// The columns of each set, as reported without running the EXECUTE.
pub(crate) fn told(sets: &DeclaredSets, collation: Collation) -> Vec<Vec<ResultColumn>> {
    let columns = |set: &Vec<DeclaredColumn>| set.iter().map(|c| c.sent(collation, true)).collect();
    sets.iter().map(columns).collect()
}

/// A clause while its EXECUTE runs.
pub(crate) struct Shape {
    sets: DeclaredSets,
    /// The collation of character columns without COLLATE.
    collation: Collation,
    dialect: Dialect,
    /// How many sets were sent.
    seen: usize,
    /// The types in which the current set arrives.
    from: Vec<(SqlType, Collation)>,
    /// The current row.
    row: Vec<Value>,
}

impl Shape {
    pub(crate) fn new(sets: &DeclaredSets, collation: Collation, dialect: Dialect) -> Shape {
        let sets = Arc::clone(sets);
        Shape { sets, collation, dialect, seen: 0, from: Vec::new(), row: Vec::new() }
    }

    /// The columns of the next set.
    ///
    /// # Errors
    /// 11535, 11537, 11538.
    pub(crate) fn columns(&mut self, sent: &[ResultColumn]) -> SqlResult<Vec<ResultColumn>> {
        self.from.clear();
        self.from.extend(sent.iter().map(|c| (c.sql_type, c.collation)));
        self.seen += 1;
        let Some(set) = self.sets.get(self.seen - 1) else {
            return Err(SqlError::new(messages::RESULT_SETS_MORE, &[&self.sets.len()]));
        };
        if set.len() != sent.len() {
            let facts: [&dyn Display; 3] = [&set.len(), &self.seen, &sent.len()];
            return Err(SqlError::new(messages::RESULT_SETS_COLUMNS, &facts));
        }
        let mut columns = Vec::with_capacity(sent.len());
        for ((declared, from), number) in set.iter().zip(sent).zip(1..) {
            if check_implicit(from.sql_type, declared.sql_type).is_err() {
                let names = (declared.type_name(), from.sql_type.name());
                let facts: [&dyn Display; 4] = [&names.0, &number, &self.seen, &names.1];
                return Err(SqlError::new(messages::RESULT_SETS_TYPE, &facts));
            }
            columns.push(declared.sent(self.collation, from.computed));
        }
        Ok(columns)
    }

    /// Converts a row of the current set.
    ///
    /// # Errors
    /// 11553, 8114.
    pub(crate) fn row<'r>(&'r mut self, values: &'r [Value]) -> SqlResult<&'r [Value]> {
        let set = self.seen.checked_sub(1).and_then(|n| self.sets.get(n));
        let set = set.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&"a row of no set"]))?;
        self.row.clear();
        for (((declared, value), from), number) in set.iter().zip(values).zip(&self.from).zip(1..) {
            if value.is_null() && !declared.nullable {
                let facts: [&dyn Display; 2] = [&number, &self.seen];
                return Err(SqlError::new(messages::RESULT_SETS_NULL, &facts));
            }
            let (from, source) = from;
            let target = declared.collation.unwrap_or(self.collation);
            let wanted = declared.sql_type;
            let converted =
                convert_collated(value, *from, wanted, 0, self.dialect, (*source, target));
            self.row.push(converted.map_err(|e| unconverted(e, *from, declared))?);
        }
        Ok(&self.row)
    }

    /// Checks that all declared sets have been sent.
    ///
    /// # Errors
    /// 11536.
    pub(crate) fn complete(&self) -> SqlResult<()> {
        if self.seen >= self.sets.len() {
            return Ok(());
        }
        let facts: [&dyn Display; 2] = [&self.sets.len(), &self.seen];
        Err(SqlError::new(messages::RESULT_SETS_FEWER, &facts))
    }
}

/// The error of a value that cannot be converted to the declared type: 8114, whatever error a CAST
/// would report.
fn unconverted(e: SqlError, from: SqlType, declared: &DeclaredColumn) -> SqlError {
    if e.severity() > 16 || XML_PARSING.contains(&e.number()) {
        return e;
    }
    let facts: [&dyn Display; 2] = [&from, &declared.whole_type()];
    SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &facts).with_state(2)
}
