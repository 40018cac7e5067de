//! DECLARE @t TABLE (…): makes only the definition of a table variable.
//!
//! The definition has the placeholder ids by which plans know table variables. Each activation
//! makes a table from it, with ids of its own. This file writes nothing and locks nothing.

use crate::constraint;
use crate::constraint::generated_name;
use crate::context::{DdlContext, unsupported};
use crate::table::create_table::{add_columns, add_parts, check_row_size, empty};
use base::{HobtId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Partitions, SchemaId, Table};
use tsql::ast::{ConstraintKind, ParsedText, TableDefinition};

/// The definition of a table variable, the `at`th of its batch or module.
///
/// # Errors
/// Those of CREATE TABLE; 156 for a constraint with a name, or a foreign key.
pub fn declare(
    name: &str,
    at: u16,
    definition: &TableDefinition,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<Table> {
    let mut table = draft(name, definition, text, cx)?;
    number(&mut table, at, "");
    Ok(table)
}

/// The table of a definition. The caller gives it its ids ([`number`]).
pub(crate) fn draft(
    name: &str,
    definition: &TableDefinition,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<Table> {
    refuse(definition)?;
    let place = cx.place(None)?;
    let Some(schema) = place.view.schema_by_id(SchemaId::DBO).cloned() else {
        return Err(SqlError::new(messages::SCHEMA_NOT_FOUND, &[&"dbo"]));
    };
    let mut table = empty(&place, &schema, name, true);
    let explicit = add_columns(cx, &place, &mut table, definition, text)?;
    add_parts(cx, &place, &mut table, definition, text, &explicit)?;
    check_row_size(&table)?;
    Ok(table)
}

/// Gives a table the ids of the `at`th table variable. `known` is the name from which the names of
/// its constraints are made. If it is empty, they are made from the table's name in tempdb.
pub(crate) fn number(table: &mut Table, at: u16, known: &str) {
    rename_constraints(table, known);
    table.object_id = ObjectId::of_table_variable(at);
    for (position, index) in table.indexes.iter_mut().enumerate() {
        index.partitions = Partitions::one(HobtId::of_table_variable(at, position));
    }
}

fn refuse(definition: &TableDefinition) -> SqlResult<()> {
    if let Some((start, _)) = &definition.period {
        return Err(unsupported("PERIOD FOR SYSTEM_TIME", start.line));
    }
    for written in constraint::all(definition) {
        let line = written.constraint.span.line;
        let keyword = match (&written.constraint.name, &written.constraint.kind) {
            (Some(_), _) => "CONSTRAINT",
            (None, ConstraintKind::ForeignKey(_)) if written.column.is_some() => "REFERENCES",
            (None, ConstraintKind::ForeignKey(_)) => "FOREIGN",
            (None, _) => continue,
        };
        return Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&keyword]).at_line(line));
    }
    Ok(())
}

/// Names the constraints after `known`, or after the name that the table has in tempdb (not `@t`).
fn rename_constraints(table: &mut Table, known: &str) {
    let known = match known {
        "" => format!("#{:08X}", table.object_id.0),
        known => known.to_owned(),
    };
    for index in &mut table.indexes {
        let Some(id) = index.constraint_id else { continue };
        let prefix = if index.primary_key { "PK" } else { "UQ" };
        let names: Vec<&str> = index.key.iter().map(|k| &*table.columns[k.column].name).collect();
        index.name = generated_name::of_key(prefix, &known, &names, id);
    }
    for check in &mut table.checks {
        let behind = check.column.map(|at| &*table.columns[at].name);
        check.name = generated_name::of_column("CK", &known, behind, check.object_id);
    }
    for column in &mut table.columns {
        if let Some(default) = &mut column.default {
            let name = Some(&*column.name);
            default.name = generated_name::of_column("DF", &known, name, default.object_id);
        }
    }
}
