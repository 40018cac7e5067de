//! CREATE, ALTER and CREATE OR ALTER TRIGGER on tables and views, and switching them on and off.
//!
//! Invariants
//!  1. A trigger belongs to the schema of its table and is dropped with its table.
//!  2. A table or view has at most one INSTEAD OF trigger for each of INSERT, UPDATE and DELETE
//!     (2111). A view has no other triggers.
//!  3. A table with an INSTEAD OF UPDATE or DELETE trigger has no foreign key whose action would
//!     update or delete its rows (2113, 1787).

use crate::context::{DdlContext, Place, unsupported};
use crate::locate::{is_temporary, locked_object, same_name};
use crate::module::{ModuleStatement, execute_as, locked_name, module_of, put};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{
    Events, ForeignKey, Module, ModuleKind, ModuleOptions, Object, ReferentialAction, SchemaId,
    Table, Trigger,
};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{self, ObjectName, ParsedText, SwitchTrigger, TriggerTarget};

/// The table or view of a trigger.
struct Parent {
    object: ObjectId,
    schema: SchemaId,
    /// `None` for a view.
    table: Option<Arc<Table>>,
    name: String,
}

pub(crate) fn define(
    s: &ast::Trigger,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let target = table_of(s)?;
    refuse(s)?;
    let events = events_of(s)?;
    // A trigger that is named without a schema is in the schema of its table.
    let mut name = s.name.clone();
    if name.schema.is_none() {
        name.schema.clone_from(&target.schema);
    }
    let parent = parent_of(s, target, cx)?;
    let written = ModuleStatement {
        kind: ModuleKind::Trigger,
        verb: s.verb,
        name: &name,
        text,
        options: ModuleOptions {
            execute_as: execute_as(&s.options).map_err(|e| e.in_procedure(&s.name.object))?,
            ..ModuleOptions::default()
        },
        parameters: Vec::new(),
        columns: Vec::new(),
    };
    let named = locked_name(&written, cx)?;
    if named.schema.id != parent.schema {
        let e = SqlError::new(messages::TRIGGER_SCHEMA, &[&s.name]);
        return Err(e.at_line(s.name.span.line).in_procedure(&s.name.object));
    }
    let before = named.before.as_ref().and_then(|m| m.trigger.as_ref());
    if before.is_some_and(|t| t.parent != parent.object) {
        let e = SqlError::new(messages::OBJECT_INVALID, &[target]);
        return Err(e.at_line(target.span.line).in_procedure(&s.name.object));
    }
    if s.instead_of {
        alone(s, &parent, events, &named)?;
    }
    let trigger = Trigger {
        parent: parent.object,
        events,
        instead_of: s.instead_of,
        disabled: before.is_some_and(|t| t.disabled),
        not_for_replication: s.not_for_replication,
        // ALTER forgets the order, as in SQL Server.
        first: Events::default(),
        last: Events::default(),
    };
    let module = module_of(&written, &named, Some(trigger), cx);
    put(&named, module, cx)
}

fn table_of(s: &ast::Trigger) -> SqlResult<&ObjectName> {
    match &s.target {
        TriggerTarget::Table(name) => Ok(name),
        TriggerTarget::Database => Err(unsupported("ON DATABASE", s.name.span.line)),
        TriggerTarget::Server => Err(unsupported("ON ALL SERVER", s.name.span.line)),
    }
}

fn refuse(s: &ast::Trigger) -> SqlResult<()> {
    for option in &s.options {
        if &*option.name == "EXECUTE AS" {
            continue;
        }
        return Err(unsupported(&format!("{} of a trigger", option.name), option.span.line));
    }
    Ok(())
}

fn events_of(s: &ast::Trigger) -> SqlResult<Events> {
    let mut events = Events::default();
    for word in &s.events {
        let event = match &**word {
            "INSERT" => Events::INSERT,
            "UPDATE" => Events::UPDATE,
            "DELETE" => Events::DELETE,
            "WITH APPEND" => return Err(unsupported("WITH APPEND", s.name.span.line)),
            other => return Err(unsupported(other, s.name.span.line)),
        };
        if events.has(event) {
            let e = SqlError::new(messages::TRIGGER_ACTION_TWICE, &[word]);
            return Err(e.at_line(s.name.span.line).in_procedure(&s.name.object));
        }
        events = events.with(event);
    }
    Ok(events)
}

