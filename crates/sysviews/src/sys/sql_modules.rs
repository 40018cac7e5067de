//! `sys.sql_modules`: the texts of procedures and of all other objects that are stored as text.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, zero};
use crate::reason::NO_MEMORY_TABLES;
use crate::view::{Rows, System, View};
use catalog::view::{ExecuteAs, Object, SchemaId};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const NOT_INLINED: &str = "Scalar functions are called, never inlined.";

pub(super) const COLUMNS: [Column; 12] = [
    col("object_id", SqlType::Int),
    maybe("definition", SqlType::NVARCHAR_MAX),
    maybe("uses_ansi_nulls", BIT),
    maybe("uses_quoted_identifier", BIT),
    maybe("is_schema_bound", BIT),
    zero("uses_database_collation", BIT, "A database keeps its collation."),
    maybe("is_recompiled", BIT),
    maybe("null_on_null_input", BIT),
    maybe("execute_as_principal_id", SqlType::Int),
    zero("uses_native_compilation", BIT, NO_MEMORY_TABLES),
    zero("is_inlineable", BIT, NOT_INLINED),
    zero("inline_type", BIT, NOT_INLINED),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sql_modules", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for object in system.view()?.objects() {
        let Object::Module(m) = object else { continue };
        let (nulls, quoted) = (bit(m.ansi_nulls), bit(m.quoted_identifier));
        let (recompiled, on_null) = (bit(m.options.recompile), bit(m.options.null_on_null_input));
        rows.push(vec![
            int(m.object_id.0),
            text(&m.text),
            nulls,
            quoted,
            bit(m.options.schema_bound),
            recompiled,
            on_null,
            principal(m.options.execute_as),
        ]);
    }
    Ok(rows)
}

/// The principal whose rights the module has: NULL for the caller's, -2 for the owner's.
fn principal(execute_as: ExecuteAs) -> Value {
    const DBO: i32 = 1;
    match execute_as {
        ExecuteAs::Caller => Value::Null,
        ExecuteAs::Owner => int(-2),
        ExecuteAs::Dbo => int(DBO),
    }
}
