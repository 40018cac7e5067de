//! sp_addextendedproperty, sp_updateextendedproperty, sp_dropextendedproperty.
//!
//! These have properties: the database, its schemas, their objects and types, and the columns,
//! indexes, constraints, parameters and triggers of these. Users, filegroups and other things that
//! this server does not have are refused by name.

use crate::context::{Change, DdlContext, Place, unsupported};
use crate::locate::{locked_object, same_name};
use base::{SqlError, SqlResult, messages};
use catalog::view::{
    ExtendedProperty, Module, Object, PropertyClass, PropertyOwner, SchemaId, Sequence, Synonym,
    Table, UserType,
};
use catalog::{Changes, Delta};
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast::{Name, ObjectName};

/// The longest stored value: 7,500 bytes and the header of an sql_variant.
const VALUE_BYTES_MAX: usize = 7500 + 8;

/// The procedure that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyVerb {
    /// sp_addextendedproperty
    Add,
    /// sp_updateextendedproperty
    Update,
    /// sp_dropextendedproperty
    Drop,
}

/// A call of one of the procedures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyChange {
    /// The procedure.
    pub verb: PropertyVerb,
    /// The property.
    pub name: String,
    /// Its new value, in the stored form of an sql_variant.
    pub value: Option<Box<[u8]>>,
    /// Type and name of each level. Both are `None` for a level that the call does not give.
    pub levels: [(Option<String>, Option<String>); 3],
}

/// Runs a call of one of the procedures.
///
/// # Errors
/// 15097, 15135, 15217, 15233, 15600; locks, space, log.
pub fn change_property(change: &PropertyChange, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let known = cx.deltas.len();
    let done = perform(change, cx);
    if done.is_err() {
        cx.deltas.truncate(known);
    }
    done
}

/// A level that the call gives, such as SCHEMA, TABLE or COLUMN with a name.
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
    if change.value.as_ref().is_some_and(|v| v.len() > VALUE_BYTES_MAX) {
        return Err(SqlError::new(messages::PROPERTY_SIZE, &[]));
    }
    if change.name.is_empty() {
        return Err(SqlError::new(messages::SYSTEM_PROCEDURE_ARGUMENT, &[&procedure(change.verb)]));
    }
    let levels = levels(change)?;
    let path = match levels.is_empty() {
        true => "object specified".to_owned(),
        false => levels.iter().map(|l| l.name).collect::<Vec<_>>().join("."),
    };
    let change = NamedChange { change, path: &path };
    match &levels[..] {
        [] => of_database(change, cx),
        [only] if only.kind == "SCHEMA" => of_schema(change, only.name, cx),
        [only] if only.kind == "TYPE" => of_type(change, "dbo", only, None, cx),
        [schema, object, part @ ..] if matches!(&*schema.kind, "SCHEMA" | "USER") => {
            match &*object.kind {
                "TYPE" | "TABLE_TYPE" => of_type(change, schema.name, object, part.first(), cx),
                _ => of_object(change, schema, object, part.first(), cx),
            }
        }
        [other, ..] => Err(unsupported(&format!("extended properties of a {}", other.kind), 0)),
    }
}

/// A change, and the name of the property's owner in messages.
#[derive(Clone, Copy)]
struct NamedChange<'a> {
    change: &'a PropertyChange,
    path: &'a str,
}

impl NamedChange<'_> {
    /// Error 15135: the owner does not exist.
    fn missing(&self) -> SqlError {
        SqlError::new(messages::PROPERTY_OWNER_INVALID, &[&self.path])
    }
}

fn of_database(change: NamedChange<'_>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let database = cx.place(None)?.view.id();
    catalog::lock_schema_name(cx.work, database, "")?;
    let place = cx.place(None)?;
    let before = place.view.properties();
    let mut after = before.to_vec();
    changed(&mut after, PropertyOwner::DATABASE, change)?;
    Changes::new(&*place.system).put_properties(cx.work, before, &after)?;
    cx.deltas.push((database, Delta::PutProperties(after.into())));
    Ok(())
}

fn of_schema(change: NamedChange<'_>, name: &str, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let find = |place: &Place| {
        let found = place.view.schema(name).filter(|s| s.id != SchemaId::SYS).cloned();
        found.ok_or_else(|| change.missing())
    };
    let place = cx.place(None)?;
    catalog::lock_schema(cx.work, place.view.id(), find(&place)?.id, true)?;
    let place = cx.place(None)?;
    let before = find(&place)?;
    let mut after = before.clone();
    changed(&mut after.properties, PropertyOwner::of_schema(after.id), change)?;
    let changes = Changes::new(&*place.system);
    changes.put_properties(cx.work, &before.properties, &after.properties)?;
    cx.deltas.push((place.view.id(), Delta::PutSchema(after)));
    Ok(())
}

