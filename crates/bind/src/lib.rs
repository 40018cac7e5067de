//! From a tree of names to a plan of slots: name resolution, types, conversions, scopes.
//!
//! ```text
//! tsql::ast ─┐
//! Catalogs  ─┼→ bind → Bound { plan::LogicalPlan, references } → optimize
//! Variables ─┘
//! ```
//!
//! ```text
//!   statement     which statement is bound how
//!   changes       INSERT, UPDATE, DELETE, MERGE; triggers and foreign keys
//!   queries       SELECT, its clauses, FROM
//!   definitions   views, computed columns, checks: texts that the catalog keeps
//!   expressions   types, conversions, collations, functions
//!   names         scopes, what a name is, table hints
//!   binder        the state of one binding; `finish` makes the plan of it
//!   environment   what binding is given, and what it gives
//! ```
//! A line names items of the lines below it. What it needs of a line above is a method of
//! `Binder`, whose blocks stand where their matter is. The binder itself names the types of its
//! fields, which name nothing but each other.
//!
//! [`bind_statement`] takes SELECT, INSERT, UPDATE and DELETE; [`bind_scalar`] and
//! [`bind_condition`] what stands alone in SET, IF, PRINT, RETURN. Errors carry SQL Server's
//! numbers and the line of the name or expression they are about.
//!
//! Invariants
//!  1. Nothing is accepted and ignored: what a plan cannot express is refused by its name.
//!  2. Each column reference of the text becomes one slot; a slot belongs to one reference.
//!  3. A scalar's operands have been converted as its operator asks; `exec` never decides a type.
//!  4. Binding deeper than `EXPRESSION_DEPTH_MAX` is error 191; trees it makes are no higher but
//!     for chains of operators, of which `EXPRESSION_LINKS_MAX` stand above each other.
//!  5. What is bound is paid for (`plan::Toll`) as often as it is: a view that is named twice is
//!     paid for twice.
//!
//! Not here: choosing an access path (`optimize`), permissions, SELECT INTO's table (`ddl`).

#![forbid(unsafe_code)]

mod binder;
mod changes;
mod definitions;
mod depth;
mod environment;
mod expressions;
mod finish;
mod into_table;
mod names;
mod queries;
mod refusal;
mod statement;
mod subplans;
mod tree;

pub use changes::cursor::Refetch;
pub use definitions::computed::{ComputedType, bind_computed};
pub use definitions::module::ModuleColumns;
pub use definitions::uses::user_of;
pub use environment::{Bound, Environment, SkippedGuards, Variables};
pub use expressions::collation::check_collation;
pub use expressions::convert::declared_type;
pub use expressions::deduction::{
    Deduction, Inference, UndeclaredType, candidates, untyped_parameter, untyped_variable,
};
pub use into_table::{IntoColumn, IntoTable};
pub use plan::Coercibility;
pub use queries::into::into_of;
pub use queries::query::mixes_assignment;

use base::SqlResult;
use binder::Binder;
use expressions::collation::is_narrow;
use expressions::draws::DrawRule;
use names::scope::{Clause, Scope};
use plan::Statement;
use tsql::ast;
use types::{Collation, SqlType};

/// Binds SELECT, INSERT, UPDATE or DELETE.
///
/// # Errors
/// The first thing that has no meaning, with its line; 40510 for other statements.
pub fn bind_statement(
    environment: &Environment<'_>,
    statement: &ast::Statement,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let bound = binder.statement(&statement.kind).and_then(|s| {
        binder.beside_triggers(&s)?;
        binder.finish(s)
    });
    bound.map_err(|e| e.at_line(statement.span.line))
}

/// Binds a SELECT INTO whose table has been made, as the INSERT that fills it.
///
/// # Errors
/// As [`bind_statement`]; 208 while the table is not there.
pub fn bind_select_into(
    environment: &Environment<'_>,
    statement: &ast::Statement,
    hidden: &dyn Fn(&str) -> Option<std::sync::Arc<catalog::view::Table>>,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    if let ast::StatementKind::Select(s) = &statement.kind
        && let Some(into) = queries::into::into_of(s)
    {
        let name = &into.table.object.text;
        binder.filled = hidden(name).map(|table| (name.clone(), table));
    }
    let bound = match binder.statement(&statement.kind) {
        Ok(Statement::Query(query)) => binder.insert_into_made(query),
        other => other,
    };
    let bound = bound.and_then(|s| binder.finish(s));
    bound.map_err(|e| e.at_line(statement.span.line))
}

