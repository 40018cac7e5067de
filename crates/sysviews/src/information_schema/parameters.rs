//! `INFORMATION_SCHEMA.PARAMETERS`: the parameters of procedures and functions, and the results of
//! scalar functions.

use super::columns::{domain, sizes};
use crate::cell::{int, text};
use crate::column::{Column, col, maybe, null, word};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{Module, ModuleKind, Parameter, SchemaId};
use types::{Family, SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const TEN: SqlType = SqlType::nvarchar(10);
const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const NO_PREFIX: &str = "Character sets and collations stand in no catalog and schema.";
const NO_INTERVALS: &str = "There are no types of intervals.";
const NO_SCOPE: &str = "There are no references to rows.";

const COLUMNS: [Column; 29] = [
    maybe("SPECIFIC_CATALOG", NAME),
    maybe("SPECIFIC_SCHEMA", NAME),
    col("SPECIFIC_NAME", SqlType::SYSNAME),
    col("ORDINAL_POSITION", INT),
    maybe("PARAMETER_MODE", TEN),
    maybe("IS_RESULT", TEN),
    word("AS_LOCATOR", TEN, "NO", "There are no locators."),
    maybe("PARAMETER_NAME", SqlType::SYSNAME),
    maybe("DATA_TYPE", NAME),
    maybe("CHARACTER_MAXIMUM_LENGTH", INT),
    maybe("CHARACTER_OCTET_LENGTH", INT),
    null("COLLATION_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("COLLATION_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("COLLATION_NAME", SqlType::SYSNAME),
    null("CHARACTER_SET_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("CHARACTER_SET_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("CHARACTER_SET_NAME", SqlType::SYSNAME),
    maybe("NUMERIC_PRECISION", SqlType::TinyInt),
    maybe("NUMERIC_PRECISION_RADIX", SMALL),
    maybe("NUMERIC_SCALE", INT),
    maybe("DATETIME_PRECISION", SMALL),
    null("INTERVAL_TYPE", SqlType::nvarchar(30), NO_INTERVALS),
    null("INTERVAL_PRECISION", SMALL, NO_INTERVALS),
    maybe("USER_DEFINED_TYPE_CATALOG", SqlType::SYSNAME),
    maybe("USER_DEFINED_TYPE_SCHEMA", SqlType::SYSNAME),
    maybe("USER_DEFINED_TYPE_NAME", SqlType::SYSNAME),
    null("SCOPE_CATALOG", SqlType::SYSNAME, NO_SCOPE),
    null("SCOPE_SCHEMA", SqlType::SYSNAME, NO_SCOPE),
    null("SCOPE_NAME", SqlType::SYSNAME, NO_SCOPE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "PARAMETERS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let collation = text(view.collation().name());
    let mut rows = Vec::new();
    for module in tables::modules(system)? {
        if matches!(module.kind, ModuleKind::View | ModuleKind::Trigger) {
            continue;
        }
        let listed = module.parameters.iter();
        rows.extend(listed.map(|p| {
            let mut cells = row(view.name(), &module, p, &collation);
            cells.extend(domain(&view, p.user_type_id));
            cells
        }));
    }
    Ok(rows)
}

fn row(catalog: &str, module: &Module, p: &Parameter, collation: &Value) -> Vec<Value> {
    let result = p.id == 0;
    let mode = match (result, p.output) {
        (true, _) => "OUT",
        (false, true) => "INOUT",
        (false, false) => "IN",
    };
    let numeric = p.user_type_id == 108;
    let [characters, bytes, precision, radix, scale, fraction] = sizes(p.sql_type);
    let (collation, set) = match p.sql_type.family() {
        Family::Char => (collation.clone(), text("iso_1")),
        Family::NChar => (collation.clone(), text("UNICODE")),
        _ => (Value::Null, Value::Null),
    };
    vec![
        text(catalog),
        text(&module.schema_name),
        text(&module.name),
        int(p.id),
        text(mode),
        text(if result { "YES" } else { "NO" }),
        if result { text("") } else { text(&p.name) },
        text(if numeric { "numeric" } else { p.sql_type.name() }),
        characters,
        bytes,
        collation,
        set,
        precision,
        radix,
        scale,
        fraction,
    ]
}