fn of_type(
    change: NamedChange<'_>,
    schema: &str,
    level: &Level<'_>,
    part: Option<&Level<'_>>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let find = |place: &Place| {
        let found = place.view.user_type(Some(schema), level.name).cloned();
        let found = found.filter(|t| level.kind == "TYPE" || t.table().is_some());
        found.ok_or_else(|| change.missing())
    };
    let place = cx.place(None)?;
    catalog::lock_object(cx.work, place.view.id(), find(&place)?.object_id)?;
    let place = cx.place(None)?;
    let before = find(&place)?;
    let major = before.object_id;
    let owner = match part {
        None => PropertyOwner { class: PropertyClass::Type, major, minor: 0 },
        Some(part) => {
            let table = before.table().filter(|_| part.kind == "COLUMN");
            let mut columns = table.iter().flat_map(|t| &t.columns);
            let column = columns.find(|c| same_name(&place, &c.name, part.name));
            let minor = column.ok_or_else(|| change.missing())?.column_id;
            PropertyOwner { class: PropertyClass::TypeColumn, major, minor }
        }
    };
    let mut after = UserType::clone(&before);
    changed(&mut after.properties, owner, change)?;
    Changes::new(&*place.system).put_type(cx.work, Some(&before), &after)?;
    cx.deltas.push((place.view.id(), Delta::PutType(Arc::new(after))));
    Ok(())
}

fn of_object(
    change: NamedChange<'_>,
    schema: &Level<'_>,
    object: &Level<'_>,
    part: Option<&Level<'_>>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let missing = || change.missing();
    let name = ObjectName {
        server: None,
        database: None,
        schema: Some(word(schema.name)),
        object: word(object.name),
        span: tsql::ast::Span::default(),
    };
    let Some((place, found)) = locked_object(cx, &name)? else { return Err(missing()) };
    let kind = &*object.kind;
    if let Some(part) = part.filter(|p| p.kind == "TRIGGER" && found.level() == Some(kind)) {
        let mut triggers = place.view.triggers_of(found.object_id());
        let trigger = triggers.find(|m| same_name(&place, &m.name, part.name));
        let trigger = trigger.ok_or_else(missing)?;
        return of_module(change, &place, &trigger, None, cx);
    }
    match &found {
        Object::Table(table) if found.level() == Some(kind) => {
            let owner = part_of_table(&place, table, part).ok_or_else(missing)?;
            let mut after = Table::clone(table);
            changed(&mut after.properties, owner, change)?;
            cx.record(&place, Change::Put { before: Some(table), after: &after })
        }
        Object::Module(m) if found.level() == Some(kind) => of_module(change, &place, m, part, cx),
        Object::Sequence(s) if found.level() == Some(kind) && part.is_none() => {
            of_sequence(change, &place, s, cx)
        }
        Object::Synonym(s) if found.level() == Some(kind) && part.is_none() => {
            of_synonym(change, &place, s, cx)
        }
        _ => Err(missing()),
    }
}

fn of_synonym(
    change: NamedChange<'_>,
    place: &Place,
    before: &Arc<Synonym>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let owner =
        PropertyOwner { class: PropertyClass::ObjectOrColumn, major: before.object_id, minor: 0 };
    let mut after = Synonym::clone(before);
    changed(&mut after.properties, owner, change)?;
    Changes::new(&*place.system).put_synonym(cx.work, Some(before), &after)?;
    cx.deltas.push((place.view.id(), Delta::PutObject(Object::Synonym(Arc::new(after)))));
    Ok(())
}

fn of_sequence(
    change: NamedChange<'_>,
    place: &Place,
    before: &Arc<Sequence>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let owner =
        PropertyOwner { class: PropertyClass::ObjectOrColumn, major: before.object_id, minor: 0 };
    let mut after = Sequence::clone(before);
    changed(&mut after.properties, owner, change)?;
    Changes::new(&*place.system).put_sequence(cx.work, Some(before), &after)?;
    cx.deltas.push((place.view.id(), Delta::PutObject(Object::Sequence(Arc::new(after)))));
    Ok(())
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
    change: NamedChange<'_>,
    place: &Place,
    before: &Arc<Module>,
    part: Option<&Level<'_>>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let owner = part_of_module(place, before, part).ok_or_else(|| change.missing())?;
    let database = place.view.id();
    catalog::lock_object(cx.work, database, before.object_id)?;
    let mut after = Module::clone(before);
    changed(&mut after.properties, owner, change)?;
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

/// Applies a change to a list of properties.
fn changed(
    properties: &mut Vec<ExtendedProperty>,
    owner: PropertyOwner,
    NamedChange { change, path }: NamedChange<'_>,
) -> SqlResult<()> {
    let value = change.value.clone();
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
