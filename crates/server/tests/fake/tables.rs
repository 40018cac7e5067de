//! Tables as lists of rows, with what the client tests provoke: keys, checks, NOT NULL, lengths.

use super::Variables;
use super::eval::{Scope, holds, type_of};
use base::{SqlError, SqlResult, messages};
use std::collections::BTreeMap;
use tsql::ast;
use types::datetime::Dialect;
use types::{Collation, Fit, SqlType, Value, coerce_for_column};

#[derive(Clone, Default)]
pub(crate) struct Store {
    pub(crate) tables: BTreeMap<String, Table>,
    pub(crate) procedures: BTreeMap<String, ast::Procedure>,
}

#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) sql_type: SqlType,
    pub(crate) nullable: bool,
}

#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Value>>,
    key: Option<(String, usize)>,
    checks: Vec<(String, ast::Condition)>,
}

impl Table {
    pub(crate) fn create(create: &ast::CreateTable) -> SqlResult<Table> {
        let name = format!("dbo.{}", create.name.object);
        let mut table =
            Table { name, columns: Vec::new(), rows: Vec::new(), key: None, checks: Vec::new() };
        for definition in &create.definition.columns {
            let ast::ColumnKind::Typed(type_name) = &definition.kind else {
                return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"computed column"]));
            };
            table.columns.push(Column {
                name: definition.name.to_string(),
                sql_type: type_of(type_name, 1)?,
                nullable: definition.nullable.unwrap_or(true),
            });
            for constraint in &definition.constraints {
                table.constrain(constraint, table.columns.len() - 1);
            }
        }
        for constraint in &create.definition.constraints {
            table.constrain(constraint, 0);
        }
        Ok(table)
    }

    fn constrain(&mut self, constraint: &ast::TableConstraint, column: usize) {
        let name = |prefix: &str| match &constraint.name {
            Some(name) => name.to_string(),
            None => format!("{prefix}__{}__0123456789", self.name),
        };
        match &constraint.kind {
            ast::ConstraintKind::Key(key) if key.primary => {
                self.key = Some((name("PK"), column));
                self.columns[column].nullable = false;
            }
            ast::ConstraintKind::Check { condition, .. } => {
                self.checks.push((name("CK"), condition.clone()));
            }
            _ => {}
        }
    }

    pub(crate) fn column(&self, name: &str) -> SqlResult<usize> {
        let at = self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
        at.ok_or_else(|| SqlError::new(messages::INVALID_COLUMN, &[&name]))
    }

    /// A value as the column takes it.
    pub(crate) fn fit(&self, at: usize, from: SqlType, value: &Value) -> SqlResult<Value> {
        let column = &self.columns[at];
        if value.is_null() && !column.nullable {
            let table = format!("master.{}", self.name);
            return Err(SqlError::new(
                messages::NULL_NOT_ALLOWED,
                &[&column.name, &table, &"INSERT"],
            ));
        }
        match coerce_for_column(
            value,
            from,
            column.sql_type,
            Dialect::default(),
            Default::default(),
        )? {
            Fit::Fits(value) => Ok(value),
            Fit::Truncated(value) => {
                let shown = value.as_text().unwrap_or_default();
                let table = format!("master.{}", self.name);
                Err(SqlError::new(messages::STRING_TRUNCATED, &[&table, &column.name, &shown]))
            }
        }
    }

    /// Keys and checks, for a row that takes the place of another or of none.
    pub(crate) fn check(&self, row: &[Value], instead_of: Option<usize>) -> SqlResult<()> {
        if let Some((name, column)) = &self.key {
            let same = |(i, r): (usize, &Vec<Value>)| {
                Some(i) != instead_of
                    && types::compare(&r[*column], &row[*column], Collation::default()).is_eq()
            };
            if self.rows.iter().enumerate().any(same) {
                let value = row[*column].as_i64().unwrap_or_default();
                return Err(SqlError::new(
                    messages::DUPLICATE_KEY_CONSTRAINT,
                    &[&"PRIMARY KEY", name, &self.name, &value],
                ));
            }
        }
        let none = Variables::new();
        for (name, condition) in &self.checks {
            let scope = Scope { variables: &none, row: Some((self, row)), count: 0, rows: 0 };
            if holds(condition, &scope)? == Some(false) {
                return Err(SqlError::new(
                    messages::CONSTRAINT_CONFLICT,
                    &[&"INSERT", &"CHECK", name, &"master", &self.name, &""],
                ));
            }
        }
        Ok(())
    }
}
