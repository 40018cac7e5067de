//! sp_addextendedproperty, sp_updateextendedproperty, sp_dropextendedproperty.
//!
//! Objects of a schema, their columns, indexes, constraints, parameters and triggers can have
//! properties; the database, schemas and sequences are refused by name.

use crate::context::{Change, DdlContext, Place, unsupported};
use crate::locate::{locked_object, same_name};
use base::{SqlError, SqlResult, messages};
use catalog::view::{ExtendedProperty, Module, Object, PropertyClass, PropertyOwner, Table};
use catalog::{Changes, Delta};
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast::{Name, ObjectName};

/// Which of the procedures is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyVerb {
    /// sp_addextendedproperty
    Add,
    /// sp_updateextendedproperty
    Update,
    /// sp_dropextendedproperty
    Drop,
}

/// A call of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyChange {
    /// Which.
    pub verb: PropertyVerb,
    /// The property.
    pub name: String,
    /// Its new value.
    pub value: Option<String>,
    /// Type and name of each level; both absent where a level is not given.
    pub levels: [(Option<String>, Option<String>); 3],
}

/// Does what a call asks for.
///
/// # Errors
/// 15135, 15217, 15233, 15600; locks, space, log.
pub fn change_property(change: &PropertyChange, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let known = cx.deltas.len();
    let done = perform(change, cx);
    if done.is_err() {
        cx.deltas.truncate(known);
    }
    done
}

/// A level that was given.
struct Level<'a> {
    kind: String,
    name: &'a str,
}

fn levels(change: &PropertyChange) -> SqlResult<Vec<Level<'_>>> {
    let invalid = || SqlError::new(messages::SYSTEM_PROCEDURE_ARGUMENT, &[&procedure(change.verb)]);
    let mut found = Vec::new();
    let mut ended = false;
    for (kind, name) in &change.levels {
        match (kind, name, ended) {
            (Some(kind), Some(name), false) => {
                found.push(Level { kind: kind.trim().to_ascii_uppercase(), name });
            }
            (None, None, _) => ended = true,
            _ => return Err(invalid()),
        }
    }
    Ok(found)
}

fn procedure(verb: PropertyVerb) -> &'static str {
    match verb {
        PropertyVerb::Add => "sp_addextendedproperty",
        PropertyVerb::Update => "sp_updateextendedproperty",
        PropertyVerb::Drop => "sp_dropextendedproperty",
    }
}

fn perform(change: &PropertyChange, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if change.name.is_empty() {
        return Err(SqlError::new(messages::SYSTEM_PROCEDURE_ARGUMENT, &[&procedure(change.verb)]));
    }
    let levels = levels(change)?;
    let (schema, object, part) = match &levels[..] {
        [] => return Err(unsupported("extended properties of databases", 0)),
        [only] if matches!(&*only.kind, "SCHEMA" | "USER") => {
            return Err(unsupported("extended properties of schemas", 0));
        }
        [schema, object, part @ ..] if matches!(&*schema.kind, "SCHEMA" | "USER") => {
            (schema, object, part.first())
        }
        [other, ..] => {
            return Err(unsupported(&format!("extended properties of a {}", other.kind), 0));
        }
    };
    let path = levels.iter().map(|l| l.name).collect::<Vec<_>>().join(".");
    let missing = || SqlError::new(messages::PROPERTY_OWNER_INVALID, &[&path]);
    let name = ObjectName {
        server: None,
        database: None,
        schema: Some(word(schema.name)),
        object: word(object.name),
        span: tsql::ast::Span::default(),
    };
    let Some((place, found)) = locked_object(cx, &name)? else { return Err(missing()) };
    match (&found, &*object.kind) {
        (Object::Table(table), "TABLE") => {
            if let Some(Level { name, .. }) = part.filter(|p| p.kind == "TRIGGER") {
                let triggers = place.view.triggers_of(table.object_id);
                let mut named = triggers.filter(|m| same_name(&place, &m.name, name));
                let trigger = named.next().ok_or_else(missing)?;
                return of_module(change, &path, &place, &trigger, None, cx);
            }
            let owner = part_of_table(&place, table, part).ok_or_else(missing)?;
            let mut after = Table::clone(table);
            changed(&mut after.properties, owner, change, &path)?;
            cx.record(&place, Change::Put { before: Some(table), after: &after })
        }
        (Object::Module(m), "VIEW" | "PROCEDURE" | "FUNCTION")
            if m.kind.word().eq_ignore_ascii_case(&object.kind) =>
        {
            of_module(change, &path, &place, m, part, cx)
        }
        (Object::Sequence(_), "SEQUENCE") => {
            Err(unsupported("extended properties of sequences", 0))
        }
        _ => Err(missing()),
    }
}

