//! Queries: SELECT, set operators, sources, hints.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{
    AssignOp, ColumnName, Condition, Expr, FunctionCall, MethodCall, Name, NestedChange,
    ObjectName, OverClause, Setting, Span, TypeName,
};

/// A SELECT as a statement (also a view's body): with CTEs before, OPTION behind.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectStatement {
    pub with: Option<Box<WithClause>>,
    pub query: Query,
    pub options: Vec<QueryOption>,
}

/// `WITH [XMLNAMESPACES (…),] cte, …`
#[derive(Clone, Debug, PartialEq)]
pub struct WithClause {
    pub xml_namespaces: Vec<XmlNamespace>,
    pub ctes: Vec<Cte>,
}

/// `'uri' AS prefix`, `DEFAULT 'uri'`
#[derive(Clone, Debug, PartialEq)]
pub struct XmlNamespace {
    pub uri: Box<str>,
    pub prefix: Option<Name>,
}

/// `name (columns) AS (query)`
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    pub name: Name,
    pub columns: Vec<Name>,
    pub query: Query,
}

/// A query with its ORDER BY: whole, in parentheses, or as a subquery.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub body: QueryBody,
    pub order_by: Vec<OrderItem>,
    pub offset: Option<Box<Offset>>,
    pub for_clause: Option<Box<ForClause>>,
    pub span: Span,
}

/// What a [`Query`] consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    /// `(query)`
    Parenthesized(Box<Query>),
    SetOperation(Box<SetOperation>),
}

/// `first op operand op operand …`, all of one precedence (INTERSECT binds tighter), from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperation {
    pub first: QueryBody,
    pub rest: Vec<SetOperand>,
}

/// An operator and the query right of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperand {
    pub op: SetOperator,
    pub body: QueryBody,
    pub span: Span,
}

/// How two results are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    UnionAll,
    Except,
    Intersect,
}

/// `SELECT … FROM … WHERE … GROUP BY … HAVING …`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    pub distinct: bool,
    pub top: Option<Box<Top>>,
    pub items: Vec<SelectItem>,
    pub into: Option<Box<SelectInto>>,
    /// Comma list; usually one.
    pub from: Vec<TableSource>,
    pub filter: Option<Condition>,
    pub group_by: Option<Box<GroupBy>>,
    pub having: Option<Condition>,
    /// `WINDOW name AS (…), …`
    pub windows: Vec<(Name, OverClause)>,
    pub span: Span,
}

/// `TOP (expr) [PERCENT] [WITH TIES]`
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    pub count: Expr,
    pub percent: bool,
    pub with_ties: bool,
}

/// `INTO table [ON filegroup]`
#[derive(Clone, Debug, PartialEq)]
pub struct SelectInto {
    pub table: ObjectName,
    pub filegroup: Option<Name>,
}

/// An item of the select list.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`
    Star(Span),
    /// `t.*`
    QualifiedStar(Box<ObjectName>),
    /// `expr`, `expr AS alias`, `expr alias`, `alias = expr`
    Expr { expr: Expr, alias: Option<Name> },
    /// `@v = expr`, `@v += expr`
    Assign { variable: Name, op: AssignOp, value: Expr },
}

/// GROUP BY: each element a list of alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupBy {
    /// The deprecated `GROUP BY ALL`.
    pub all: bool,
    pub elements: Vec<GroupElement>,
    /// The old `WITH ROLLUP|CUBE` behind the list.
    pub with: Option<GroupModifier>,
}

/// The old modifier of GROUP BY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupModifier {
    Rollup,
    Cube,
}

/// An element of GROUP BY or of GROUPING SETS.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupElement {
    Expr(Expr),
    /// `(a, b)`, and `()` when empty; only within ROLLUP, CUBE, GROUPING SETS, or `()` alone.
    Composite(Vec<Expr>),
    Rollup(Vec<GroupElement>),
    Cube(Vec<GroupElement>),
    Sets(Vec<GroupElement>),
}

/// An expression to order by.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    pub expr: Expr,
    pub descending: bool,
}

/// `OFFSET n ROWS [FETCH NEXT m ROWS ONLY]`
#[derive(Clone, Debug, PartialEq)]
pub struct Offset {
    pub offset: Expr,
    pub fetch: Option<Expr>,
}

/// `FOR BROWSE|XML|JSON …`
#[derive(Clone, Debug, PartialEq)]
pub struct ForClause {
    /// `BROWSE`, `XML`, `JSON`
    pub kind: ForKind,
    /// `PATH`, `RAW`, `AUTO`, `EXPLICIT` in upper case.
    pub mode: Box<str>,
    /// Element name of `PATH('x')`, `RAW('x')`.
    pub element: Option<Box<str>>,
    /// `ROOT('x')`, `TYPE`, `ELEMENTS XSINIL`, `WITHOUT_ARRAY_WRAPPER` …
    pub options: Vec<Setting>,
    pub span: Span,
}

/// What a [`ForClause`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForKind {
    Browse,
    Xml,
    Json,
}

/// Something rows come from.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSource {
    pub kind: TableSourceKind,
    pub span: Span,
}

