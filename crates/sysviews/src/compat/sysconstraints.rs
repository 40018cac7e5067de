//! `sysconstraints`: constraints and their tables.

use crate::cell::int;
use crate::column::{Column, col, zero};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{SchemaId, Table};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const RESERVED: &str = "Reserved in SQL Server.";

const COLUMNS: [Column; 7] = [
    col("constid", INT),
    col("id", INT),
    col("colid", SqlType::SmallInt),
    zero("spare1", SqlType::TinyInt, RESERVED),
    col("status", INT),
    zero("actions", INT, RESERVED),
    zero("error", INT, RESERVED),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "sysconstraints",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// Bits of `status` beside the kind.
const OF_COLUMN: i32 = 16;
const OF_TABLE: i32 = 32;

fn kind(type_code: &str) -> i32 {
    match type_code {
        "PK" => 1,
        "UQ" => 2,
        "F" => 3,
        "C" => 4,
        _ => 5,
    }
}

/// The column behind which a constraint was written, if it is known; 0 for the table.
fn column(table: &Table, constraint: ObjectId) -> i32 {
    let id = |at: usize| table.columns[at].column_id;
    let check = table.checks.iter().find(|c| c.object_id == constraint);
    let of =
        |c: &&catalog::view::Column| c.default.as_ref().is_some_and(|d| d.object_id == constraint);
    let default = table.columns.iter().find(of);
    match (check, default) {
        (Some(check), _) => check.column.map_or(0, id),
        (None, Some(column)) => column.column_id,
        (None, None) => 0,
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for c in table.constraints() {
            let column = column(&table, c.object_id);
            let place = if column == 0 { OF_TABLE } else { OF_COLUMN };
            rows.push(vec![
                int(c.object_id.0),
                int(table.object_id.0),
                Value::SmallInt(i16::try_from(column).unwrap_or_default()),
                int(kind(c.type_code) + place),
            ]);
        }
    }
    Ok(rows)
}
