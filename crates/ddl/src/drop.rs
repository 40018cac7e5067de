//! DROP TABLE, INDEX, PROCEDURE, SCHEMA, DATABASE and the other DROP statements. Kinds of objects
//! that this server does not have are refused by name.

use crate::build::rebuild::{Content, drop_hobts, rebuild};
use crate::constraint::drop_constraint::without_index;
use crate::constraint::foreign_key;
use crate::context::{Change, DdlContext, Place, unsupported};
use crate::data_type::user_type;
use crate::index::options::drop_options;
use crate::locate::{LockedTable, locked_object, locked_table, same_name};
use crate::module::still_used::{not_bound, not_used};
use crate::online;
use crate::sequence;
use crate::statistics;
use crate::synonym;
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, Object, SchemaId, Table};
use catalog::{Changes, Delta};
use tsql::ast::{Drop, DropItem, DropKind, ObjectName};

/// DROP DATABASE
pub(crate) fn databases(s: &Drop, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if cx.work.is_user_transaction() {
        return Err(SqlError::new(messages::NOT_IN_TRANSACTION_PROC, &[&"DROP DATABASE"]));
    }
    for item in &s.items {
        match cx.databases.drop(&item.name.object) {
            Err(e) if s.if_exists && e.number() == messages::DROP_NOT_FOUND.number => {}
            result => result?,
        }
    }
    Ok(())
}

/// DROP of anything else.
pub(crate) fn drop(s: &Drop, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if let Some(what) = unsupported_kind(s.kind) {
        return Err(unsupported(&format!("DROP {what}"), s.span.line));
    }
    let mut missing = Vec::new();
    let mut dropped = false;
    for item in &s.items {
        let there = match s.kind {
            DropKind::Index => drop_index(item, cx),
            DropKind::Statistics => statistics::drop_one(item, cx),
            DropKind::Schema => drop_schema(item, cx),
            DropKind::Type => user_type::drop(&item.name, cx),
            kind => drop_object(kind, &item.name, cx),
        };
        match there {
            Ok(true) => dropped = true,
            Ok(false) if s.if_exists => {}
            Ok(false) => missing.push(not_found(s.kind, item)),
            Err(e) if e.number() == messages::DATABASE_NOT_FOUND.number => {
                if !s.if_exists {
                    missing.push(not_found(s.kind, item));
                }
            }
            Err(e) => return Err(e),
        }
    }
    // Objects that exist are dropped, even if others do not exist.
    match missing.pop() {
        None => Ok(()),
        Some(last) => {
            cx.messages.extend(missing);
            if dropped {
                cx.messages.push(last);
                return Ok(());
            }
            Err(last)
        }
    }
}

fn unsupported_kind(kind: DropKind) -> Option<&'static str> {
    Some(match kind {
        DropKind::PartitionFunction => "PARTITION FUNCTION",
        DropKind::PartitionScheme => "PARTITION SCHEME",
        DropKind::User => "USER",
        DropKind::Login => "LOGIN",
        DropKind::Role => "ROLE",
        DropKind::Table
        | DropKind::View
        | DropKind::Procedure
        | DropKind::Function
        | DropKind::Trigger
        | DropKind::Index
        | DropKind::Statistics
        | DropKind::Database
        | DropKind::Schema
        | DropKind::Sequence
        | DropKind::Synonym
        | DropKind::Type
        | DropKind::Default
        | DropKind::Rule => return None,
    })
}

const fn word(kind: DropKind) -> &'static str {
    match kind {
        DropKind::Table => "table",
        DropKind::View => "view",
        DropKind::Procedure => "procedure",
        DropKind::Function => "function",
        DropKind::Trigger => "trigger",
        DropKind::Index => "index",
        DropKind::Statistics => "statistics",
        DropKind::Database => "database",
        DropKind::Schema => "schema",
        DropKind::Sequence => "sequence object",
        DropKind::Synonym => "synonym",
        DropKind::Type => "type",
        DropKind::PartitionFunction => "partition function",
        DropKind::PartitionScheme => "partition scheme",
        DropKind::Default => "default",
        DropKind::Rule => "rule",
        DropKind::User => "user",
        DropKind::Login => "login",
        DropKind::Role => "role",
    }
}