/// See [`TableSource`].
#[derive(Clone, Debug, PartialEq)]
pub enum TableSourceKind {
    Table(Box<NamedTable>),
    /// `@t`
    Variable {
        variable: Name,
        alias: Option<Name>,
    },
    Function(Box<TableFunction>),
    /// `@x.nodes(…) AS t(c)`
    Method {
        call: Box<MethodCall>,
        alias: Option<Name>,
        columns: Vec<Name>,
    },
    /// `(query) AS alias (columns)`
    Derived {
        query: Box<Query>,
        alias: Option<Name>,
        columns: Vec<Name>,
    },
    /// `(VALUES (…), …) AS alias (columns)`
    Values {
        rows: Vec<Vec<Expr>>,
        alias: Option<Name>,
        columns: Vec<Name>,
    },
    /// `(INSERT … OUTPUT …) AS alias (columns)`
    Changed {
        change: Box<NestedChange>,
        alias: Option<Name>,
        columns: Vec<Name>,
    },
    /// Joins from the left.
    Joined {
        first: Box<TableSource>,
        joins: Vec<Join>,
    },
    Pivot(Box<Pivot>),
    Unpivot(Box<Unpivot>),
}

/// A table, view, synonym or CTE by name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTable {
    pub name: ObjectName,
    pub alias: Option<Name>,
    pub hints: Vec<TableHint>,
    pub sample: Option<TableSample>,
    /// `FOR SYSTEM_TIME …`, its text's place.
    pub system_time: Option<Span>,
}

/// `TABLESAMPLE (n PERCENT|ROWS) [REPEATABLE (seed)]`
#[derive(Clone, Debug, PartialEq)]
pub struct TableSample {
    pub size: Expr,
    pub rows: bool,
    pub repeatable: Option<Expr>,
}

/// A function in FROM. OPENROWSET, OPENQUERY, OPENJSON … too.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFunction {
    pub call: FunctionCall,
    pub alias: Option<Name>,
    pub columns: Vec<Name>,
    /// `WITH (column type 'path' [AS JSON], …)` of OPENJSON and OPENXML
    pub schema: Vec<PathColumn>,
    /// Table hints, which T-SQL allows here.
    pub hints: Vec<TableHint>,
}

/// A column of OPENJSON's WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct PathColumn {
    pub name: Name,
    pub type_name: TypeName,
    pub path: Option<Box<str>>,
    pub as_json: bool,
}

/// One join of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    pub kind: JoinKind,
    pub hint: Option<JoinHint>,
    pub right: TableSource,
    /// None only for CROSS JOIN and APPLY.
    pub on: Option<Condition>,
}

/// What a join keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
    CrossApply,
    OuterApply,
}

/// How a join is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinHint {
    Loop,
    Hash,
    Merge,
    Remote,
}

/// `source PIVOT (aggregate FOR column IN (values)) AS alias`
#[derive(Clone, Debug, PartialEq)]
pub struct Pivot {
    pub source: TableSource,
    pub aggregate: ObjectName,
    /// What is aggregated; none is `*`.
    pub argument: Option<ColumnName>,
    pub column: ColumnName,
    pub values: Vec<Name>,
    pub alias: Name,
}

/// `source UNPIVOT (value FOR name IN (columns)) AS alias`
#[derive(Clone, Debug, PartialEq)]
pub struct Unpivot {
    pub source: TableSource,
    pub value: Name,
    pub name: Name,
    pub columns: Vec<Name>,
    pub alias: Name,
}

/// A hint behind a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableHint {
    pub kind: TableHintKind,
    pub span: Span,
}

/// See [`TableHint`].
#[derive(Clone, Debug, PartialEq)]
pub enum TableHintKind {
    NoLock,
    ReadUncommitted,
    ReadCommitted,
    ReadCommittedLock,
    RepeatableRead,
    Serializable,
    HoldLock,
    Snapshot,
    ReadPast,
    RowLock,
    PageLock,
    TableLock,
    TableLockExclusive,
    UpdateLock,
    ExclusiveLock,
    NoWait,
    NoExpand,
    KeepIdentity,
    KeepDefaults,
    IgnoreConstraints,
    IgnoreTriggers,
    ForceScan,
    /// The index and the columns, when given.
    ForceSeek(Option<(IndexRef, Vec<Name>)>),
    Index(Vec<IndexRef>),
    SpatialWindowMaxCells(u32),
}

/// An index by name or by number.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexRef {
    Name(Name),
    Id(u32),
}

/// An item of OPTION (…).
#[derive(Clone, Debug, PartialEq)]
pub struct QueryOption {
    pub kind: QueryOptionKind,
    pub span: Span,
}

/// See [`QueryOption`].
#[derive(Clone, Debug, PartialEq)]
pub enum QueryOptionKind {
    /// Words alone, upper case, one blank between: `RECOMPILE`, `HASH JOIN`, `FORCE ORDER`,
    /// `ORDER GROUP`, `CONCAT UNION`, `KEEP PLAN`, `EXPAND VIEWS`, `FAST`…
    Word(Box<str>),
    /// Upper-case words and a constant: `MAXDOP 1`, `MAX_GRANT_PERCENT = 2.5`, `LABEL = 'x'`.
    Value {
        name: Box<str>,
        value: Expr,
    },
    OptimizeForUnknown,
    /// Each variable with its constant, None for UNKNOWN.
    OptimizeFor(Vec<(Name, Option<Expr>)>),
    UseHint(Vec<Box<str>>),
    TableHint {
        table: ObjectName,
        hints: Vec<TableHint>,
    },
}
