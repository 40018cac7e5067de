//! CREATE, ALTER and CREATE OR ALTER FUNCTION.
//!
//! A function changes nothing but its own variables: what could is refused when it is made (443),
//! and so is a result set (444).

use crate::context::{DdlContext, unsupported};
use crate::declare::declare;
use crate::locate::is_temporary;
use crate::module::{Written, locked_name, module_of, parameters_of, put};
use crate::schema_binding::bound;
use crate::type_name::{Declaree, declared};
use crate::view::with_columns;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, ModuleKind, ModuleOptions, Parameter};
use tsql::ast::{
    DmlTargetKind, ExecuteWhat, Function, FunctionBody, Name, Output, Query, QueryBody, SelectItem,
    SettingValue, Statement, StatementKind as K, TableDefinition, TransactionVerb,
};

pub(crate) fn define(s: &Function, text: &str, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    check(s).map_err(|e| e.in_procedure(&s.name.object))?;
    let view = cx.place(None)?.view;
    let parameters = parameters_of(&s.parameters, &view);
    let mut parameters = parameters.map_err(|e| e.in_procedure(&s.name.object))?;
    let kind = match &s.body {
        FunctionBody::Scalar { returns, .. } => {
            let of = declared(returns, Declaree { number: 0, kind: "function", name: "" }, &view)?;
            let result = Parameter {
                id: 0,
                name: "".into(),
                sql_type: of.sql_type,
                user_type_id: of.user_type_id,
                output: true,
                has_default: false,
                read_only: false,
            };
            parameters.insert(0, result);
            ModuleKind::ScalarFunction
        }
        FunctionBody::Inline { .. } => ModuleKind::InlineFunction,
        FunctionBody::Table { .. } => ModuleKind::TableFunction,
    };
    let nulls = s.options.iter().any(|o| &*o.name == "RETURNS NULL ON NULL INPUT");
    let schema_bound = s.options.iter().any(|o| &*o.name == "SCHEMABINDING");
    let written = Written {
        kind,
        verb: s.verb,
        name: &s.name,
        text,
        options: ModuleOptions {
            null_on_null_input: nulls,
            schema_bound,
            ..ModuleOptions::default()
        },
        parameters,
        columns: Vec::new(),
    };
    let named = locked_name(&written, cx)?;
    let mut module = module_of(&written, &named, None, cx);
    let none = bind::ModuleColumns::default();
    match &s.body {
        FunctionBody::Scalar { .. } => module = bound(module, &none, &named, cx)?,
        FunctionBody::Inline { .. } => module = with_columns(module, &named, cx)?,
        FunctionBody::Table { variable, definition, .. } => {
            module.columns = result_columns(variable, definition, text, cx)?;
            module = bound(module, &none, &named, cx)?;
        }
    }
    put(&named, module, cx)
}

/// The columns of the table that a multi-statement function returns.
fn result_columns(
    name: &Name,
    definition: &TableDefinition,
    text: &str,
    cx: &mut DdlContext<'_>,
) -> SqlResult<Vec<Column>> {
    let table = declare(name, 0, definition, text, cx)?;
    let kept = |c: Column| Column { default: None, physical: None, identity: None, ..c };
    Ok(table.columns.into_iter().map(kept).collect())
}

fn check(s: &Function) -> SqlResult<()> {
    let line = s.name.span.line;
    if is_temporary(&s.name) {
        return Err(unsupported("temporary functions", line));
    }
    if let Some(p) = s.parameters.iter().find(|p| p.output) {
        let e = SqlError::new(messages::OUTPUT_IN_FUNCTION, &[]);
        return Err(e.at_line(p.span.line));
    }
    let scalar = matches!(s.body, FunctionBody::Scalar { .. });
    for option in &s.options {
        let of_nulls =
            matches!(&*option.name, "RETURNS NULL ON NULL INPUT" | "CALLED ON NULL INPUT");
        // EXECUTE AS CALLER is what is done without saying so.
        let caller = matches!(&option.value, SettingValue::Word(w) if &**w == "CALLER");
        if (of_nulls && scalar)
            || &*option.name == "SCHEMABINDING"
            || (&*option.name == "EXECUTE AS" && caller)
        {
            continue;
        }
        return Err(unsupported(&format!("{} of a function", option.name), option.span.line));
    }
    match &s.body {
        FunctionBody::Inline { .. } => Ok(()),
        FunctionBody::Scalar { body, .. } | FunctionBody::Table { body, .. } => {
            statements(body, scalar)?;
            match body.last().map(|s| (&s.kind, s.span.line)) {
                Some((K::Return(_), _)) => Ok(()),
                last => {
                    let e = SqlError::new(messages::FUNCTION_LAST_STATEMENT, &[]);
                    Err(e.at_line(last.map_or(line, |l| l.1)))
                }
            }
        }
    }
}

