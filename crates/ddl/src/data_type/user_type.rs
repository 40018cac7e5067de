//! CREATE TYPE and DROP TYPE: aliases of system types, and table types.
//!
//! Invariants
//!  1. The definition of a type never changes. A type that a column, a parameter, a sequence or
//!     another type uses cannot be dropped (3732).
//!  2. The definition of a table type is like that of a table variable. Each variable of the type
//!     gets ids of its own ([`variable_of`]).

use crate::context::{DdlContext, Place, unsupported};
use crate::data_type::type_name::{Declaree, declared_system};
use crate::locate::schema_for;
use crate::table::declare::{draft, number};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Object, Table, UserType, UserTypeKind};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{CreateType, CreateTypeKind, ObjectName, ParsedText, TableDefinition};

pub(crate) fn create(
    s: &CreateType,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let line = s.name.span.line;
    if s.name.database.is_some() || s.name.server.is_some() {
        let args: [&dyn std::fmt::Display; 3] = [&"type", &s.name, &1];
        return Err(SqlError::new(messages::NAME_TOO_MANY_PREFIXES, &args).at_line(line));
    }
    let (place, schema) = schema_for(cx, &s.name)?;
    let exists = || {
        let e = SqlError::new(messages::TYPE_EXISTS, &[&s.name]);
        Err(e.at_line(line))
    };
    if place.view.user_type(Some(&schema.name), &s.name.object).is_some() {
        return exists();
    }
    let kind = match &s.kind {
        CreateTypeKind::Alias { base, nullable } => {
            let who = Declaree { number: 1, kind: "type", name: &s.name.object };
            let of = declared_system(base, who)?;
            UserTypeKind::Alias {
                sql_type: of.sql_type,
                base: of.user_type_id,
                nullable: nullable.unwrap_or(true),
            }
        }
        CreateTypeKind::Table { definition, options } => {
            if let Some(option) = options.first() {
                let what = format!("{} of a table type", option.name);
                return Err(unsupported(&what, option.span.line));
            }
            UserTypeKind::Table(Arc::new(table(s, definition, text, &place, cx)?))
        }
    };
    let object_id = match &kind {
        UserTypeKind::Table(table) => table.object_id,
        UserTypeKind::Alias { .. } => place.ids.object(),
    };
    let made = UserType {
        object_id,
        user_type_id: place.ids.user_type(),
        schema_id: schema.id,
        schema_name: schema.name.clone(),
        name: (*s.name.object).into(),
        kind,
        properties: Vec::new(),
    };
    let database = place.view.id();
    catalog::lock_object(cx.work, database, object_id)?;
    Changes::new(&*place.system).put_type(cx.work, None, &made)?;
    cx.deltas.push((database, Delta::PutType(Arc::new(made))));
    Ok(())
}

/// The table of a type, with ids of its own.
fn table(
    s: &CreateType,
    definition: &TableDefinition,
    text: ParsedText<'_>,
    place: &Place,
    cx: &mut DdlContext<'_>,
) -> SqlResult<Table> {
    let mut table = draft(&s.name.object, definition, text, cx)?;
    let id = place.ids.object();
    number(&mut table, 0, &format!("TT_{}", s.name.object));
    table.object_id = id;
    table.name = (*s.name.object).into();
    table.database = place.view.id();
    Ok(table)
}

/// The definition of a table variable of a type, the `at`th of its batch or module.
pub fn variable_of(user_type: &UserType, name: &str, at: u16) -> Option<Table> {
    let mut table = Table::clone(user_type.table()?);
    table.name = name.into();
    number(&mut table, at, "");
    Some(table)
}

/// DROP TYPE. Returns false when there is no such type.
pub(crate) fn drop(name: &ObjectName, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let place = cx.place(None)?;
    let find = |place: &Place| {
        let found = place.view.user_type(name.schema.as_deref(), &name.object);
        found.filter(|_| name.database.is_none()).cloned()
    };
    let Some(found) = find(&place) else { return Ok(false) };
    catalog::lock_object(cx.work, place.view.id(), found.object_id)?;
    let place = cx.place(None)?;
    let Some(found) = find(&place) else { return Ok(false) };
    if let Some(user) = user_of(&place, &found) {
        let args: [&dyn std::fmt::Display; 2] = [&name, &user];
        return Err(SqlError::new(messages::TYPE_IN_USE, &args).at_line(name.span.line));
    }
    Changes::new(&*place.system).remove_type(cx.work, &found)?;
    cx.deltas.push((place.view.id(), Delta::RemoveType(found.object_id)));
    Ok(true)
}

/// The name of an object or table type that uses a type.
fn user_of(place: &Place, user_type: &UserType) -> Option<String> {
    let id = user_type.user_type_id;
    let of_table = |t: &Table| t.columns.iter().any(|c| c.user_type_id == id);
    let uses = |o: &&Object| match o {
        Object::Table(t) => of_table(t),
        Object::Module(m) => m.parameters.iter().any(|p| p.user_type_id == id),
        Object::Sequence(s) => s.user_type_id == id,
        Object::Synonym(_) | Object::Virtual(_) => false,
    };
    let object = place.view.objects().find(uses).map(|o| o.name().to_owned());
    let other = || {
        let of = |t: &&Arc<UserType>| t.table().is_some_and(|table| of_table(table));
        place.view.types().find(of).map(|t| t.name.to_string())
    };
    object.or_else(other)
}
