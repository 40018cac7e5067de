//! CREATE, ALTER and CREATE OR ALTER of modules, the objects that are stored as text: locks and
//! checks the name, and stores the module.
//!
//! Invariants
//!  1. ALTER keeps the object's id, schema and name, and never changes its kind.
//!  2. The stored columns and parameters of a module are those that its text had when it was
//!     stored.

pub(crate) mod function;
pub(crate) mod read_only;
pub(crate) mod schema_binding;
pub(crate) mod still_used;
pub(crate) mod trigger;
pub(crate) mod view;

use crate::context::{DdlContext, Place, unsupported};
use crate::data_type::type_name::{DeclaredType, Declaree, declared, user_type};
use crate::locate::{is_temporary, locked_object, name_taken, schema_for};
use crate::module::still_used::not_used;
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{
    Column, DatabaseView, ExecuteAs, Module, ModuleKind, ModuleOptions, Object, Parameter, Schema,
    SchemaId, Trigger,
};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{self, ModuleVerb, ObjectName, ParsedText, Procedure, Setting, SettingValue};
use types::SqlType;

/// A statement about a module, in the form that is common to all kinds.
pub(crate) struct ModuleStatement<'s> {
    pub(crate) kind: ModuleKind,
    pub(crate) verb: ModuleVerb,
    pub(crate) name: &'s ObjectName,
    /// The batch with the statement.
    pub(crate) text: ParsedText<'s>,
    pub(crate) options: ModuleOptions,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) columns: Vec<Column>,
}

/// The name of a module, locked.
pub(crate) struct LockedName {
    pub(crate) place: Place,
    pub(crate) schema: Schema,
    /// The module that ALTER replaces.
    pub(crate) before: Option<Arc<Module>>,
}

pub(crate) fn procedure(
    s: &Procedure,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    refuse(s)?;
    let in_it = |e: SqlError| e.in_procedure(&s.name.object);
    let parameters = parameters_of(&s.parameters, &cx.place(None)?.view).map_err(in_it)?;
    read_only::check(&s.parameters, &s.body).map_err(in_it)?;
    let recompile = s.options.iter().any(|o| &*o.name == "RECOMPILE");
    let written = ModuleStatement {
        kind: ModuleKind::Procedure,
        verb: s.verb,
        name: &s.name,
        text,
        options: ModuleOptions {
            recompile,
            execute_as: execute_as(&s.options).map_err(in_it)?,
            ..ModuleOptions::default()
        },
        parameters,
        columns: Vec::new(),
    };
    let named = locked_name(&written, cx)?;
    let module = module_of(&written, &named, None, cx);
    put(&named, module, cx)
}

/// Locks the name and finds the module that ALTER replaces.
pub(crate) fn locked_name(
    w: &ModuleStatement<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<LockedName> {
    let (s, line) = (w.name, w.name.span.line);
    if s.database.is_some() {
        let statement = format!("CREATE/ALTER {}", w.kind.word().to_uppercase());
        let e = SqlError::new(messages::CREATE_PREFIX_DATABASE, &[&statement]);
        return Err(e.at_line(line));
    }
    // The name must be locked before the search: otherwise another session could still take it.
    let (place, schema) = schema_for(cx, s)?;
    let before = match locked_object(cx, s)? {
        Some((_, object)) if object.schema_id() == schema.id => Some(object),
        Some(_) | None => None,
    };
    let before = match (before, w.verb) {
        (None, ModuleVerb::Alter) => {
            let e = SqlError::new(messages::INVALID_OBJECT, &[s]).with_state(6);
            return Err(e.at_line(line).in_procedure(&s.object));
        }
        (None, ModuleVerb::Create | ModuleVerb::CreateOrAlter) => {
            if name_taken(&place, schema.id, &s.object) {
                return Err(exists(s));
            }
            None
        }
        (Some(_), ModuleVerb::Create) => return Err(exists(s)),
        (Some(Object::Module(m)), _) if m.kind == w.kind => Some(m),
        (Some(_), _) => {
            return Err(SqlError::new(messages::ALTER_WRONG_KIND, &[s]).at_line(line));
        }
    };
    if let Some(module) = &before {
        let used = not_used(cx, &place, module, "ALTER");
        used.map_err(|e| e.at_line(line).in_procedure(&s.object))?;
    }
    Ok(LockedName { place, schema, before })
}

/// The module as it will be stored.
pub(crate) fn module_of(
    w: &ModuleStatement<'_>,
    named: &LockedName,
    trigger: Option<Trigger>,
    cx: &DdlContext<'_>,
) -> Module {
    Module {
        object_id: named.before.as_ref().map_or_else(|| named.place.ids.object(), |m| m.object_id),
        schema_id: named.schema.id,
        schema_name: named.schema.name.clone(),
        name: match &named.before {
            Some(m) => m.name.clone(),
            None => (*w.name.object).into(),
        },
        kind: w.kind,
        text: tsql::as_create(w.text.as_str(), cx.parse_options()).into(),
        quoted_identifier: cx.settings.quoted_identifier,
        ansi_nulls: cx.settings.ansi_nulls,
        options: w.options,
        columns: w.columns.clone(),
        parameters: w.parameters.clone(),
        properties: named.before.as_ref().map_or_else(Vec::new, |m| m.properties.clone()),
        trigger,
        bound: Vec::new(),
    }
}

/// Stores a module.
pub(crate) fn put(named: &LockedName, after: Module, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let mut after = after;
    after.forget_orphans();
    let database = named.place.view.id();
    catalog::lock_object(cx.work, database, ObjectId(after.object_id.0))?;
    let changes = Changes::new(&*named.place.system);
    changes.put_module(cx.work, named.before.as_deref(), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Module(Arc::new(after)))));
    Ok(())
}

