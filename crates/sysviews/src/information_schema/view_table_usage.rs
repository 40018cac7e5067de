//! `INFORMATION_SCHEMA.VIEW_TABLE_USAGE`: the tables and views of its database that a view reads.

use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{DatabaseView, Module, ModuleKind, Object, SchemaId};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 6] = [
    maybe("VIEW_CATALOG", NAME),
    maybe("VIEW_SCHEMA", NAME),
    col("VIEW_NAME", SqlType::SYSNAME),
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "VIEW_TABLE_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let uses = uses(system)?;
    let read: BTreeSet<_> = uses.iter().map(|(m, d)| (m.object_id, d.id)).collect();
    let mut rows = Vec::new();
    for (user, used) in read {
        let Some(Object::Module(module)) = view.by_id(user) else { continue };
        let Some(used) = used else { continue };
        rows.extend(names(&view, &module, used));
    }
    Ok(rows)
}

/// The tables and views that views name: the view, and the dependency.
pub(super) fn uses(
    system: &System<'_>,
) -> base::SqlResult<Vec<(Arc<Module>, session::Dependency)>> {
    let view = system.view()?;
    let views: Vec<_> =
        tables::modules(system)?.into_iter().filter(|m| m.kind == ModuleKind::View).collect();
    let rows_of = |id: Option<ObjectId>| match id.and_then(|id| view.by_id(id)) {
        Some(Object::Table(_)) => true,
        Some(Object::Module(m)) => m.kind == ModuleKind::View,
        _ => false,
    };
    let all = session::dependencies(&view).into_iter().filter(|d| rows_of(d.id));
    let of = |d: session::Dependency| {
        let module = views.iter().find(|m| m.object_id == d.referencing)?;
        Some((Arc::clone(module), d))
    };
    Ok(all.filter_map(of).collect())
}

/// Catalog, schema and name of a view and of the object that it reads.
pub(super) fn names(view: &DatabaseView, module: &Module, used: ObjectId) -> Option<Vec<Value>> {
    let object = view.by_id(used)?;
    let schema = view.schema_by_id(object.schema_id()).map_or(Value::Null, |s| text(&s.name));
    Some(vec![
        text(view.name()),
        text(&module.schema_name),
        text(&module.name),
        text(view.name()),
        schema,
        text(object.name()),
    ])
}
