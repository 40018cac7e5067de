//! Table-valued parameters are READONLY: a module that would change one is refused (10700).

use base::{SqlError, SqlResult, messages};
use tsql::ast::{DmlTarget, DmlTargetKind, Name, Output, Parameter, Statement, StatementKind as K};

/// Looks through the statements of a module.
///
/// # Errors
/// 10700 with the line of the statement.
pub(crate) fn check(parameters: &[Parameter], body: &[Statement]) -> SqlResult<()> {
    let names: Vec<&Name> = parameters.iter().filter(|p| p.read_only).map(|p| &p.name).collect();
    if names.is_empty() { Ok(()) } else { statements(&names, body) }
}

fn statements(names: &[&Name], body: &[Statement]) -> SqlResult<()> {
    body.iter().try_for_each(|s| statement(names, s).map_err(|e| e.at_line(s.span.line)))
}

fn statement(names: &[&Name], s: &Statement) -> SqlResult<()> {
    match &s.kind {
        K::Insert(s) => changed(names, &s.target, s.output.as_deref()),
        K::Update(s) => changed(names, &s.target, s.output.as_deref()),
        K::Delete(s) => changed(names, &s.target, s.output.as_deref()),
        K::Merge(s) => changed(names, &s.target, s.output.as_deref()),
        K::Block(body) => statements(names, body),
        K::If(it) => {
            statement(names, &it.then)?;
            it.otherwise.as_ref().map_or(Ok(()), |s| statement(names, s))
        }
        K::While(it) => statement(names, &it.body),
        K::TryCatch(it) => {
            statements(names, &it.body)?;
            statements(names, &it.handler)
        }
        _ => Ok(()),
    }
}

fn changed(names: &[&Name], target: &DmlTarget, output: Option<&Output>) -> SqlResult<()> {
    let into = output.and_then(|o| o.into.as_ref()).map(|i| &i.target);
    for kind in std::iter::once(&target.kind).chain(into) {
        if let DmlTargetKind::Variable(v) = kind
            && names.iter().any(|n| n.eq_ignore_ascii_case(v))
        {
            return Err(SqlError::new(messages::TABLE_PARAMETER_READ_ONLY, &[v]));
        }
    }
    Ok(())
}
