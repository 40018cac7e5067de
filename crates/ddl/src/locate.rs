//! Looks up the name in a statement and locks the definition that it names.
//!
//! Invariants
//!  1. A definition that these functions return was looked up after its lock was granted
//!     (catalog/README.md, protocol 2).

use crate::context::{DdlContext, Place, unsupported};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Object, ObjectName as Parts, Schema, SchemaId, Table, is_global_temp};
use std::sync::Arc;
use tsql::ast::ObjectName;
use work::Work;

/// A table to change, under Sch-M.
pub(crate) struct LockedTable {
    pub(crate) place: Place,
    pub(crate) table: Arc<Table>,
}

/// The database, schema and object that a name stands for now.
pub(crate) struct Resolution {
    pub(crate) place: Place,
    pub(crate) schema: Option<Schema>,
    pub(crate) object: Option<Object>,
}

/// Whether a name belongs to a temporary object.
pub(crate) fn is_temporary(name: &ObjectName) -> bool {
    name.object.starts_with('#')
}

/// Whether a name belongs to an object that only one session sees.
pub(crate) fn is_local(name: &ObjectName) -> bool {
    is_temporary(name) && !is_global_temp(&name.object)
}

/// Looks a name up, without locks.
pub(crate) fn look_up(cx: &DdlContext<'_>, name: &ObjectName) -> SqlResult<Resolution> {
    if name.server.is_some() {
        return Err(unsupported("linked servers", name.span.line));
    }
    if is_local(name) {
        let place = cx.place(Some("tempdb"))?;
        let object = cx.temp.find(&name.object).map(Object::Table);
        let schema = place.view.schema_by_id(SchemaId::DBO).cloned();
        return Ok(Resolution { place, schema, object });
    }
    let global = is_global_temp(&name.object);
    let place = cx.place(if global { Some("tempdb") } else { name.database.as_deref() })?;
    let schema = name.schema.as_deref().filter(|_| !global);
    let parts = Parts { database: None, schema, object: &name.object };
    let schema = match parts.schema {
        Some(s) => place.view.schema(s).cloned(),
        None => place.view.schema_by_id(SchemaId::DBO).cloned(),
    };
    let mut object = schema.as_ref().and_then(|s| place.view.find(s.id, parts.object));
    if object.is_none() && parts.schema.is_none() {
        object = place.view.find(SchemaId::SYS, parts.object);
    }
    Ok(Resolution { place, schema, object })
}

/// The schema that a new object goes into. A lock keeps the schema from being dropped, and
/// another one reserves the object's name.
pub(crate) fn schema_for(cx: &mut DdlContext<'_>, name: &ObjectName) -> SqlResult<(Place, Schema)> {
    let missing = || {
        let schema = name.schema.as_deref().unwrap_or("dbo");
        SqlError::new(messages::SCHEMA_NOT_FOUND, &[&schema]).at_line(name.span.line)
    };
    let named = look_up(cx, name)?;
    let schema = named.schema.ok_or_else(missing)?;
    if matches!(schema.id, SchemaId::SYS | SchemaId::INFORMATION_SCHEMA) {
        return Err(missing());
    }
    catalog::lock_schema(cx.work, named.place.view.id(), schema.id, false)?;
    if !is_local(name) {
        catalog::lock_name(cx.work, named.place.view.id(), schema.id, &name.object)?;
    }
    let place = cx.place(Some(named.place.view.name()))?;
    match place.view.schema_by_id(schema.id) {
        Some(_) => Ok((place, schema)),
        None => Err(missing()),
    }
}

/// The object that a name stands for, under Sch-M; `None` when there is none.
pub(crate) fn locked_object(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
) -> SqlResult<Option<(Place, Object)>> {
    locked_by(cx, name, catalog::lock_object)
}

/// The object that a name stands for, under the lock that `lock` takes; `None` when there is
/// none.
pub(crate) fn locked_by(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
    lock: fn(&mut Work, DatabaseId, ObjectId) -> SqlResult<()>,
) -> SqlResult<Option<(Place, Object)>> {
    loop {
        let named = look_up(cx, name)?;
        let Some(object) = named.object else { return Ok(None) };
        let id = object.object_id();
        if let Object::Virtual(_) = object {
            return Ok(Some((named.place, object)));
        }
        lock(cx.work, named.place.view.id(), id)?;
        let again = look_up(cx, name)?;
        match again.object {
            Some(object) if object.object_id() == id => {
                return Ok(Some((again.place, object)));
            }
            // The object was dropped, or dropped and created again, while we waited.
            Some(_) | None => {}
        }
    }
}

/// The table that a name stands for, under Sch-M; `None` when there is no such object or it is no
/// table.
pub(crate) fn locked_table(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
) -> SqlResult<Option<LockedTable>> {
    Ok(match locked_object(cx, name)? {
        Some((place, Object::Table(table))) => Some(LockedTable { place, table }),
        Some((
            _,
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_),
        ))
        | None => None,
    })
}

/// Like [`locked_table`], for a statement that reads or writes the table's rows.
///
/// # Errors
/// 1974 while the table's clustered index is disabled.
pub(crate) fn locked_rows(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
) -> SqlResult<Option<LockedTable>> {
    let found = locked_table(cx, name)?;
    if let Some(LockedTable { table, .. }) = &found {
        has_rows(table).map_err(|e| e.at_line(name.span.line))?;
    }
    Ok(found)
}

/// Fails with 1974 while a table's clustered index is disabled.
pub(crate) fn has_rows(table: &Table) -> SqlResult<()> {
    let base = table.base();
    if !base.disabled {
        return Ok(());
    }
    let args: [&dyn std::fmt::Display; 2] = [&table.two_part_name(), &base.name];
    Err(SqlError::new(messages::CLUSTERED_DISABLED, &args))
}

/// Whether any object of the schema, constraints included, has this name.
pub(crate) fn name_taken(place: &Place, schema: SchemaId, name: &str) -> bool {
    if place.view.find(schema, name).is_some() {
        return true;
    }
    let same = |other: &str| same_name(place, other, name);
    place.view.objects().any(|object| match object {
        Object::Table(t) if t.schema_id == schema => constraint_names(t).any(same),
        Object::Table(_)
        | Object::Module(_)
        | Object::Sequence(_)
        | Object::Synonym(_)
        | Object::Virtual(_) => false,
    })
}

/// Whether two names are equal in the collation of a database.
pub(crate) fn same_name(place: &Place, a: &str, b: &str) -> bool {
    place.view.same_name(a, b)
}

/// A name in brackets.
pub(crate) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// The name by which a query reaches a table. For a temporary table this is its long name in
/// tempdb.
pub(crate) fn queried_name(place: &Place, table: &Table) -> String {
    let stored = place.view.table(table.object_id);
    let name = stored.map_or_else(|| table.name.clone(), |t| t.name.clone());
    format!("{}.{}", quoted(&table.schema_name), quoted(&name))
}

/// The names of a table's constraints.
pub(crate) fn constraint_names(table: &Table) -> impl Iterator<Item = &str> {
    table.constraints().map(|c| c.name)
}
