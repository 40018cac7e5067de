//! CREATE, ALTER and CREATE OR ALTER TRIGGER on tables and views, and switching them on and off.
//!
//! Invariants
//!  1. A trigger is an object of its table's schema and goes with its table.
//!  2. INSTEAD OF triggers are refused, so a view has none.

use crate::context::{DdlContext, Place, unsupported};
use crate::locate::{is_temporary, locked_object, same_name};
use crate::module::{Written, locked_name, module_of, put};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Events, Module, ModuleKind, ModuleOptions, Object, SchemaId, Trigger};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{self, ObjectName, SettingValue, SwitchTrigger, TriggerTarget};

/// What a trigger is on.
struct Parent {
    object: ObjectId,
    schema: SchemaId,
}

pub(crate) fn define(s: &ast::Trigger, text: &str, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let target = table_of(s)?;
    refuse(s)?;
    let events = events_of(s)?;
    // A trigger without a schema is in its table's.
    let mut name = s.name.clone();
    if name.schema.is_none() {
        name.schema.clone_from(&target.schema);
    }
    let parent = parent_of(target, cx)?;
    let written = Written {
        kind: ModuleKind::Trigger,
        verb: s.verb,
        name: &name,
        text,
        options: ModuleOptions::default(),
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
    if s.instead_of {
        return Err(unsupported("INSTEAD OF", s.name.span.line));
    }
    for option in &s.options {
        let caller = matches!(&option.value, SettingValue::Word(w) if &**w == "CALLER");
        if &*option.name == "EXECUTE AS" && caller {
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
            let e = SqlError::new(messages::SYNTAX_NEAR, &[word]);
            return Err(e.at_line(s.name.span.line).in_procedure(&s.name.object));
        }
        events = events.with(event);
    }
    Ok(events)
}

/// The table or view, under Sch-M: no plan that does not know the trigger runs beside it.
fn parent_of(target: &ObjectName, cx: &mut DdlContext<'_>) -> SqlResult<Parent> {
    let invalid = || {
        let e = SqlError::new(messages::OBJECT_INVALID, &[target]).with_state(4);
        Err(e.at_line(target.span.line))
    };
    if is_temporary(target) {
        return invalid();
    }
    match locked_object(cx, target)? {
        Some((_, Object::Table(t))) => Ok(Parent { object: t.object_id, schema: t.schema_id }),
        Some(_) | None => invalid(),
    }
}

/// `ENABLE|DISABLE TRIGGER names|ALL ON table`
pub(crate) fn switch(s: &SwitchTrigger, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let target = match &s.target {
        TriggerTarget::Table(name) => name,
        TriggerTarget::Database => return Err(unsupported("ON DATABASE", 0)),
        TriggerTarget::Server => return Err(unsupported("ON ALL SERVER", 0)),
    };
    let names: Vec<&str> = s.names.iter().map(|n| &*n.object.text).collect();
    switch_on(target, &names, s.enable, cx)
}

/// Switches triggers of a table; none named means all.
pub(crate) fn switch_on(
    target: &ObjectName,
    names: &[&str],
    enable: bool,
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
        chosen.push(Arc::clone(found.ok_or_else(|| not_found(name))?));
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

/// Drops the triggers of a table or view that goes.
pub(crate) fn drop_all(parent: ObjectId, place: &Place, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let triggers: Vec<Arc<Module>> = place.view.triggers_of(parent).collect();
    for module in triggers {
        catalog::lock_object(cx.work, place.view.id(), module.object_id)?;
        Changes::new(&*place.system).remove_module(cx.work, &module)?;
        cx.deltas.push((place.view.id(), Delta::RemoveObject(module.object_id)));
    }
    Ok(())
}
