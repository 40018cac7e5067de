//! `sysreferences`: FOREIGN KEY constraints, their columns side by side.

use super::type_codes::small;
use crate::cell::int;
use crate::column::{Column, col, join, maybe, null, zero};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const HERE: &str = "Both tables are of the same database.";
/// The view has this many pairs of columns.
const WIDTH: usize = 16;

const FRONT: [Column; 9] = [
    col("constid", SqlType::Int),
    col("fkeyid", SqlType::Int),
    col("rkeyid", SqlType::Int),
    maybe("rkeyindid", SMALL),
    maybe("keycnt", SMALL),
    null("forkeys", SqlType::varbinary(32), INTERNAL),
    null("refkeys", SqlType::varbinary(32), INTERNAL),
    zero("fkeydbid", SMALL, HERE),
    zero("rkeydbid", SMALL, HERE),
];

const FROM: [Column; WIDTH] = numbered([
    "fkey1", "fkey2", "fkey3", "fkey4", "fkey5", "fkey6", "fkey7", "fkey8", "fkey9", "fkey10",
    "fkey11", "fkey12", "fkey13", "fkey14", "fkey15", "fkey16",
]);
const TO: [Column; WIDTH] = numbered([
    "rkey1", "rkey2", "rkey3", "rkey4", "rkey5", "rkey6", "rkey7", "rkey8", "rkey9", "rkey10",
    "rkey11", "rkey12", "rkey13", "rkey14", "rkey15", "rkey16",
]);

const LEFT: [Column; 25] = join(FRONT, FROM);
const COLUMNS: [Column; 41] = join(LEFT, TO);

const fn numbered(names: [&'static str; WIDTH]) -> [Column; WIDTH] {
    let mut columns = [col("", SMALL); WIDTH];
    let mut n = 0;
    while n < WIDTH {
        columns[n] = col(names[n], SMALL);
        n += 1;
    }
    columns
}

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "sysreferences",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// Ids of columns, padded with 0.
fn wide(ids: impl Iterator<Item = i32>) -> impl Iterator<Item = Value> {
    ids.chain(std::iter::repeat(0))
        .take(WIDTH)
        .map(|id| Value::SmallInt(i16::try_from(id).unwrap_or_default()))
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for key in &table.foreign_keys {
            let mut cells = vec![
                int(key.object_id.0),
                int(table.object_id.0),
                int(key.referenced.0),
                small(key.key_index.0),
                small(key.columns.len() as i32),
            ];
            cells.extend(wide(key.columns.iter().map(|c| table.columns[c.column].column_id)));
            cells.extend(wide(key.columns.iter().map(|c| c.referenced)));
            rows.push(cells);
        }
    }
    Ok(rows)
}
