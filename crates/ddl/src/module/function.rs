//! CREATE, ALTER and CREATE OR ALTER FUNCTION.
//!
//! A function may change only its own variables. A statement in it that could change more is
//! refused when the function is created (443), and so is one that returns rows to the client (444).
//! A built-in function that returns another value with each call, such as newid, counts as a change
//! of the session's state; the clock does not. The states of 443 come from error texts that were
//! published: 1 for built-in functions, 14 for statements that speak to the client or run text, 15
//! for changes.

use crate::context::{DdlContext, unsupported};
use crate::data_type::type_name::{Declaree, declared};
use crate::locate::is_temporary;
use crate::module::schema_binding::bound;
use crate::module::view::with_columns;
use crate::module::{ModuleStatement, execute_as, locked_name, module_of, parameters_of, put};
use crate::table::declare::declare;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, ModuleKind, ModuleOptions, Parameter, SchemaId};
use tsql::ast::{
    Cte, DmlTargetKind, ExecuteTarget, Function, FunctionBody, InsertSource, Name, ObjectName,
    Output, ParsedText, Query, QueryBody, SelectItem, Statement, StatementKind as K,
    TableDefinition, TableSource, TableSourceKind, TransactionVerb, WithClause,
};
use tsql::{MentionKind, ParseOptions};
use types::SqlType;

pub(crate) fn define(s: &Function, text: ParsedText<'_>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let options = cx.parse_options();
    let checked = check(s).and_then(|()| check_calls(text.as_str(), options));
    checked.map_err(|e| e.in_procedure(&s.name.object))?;
    let view = cx.place(None)?.view;
    let parameters = parameters_of(&s.parameters, &view);
    let mut parameters = parameters.map_err(|e| e.in_procedure(&s.name.object))?;
    let kind = match &s.body {
        FunctionBody::Scalar { returns, .. } => {
            let who = Declaree { number: 0, kind: "function", name: "" };
            let of = declared(returns, who, &view, SchemaId::DBO)?;
            let never = of.sql_type.is_text_image() || of.sql_type == SqlType::RowVersion;
            if never {
                let e = SqlError::new(messages::RETURN_TYPE_INVALID, &[&of.sql_type.name()]);
                let e = e.at_line(returns.name.span.line);
                return Err(e.in_procedure(&s.name.object));
            }
            let result = Parameter {
                id: 0,
                name: "".into(),
                sql_type: of.sql_type,
                user_type_id: of.user_type_id,
                output: true,
                has_default: false,
                read_only: false,
                cursor: false,
            };
            parameters.insert(0, result);
            ModuleKind::ScalarFunction
        }
        FunctionBody::Inline { .. } => ModuleKind::InlineFunction,
        FunctionBody::Table { .. } => ModuleKind::TableFunction,
    };
    let nulls = s.options.iter().any(|o| &*o.name == "RETURNS NULL ON NULL INPUT");
    let schema_bound = s.options.iter().any(|o| &*o.name == "SCHEMABINDING");
    let written = ModuleStatement {
        kind,
        verb: s.verb,
        name: &s.name,
        text,
        options: ModuleOptions {
            null_on_null_input: nulls,
            schema_bound,
            execute_as: execute_as(&s.options).map_err(|e| e.in_procedure(&s.name.object))?,
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
    text: ParsedText<'_>,
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
    // SQL Server refuses them, too. We found no source for its error number.
    if let Some(p) = s.parameters.iter().find(|p| p.type_name.is_cursor()) {
        return Err(unsupported("cursor parameters of functions", p.span.line));
    }
    if let Some(p) = s.parameters.iter().find(|p| p.output) {
        let e = SqlError::new(messages::OUTPUT_IN_FUNCTION, &[]);
        return Err(e.at_line(p.span.line));
    }
    let scalar = matches!(s.body, FunctionBody::Scalar { .. });
    for option in &s.options {
        let of_nulls =
            matches!(&*option.name, "RETURNS NULL ON NULL INPUT" | "CALLED ON NULL INPUT");
        let inline = matches!(s.body, FunctionBody::Inline { .. });
        if inline && &*option.name == "EXECUTE AS" {
            // The function's query becomes part of the query that calls it.
            let e = SqlError::new(messages::OPTION_OF_STATEMENT, &[&"CREATE/ALTER FUNCTION"]);
            return Err(e.at_line(option.span.line));
        }
        if (of_nulls && scalar) || matches!(&*option.name, "SCHEMABINDING" | "EXECUTE AS") {
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
                    let e = SqlError::new(messages::FUNCTION_LAST_STATEMENT, &[]).with_state(2);
                    Err(e.at_line(last.map_or(line, |l| l.1)))
                }
            }
        }
    }
}

