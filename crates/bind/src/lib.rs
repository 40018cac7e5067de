//! From a tree of names to a plan of slots: name resolution, types, conversions, scopes.
//!
//! ```text
//! tsql::ast ─┐
//! Catalogs  ─┼→ bind → Bound { plan::LogicalPlan, references } → optimize
//! Variables ─┘
//! ```
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

mod aggregate;
mod binder;
mod capture;
mod captured_merge;
mod changes;
mod collation;
mod comparable;
mod computed;
mod condition;
mod constant;
mod convert;
mod cte;
mod cursor;
mod deduction;
mod delete;
mod document;
mod draws;
mod environment;
mod expansion;
mod expression;
mod finish;
mod from;
mod function;
mod grouping;
mod groups;
mod hint;
mod insert;
mod instead;
mod into;
mod into_table;
mod known_checks;
mod levels;
mod literal;
mod matched;
mod merge;
mod module;
mod next_value;
mod option;
mod order;
mod output;
mod parent;
mod pivot;
mod query;
mod recursion;
mod reference;
mod referential;
mod refusal;
mod resolve;
mod result;
mod row_function;
mod row_slots;
mod sample;
mod scope;
mod select;
mod set_operation;
mod source;
mod statement;
mod table_hint;
mod target;
mod through;
mod tree;
mod undeclared;
mod update;
mod uses;
mod window;
mod xml_method;
mod xml_names;

pub use collation::check_collation;
pub use computed::{ComputedType, bind_computed};
pub use convert::declared_type;
pub use cursor::Refetch;
pub use deduction::{
    Deduction, Learned, Undeclared, candidates, untyped_parameter, untyped_variable,
};
pub use environment::{Bound, Environment, Unguarded, Variables};
pub use into::into_of;
pub use into_table::{IntoColumn, IntoTable};
pub use module::ModuleColumns;
pub use plan::Coercibility;
pub use query::mixes_assignment;
pub use uses::user_of;

use base::SqlResult;
use binder::Binder;
use draws::DrawRule;
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
        && let Some(into) = into::into_of(s)
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
        binder.draw_in(&mut [&mut x]);
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
    let scope = scope::Scope::barrier(scope::Clause::Definition);
    let value = |b: &mut Binder<'_>| b.within(scope, |b| b.expr(expression));
    let bound = binder.drawing(DrawRule::Row, value);
    let bound = bound.map(|x| match collation.filter(|_| collation::is_narrow(column)) {
        Some(collation) => binder.on_its_way(x, collation),
        None => x,
    });
    let bound = bound.and_then(|x| binder.implicit(x, column)).and_then(|mut x| {
        binder.draw_in(&mut [&mut x]);
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