fn not_found(kind: DropKind, item: &DropItem) -> SqlError {
    let line = item.name.span.line;
    if kind == DropKind::Schema {
        let args: [&dyn std::fmt::Display; 3] = [&"drop", &"schema", &item.name];
        return SqlError::new(messages::CANNOT_FIND_PRINCIPAL, &args).at_line(line);
    }
    if kind == DropKind::Type {
        return SqlError::new(messages::TYPE_NOT_FOUND, &[&item.name]).at_line(line);
    }
    let name = match &item.table {
        Some(table) => format!("{table}.{}", item.name),
        None => item.name.to_string(),
    };
    let state = match kind {
        DropKind::Index => 7,
        DropKind::Database => 1,
        _ => 5,
    };
    let args: [&dyn std::fmt::Display; 3] = [&"drop", &word(kind), &name];
    SqlError::new(messages::DROP_NOT_FOUND, &args).with_state(state).at_line(line)
}

/// Drops a table, module, sequence or synonym; false when there is none of that name.
fn drop_object(kind: DropKind, name: &ObjectName, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let Some((place, object)) = locked_object(cx, name)? else { return Ok(false) };
    match (&object, kind) {
        (Object::Table(table), DropKind::Table) => drop_table(cx, &place, table, name)?,
        (Object::Module(m), _) if module_kinds(kind).contains(&m.kind) => {
            let verb = format!("DROP {}", word(kind).to_uppercase());
            not_used(cx, &place, m, &verb).map_err(|e| e.at_line(name.span.line))?;
            drop_module(cx, &place, m)?;
        }
        (Object::Sequence(s), DropKind::Sequence) => sequence::drop(cx, &place, s, name)?,
        (Object::Synonym(s), DropKind::Synonym) => synonym::drop(cx, &place, s)?,
        (Object::Virtual(_), _) => return Ok(false),
        (found, _) => {
            let is = kind_of(found);
            let args: [&dyn std::fmt::Display; 4] = [
                &format!("DROP {}", word(kind).trim_end_matches(" object").to_uppercase()),
                name,
                &is,
                &format!("DROP {}", is.to_uppercase()),
            ];
            let e = SqlError::new(messages::DROP_WRONG_KIND, &args);
            return Err(e.at_line(name.span.line));
        }
    }
    Ok(true)
}

fn module_kinds(kind: DropKind) -> &'static [ModuleKind] {
    match kind {
        DropKind::Procedure => &[ModuleKind::Procedure],
        DropKind::View => &[ModuleKind::View],
        DropKind::Function => {
            &[ModuleKind::ScalarFunction, ModuleKind::InlineFunction, ModuleKind::TableFunction]
        }
        DropKind::Trigger => &[ModuleKind::Trigger],
        _ => &[],
    }
}

/// The word for an object in messages.
fn kind_of(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "table",
        Object::Virtual(_) => "view",
        Object::Module(m) => m.kind.word(),
        Object::Sequence(_) => "sequence",
        Object::Synonym(_) => "synonym",
    }
}

/// Drops a table with its triggers and indexes.
fn drop_table(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    name: &ObjectName,
) -> SqlResult<()> {
    not_bound(place, table.object_id, &"DROP TABLE", &table.two_part_name())
        .map_err(|e| e.at_line(name.span.line))?;
    if foreign_key::referrer(&place.view, table).is_some() {
        let e = SqlError::new(messages::DROP_REFERENCED, &[name]);
        return Err(e.at_line(name.span.line));
    }
    crate::module::trigger::drop_all(table.object_id, place, cx)?;
    for index in &table.indexes {
        drop_hobts(cx, place, index)?;
    }
    if !table.is_temp {
        catalog::lock_name(cx.work, place.view.id(), table.schema_id, &table.name)?;
    }
    cx.record(place, Change::Removed(table))
}