/// Built-in functions with side effects, as 443 spells them.
const SIDE_EFFECTING: [&str; 5] =
    ["Crypt_Gen_Random", "newid", "newsequentialid", "rand", "textptr"];

/// Refuses names that may not appear anywhere in a function: of side-effecting built-in functions
/// (443), temporary tables (2772) and sequences (11719).
fn check_calls(text: &str, options: ParseOptions) -> SqlResult<()> {
    let Some(mentions) = tsql::mentions(text, options) else { return Ok(()) };
    for name in &mentions.builtins {
        let known = SIDE_EFFECTING.iter().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(known) = known {
            let e = SqlError::new(messages::FUNCTION_SIDE_EFFECT, &[known]);
            return Err(e.at_line(name.line));
        }
    }
    if let Some(name) = mentions.temporary.first() {
        return Err(SqlError::new(messages::TEMPORARY_IN_FUNCTION, &[]).at_line(name.line));
    }
    match mentions.objects.iter().find(|m| m.kind == MentionKind::Sequence) {
        Some(m) => Err(SqlError::new(messages::NEXT_VALUE_NESTED, &[]).at_line(m.name.span.line)),
        None => Ok(()),
    }
}

fn statements(body: &[Statement], scalar: bool) -> SqlResult<()> {
    body.iter().try_for_each(|s| statement(s, scalar).map_err(|e| e.at_line(s.span.line)))
}

/// Error 443 for a statement that changes something.
fn side_effect(operator: &str) -> SqlResult<()> {
    Err(SqlError::new(messages::FUNCTION_SIDE_EFFECT, &[&operator]).with_state(15))
}

/// Error 443 for a statement that runs text, waits, or speaks to the client.
fn outward(operator: &str) -> SqlResult<()> {
    Err(SqlError::new(messages::FUNCTION_SIDE_EFFECT, &[&operator]).with_state(14))
}

