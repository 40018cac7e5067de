//! `sys.identity_columns`: identity columns, with their seed, increment and last value.

use super::column_list::{self, BACK, FRONT, MIDDLE};
use crate::cell::{bit, counted};
use crate::column::{Column, col, join, maybe, number, zero};
use crate::reason::OF_THIS_VIEW;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

/// The values have the column's own type.
const VARIANT: SqlType = SqlType::Variant;

const COUNTS: [Column; 5] = [
    col("seed_value", VARIANT),
    col("increment_value", VARIANT),
    maybe("last_value", VARIANT),
    col("is_not_for_replication", SqlType::Bit),
    zero("is_computed", SqlType::Bit, "An identity column is not computed."),
];
const LEFT: [Column; 22] = {
    let mut columns: [Column; 22] = join(FRONT, MIDDLE);
    columns[7] = zero("scale", SqlType::TinyInt, "An identity column has no fraction.");
    columns[9] = zero("is_nullable", SqlType::Bit, "An identity column is never NULL.");
    columns[10] = zero("is_ansi_padded", SqlType::Bit, "An identity column is a number.");
    columns[11] = zero("is_rowguidcol", SqlType::Bit, "An identity column is a number.");
    columns[12] = number("is_identity", SqlType::Bit, 1, OF_THIS_VIEW);
    columns[20] = zero("default_object_id", SqlType::Int, "An identity column has no default.");
    columns[8] = crate::column::null("collation_name", SqlType::SYSNAME, "It is a number.");
    columns
};
const MORE: [Column; 27] = join(LEFT, COUNTS);
const COLUMNS: [Column; 44] = join(MORE, BACK);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "identity_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let database = system.here()?;
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for column in &table.columns {
            let Some(identity) = column.identity else { continue };
            let last = database.identities().last(table.counter());
            // What numbers have: name to precision.
            let mut cells = column_list::front(table.object_id, column);
            cells.truncate(7);
            let own = |n: i128| counted(n, column.sql_type);
            cells.extend([own(identity.seed), own(identity.increment)]);
            cells.push(last.map_or(Value::Null, own));
            cells.push(bit(identity.not_for_replication));
            rows.push(cells);
        }
    }
    Ok(rows)
}