fn drop_module(cx: &mut DdlContext<'_>, place: &Place, module: &Module) -> SqlResult<()> {
    let database = place.view.id();
    if module.kind == ModuleKind::View {
        crate::module::trigger::drop_all(module.object_id, place, cx)?;
    }
    catalog::lock_name(cx.work, database, module.schema_id, &module.name)?;
    Changes::new(&*place.system).remove_module(cx.work, module)?;
    cx.deltas.push((database, Delta::RemoveObject(module.object_id)));
    Ok(())
}

fn drop_index(item: &DropItem, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let kept = drop_options(&item.options)?;
    cx.threads.limit(kept.max_workers);
    let Some(of_table) = &item.table else { return Ok(false) };
    let online = online::wanted(&kept, of_table);
    let located = match online {
        true => online::locate(cx, of_table)?,
        false => locked_table(cx, of_table)?,
    };
    let Some(LockedTable { place, table }) = located else { return Ok(false) };
    let name = &item.name.object;
    let found =
        table.indexes.iter().position(|i| !i.name.is_empty() && same_name(&place, &i.name, name));
    let Some(at) = found else { return Ok(false) };
    let index = &table.indexes[at];
    if index.primary_key || index.unique_constraint {
        let kind = if index.primary_key { "PRIMARY KEY" } else { "UNIQUE KEY" };
        let named = format!("{}.{}", table.two_part_name(), index.name);
        let e = SqlError::new(messages::DROP_INDEX_CONSTRAINT, &[&named, &kind]).with_state(4);
        return Err(e.at_line(item.name.span.line));
    }
    if foreign_key::user_of_key(&place.view, &table, index).is_some() {
        let named = format!("{}.{}", table.two_part_name(), index.name);
        let e = SqlError::new(messages::DROP_INDEX_CONSTRAINT, &[&named, &"FOREIGN KEY"]);
        return Err(e.with_state(6).at_line(item.name.span.line));
    }
    let mut after = without_index(&place, &table, at);
    computed::unstore(&mut after);
    if !online {
        rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))?;
        return Ok(true);
    }
    let line = item.name.span.line;
    if !index.kind.is_clustered() {
        return Err(SqlError::new(messages::ONLINE_DROP_NONCLUSTERED, &[]).at_line(line));
    }
    let located = LockedTable { place, table };
    online::build_online(cx, of_table, &located, after).map_err(|e| e.at_line(line))?;
    Ok(true)
}

fn drop_schema(item: &DropItem, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let name = &item.name.object;
    let database = item.name.schema.as_deref();
    let first = cx.place(database)?;
    catalog::lock_schema_name(cx.work, first.view.id(), name)?;
    let Some(schema) = first.view.schema(name).cloned() else { return Ok(false) };
    if schema.id <= SchemaId::SYS {
        return Ok(false);
    }
    catalog::lock_schema(cx.work, first.view.id(), schema.id, true)?;
    let place = cx.place(database)?;
    if place.view.schema_by_id(schema.id).is_none() {
        return Ok(false);
    }
    let object = place.view.objects().find(|o| o.schema_id() == schema.id).map(Object::name);
    let mut types = place.view.types().filter(|t| t.schema_id == schema.id);
    if let Some(named) = object.or_else(|| types.next().map(|t| &*t.name)) {
        let args: [&dyn std::fmt::Display; 3] = [&"drop schema", &schema.name, &named];
        let e = SqlError::new(messages::DROP_SCHEMA_REFERENCED, &args);
        return Err(e.at_line(item.name.span.line));
    }
    Changes::new(&*place.system).remove_schema(cx.work, &schema)?;
    cx.deltas.push((place.view.id(), Delta::RemoveSchema(schema.id)));
    Ok(true)
}