/// Checks that a statement may stand in a function. A scalar function's RETURN has a value; that of
/// other functions has none.
fn statement(s: &Statement, scalar: bool) -> SqlResult<()> {
    match &s.kind {
        K::Select(s) if bind::into_of(s).is_some() => side_effect("SELECT"),
        K::Select(s) => match gives_rows(&s.query) {
            true => Err(SqlError::new(messages::FUNCTION_RETURNS_DATA, &[]).with_state(3)),
            false => Ok(()),
        },
        K::Insert(s) if matches!(s.source, InsertSource::Execute(_)) => outward("INSERT EXEC"),
        K::Insert(s) => changed("INSERT", &s.target.kind, NOWHERE, s.output.as_deref()),
        K::Update(s) => {
            let named = NameSources { from: &s.from, with: s.with.as_deref() };
            changed("UPDATE", &s.target.kind, named, s.output.as_deref())
        }
        K::Delete(s) => {
            let named = NameSources { from: &s.from, with: s.with.as_deref() };
            changed("DELETE", &s.target.kind, named, s.output.as_deref())
        }
        K::Merge(s) => {
            let named = NameSources { from: &[], with: s.with.as_deref() };
            changed("MERGE", &s.target.kind, named, s.output.as_deref())
        }
        K::Block(body) => statements(body, scalar),
        K::If(it) => {
            statement(&it.then, scalar)?;
            it.otherwise.as_ref().map_or(Ok(()), |s| statement(s, scalar))
        }
        K::While(it) => statement(&it.body, scalar),
        K::Return(None) if scalar => Err(SqlError::new(messages::RETURN_NEEDS_VALUE, &[])),
        K::Return(value) if value.is_some() != scalar => {
            Err(SqlError::new(messages::RETURN_VALUE_CONTEXT, &[]))
        }
        K::Execute(it) => match it.what {
            ExecuteTarget::Text { .. } => outward("EXECUTE STRING"),
            ExecuteTarget::Procedure { .. } | ExecuteTarget::Variable { .. } => Ok(()),
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
        K::TryCatch(_) => outward("BEGIN TRY"),
        K::Print(_) => outward("PRINT"),
        K::RaiseError(_) => outward("RAISERROR"),
        K::Throw(_) => outward("THROW"),
        K::WaitFor(_) => outward("WAITFOR"),
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

/// The parts of a statement that define the names in it: FROM and WITH.
#[derive(Clone, Copy)]
struct NameSources<'s> {
    from: &'s [TableSource],
    with: Option<&'s WithClause>,
}

const NOWHERE: NameSources<'static> = NameSources { from: &[], with: None };

impl NameSources<'_> {
    /// Whether a name stands for a table variable: an alias of one in FROM, or a CTE over one.
    fn is_variable(&self, name: &ObjectName) -> bool {
        let ctes = self.with.map_or(&[][..], |with| &with.ctes);
        name.schema.is_none()
            && (aliased(self.from, name, ctes) || over_variable(&name.object, ctes))
    }
}

/// Whether a name is the alias of a table variable, or of a CTE over one, among the sources.
fn aliased(from: &[TableSource], name: &ObjectName, ctes: &[Cte]) -> bool {
    from.iter().any(|source| match &source.kind {
        TableSourceKind::Variable { alias, .. } => {
            alias.as_ref().is_some_and(|a| a.eq_ignore_ascii_case(&name.object))
        }
        TableSourceKind::Table(t) => {
            t.alias.as_ref().is_some_and(|a| a.eq_ignore_ascii_case(&name.object))
                && t.name.schema.is_none()
                && over_variable(&t.name.object, ctes)
        }
        TableSourceKind::Joined { first, joins } => {
            aliased(std::slice::from_ref(first), name, ctes)
                || joins.iter().any(|j| aliased(std::slice::from_ref(&j.right), name, ctes))
        }
        _ => false,
    })
}

/// Whether a CTE reads only one table variable, directly or through CTEs before it.
fn over_variable(name: &Name, ctes: &[Cte]) -> bool {
    let Some(at) = ctes.iter().rposition(|c| c.name.eq_ignore_ascii_case(name)) else {
        return false;
    };
    let QueryBody::Select(select) = &ctes[at].query.body else { return false };
    match select.from.as_slice() {
        [source] => match &source.kind {
            TableSourceKind::Variable { .. } => true,
            TableSourceKind::Table(t) if t.name.schema.is_none() => {
                over_variable(&t.name.object, &ctes[..at])
            }
            _ => false,
        },
        _ => false,
    }
}

/// Checks that a statement writes only table variables, with OUTPUT INTO, too. OUTPUT without INTO
/// would return rows to the client and is refused.
fn changed(
    operator: &str,
    target: &DmlTargetKind,
    named: NameSources<'_>,
    output: Option<&Output>,
) -> SqlResult<()> {
    let written = |target: &DmlTargetKind| match target {
        DmlTargetKind::Variable(_) => Ok(()),
        DmlTargetKind::Table(name) if named.is_variable(name) => Ok(()),
        DmlTargetKind::Table(_) | DmlTargetKind::Function(_) => side_effect(operator),
    };
    written(target)?;
    let Some(output) = output else { return Ok(()) };
    if output.into.is_none() || !output.then.is_empty() {
        return Err(SqlError::new(messages::FUNCTION_RETURNS_DATA, &[]).with_state(3));
    }
    output.into.as_ref().map_or(Ok(()), |into| written(&into.target))
}

/// Whether a SELECT sends rows to the client: it does unless it assigns variables.
fn gives_rows(q: &Query) -> bool {
    match &q.body {
        QueryBody::Select(s) => !s.items.iter().any(|i| matches!(i, SelectItem::Assign { .. })),
        QueryBody::Parenthesized(_) | QueryBody::SetOperation(_) => true,
    }
}