/// Binds a cursor's query: its columns, and behind them keys by which its rows are found again
/// (`plan::Header::cursor`), where it has any.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_cursor(environment: &Environment<'_>, statement: &ast::Statement) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let bound = binder.cursor_rows(&statement.kind).and_then(|s| binder.finish(s));
    bound.map_err(|e| e.at_line(statement.span.line))
}

/// Binds one row of a cursor's query, by keys in the variables behind the last.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_cursor_row(
    environment: &Environment<'_>,
    statement: &ast::Statement,
    how: Refetch,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let bound = binder.cursor_row(&statement.kind, how).and_then(|s| binder.finish(s));
    bound.map_err(|e| e.at_line(statement.span.line))
}

/// Binds the change that computes stored computed columns of a table in the rows that are there.
///
/// # Errors
/// What the expressions say, which were bound before.
pub fn bind_fill(
    environment: &Environment<'_>,
    table: std::sync::Arc<catalog::view::Table>,
    columns: &std::collections::BTreeSet<usize>,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let update = binder.fill(table, columns)?;
    binder.finish(update)
}

/// Binds an expression alone, converted to a type where one is wanted.
///
/// # Errors
/// The first thing that has no meaning, with its line.
pub fn bind_scalar(
    environment: &Environment<'_>,
    expression: &ast::Expr,
    wanted: Option<SqlType>,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let bound = binder.drawing(DrawRule::Row, |b| b.expr(expression));
    let bound = bound.and_then(|x| match wanted {
        Some(t) => binder.assigned(x, t),
        None => Ok(x),
    });
    let bound = bound.and_then(|mut x| {
        binder.draws.draw_in(&mut [&mut x]);
        binder.finish(Statement::Scalar(x))
    });
    bound.map_err(|e| e.at_line(expression.span.line))
}

/// Binds a DEFAULT, converted to its column's type, and in the page of its collation where that
/// is said.
///
/// # Errors
/// The first thing that has no meaning, with its line.
pub fn bind_default(
    environment: &Environment<'_>,
    expression: &ast::Expr,
    column: SqlType,
    collation: Option<Collation>,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let scope = Scope::barrier(Clause::Definition);
    let value = |b: &mut Binder<'_>| b.within(scope, |b| b.expr(expression));
    let bound = binder.drawing(DrawRule::Row, value);
    let bound = bound.map(|x| match collation.filter(|_| is_narrow(column)) {
        Some(collation) => binder.on_its_way(x, collation),
        None => x,
    });
    let bound = bound.and_then(|x| binder.implicit(x, column)).and_then(|mut x| {
        binder.draws.draw_in(&mut [&mut x]);
        binder.finish(Statement::Scalar(x))
    });
    bound.map_err(|e| e.at_line(expression.span.line))
}

/// Binds a condition alone.
///
/// # Errors
/// The first thing that has no meaning, with its line.
pub fn bind_condition(
    environment: &Environment<'_>,
    condition: &ast::Condition,
) -> SqlResult<Bound> {
    let mut binder = Binder::new(environment);
    let rule = DrawRule::Refused(base::messages::NEXT_VALUE_CONTEXT);
    let bound = binder.drawing(rule, |b| b.condition(condition));
    let bound = bound.and_then(|p| binder.finish(Statement::Condition(p)));
    bound.map_err(|e| e.at_line(condition.span.line))
}

/// The columns that a view or inline function offers and reads: what CREATE stores of it.
///
/// # Errors
/// The first thing in its text that has no meaning, as an error within the module.
pub fn module_columns(
    environment: &Environment<'_>,
    module: &std::sync::Arc<catalog::view::Module>,
) -> SqlResult<ModuleColumns> {
    let database = environment.catalogs.current();
    Binder::new(environment).module_columns(&database, module)
}

/// Whether a CHECK or DEFAULT has a meaning for a table: what DDL asks before it stores the text.
///
/// # Errors
/// The first thing that has no meaning.
pub fn check_definition(
    environment: &Environment<'_>,
    table: &std::sync::Arc<catalog::view::Table>,
) -> SqlResult<()> {
    Binder::new(environment).definition(table)
}