fn word(text: &str) -> Name {
    Name { text: text.into(), line: 0 }
}

fn part_of_table(place: &Place, table: &Table, part: Option<&Level<'_>>) -> Option<PropertyOwner> {
    let own = |class, minor| PropertyOwner { class, major: table.object_id, minor };
    let Some(part) = part else { return Some(own(PropertyClass::ObjectOrColumn, 0)) };
    let is = |name: &str| same_name(place, name, part.name);
    match &*part.kind {
        "COLUMN" => {
            let column = table.columns.iter().find(|c| is(&c.name))?;
            Some(own(PropertyClass::ObjectOrColumn, column.column_id))
        }
        "INDEX" => {
            let index = table.indexes.iter().find(|i| !i.name.is_empty() && is(&i.name))?;
            Some(own(PropertyClass::Index, index.index_id.0))
        }
        "CONSTRAINT" => {
            let major = table.constraints().find(|c| is(c.name))?.object_id;
            Some(PropertyOwner { class: PropertyClass::ObjectOrColumn, major, minor: 0 })
        }
        _ => None,
    }
}

fn of_module(
    change: &PropertyChange,
    path: &str,
    place: &Place,
    before: &Arc<Module>,
    part: Option<&Level<'_>>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let missing = || SqlError::new(messages::PROPERTY_OWNER_INVALID, &[&path]);
    let owner = part_of_module(place, before, part).ok_or_else(missing)?;
    let database = place.view.id();
    catalog::lock_object(cx.work, database, before.object_id)?;
    let mut after = Module::clone(before);
    changed(&mut after.properties, owner, change, path)?;
    Changes::new(&*place.system).put_module(cx.work, Some(before), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Module(Arc::new(after)))));
    Ok(())
}

fn part_of_module(
    place: &Place,
    module: &Module,
    part: Option<&Level<'_>>,
) -> Option<PropertyOwner> {
    let own = |class, minor| PropertyOwner { class, major: module.object_id, minor };
    let Some(part) = part else { return Some(own(PropertyClass::ObjectOrColumn, 0)) };
    let is = |name: &str| same_name(place, name, part.name);
    match &*part.kind {
        "COLUMN" => {
            let column = module.columns.iter().find(|c| is(&c.name))?;
            Some(own(PropertyClass::ObjectOrColumn, column.column_id))
        }
        "PARAMETER" => {
            let parameter = module.arguments().find(|p| is(&p.name))?;
            Some(own(PropertyClass::Parameter, parameter.id))
        }
        _ => None,
    }
}

/// The properties after a change.
fn changed(
    properties: &mut Vec<ExtendedProperty>,
    owner: PropertyOwner,
    change: &PropertyChange,
    path: &str,
) -> SqlResult<()> {
    let value = change.value.as_deref().map(Into::into);
    let at = properties
        .iter()
        .position(|p| p.owner == owner && p.name.eq_ignore_ascii_case(&change.name));
    let args: [&dyn Display; 2] = [&change.name, &path];
    match (change.verb, at) {
        (PropertyVerb::Add, None) => {
            properties.push(ExtendedProperty { owner, name: (*change.name).into(), value });
        }
        (PropertyVerb::Add, Some(_)) => {
            return Err(SqlError::new(messages::PROPERTY_EXISTS, &args));
        }
        (PropertyVerb::Update, Some(at)) => properties[at].value = value,
        (PropertyVerb::Drop, Some(at)) => drop(properties.remove(at)),
        (PropertyVerb::Update | PropertyVerb::Drop, None) => {
            return Err(SqlError::new(messages::PROPERTY_NOT_FOUND, &args));
        }
    }
    Ok(())
}
