//! `INFORMATION_SCHEMA.ROUTINES`: procedures and functions.

use super::columns::{domain, sizes};
use crate::cell::text;
use crate::column::{Column, col, maybe, null, word};
use crate::reason::NO_CLR;
use crate::sys::own_objects;
use crate::view::{Rows, System, View};
use catalog::view::{DatabaseView, Module, ModuleKind, Object, SchemaId};
use types::{Family, SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const SYS: SqlType = SqlType::SYSNAME;
const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const NO_MODULES: &str = "There are no modules and types of the standard.";
const NO_CATALOG: &str = "Character sets and collations stand in no catalog and schema.";
const NO_INTERVALS: &str = "There are no types of intervals.";
const NO_SCOPE: &str = "There are no references to rows and no types within types.";
const NO_ARRAYS: &str = "There are no arrays.";
const NO_NULL_CALL: &str = "The option is in sys.sql_modules.";
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
    maybe("DATA_TYPE", SYS),
    maybe("CHARACTER_MAXIMUM_LENGTH", INT),
    maybe("CHARACTER_OCTET_LENGTH", INT),
    null("COLLATION_CATALOG", SYS, NO_CATALOG),
    null("COLLATION_SCHEMA", SYS, NO_CATALOG),
    maybe("COLLATION_NAME", SYS),
    null("CHARACTER_SET_CATALOG", SYS, NO_CATALOG),
    null("CHARACTER_SET_SCHEMA", SYS, NO_CATALOG),
    maybe("CHARACTER_SET_NAME", SYS),
    maybe("NUMERIC_PRECISION", SMALL),
    maybe("NUMERIC_PRECISION_RADIX", SMALL),
    maybe("NUMERIC_SCALE", SMALL),
    maybe("DATETIME_PRECISION", SMALL),
    null("INTERVAL_TYPE", SqlType::nvarchar(30), NO_INTERVALS),
    null("INTERVAL_PRECISION", SMALL, NO_INTERVALS),
    maybe("TYPE_UDT_CATALOG", SYS),
    maybe("TYPE_UDT_SCHEMA", SYS),
    maybe("TYPE_UDT_NAME", SYS),
    null("SCOPE_CATALOG", SYS, NO_SCOPE),
    null("SCOPE_SCHEMA", SYS, NO_SCOPE),
    null("SCOPE_NAME", SYS, NO_SCOPE),
    null("MAXIMUM_CARDINALITY", SqlType::BigInt, NO_ARRAYS),
    null("DTD_IDENTIFIER", SYS, NO_SCOPE),
    word("ROUTINE_BODY", SqlType::nvarchar(30), "SQL", EVERY),
    maybe("ROUTINE_DEFINITION", SqlType::nvarchar(4000)),
    null("EXTERNAL_NAME", SYS, NO_CLR),
    null("EXTERNAL_LANGUAGE", SqlType::nvarchar(30), NO_CLR),
    null("PARAMETER_STYLE", SqlType::nvarchar(30), NO_CLR),
    word("IS_DETERMINISTIC", SqlType::nvarchar(10), "NO", EVERY),
    maybe("SQL_DATA_ACCESS", SqlType::nvarchar(30)),
    null("IS_NULL_CALL", SqlType::nvarchar(10), NO_NULL_CALL),
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
        cells.push(text(kind));
        cells.extend(result(&view, m));
        cells.extend([text(&start), text(access), Value::SmallInt(results)]);
        cells.extend([found.created.clone(), found.modified.clone()]);
        rows.push(cells);
    }
    Ok(rows)
}

/// The result of a function, from DATA_TYPE to TYPE_UDT_NAME: the type of a scalar function,
/// `TABLE` for other functions, NULL for a procedure.
fn result(view: &DatabaseView, m: &Module) -> Vec<Value> {
    let Some(result) = m.result() else {
        let table = match m.kind {
            ModuleKind::Procedure => Value::Null,
            _ => text("TABLE"),
        };
        return std::iter::once(table).chain(vec![Value::Null; 11]).collect();
    };
    let [characters, bytes, precision, radix, scale, fraction] = sizes(result.sql_type);
    let (collation, set) = match result.sql_type.family() {
        Family::Char => {
            let collation = view.collation();
            (text(collation.name()), super::columns::character_set(collation))
        }
        Family::NChar => (text(view.collation().name()), text("UNICODE")),
        _ => (Value::Null, Value::Null),
    };
    let small = |v: Value| {
        v.as_i64().map_or(Value::Null, |n| Value::SmallInt(i16::try_from(n).unwrap_or(i16::MAX)))
    };
    let name = if result.user_type_id == 108 { "numeric" } else { result.sql_type.name() };
    let mut cells = vec![text(name), characters, bytes, collation, set];
    cells.extend([small(precision), radix, small(scale), fraction]);
    cells.extend(domain(view, result.user_type_id));
    cells
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
