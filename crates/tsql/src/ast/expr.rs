//! Scalar expressions and conditions. They are two types, as in T-SQL's grammar: a comparison
//! is no value, and a value is no condition (error 4145, which the parser gives).
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{ColumnName, Name, ObjectName, OrderItem, Query, Span, TypeName};

/// Something with a value. The span of a parenthesised one includes its parentheses.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// See [`Expr`].
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Literal(Literal),
    /// The word DEFAULT, where a value may be left to the default.
    Default,
    /// `@name`
    Variable(Name),
    /// `@@name`
    Global(Name),
    /// Also date parts given to DATEADD and its like, and `$action`, `$identity`, `$rowguid`.
    Column(Box<ColumnName>),
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    /// Operators of one level of precedence, to be folded from the left.
    Arithmetic(Box<Arithmetic>),
    Case(Box<Case>),
    Iif(Box<Iif>),
    Cast(Box<Cast>),
    Collate {
        operand: Box<Expr>,
        collation: Name,
    },
    AtTimeZone {
        operand: Box<Expr>,
        zone: Box<Expr>,
    },
    Function(Box<FunctionCall>),
    Method(Box<MethodCall>),
    /// Functions that are called without parentheses: upper-case name, e.g. `CURRENT_TIMESTAMP`.
    Niladic(Name),
    Trim(Box<Trim>),
    NextValue(Box<NextValue>),
    /// `(SELECT …)`
    Subquery(Box<Query>),
    /// `IDENTITY(type, seed, increment)` of SELECT INTO
    Identity(Box<IdentityColumn>),
    /// `{d '…'}`, `{t '…'}`, `{ts '…'}`, `{guid '…'}`; the tag in lower case.
    Odbc {
        tag: Box<str>,
        text: Box<str>,
    },
}

/// A constant. Numbers keep their text: the binder decides the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    Null,
    /// Digits only; becomes numeric when it doesn't fit int.
    Integer(Box<str>),
    /// With a point.
    Decimal(Box<str>),
    /// With an exponent.
    Float(Box<str>),
    /// Without its currency sign.
    Money(Box<str>),
    /// `'…'`, doubled quotes made single.
    String(Box<str>),
    /// `N'…'`
    National(Box<str>),
    /// `0x…`; an odd number of digits is filled up on the left.
    Binary(Box<[u8]>),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Minus,
    BitNot,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    /// `<<`: LEFT_SHIFT
    ShiftLeft,
    /// `>>`: RIGHT_SHIFT
    ShiftRight,
}

/// `first op operand op operand …`, all of one precedence, from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic {
    pub first: Expr,
    pub rest: Vec<ArithmeticTerm>,
}

/// An operator and what stands right of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArithmeticTerm {
    pub op: BinaryOp,
    pub operand: Expr,
}

/// CASE in both forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub branches: CaseBranches,
    pub otherwise: Option<Expr>,
}

/// The WHEN branches of a [`Case`].
#[derive(Clone, Debug, PartialEq)]
pub enum CaseBranches {
    /// `CASE operand WHEN value THEN result …`
    Simple { operand: Expr, whens: Vec<(Expr, Expr)> },
    /// `CASE WHEN condition THEN result …`
    Searched(Vec<(Condition, Expr)>),
}

/// `IIF(condition, then, otherwise)`
#[derive(Clone, Debug, PartialEq)]
pub struct Iif {
    pub condition: Condition,
    pub then: Expr,
    pub otherwise: Expr,
}

/// CAST, CONVERT, PARSE and their TRY_ forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Cast {
    pub form: CastForm,
    /// NULL instead of an error.
    pub attempt: bool,
    pub operand: Expr,
    pub target: TypeName,
    /// CONVERT's style, PARSE's culture.
    pub style: Option<Expr>,
}

/// Which spelling a [`Cast`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastForm {
    Cast,
    Convert,
    Parse,
}

/// A function by name; `LEFT`, `COALESCE`, `NULLIF` and the like too.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    pub name: ObjectName,
    pub arguments: Vec<Expr>,
    /// `COUNT(*)`
    pub star: bool,
    /// DISTINCT before the first argument.
    pub distinct: bool,
    /// `WITHIN GROUP (ORDER BY …)`
    pub within_group: Vec<OrderItem>,
    /// `IGNORE NULLS` is true, `RESPECT NULLS` false.
    pub ignore_nulls: Option<bool>,
    pub over: Option<Box<OverClause>>,
    pub span: Span,
}

/// `target.method(…)` of a variable, or `type::method(…)`.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodCall {
    pub target: MethodTarget,
    pub method: Name,
    pub arguments: Vec<Expr>,
    /// It stands in SET, where it changes its target.
    pub mutator: bool,
}

/// What a [`MethodCall`] is asked of.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodTarget {
    Value(Expr),
    Type(ObjectName),
}

/// `TRIM([side] [characters FROM] operand)`
#[derive(Clone, Debug, PartialEq)]
pub struct Trim {
    pub side: Option<TrimSide>,
    pub characters: Option<Expr>,
    pub operand: Expr,
}

/// Where [`Trim`] cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    Leading,
    Trailing,
    Both,
}

/// `NEXT VALUE FOR sequence [OVER (ORDER BY …)]`
#[derive(Clone, Debug, PartialEq)]
pub struct NextValue {
    pub sequence: ObjectName,
    pub over: Option<Box<OverClause>>,
}

/// `IDENTITY(type, seed, increment)`
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityColumn {
    pub type_name: TypeName,
    pub seed_increment: Option<(Expr, Expr)>,
}

/// The window of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct OverClause {
    /// `OVER w`, `OVER (w …)`: a window of the WINDOW clause.
    pub window: Option<Name>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<Box<Frame>>,
    pub span: Span,
}

/// `ROWS|RANGE BETWEEN start AND end`; the short form's end is the current row.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub unit: FrameUnit,
    pub start: FrameBound,
    pub end: FrameBound,
}

/// What a frame counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    Rows,
    Range,
}

/// An end of a [`Frame`].
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// Something true, false or unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub kind: ConditionKind,
    pub span: Span,
}

/// See [`Condition`].
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionKind {
    Compare {
        op: CompareOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `left op ALL|ANY (query)`
    Quantified {
        op: CompareOp,
        left: Box<Expr>,
        quantifier: Quantifier,
        query: Box<Query>,
    },
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    InList {
        operand: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    InQuery {
        operand: Box<Expr>,
        query: Box<Query>,
        negated: bool,
    },
    Like {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        negated: bool,
    },
    IsNull {
        operand: Box<Expr>,
        negated: bool,
    },
    IsDistinct {
        left: Box<Expr>,
        right: Box<Expr>,
        negated: bool,
    },
    Exists(Box<Query>),
    Not(Box<Condition>),
    /// Two or more.
    And(Vec<Condition>),
    /// Two or more.
    Or(Vec<Condition>),
    /// `UPDATE(column)` of a trigger
    Updated(Name),
    /// CONTAINS and FREETEXT; no columns means `*`.
    FullText {
        function: Name,
        columns: Vec<ColumnName>,
        search: Box<Expr>,
    },
}

/// An operator that compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Equal,
    /// `<>` and `!=`
    NotEqual,
    Less,
    /// Also `!>`
    LessOrEqual,
    Greater,
    /// Also `!<`
    GreaterOrEqual,
}

/// How many rows must satisfy a quantified comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    All,
    /// Also SOME.
    Any,
}

/// `=` and the compound assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    Set,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitXor,
    BitOr,
}
