//! Changes: INSERT, UPDATE, DELETE, MERGE, TRUNCATE and bulk loads.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{
    AssignOp, ColumnName, Condition, Execute, Expr, FunctionCall, Name, ObjectName, Query,
    QueryOption, SelectItem, Setting, Span, TableHint, TableSource, Top, TypeName, WithClause,
};

/// What a change is made to, with its hints.
#[derive(Clone, Debug, PartialEq)]
pub struct DmlTarget {
    pub kind: DmlTargetKind,
    pub hints: Vec<TableHint>,
    pub span: Span,
}

/// See [`DmlTarget`].
#[derive(Clone, Debug, PartialEq)]
pub enum DmlTargetKind {
    /// A table, view, CTE, or an alias of the FROM clause.
    Table(Box<ObjectName>),
    Variable(Name),
    /// OPENQUERY, OPENROWSET
    Function(Box<FunctionCall>),
}

/// `OUTPUT items [INTO target (columns)]`
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub items: Vec<SelectItem>,
    pub into: Option<OutputInto>,
    /// The second OUTPUT, which goes to the client.
    pub then: Vec<SelectItem>,
    pub span: Span,
}

/// Where [`Output`] goes.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputInto {
    pub target: DmlTargetKind,
    pub columns: Vec<Name>,
}

/// INSERT
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    pub with: Option<Box<WithClause>>,
    pub top: Option<Box<Top>>,
    pub target: DmlTarget,
    pub columns: Vec<ColumnName>,
    pub output: Option<Box<Output>>,
    pub source: InsertSource,
    pub options: Vec<QueryOption>,
}

/// What an INSERT inserts. DEFAULT within VALUES is `ExprKind::Default`.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    Values(Vec<Vec<Expr>>),
    Query(Box<Query>),
    Execute(Box<Execute>),
    DefaultValues,
}

/// UPDATE
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub with: Option<Box<WithClause>>,
    pub top: Option<Box<Top>>,
    pub target: DmlTarget,
    pub assignments: Vec<Assignment>,
    pub output: Option<Box<Output>>,
    pub from: Vec<TableSource>,
    pub filter: Option<DmlFilter>,
    pub options: Vec<QueryOption>,
}

/// An item of UPDATE's SET.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub kind: AssignmentKind,
    pub span: Span,
}

/// See [`Assignment`].
#[derive(Clone, Debug, PartialEq)]
pub enum AssignmentKind {
    /// `column op value`
    Column { column: ColumnName, op: AssignOp, value: Expr },
    /// `@v op value`
    Variable { variable: Name, op: AssignOp, value: Expr },
    /// `@v = column op value`
    VariableColumn { variable: Name, column: ColumnName, op: AssignOp, value: Expr },
    /// `column.WRITE(value, offset, length)` and other mutators
    Method { column: ColumnName, method: Name, arguments: Vec<Expr> },
}

/// Which rows an UPDATE or DELETE concerns.
#[derive(Clone, Debug, PartialEq)]
pub enum DmlFilter {
    Where(Condition),
    CurrentOf(CursorName),
}

/// A cursor by name or by variable.
#[derive(Clone, Debug, PartialEq)]
pub struct CursorName {
    pub global: bool,
    /// Begins with `@` when it is a variable.
    pub name: Name,
}

/// DELETE
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    pub with: Option<Box<WithClause>>,
    pub top: Option<Box<Top>>,
    pub target: DmlTarget,
    pub output: Option<Box<Output>>,
    pub from: Vec<TableSource>,
    pub filter: Option<DmlFilter>,
    pub options: Vec<QueryOption>,
}

/// MERGE
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    pub with: Option<Box<WithClause>>,
    pub top: Option<Box<Top>>,
    pub target: DmlTarget,
    pub alias: Option<Name>,
    pub source: TableSource,
    pub on: Condition,
    pub clauses: Vec<MergeClause>,
    pub output: Option<Box<Output>>,
    pub options: Vec<QueryOption>,
}

/// `WHEN … [AND condition] THEN action`
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    pub when: MergeMatch,
    pub condition: Option<Condition>,
    pub action: MergeAction,
    pub span: Span,
}

/// Which rows a [`MergeClause`] concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMatch {
    Matched,
    NotMatchedByTarget,
    NotMatchedBySource,
}

/// What a [`MergeClause`] does.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    Update(Vec<Assignment>),
    Delete,
    /// No values means DEFAULT VALUES.
    Insert {
        columns: Vec<ColumnName>,
        values: Option<Vec<Expr>>,
    },
}

/// A change in the FROM of another: `(INSERT … OUTPUT …)`.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedChange {
    pub kind: NestedChangeKind,
    pub span: Span,
}

/// See [`NestedChange`].
#[derive(Clone, Debug, PartialEq)]
pub enum NestedChangeKind {
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    /// INSERT BULK or UPDATE STATISTICS, which begin as a change does and are none.
    None,
}

/// `TRUNCATE TABLE name [WITH (PARTITIONS (…))]`
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    pub table: ObjectName,
    /// Ranges of partition numbers; empty means all.
    pub partitions: Vec<(Expr, Option<Expr>)>,
}

/// `BULK INSERT table FROM 'file' WITH (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct BulkInsert {
    pub table: ObjectName,
    pub file: Box<str>,
    pub options: Vec<Setting>,
}

/// `INSERT BULK table (columns) WITH (…)`, which clients send before a bulk load.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertBulk {
    pub table: ObjectName,
    pub columns: Vec<BulkColumn>,
    pub options: Vec<Setting>,
}

/// A column of [`InsertBulk`].
#[derive(Clone, Debug, PartialEq)]
pub struct BulkColumn {
    pub name: Name,
    pub type_name: TypeName,
    pub collation: Option<Name>,
    pub nullable: Option<bool>,
}
