//! ALTER SCHEMA … TRANSFER: moves an object (with its constraints and triggers) or a type into
//! another schema. The statement does not rewrite texts that name the object.

use crate::context::{Change, DdlContext, Place, unsupported};
use crate::locate::{is_temporary, locked_object, name_taken, schema_for};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, Object, Schema, Sequence, Synonym, Table, UserType};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{AlterSchema, ObjectName};

pub(crate) fn transfer(s: &AlterSchema, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.name.span.line;
    let place = cx.place(None)?;
    if place.view.schema(&s.schema).is_none() {
        let args: [&dyn std::fmt::Display; 3] = [&"find", &"schema", &s.schema];
        return Err(SqlError::new(messages::CANNOT_FIND_PRINCIPAL, &args).at_line(line));
    }
    if is_temporary(&s.name) {
        return Err(unsupported("ALTER SCHEMA of a temporary table", line));
    }
    let done = match &*s.class {
        "OBJECT" => object(s, cx),
        "TYPE" => user_type(s, cx),
        other => return Err(unsupported(&format!("ALTER SCHEMA of a {other}"), line)),
    };
    done.map_err(|e| e.at_line(line))
}

fn missing(s: &AlterSchema, kind: &str) -> SqlError {
    SqlError::new(messages::CANNOT_FIND_PRINCIPAL, &[&"find", &kind, &s.name.object])
}

/// The name of the object after the transfer.
fn new_name(s: &AlterSchema) -> ObjectName {
    ObjectName { server: None, database: None, schema: Some(s.schema.clone()), ..s.name.clone() }
}

fn object(s: &AlterSchema, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let found = locked_object(cx, &s.name)?;
    let Some((place, found)) = found.filter(|(_, o)| !matches!(o, Object::Virtual(_))) else {
        return Err(missing(s, "object"));
    };
    if matches!(&found, Object::Module(m) if m.kind == ModuleKind::Trigger) {
        return Err(SqlError::new(messages::TRANSFER_OWNED, &[]));
    }
    let id = found.object_id();
    let binds = matches!(&found, Object::Module(m) if m.options.schema_bound);
    if binds || place.view.bound_to(id, None).is_some() {
        return Err(SqlError::new(messages::TRANSFER_BOUND, &[]));
    }
    catalog::lock_name(cx.work, place.view.id(), found.schema_id(), found.name())?;
    let (place, schema) = schema_for(cx, &new_name(s))?;
    if found.schema_id() == schema.id {
        return Ok(());
    }
    if name_taken(&place, schema.id, found.name()) {
        return Err(SqlError::new(messages::TRANSFER_EXISTS, &[&found.name()]));
    }
    for trigger in place.view.triggers_of(id) {
        module(&place, &trigger, &schema, cx)?;
    }
    let changes = Changes::new(&*place.system);
    let (schema_id, schema_name) = (schema.id, schema.name.clone());
    let after = match &found {
        Object::Table(before) => {
            let after = Table { schema_id, schema_name, ..Table::clone(before) };
            return cx.record(&place, Change::Put { before: Some(before), after: &after });
        }
        Object::Module(m) => return module(&place, m, &schema, cx),
        Object::Sequence(before) => {
            let after = Sequence { schema_id, schema_name, ..Sequence::clone(before) };
            changes.put_sequence(cx.work, Some(before), &after)?;
            Object::Sequence(Arc::new(after))
        }
        Object::Synonym(before) => {
            let after = Synonym { schema_id, schema_name, ..Synonym::clone(before) };
            changes.put_synonym(cx.work, Some(before), &after)?;
            Object::Synonym(Arc::new(after))
        }
        Object::Virtual(_) => return Err(missing(s, "object")),
    };
    cx.deltas.push((place.view.id(), Delta::PutObject(after)));
    Ok(())
}

fn module(
    place: &Place,
    before: &Arc<Module>,
    schema: &Schema,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let database = place.view.id();
    catalog::lock_object(cx.work, database, before.object_id)?;
    let (schema_id, schema_name) = (schema.id, schema.name.clone());
    let after = Module { schema_id, schema_name, ..Module::clone(before) };
    Changes::new(&*place.system).put_module(cx.work, Some(before), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Module(Arc::new(after)))));
    Ok(())
}

fn user_type(s: &AlterSchema, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let find = |place: &Place| {
        let found = place.view.user_type(s.name.schema.as_deref(), &s.name.object).cloned();
        found.ok_or_else(|| missing(s, "type"))
    };
    let id: ObjectId = find(&cx.place(None)?)?.object_id;
    let database = cx.place(None)?.view.id();
    catalog::lock_object(cx.work, database, id)?;
    let (place, schema) = schema_for(cx, &new_name(s))?;
    let before = find(&place)?;
    if before.schema_id == schema.id {
        return Ok(());
    }
    if place.view.user_type(Some(&schema.name), &s.name.object).is_some() {
        return Err(SqlError::new(messages::TRANSFER_EXISTS, &[&before.name]));
    }
    let (schema_id, schema_name) = (schema.id, schema.name.clone());
    let after = UserType { schema_id, schema_name, ..UserType::clone(&before) };
    Changes::new(&*place.system).put_type(cx.work, Some(&before), &after)?;
    cx.deltas.push((database, Delta::PutType(Arc::new(after))));
    Ok(())
}
