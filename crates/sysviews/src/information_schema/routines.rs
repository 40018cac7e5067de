//! `INFORMATION_SCHEMA.ROUTINES`: procedures and functions.

use crate::cell::text;
use crate::column::{Column, col, maybe, null, word};
use crate::reason::NO_CLR;
use crate::sys::own_objects;
use crate::view::{Rows, System, View};
use catalog::view::{Module, ModuleKind, Object, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const SYS: SqlType = SqlType::SYSNAME;
const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const NO_MODULES: &str = "There are no modules and types of the standard.";
const NO_RESULT: &str = "Result types of functions are not shown yet; procedures have none.";
const NO_PATH: &str = "There is no SQL path.";
const EVERY: &str = "The same of every routine.";

const COLUMNS: [Column; 51] = [
    maybe("SPECIFIC_CATALOG", NAME),
    maybe("SPECIFIC_SCHEMA", NAME),
    col("SPECIFIC_NAME", SYS),
    maybe("ROUTINE_CATALOG", NAME),
    maybe("ROUTINE_SCHEMA", NAME),
    col("ROUTINE_NAME", SYS),
    maybe("ROUTINE_TYPE", SqlType::nvarchar(20)),
    null("MODULE_CATALOG", SYS, NO_MODULES),
    null("MODULE_SCHEMA", SYS, NO_MODULES),
    null("MODULE_NAME", SYS, NO_MODULES),
    null("UDT_CATALOG", SYS, NO_MODULES),
    null("UDT_SCHEMA", SYS, NO_MODULES),
    null("UDT_NAME", SYS, NO_MODULES),
    null("DATA_TYPE", SYS, NO_RESULT),
    null("CHARACTER_MAXIMUM_LENGTH", INT, NO_RESULT),
    null("CHARACTER_OCTET_LENGTH", INT, NO_RESULT),
    null("COLLATION_CATALOG", SYS, NO_RESULT),
    null("COLLATION_SCHEMA", SYS, NO_RESULT),
    null("COLLATION_NAME", SYS, NO_RESULT),
    null("CHARACTER_SET_CATALOG", SYS, NO_RESULT),
    null("CHARACTER_SET_SCHEMA", SYS, NO_RESULT),
    null("CHARACTER_SET_NAME", SYS, NO_RESULT),
    null("NUMERIC_PRECISION", SMALL, NO_RESULT),
    null("NUMERIC_PRECISION_RADIX", SMALL, NO_RESULT),
    null("NUMERIC_SCALE", SMALL, NO_RESULT),
    null("DATETIME_PRECISION", SMALL, NO_RESULT),
    null("INTERVAL_TYPE", SqlType::nvarchar(30), NO_RESULT),
    null("INTERVAL_PRECISION", SMALL, NO_RESULT),
    null("TYPE_UDT_CATALOG", SYS, NO_RESULT),
    null("TYPE_UDT_SCHEMA", SYS, NO_RESULT),
    null("TYPE_UDT_NAME", SYS, NO_RESULT),
    null("SCOPE_CATALOG", SYS, NO_RESULT),
    null("SCOPE_SCHEMA", SYS, NO_RESULT),
    null("SCOPE_NAME", SYS, NO_RESULT),
    null("MAXIMUM_CARDINALITY", SqlType::BigInt, NO_RESULT),
    null("DTD_IDENTIFIER", SYS, NO_RESULT),
    word("ROUTINE_BODY", SqlType::nvarchar(30), "SQL", EVERY),
    maybe("ROUTINE_DEFINITION", SqlType::nvarchar(4000)),
    null("EXTERNAL_NAME", SYS, NO_CLR),
    null("EXTERNAL_LANGUAGE", SqlType::nvarchar(30), NO_CLR),
    null("PARAMETER_STYLE", SqlType::nvarchar(30), NO_CLR),
    word("IS_DETERMINISTIC", SqlType::nvarchar(10), "NO", EVERY),
    maybe("SQL_DATA_ACCESS", SqlType::nvarchar(30)),
    null("IS_NULL_CALL", SqlType::nvarchar(10), NO_RESULT),
    null("SQL_PATH", SYS, NO_PATH),
    word("SCHEMA_LEVEL_ROUTINE", SqlType::nvarchar(10), "YES", EVERY),
    maybe("MAX_DYNAMIC_RESULT_SETS", SMALL),
    word("IS_USER_DEFINED_CAST", SqlType::nvarchar(10), "NO", EVERY),
    word("IS_IMPLICITLY_INVOCABLE", SqlType::nvarchar(10), "NO", EVERY),
    col("CREATED", SqlType::DateTime),
    col("LAST_ALTERED", SqlType::DateTime),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "ROUTINES",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let listed = own_objects(system)?;
    let mut rows = Vec::new();
    for object in view.objects() {
        let Object::Module(m) = object else { continue };
        let Some((kind, access)) = kind(m) else { continue };
        let Some(found) = listed.iter().find(|l| l.id == m.object_id) else { continue };
        let place = [text(view.name()), text(&m.schema_name), text(&m.name)];
        let mut cells = place.to_vec();
        cells.extend(place);
        // A longer definition is cut off here, as in SQL Server.
        let start: String = m.text.chars().take(4000).collect();
        let results = if m.kind == ModuleKind::Procedure { -1 } else { 0 };
        cells.extend([text(kind), text(&start), text(access), Value::SmallInt(results)]);
        cells.extend([found.created.clone(), found.modified.clone()]);
        rows.push(cells);
    }
    Ok(rows)
}

/// ROUTINE_TYPE and SQL_DATA_ACCESS.
fn kind(m: &Module) -> Option<(&'static str, &'static str)> {
    match m.kind {
        ModuleKind::Procedure => Some(("PROCEDURE", "MODIFIES")),
        ModuleKind::ScalarFunction | ModuleKind::InlineFunction | ModuleKind::TableFunction => {
            Some(("FUNCTION", "READS"))
        }
        ModuleKind::View | ModuleKind::Trigger => None,
    }
}
