//! `INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS`: foreign keys and the keys that they refer to.

use crate::cell::{code, text};
use crate::column::{Column, col, maybe, word};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{ReferentialAction, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const SIMPLE: &str = "A NULL in any column refers to nothing.";

const COLUMNS: [Column; 9] = [
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", SqlType::SYSNAME),
    maybe("UNIQUE_CONSTRAINT_CATALOG", NAME),
    maybe("UNIQUE_CONSTRAINT_SCHEMA", NAME),
    maybe("UNIQUE_CONSTRAINT_NAME", SqlType::SYSNAME),
    word("MATCH_OPTION", SqlType::varchar(7), "SIMPLE", SIMPLE),
    maybe("UPDATE_RULE", SqlType::varchar(11)),
    maybe("DELETE_RULE", SqlType::varchar(11)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "REFERENTIAL_CONSTRAINTS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let catalog = text(view.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for key in &table.foreign_keys {
            let Some(parent) = view.table(key.referenced) else { continue };
            let index = parent.indexes.iter().find(|i| i.index_id == key.key_index);
            rows.push(vec![
                catalog.clone(),
                text(&table.schema_name),
                text(&key.name),
                catalog.clone(),
                text(&parent.schema_name),
                index.map_or(Value::Null, |i| text(&i.name)),
                code(rule(key.on_update)),
                code(rule(key.on_delete)),
            ]);
        }
    }
    Ok(rows)
}

fn rule(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "NO ACTION",
        ReferentialAction::Cascade => "CASCADE",
        ReferentialAction::SetNull => "SET NULL",
        ReferentialAction::SetDefault => "SET DEFAULT",
    }
}
