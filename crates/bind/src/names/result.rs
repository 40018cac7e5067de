//! A bound query, its columns, where it stands and how it is ordered.

use plan::{Logical, ScalarType, Slot};
use tsql::ast;

/// Where a query stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// As a statement, or the source of an INSERT.
    Statement,
    /// In FROM, or as a CTE.
    Derived,
    /// In an expression; `exists`: its columns do not matter.
    Subquery { exists: bool },
    /// Beside UNION and its like.
    Operand,
    /// In an expression or FROM, as the rows of a document, which have an order.
    Document,
}

/// The ORDER BY and OFFSET of a query.
#[derive(Clone, Copy)]
pub(crate) struct Ordering<'q> {
    pub(crate) items: &'q [ast::OrderItem],
    pub(crate) offset: Option<&'q ast::Offset>,
}

impl<'q> Ordering<'q> {
    pub(crate) const NONE: Ordering<'static> = Ordering { items: &[], offset: None };

    pub(crate) fn of(q: &'q ast::Query) -> Self {
        Ordering { items: &q.order_by, offset: q.offset.as_deref() }
    }
}

/// A column that a query gives.
#[derive(Clone, Debug)]
pub(crate) struct OutColumn {
    pub(crate) name: Option<Box<str>>,
    pub(crate) slot: Slot,
    pub(crate) ty: ScalarType,
    pub(crate) user_type_id: i32,
    pub(crate) identity: bool,
    pub(crate) stored: bool,
    /// Which source of the FROM clause has it.
    pub(crate) source: Option<usize>,
    /// The word NULL.
    pub(crate) untyped_null: bool,
    /// It is calculated: a column made of it may hold NULL, as an overflow might give it.
    pub(crate) calculated: bool,
}

/// A query with its names resolved.
pub(crate) struct QueryResult {
    pub(crate) tree: Logical,
    pub(crate) columns: Vec<OutColumn>,
    /// It is `SELECT NULL` and nothing else.
    pub(crate) only_null: bool,
}
