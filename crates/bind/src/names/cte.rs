//! Common table expressions that a query may name.

use crate::names::scope::DerivedColumn;
use std::cell::Cell;
use std::rc::Rc;
use tsql::ast;

/// MAXRECURSION where nothing is said.
pub(crate) const MAXRECURSION_DEFAULT: u32 = 100;

/// A common table expression.
pub(crate) struct Cte {
    pub(crate) name: Box<str>,
    pub(crate) columns: Vec<ast::Name>,
    pub(crate) query: ast::Query,
    /// Set while its recursive members are bound: the row they run for.
    pub(crate) work: Option<Work>,
}

/// The row for which a recursive member runs.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) columns: Vec<DerivedColumn>,
    /// How often the member has named it.
    pub(crate) references: Rc<Cell<u32>>,
}
