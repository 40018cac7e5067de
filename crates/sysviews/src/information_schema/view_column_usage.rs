//! `INFORMATION_SCHEMA.VIEW_COLUMN_USAGE`: the columns of its database that a view reads.
//!
//! A schema-bound view stores its columns. For any other view these are the columns of its tables
//! whose names its text contains, or all if it contains `*`. If two of its tables have a column of
//! that name, both are listed, where SQL Server lists only the right one.

use super::view_table_usage::{names, uses};
use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::{Module, Object, SchemaId};
use std::collections::BTreeSet;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 7] = [
    maybe("VIEW_CATALOG", NAME),
    maybe("VIEW_SCHEMA", NAME),
    col("VIEW_NAME", SqlType::SYSNAME),
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("COLUMN_NAME", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "VIEW_COLUMN_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut read = BTreeSet::new();
    for (module, d) in uses(system)? {
        let Some(object) = d.id.and_then(|id| view.by_id(id)) else { continue };
        let named = session::columns_named(&module);
        let reads = |c: &catalog::view::Column| match d.bound {
            true => c.column_id == d.column,
            false => named.all || named.names.iter().any(|n| view.same_name(n, &c.name)),
        };
        let used = object.object_id();
        let columns = columns(&object).iter().filter(|c| reads(c));
        read.extend(columns.map(|c| (module.object_id, used, c.column_id, c.name.clone())));
    }
    let row = |(user, used, _, name): &(_, _, i32, Box<str>)| {
        let Some(Object::Module(module)) = view.by_id(*user) else { return None };
        let module: &Module = &module;
        let mut cells = names(&view, module, *used)?;
        cells.push(text(name));
        Some(cells)
    };
    Ok(read.iter().filter_map(row).collect())
}

fn columns(object: &Object) -> &[catalog::view::Column] {
    match object {
        Object::Table(t) => &t.columns,
        Object::Module(m) => &m.columns,
        Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => &[],
    }
}
