//! WITH SCHEMABINDING: the objects that a module names cannot change as long as the module exists.
//!
//! A schema-bound module names every object in two parts (4512), has no `*` (1054), and names only
//! modules that are schema-bound, too (4513). The module's definition lists the objects and columns
//! to which it is bound (`catalog::view::BoundObject`). A view or inline function is bound to the
//! columns that its query reads. Another function is bound to each column of its tables whose name
//! appears in the text.

use crate::context::DdlContext;
use crate::module::LockedName;
use base::{SqlError, SqlResult, messages};
use bind::ModuleColumns;
use catalog::view::{BoundObject, DatabaseView, Module, Object, ObjectName as Parts, SchemaId};
use std::collections::BTreeSet;
use std::fmt::Display;
use tsql::ast::Name;
use tsql::{Mention, MentionKind, ParseOptions};

/// Adds to a module WITH SCHEMABINDING the objects to which it is bound. Other modules stay as they
/// are.
pub(crate) fn bound(
    module: Module,
    read: &ModuleColumns,
    named: &LockedName,
    cx: &DdlContext<'_>,
) -> SqlResult<Module> {
    if !module.options.schema_bound {
        return Ok(module);
    }
    let options = ParseOptions { quoted_identifier: cx.settings.quoted_identifier };
    let Some(mentions) = tsql::mentions(&module.text, options) else { return Ok(module) };
    if let Some(line) = mentions.stars.first() {
        let e = SqlError::new(messages::SCHEMA_BIND_SYNTAX, &[&"*"]);
        return Err(e.at_line(*line).in_procedure(&module.name));
    }
    let view = &named.place.view;
    let mut all: Vec<BoundObject> = Vec::new();
    for mention in &mentions.objects {
        let found = object(view, &module, mention)
            .map_err(|e| e.at_line(mention.name.span.line).in_procedure(&module.name))?;
        let Some(found) = found else { continue };
        let columns = columns(&found, &module, read, &mentions.columns, view);
        match all.iter_mut().find(|b| b.object == found.object_id()) {
            Some(known) => {
                let both: BTreeSet<i32> = known.columns.iter().copied().chain(columns).collect();
                known.columns = both.into_iter().collect();
            }
            None => {
                let columns = columns.into_iter().collect();
                all.push(BoundObject { object: found.object_id(), columns });
            }
        }
    }
    Ok(Module { bound: all, ..module })
}

/// The object that a mention names; `None` for a built-in function.
fn object(view: &DatabaseView, module: &Module, m: &Mention) -> SqlResult<Option<Object>> {
    let (kind, own) = (module.kind.word(), module.two_part_name());
    let name = &m.name;
    let Some(schema) = name.schema.as_deref().filter(|_| name.database.is_none()) else {
        let system = view.find(SchemaId::SYS, &name.object).is_some();
        if m.kind == MentionKind::RowsOfCall && name.database.is_none() && !system {
            return Ok(None);
        }
        let args: [&dyn Display; 3] = [&kind, &own, name];
        return Err(SqlError::new(messages::SCHEMA_BIND_NAME, &args));
    };
    let parts = Parts { database: None, schema: Some(schema), object: &name.object };
    let found = view.schema(schema).and_then(|s| view.find(s.id, parts.object));
    match found {
        None => Err(SqlError::new(messages::INVALID_OBJECT, &[name])),
        Some(o) if o.object_id() == module.object_id => {
            let args: [&dyn Display; 3] = [&kind, &own, name];
            Err(SqlError::new(messages::SCHEMA_BIND_NAME, &args))
        }
        Some(Object::Virtual(_)) => {
            let args: [&dyn Display; 3] = [&kind, &own, name];
            Err(SqlError::new(messages::SCHEMA_BIND_SYSTEM, &args))
        }
        Some(Object::Module(m)) if !m.options.schema_bound => {
            let args: [&dyn Display; 3] = [&kind, &own, name];
            Err(SqlError::new(messages::SCHEMA_BIND_UNBOUND, &args))
        }
        Some(Object::Synonym(_)) => {
            let args: [&dyn Display; 3] = [&kind, &own, name];
            Err(SqlError::new(messages::SCHEMA_BIND_UNBOUND, &args))
        }
        Some(other) => Ok(Some(other)),
    }
}

/// The columns of an object that a module is bound to.
fn columns(
    object: &Object,
    module: &Module,
    read: &ModuleColumns,
    named: &[Name],
    view: &DatabaseView,
) -> BTreeSet<i32> {
    let mentioned = |name: &str| named.iter().any(|n| view.same_name(n, name));
    match object {
        Object::Table(t) if known(module) => {
            let of_table = read.read.iter().filter(|(id, _)| *id == t.object_id);
            let ordinals = of_table.flat_map(|(_, ordinals)| ordinals);
            let stored = ordinals.filter_map(|&n| t.columns.get(n)).map(|c| c.column_id);
            // A query reads a computed column through the columns in its expression.
            let computed = t.columns.iter().filter(|c| c.physical.is_none() && mentioned(&c.name));
            stored.chain(computed.map(|c| c.column_id)).collect()
        }
        Object::Table(t) => {
            t.columns.iter().filter(|c| mentioned(&c.name)).map(|c| c.column_id).collect()
        }
        Object::Module(m) => {
            m.columns.iter().filter(|c| mentioned(&c.name)).map(|c| c.column_id).collect()
        }
        Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => BTreeSet::new(),
    }
}

/// Whether the columns that a module's query reads are known: those of views and inline functions.
fn known(module: &Module) -> bool {
    use catalog::view::ModuleKind::{InlineFunction, View};
    matches!(module.kind, View | InlineFunction)
}
