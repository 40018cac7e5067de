//! `INFORMATION_SCHEMA.DOMAINS`: user types.

use super::columns::sizes;
use crate::cell::text;
use crate::column::{Column, col, maybe, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{Family, SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const NO_PREFIX: &str = "Character sets and collations stand in no catalog and schema.";
const NO_DEFAULTS: &str = "There are no bound defaults.";

const COLUMNS: [Column; 17] = [
    maybe("DOMAIN_CATALOG", NAME),
    maybe("DOMAIN_SCHEMA", NAME),
    col("DOMAIN_NAME", SqlType::SYSNAME),
    maybe("DATA_TYPE", SqlType::SYSNAME),
    maybe("CHARACTER_MAXIMUM_LENGTH", SqlType::Int),
    maybe("CHARACTER_OCTET_LENGTH", SqlType::Int),
    null("COLLATION_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("COLLATION_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("COLLATION_NAME", SqlType::SYSNAME),
    null("CHARACTER_SET_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("CHARACTER_SET_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("CHARACTER_SET_NAME", SqlType::SYSNAME),
    maybe("NUMERIC_PRECISION", SqlType::TinyInt),
    maybe("NUMERIC_PRECISION_RADIX", SqlType::SmallInt),
    maybe("NUMERIC_SCALE", SqlType::Int),
    maybe("DATETIME_PRECISION", SqlType::SmallInt),
    null("DOMAIN_DEFAULT", SqlType::nvarchar(4000), NO_DEFAULTS),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "DOMAINS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let row = |t: &std::sync::Arc<catalog::view::UserType>| {
        let mut cells = vec![text(view.name()), text(&t.schema_name), text(&t.name)];
        let Some(of) = t.alias() else {
            cells.push(text("table type"));
            cells.extend(std::iter::repeat_n(Value::Null, 8));
            return cells;
        };
        cells.push(text(if t.system_type_id() == 108 { "numeric" } else { of.name() }));
        let [characters, bytes, numbers @ ..] = sizes(of);
        let set = match of.family() {
            Family::Char => super::columns::character_set(view.collation()),
            Family::NChar => text("UNICODE"),
            _ => Value::Null,
        };
        let named = of.is_character().then(|| text(view.collation().name()));
        cells.extend([characters, bytes, named.unwrap_or(Value::Null), set]);
        cells.extend(numbers);
        cells
    };
    Ok(view.types().map(row).collect())
}