fn exists(name: &ObjectName) -> SqlError {
    let e = SqlError::new(messages::OBJECT_EXISTS, &[&name.object]).with_state(3);
    e.at_line(name.span.line).in_procedure(&name.object)
}

fn refuse(s: &Procedure) -> SqlResult<()> {
    let line = s.name.span.line;
    if s.number.is_some() {
        return Err(unsupported("numbered procedures", line));
    }
    if s.for_replication {
        return Err(unsupported("FOR REPLICATION", line));
    }
    if is_temporary(&s.name) {
        return Err(unsupported("temporary procedures", line));
    }
    if let Some(option) = s.options.iter().find(|o| &*o.name == "SCHEMABINDING") {
        // Only natively compiled procedures have it.
        let e = SqlError::new(messages::OPTION_OF_STATEMENT, &[&"CREATE/ALTER PROCEDURE"]);
        return Err(e.at_line(option.span.line));
    }
    match s.options.iter().find(|o| !matches!(&*o.name, "RECOMPILE" | "EXECUTE AS")) {
        Some(option) => Err(unsupported(&option.name, option.span.line)),
        None => Ok(()),
    }
}

/// The value of EXECUTE AS among a module's options. Every session is `dbo`, so CALLER, OWNER, SELF
/// and 'dbo' give the same rights. Any other principal would have other rights and is refused.
pub(crate) fn execute_as(options: &[Setting]) -> SqlResult<ExecuteAs> {
    const OTHERS: [&str; 3] = ["guest", "INFORMATION_SCHEMA", "sys"];
    let Some(option) = options.iter().find(|o| &*o.name == "EXECUTE AS") else {
        return Ok(ExecuteAs::Caller);
    };
    let line = option.span.line;
    match &option.value {
        SettingValue::Word(word) => match &**word {
            "CALLER" => Ok(ExecuteAs::Caller),
            "OWNER" => Ok(ExecuteAs::Owner),
            "SELF" => Ok(ExecuteAs::Dbo),
            other => Err(SqlError::new(messages::SYNTAX_NEAR, &[&other]).at_line(line)),
        },
        SettingValue::String(name) if name.eq_ignore_ascii_case("dbo") => Ok(ExecuteAs::Dbo),
        SettingValue::String(name) if OTHERS.iter().any(|o| o.eq_ignore_ascii_case(name)) => {
            Err(unsupported(&format!("EXECUTE AS '{name}'"), line))
        }
        SettingValue::String(name) => {
            let args: [&dyn std::fmt::Display; 3] = [&"find", &"user", name];
            Err(SqlError::new(messages::CANNOT_FIND_PRINCIPAL, &args).at_line(line))
        }
        _ => Err(unsupported("EXECUTE AS", line)),
    }
}

/// Parameters as they are stored.
pub(crate) fn parameters_of(
    written: &[ast::Parameter],
    view: &DatabaseView,
) -> SqlResult<Vec<Parameter>> {
    let mut parameters: Vec<Parameter> = Vec::with_capacity(written.len());
    for (n, p) in written.iter().enumerate() {
        let line = p.span.line;
        if parameters.iter().any(|q| q.name.eq_ignore_ascii_case(&p.name)) {
            return Err(SqlError::new(messages::VARIABLE_DUPLICATE, &[&p.name]).at_line(line));
        }
        let cursor = p.type_name.is_cursor();
        let who = Declaree { number: n + 1, kind: "parameter", name: &p.name };
        let of = match table_type(p, view)? {
            Some(user_type_id) => {
                DeclaredType { sql_type: SqlType::Int, user_type_id, nullable: None }
            }
            None if cursor => cursor_type(p)?,
            None => declared(&p.type_name, who, view, SchemaId::DBO)?,
        };
        parameters.push(Parameter {
            id: n as i32 + 1,
            name: (*p.name).into(),
            sql_type: of.sql_type,
            user_type_id: of.user_type_id,
            output: p.output,
            has_default: p.default.is_some(),
            read_only: p.read_only,
            cursor,
        });
    }
    Ok(parameters)
}

/// The stored type of a cursor parameter: int, which nobody reads.
fn cursor_type(p: &ast::Parameter) -> SqlResult<DeclaredType> {
    let constant = p.default.is_some() || p.nullable.is_some();
    if !p.varying || !p.output || constant {
        let e = SqlError::new(messages::CURSOR_PARAMETER_OPTIONS, &[]).with_state(2);
        return Err(e.at_line(p.span.line));
    }
    let sql_type = SqlType::Int;
    Ok(DeclaredType { sql_type, user_type_id: sql_type.user_type_id(), nullable: None })
}

/// The table type of a parameter; `None` if its type is another. A parameter of a table type must
/// be READONLY (352); no other may be (346).
fn table_type(p: &ast::Parameter, view: &DatabaseView) -> SqlResult<Option<i32>> {
    let found = user_type(&p.type_name, view, SchemaId::DBO).filter(|t| t.table().is_some());
    let message = match (&found, p.read_only) {
        (Some(_), false) => messages::READONLY_MISSING,
        (None, true) => messages::READONLY_OF_SCALAR,
        (found, _) => return Ok(found.as_ref().map(|t| t.user_type_id)),
    };
    Err(SqlError::new(message, &[&p.name]).at_line(p.span.line))
}
