//! Scopes: what names a part of a statement may use.

use catalog::view::Table;
use plan::{AggregateCall, Predicate, Scalar, ScalarType, Slot, TableNo, WindowCall};
use std::ops::Range;
use std::sync::Arc;

/// Which clause is being bound: what it forbids, and what its errors say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clause {
    /// FROM, with arguments of functions.
    From,
    /// ON
    On,
    /// WHERE
    Where,
    /// GROUP BY
    GroupBy,
    /// The select list.
    SelectList,
    /// HAVING
    Having,
    /// ORDER BY
    OrderBy,
    /// SET of UPDATE.
    Set,
    /// A default, check or computed column: no subqueries, no aggregates.
    Definition,
}

impl Clause {
    /// Its expressions are computed for each group, where there are groups.
    pub(crate) fn is_of_groups(self) -> bool {
        matches!(self, Clause::SelectList | Clause::Having | Clause::OrderBy)
    }
}

/// A column that a source offers.
#[derive(Clone, Debug)]
pub(crate) struct DerivedColumn {
    pub(crate) name: Box<str>,
    pub(crate) slot: Slot,
    pub(crate) ty: ScalarType,
    pub(crate) user_type_id: i32,
    /// A column of a table passed through unchanged.
    pub(crate) identity: bool,
}

/// Where a source's columns come from.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// A table or system view.
    Reference(TableNo),
    /// A query or list of rows.
    Derived(Vec<DerivedColumn>),
    /// A row of a table as a change makes it.
    Made(Arc<MadeRow>),
    /// A row of a view as a change makes it.
    Given(Arc<Vec<GivenColumn>>),
}

/// A column of a view as a change makes it.
#[derive(Debug)]
pub(crate) struct GivenColumn {
    pub(crate) name: Box<str>,
    pub(crate) user_type_id: i32,
    pub(crate) value: GivenValue,
}

/// See [`GivenColumn`].
#[derive(Clone, Debug)]
pub(crate) enum GivenValue {
    /// Over the new row.
    Value(Scalar),
    /// It is of a table that the change leaves alone (404).
    OtherTable,
    /// It is made by a subquery (4186).
    Subquery,
}

/// The slots of a row's stored columns; what is not stored is computed from them.
#[derive(Debug)]
pub(crate) struct MadeRow {
    pub(crate) table: Arc<Table>,
    pub(crate) slots: Vec<Option<Slot>>,
    /// When there is such a row, where there need not be.
    pub(crate) present: Option<Predicate>,
}

/// What stands behind a derived source.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The references of its tree.
    pub(crate) tables: Range<u32>,
    /// The name of a view or function.
    pub(crate) view: Option<Box<str>>,
}

/// A source of a FROM clause.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Alias, or the table's own name.
    pub(crate) name: Box<str>,
    /// The schema and database of a table without alias, as resolved.
    pub(crate) schema: Option<Box<str>>,
    pub(crate) database: Option<Box<str>>,
    /// As written, for messages.
    pub(crate) shown: Box<str>,
    /// An alias was given.
    pub(crate) aliased: bool,
    pub(crate) columns: Columns,
    /// What a view, derived table or common table expression is made of.
    pub(crate) body: Option<Body>,
}

/// A read of a scope's own column outside an aggregate.
#[derive(Clone, Debug)]
pub(crate) struct ColumnRead {
    pub(crate) slot: Slot,
    pub(crate) shown: String,
    pub(crate) line: u32,
    pub(crate) clause: Clause,
    /// From within a subquery.
    pub(crate) nested: bool,
}

/// Window functions that share one window.
#[derive(Clone, Debug)]
pub(crate) struct WindowGroup {
    pub(crate) partition: Vec<Scalar>,
    pub(crate) order: Vec<(Scalar, bool)>,
    pub(crate) calls: Vec<WindowCall>,
}

/// One query's names.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) sources: Vec<Source>,
    pub(crate) clause: Clause,
    pub(crate) calls: Vec<AggregateCall>,
    /// GROUP BY, once it is bound.
    pub(crate) groups: crate::names::groups::Groups,
    pub(crate) windows: Vec<WindowGroup>,
    /// The WINDOW clause.
    pub(crate) window_names: Vec<(tsql::ast::Name, tsql::ast::OverClause)>,
    /// Within the argument of an aggregate.
    pub(crate) in_aggregate: bool,
    /// Within a window function.
    pub(crate) in_window: bool,
    pub(crate) reads: Vec<ColumnRead>,
    /// Names outside are not seen from here.
    pub(crate) barrier: bool,
}

impl Scope {
    pub(crate) fn new(sources: Vec<Source>, clause: Clause) -> Self {
        Scope {
            sources,
            clause,
            calls: Vec::new(),
            groups: crate::names::groups::Groups::default(),
            windows: Vec::new(),
            window_names: Vec::new(),
            in_aggregate: false,
            in_window: false,
            reads: Vec::new(),
            barrier: false,
        }
    }

    /// What is bound is computed for each group, and is no aggregate's argument.
    pub(crate) fn is_beside_groups(&self) -> bool {
        self.clause.is_of_groups() && !self.in_aggregate
    }

    /// One from which nothing outside is seen.
    pub(crate) fn barrier(clause: Clause) -> Self {
        Scope { barrier: true, ..Scope::new(Vec::new(), clause) }
    }
}
