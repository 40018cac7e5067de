//! `sys.procedures`.

use super::object_list;
use crate::column::{Column, join, zero};
use crate::reason::NO_REPLICATION;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;

const COLUMNS: [Column; 16] = join(
    object_list::of_kind("P", "SQL_STORED_PROCEDURE"),
    [
        zero("is_auto_executed", BIT, "There are no start-up procedures."),
        zero("is_execution_replicated", BIT, NO_REPLICATION),
        zero("is_repl_serializable_only", BIT, NO_REPLICATION),
        zero("skips_repl_constraints", BIT, NO_REPLICATION),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "procedures", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(object_list::own_of(system, "P")?.iter().map(|l| l.kind_cells()).collect())
}