fn statements(body: &[Statement], scalar: bool) -> SqlResult<()> {
    body.iter().try_for_each(|s| statement(s, scalar).map_err(|e| e.at_line(s.span.line)))
}

fn side_effect(operator: &str) -> SqlResult<()> {
    Err(SqlError::new(messages::FUNCTION_SIDE_EFFECT, &[&operator]))
}

/// What may stand in a function; a scalar one returns a value, another one nothing.
fn statement(s: &Statement, scalar: bool) -> SqlResult<()> {
    match &s.kind {
        K::Select(s) => match gives_rows(&s.query) {
            true => Err(SqlError::new(messages::FUNCTION_RETURNS_DATA, &[])),
            false => Ok(()),
        },
        K::Insert(s) => changed("INSERT", &s.target.kind, s.output.as_deref()),
        K::Update(s) => changed("UPDATE", &s.target.kind, s.output.as_deref()),
        K::Delete(s) => changed("DELETE", &s.target.kind, s.output.as_deref()),
        K::Merge(s) => changed("MERGE", &s.target.kind, s.output.as_deref()),
        K::Block(body) => statements(body, scalar),
        K::If(it) => {
            statement(&it.then, scalar)?;
            it.otherwise.as_ref().map_or(Ok(()), |s| statement(s, scalar))
        }
        K::While(it) => statement(&it.body, scalar),
        K::Return(value) if value.is_some() != scalar => {
            Err(SqlError::new(messages::RETURN_VALUE_CONTEXT, &[]))
        }
        K::Execute(it) => match it.what {
            ExecuteWhat::Text { .. } => side_effect("EXECUTE STRING"),
            ExecuteWhat::Procedure { .. } | ExecuteWhat::Variable { .. } => Ok(()),
        },
        K::Transaction(it) => side_effect(match it.verb {
            TransactionVerb::Begin | TransactionVerb::BeginDistributed => "BEGIN TRANSACTION",
            TransactionVerb::Commit => "COMMIT TRANSACTION",
            TransactionVerb::Rollback => "ROLLBACK TRANSACTION",
            TransactionVerb::Save => "SAVE TRANSACTION",
        }),
        K::SetOption(_) | K::SetIsolation(_) | K::SetIdentityInsert { .. } => {
            side_effect("SET OPTION ON")
        }
        K::TryCatch(_) => side_effect("BEGIN TRY"),
        K::Print(_) => side_effect("PRINT"),
        K::RaiseError(_) => side_effect("RAISERROR"),
        K::Throw(_) => side_effect("THROW"),
        K::WaitFor(_) => side_effect("WAITFOR"),
        K::Truncate(_) => side_effect("TRUNCATE TABLE"),
        K::CreateTable(_) => side_effect("CREATE TABLE"),
        K::Use(_) => side_effect("USE"),
        K::Declare(_)
        | K::SetVariable(_)
        | K::Break
        | K::Continue
        | K::Return(_)
        | K::Goto(_)
        | K::Label(_)
        | K::DeclareCursor(_)
        | K::OpenCursor(_)
        | K::Fetch(_)
        | K::CloseCursor(_)
        | K::DeallocateCursor(_) => Ok(()),
        _ => side_effect("this statement"),
    }
}

/// Only table variables may be written, by OUTPUT INTO too; its rows have no client.
fn changed(operator: &str, target: &DmlTargetKind, output: Option<&Output>) -> SqlResult<()> {
    let written = |target: &DmlTargetKind| match target {
        DmlTargetKind::Variable(_) => Ok(()),
        DmlTargetKind::Table(_) | DmlTargetKind::Function(_) => side_effect(operator),
    };
    written(target)?;
    let Some(output) = output else { return Ok(()) };
    if output.into.is_none() || !output.then.is_empty() {
        return Err(SqlError::new(messages::FUNCTION_RETURNS_DATA, &[]));
    }
    output.into.as_ref().map_or(Ok(()), |into| written(&into.target))
}

/// Whether a SELECT sends rows to the client: all that assign nothing do.
fn gives_rows(q: &Query) -> bool {
    match &q.body {
        QueryBody::Select(s) => !s.items.iter().any(|i| matches!(i, SelectItem::Assign { .. })),
        QueryBody::Parenthesized(_) | QueryBody::SetOperation(_) => true,
    }
}
