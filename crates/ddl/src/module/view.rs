//! CREATE, ALTER and CREATE OR ALTER VIEW.
//!
//! The query is bound when the view is created, and its columns are stored. Each statement that
//! names the view binds the query again.

use crate::context::{DdlContext, unsupported};
use crate::locate::is_temporary;
use crate::module::schema_binding::bound;
use crate::module::{ModuleStatement, locked_name, module_of, put};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, ModuleOptions};
use std::sync::Arc;
use tsql::ast::{ParsedText, View};

pub(crate) fn define(s: &View, text: ParsedText<'_>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.name.span.line;
    if is_temporary(&s.name) {
        let e = SqlError::new(messages::VIEW_ON_TEMPORARY, &[]);
        return Err(e.at_line(line).in_procedure(&s.name.object));
    }
    if let Some(option) = s.options.iter().find(|o| &*o.name != "SCHEMABINDING") {
        return Err(unsupported(&format!("{} of a view", option.name), option.span.line));
    }
    let schema_bound = !s.options.is_empty();
    let written = ModuleStatement {
        kind: ModuleKind::View,
        verb: s.verb,
        name: &s.name,
        text,
        options: ModuleOptions {
            check_option: s.check_option,
            schema_bound,
            ..ModuleOptions::default()
        },
        parameters: Vec::new(),
        columns: Vec::new(),
    };
    let named = locked_name(&written, cx)?;
    let module = with_columns(module_of(&written, &named, None, cx), &named, cx)?;
    put(&named, module, cx)
}

/// Adds to a view or inline function the columns that its query returns now.
pub(crate) fn with_columns(
    module: Module,
    named: &crate::module::LockedName,
    cx: &DdlContext<'_>,
) -> SqlResult<Module> {
    let module = Arc::new(module);
    let found = cx.expressions.module_columns(&named.place.view, &module)?;
    let module = Module { columns: found.offered.clone(), ..Module::clone(&module) };
    bound(module, &found, named, cx)
}
