//! `INFORMATION_SCHEMA.SCHEMATA`.

use crate::cell::text;
use crate::column::{Column, col, maybe, null, word};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const NO_PREFIX: &str = "Character sets stand in no catalog and schema.";

const COLUMNS: [Column; 6] = [
    maybe("CATALOG_NAME", NAME),
    col("SCHEMA_NAME", NAME),
    maybe("SCHEMA_OWNER", NAME),
    null("DEFAULT_CHARACTER_SET_CATALOG", SqlType::varchar(6), NO_PREFIX),
    null("DEFAULT_CHARACTER_SET_SCHEMA", SqlType::varchar(3), NO_PREFIX),
    word("DEFAULT_CHARACTER_SET_NAME", SqlType::SYSNAME, "iso_1", "Every collation is Latin-1."),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "SCHEMATA",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let row = |s: &catalog::view::Schema| {
        let owner = if s.id.0 <= SchemaId::SYS.0 { &*s.name } else { "dbo" };
        vec![text(view.name()), text(&s.name), text(owner)]
    };
    Ok(view.schemas().iter().map(row).collect())
}
