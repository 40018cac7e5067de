//! Control: variables, flow, EXECUTE, transactions, cursors, SET options.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{
    AssignOp, Condition, CursorName, Expr, Name, SelectStatement, Setting, Span, Statement,
    TableDefinition, TypeName,
};

/// One variable of a DECLARE.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    pub name: Name,
    pub kind: DeclarationKind,
    pub span: Span,
}

/// What a [`Declaration`] declares.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclarationKind {
    Scalar { type_name: TypeName, value: Option<Expr> },
    Table(Box<TableDefinition>),
    Cursor,
}

/// `SET @v = …`
#[derive(Clone, Debug, PartialEq)]
pub struct SetVariable {
    pub variable: Name,
    pub value: SetVariableValue,
}

/// What a variable is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum SetVariableValue {
    Expr {
        op: AssignOp,
        value: Expr,
    },
    Cursor(Box<CursorDefinition>),
    /// `SET @v.method(…)`
    Method {
        method: Name,
        arguments: Vec<Expr>,
    },
}

/// `SET name [, name] value`: NOCOUNT, XACT_ABORT, `STATISTICS IO`, LOCK_TIMEOUT, DATEFORMAT …
#[derive(Clone, Debug, PartialEq)]
pub struct SetOption {
    /// Upper case, one blank between words; at least one.
    pub names: Vec<Box<str>>,
    pub value: SetOptionValue,
}

/// The value of a [`SetOption`].
#[derive(Clone, Debug, PartialEq)]
pub enum SetOptionValue {
    On,
    Off,
    /// A constant or a variable.
    Expr(Expr),
    /// As written: `dmy`, `us_english`, `LOW`.
    Word(Name),
}

/// An isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

/// `IF condition then [ELSE otherwise]`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    pub condition: Condition,
    pub then: Statement,
    pub otherwise: Option<Statement>,
}

/// `WHILE condition body`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    pub condition: Condition,
    pub body: Statement,
}

/// `BEGIN TRY … END TRY BEGIN CATCH … END CATCH`
#[derive(Clone, Debug, PartialEq)]
pub struct TryCatch {
    pub body: Vec<Statement>,
    pub handler: Vec<Statement>,
}

/// `THROW number, message, state`
#[derive(Clone, Debug, PartialEq)]
pub struct Throw {
    pub number: Expr,
    pub message: Expr,
    pub state: Expr,
}

/// `RAISERROR (message, severity, state, arguments …) WITH …`
#[derive(Clone, Debug, PartialEq)]
pub struct RaiseError {
    /// A number, a string or a variable.
    pub message: Expr,
    pub severity: Expr,
    pub state: Expr,
    pub arguments: Vec<Expr>,
    pub log: bool,
    pub nowait: bool,
    pub seterror: bool,
}

/// `EXECUTE AS …` as a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteAs {
    pub context: Setting,
    pub span: Span,
}

/// WAITFOR
#[derive(Clone, Debug, PartialEq)]
pub enum WaitFor {
    /// A string or a variable.
    Delay(Expr),
    Time(Expr),
}

/// BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    pub verb: TransactionVerb,
    /// A name, or a variable with its `@`.
    pub name: Option<Name>,
    /// `WITH MARK ['text']`
    pub mark: Option<Box<str>>,
    pub delayed_durability: Option<bool>,
}

/// See [`Transaction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionVerb {
    Begin,
    BeginDistributed,
    Commit,
    Rollback,
    Save,
}

/// `DECLARE name CURSOR …`
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    pub name: Name,
    pub definition: CursorDefinition,
}

/// A cursor's options and query.
#[derive(Clone, Debug, PartialEq)]
pub struct CursorDefinition {
    /// Upper case: `LOCAL`, `FAST_FORWARD`, `SCROLL`, `INSENSITIVE` …
    pub options: Vec<Box<str>>,
    pub query: SelectStatement,
    pub purpose: Option<CursorPurpose>,
}

/// The FOR clause behind a cursor's query.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorPurpose {
    ReadOnly,
    Update(Vec<Name>),
}

/// `FETCH [direction] FROM cursor [INTO @a, …]`
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    pub direction: FetchDirection,
    pub cursor: CursorName,
    pub into: Vec<Name>,
}

/// Which row a [`Fetch`] fetches.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchDirection {
    Next,
    Prior,
    First,
    Last,
    Absolute(Expr),
    Relative(Expr),
}