/// The table or view, under Sch-M: so no plan runs that does not know the trigger.
fn parent_of(s: &ast::Trigger, target: &ObjectName, cx: &mut DdlContext<'_>) -> SqlResult<Parent> {
    let invalid = || {
        let e = SqlError::new(messages::OBJECT_INVALID, &[target]).with_state(4);
        Err(e.at_line(target.span.line))
    };
    if is_temporary(target) {
        return invalid();
    }
    match locked_object(cx, target)? {
        Some((_, Object::Table(t))) => {
            let (object, schema) = (t.object_id, t.schema_id);
            Ok(Parent { object, schema, table: Some(t), name: target.to_string() })
        }
        Some((_, Object::Module(m))) if m.kind == ModuleKind::View && s.instead_of => {
            if m.options.check_option {
                let args: [&dyn std::fmt::Display; 2] = [&s.name, target];
                let e = SqlError::new(messages::INSTEAD_ON_CHECK_OPTION, &args);
                return Err(e.at_line(target.span.line).in_procedure(&s.name.object));
            }
            let (object, schema) = (m.object_id, m.schema_id);
            Ok(Parent { object, schema, table: None, name: target.to_string() })
        }
        Some(_) | None => invalid(),
    }
}

/// Checks invariants 2 and 3 for an INSTEAD OF trigger.
fn alone(
    s: &ast::Trigger,
    parent: &Parent,
    events: Events,
    named: &crate::module::LockedName,
) -> SqlResult<()> {
    let line = s.name.span.line;
    let here = |e: SqlError| Err(e.at_line(line).in_procedure(&s.name.object));
    let own = named.before.as_ref().map(|m| m.object_id);
    let words =
        [(Events::INSERT, "INSERT"), (Events::UPDATE, "UPDATE"), (Events::DELETE, "DELETE")];
    for (event, word) in words.into_iter().filter(|(event, _)| events.has(*event)) {
        let same = |m: &Arc<Module>| {
            let t = m.trigger.as_ref();
            Some(m.object_id) != own && t.is_some_and(|t| t.instead_of && t.events.has(event))
        };
        if named.place.view.triggers_of(parent.object).any(|m| same(&m)) {
            let kind = if parent.table.is_some() { "table" } else { "view" };
            let args: [&dyn std::fmt::Display; 4] = [&s.name, &kind, &parent.name, &word];
            return here(SqlError::new(messages::INSTEAD_EXISTS, &args));
        }
    }
    let keys = parent.table.iter().flat_map(|t| &t.foreign_keys);
    let acts = |a| a != ReferentialAction::NoAction;
    let cascades = |k: &ForeignKey| {
        events.has(Events::DELETE) && acts(k.on_delete)
            || events.has(Events::UPDATE) && acts(k.on_update)
    };
    if keys.into_iter().any(cascades) {
        let args: [&dyn std::fmt::Display; 2] = [&s.name, &parent.name];
        return here(SqlError::new(messages::INSTEAD_WITH_CASCADE, &args));
    }
    Ok(())
}

/// Whether a table has an INSTEAD OF trigger for a change that a foreign key's action would make
/// (invariant 3).
pub(crate) fn stands_against(place: &Place, table: &Table, key: &ForeignKey) -> bool {
    let acts = |a| a != ReferentialAction::NoAction;
    let against = |t: &Trigger| {
        t.instead_of
            && (t.events.has(Events::DELETE) && acts(key.on_delete)
                || t.events.has(Events::UPDATE) && acts(key.on_update))
    };
    place.view.triggers_of(table.object_id).any(|m| m.trigger.as_ref().is_some_and(against))
}

/// `ENABLE|DISABLE TRIGGER names|ALL ON table`
pub(crate) fn switch(s: &SwitchTrigger, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let target = match &s.target {
        TriggerTarget::Table(name) => name,
        TriggerTarget::Database => return Err(unsupported("ON DATABASE", 0)),
        TriggerTarget::Server => return Err(unsupported("ON ALL SERVER", 0)),
    };
    let names: Vec<&str> = s.names.iter().map(|n| &*n.object.text).collect();
    switch_on(target, &names, s.enable, messages::OBJECT_NOT_FOUND, cx)
}

/// Enables or disables triggers of a table. No names means all triggers; a name without a trigger
/// is the error `unknown`.
pub(crate) fn switch_on(
    target: &ObjectName,
    names: &[&str],
    enable: bool,
    unknown: base::Message,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let not_found = |name: &dyn std::fmt::Display| {
        let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[name]);
        e.at_line(target.span.line)
    };
    let Some((place, object)) = locked_object(cx, target)? else { return Err(not_found(target)) };
    let triggers: Vec<Arc<Module>> = place.view.triggers_of(object.object_id()).collect();
    let mut chosen = Vec::new();
    for name in names {
        let found = triggers.iter().find(|m| same_name(&place, &m.name, name));
        let missing = || {
            let e = SqlError::new(unknown, &[name, &target.object]);
            e.at_line(target.span.line)
        };
        chosen.push(Arc::clone(found.ok_or_else(missing)?));
    }
    if names.is_empty() {
        chosen = triggers;
    }
    for before in chosen {
        let Some(trigger) = &before.trigger else { continue };
        let trigger = Some(Trigger { disabled: !enable, ..trigger.clone() });
        let after = Module { trigger, ..Module::clone(&before) };
        replace(&place, &before, after, cx)?;
    }
    Ok(())
}

/// The place of a trigger in the firing order of its table's triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerOrder {
    /// Before the others.
    First,
    /// After the others.
    Last,
    /// Anywhere between them.
    Neither,
}

/// sp_settriggerorder: sets a trigger's place in the firing order for one kind of statement.
///
/// # Errors
/// 15126 when there is no such trigger, 15125 when it is not for this kind of statement, 15133 for
/// an INSTEAD OF trigger, 15130 when another trigger has that place.
pub fn order_trigger(
    name: &ObjectName,
    order: TriggerOrder,
    event: Events,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let missing = || SqlError::new(messages::TRIGGER_NOT_FOUND, &[name]);
    let found = locked_object(cx, name)?;
    let Some((place, Object::Module(before))) = found else { return Err(missing()) };
    let Some(trigger) = &before.trigger else { return Err(missing()) };
    let word = match event {
        Events::INSERT => "INSERT",
        Events::UPDATE => "UPDATE",
        _ => "DELETE",
    };
    if trigger.instead_of {
        return Err(SqlError::new(messages::TRIGGER_ORDER_INSTEAD, &[name]));
    }
    if !trigger.events.has(event) {
        return Err(SqlError::new(messages::TRIGGER_NOT_FOR, &[name, &word]));
    }
    let taken = |m: &Arc<Module>| {
        let other = m.trigger.as_ref().filter(|_| m.object_id != before.object_id);
        other.is_some_and(|t| match order {
            TriggerOrder::First => t.first.has(event),
            TriggerOrder::Last => t.last.has(event),
            TriggerOrder::Neither => false,
        })
    };
    if place.view.triggers_of(trigger.parent).any(|m| taken(&m)) {
        let which = if order == TriggerOrder::First { "first" } else { "last" };
        return Err(SqlError::new(messages::TRIGGER_ORDER_TAKEN, &[&which, &word]));
    }
    let mut after = trigger.clone();
    (after.first, after.last) = (after.first.without(event), after.last.without(event));
    match order {
        TriggerOrder::First => after.first = after.first.with(event),
        TriggerOrder::Last => after.last = after.last.with(event),
        TriggerOrder::Neither => {}
    }
    let after = Module { trigger: Some(after), ..Module::clone(&before) };
    replace(&place, &before, after, cx)
}

fn replace(
    place: &Place,
    before: &Module,
    after: Module,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let database = place.view.id();
    catalog::lock_object(cx.work, database, before.object_id)?;
    Changes::new(&*place.system).put_module(cx.work, Some(before), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Module(Arc::new(after)))));
    Ok(())
}

/// Drops the triggers of a table or view that is being dropped.
pub(crate) fn drop_all(parent: ObjectId, place: &Place, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let triggers: Vec<Arc<Module>> = place.view.triggers_of(parent).collect();
    for module in triggers {
        catalog::lock_object(cx.work, place.view.id(), module.object_id)?;
        Changes::new(&*place.system).remove_module(cx.work, &module)?;
        cx.deltas.push((place.view.id(), Delta::RemoveObject(module.object_id)));
    }
    Ok(())
}
