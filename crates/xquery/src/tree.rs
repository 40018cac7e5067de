//! An expression that has been read and typed.

use crate::atomic::{Atomic, AtomicType};

/// A name as a test or a constructor has it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QName {
    pub(crate) prefix: Box<str>,
    pub(crate) local: Box<str>,
    pub(crate) uri: Box<str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Attribute,
    Parent,
    Itself,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Test {
    /// `node()`
    Node,
    Text,
    Comment,
    Instruction,
    /// `*`: an element, or on its axis an attribute.
    Any,
    /// `*:local`
    Local(Box<str>),
    /// `prefix:*`
    Namespace(Box<str>),
    Name(QName),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Predicate {
    /// A number written out.
    Index(usize),
    /// A number that is computed: the position asked for.
    Position(Expr),
    /// Anything else: whether it holds.
    Filter(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Step {
    pub(crate) axis: Axis,
    pub(crate) test: Test,
    pub(crate) predicates: Vec<Predicate>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeComparison {
    Is,
    Before,
    After,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Avg,
    Ceiling,
    Concat,
    Contains,
    Count,
    Data,
    DistinctValues,
    Empty,
    Floor,
    Last,
    LocalName,
    LowerCase,
    Max,
    Min,
    NamespaceUri,
    Not,
    Number,
    Position,
    Round,
    String,
    StringLength,
    Substring,
    Sum,
    UpperCase,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Binding {
    For(usize, Expr),
    Let(usize, Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Flwor {
    pub(crate) bindings: Vec<Binding>,
    pub(crate) filter: Option<Expr>,
    /// Keys; true: descending.
    pub(crate) order: Vec<(Expr, bool)>,
    pub(crate) result: Expr,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Element {
    pub(crate) name: QName,
    pub(crate) namespaces: Vec<(Box<str>, Box<str>)>,
    pub(crate) attributes: Vec<(QName, AttributeValue)>,
    pub(crate) content: Vec<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum AttributeValue {
    Text(String),
    Computed(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Literal(Atomic),
    Context,
    /// The document that the context item is in.
    Root,
    Variable(usize),
    /// A value of the statement.
    Sql(usize),
    Sequence(Vec<Expr>),
    Path(Box<Expr>, Vec<Step>),
    Filter(Box<Expr>, Vec<Predicate>),
    Or(Vec<Expr>),
    And(Vec<Expr>),
    General(Comparison, Box<(Expr, Expr)>),
    Value(Comparison, Box<(Expr, Expr)>),
    Nodes(NodeComparison, Box<(Expr, Expr)>),
    Arithmetic(Box<Expr>, Vec<(Arithmetic, Expr)>),
    Negate(Box<Expr>),
    If(Box<(Expr, Expr, Expr)>),
    Flwor(Box<Flwor>),
    Quantified {
        every: bool,
        bindings: Vec<(usize, Expr)>,
        test: Box<Expr>,
    },
    Call(Function, Vec<Expr>),
    Cast(Box<Expr>, AtomicType),
    Element(Box<Element>),
    Attribute(Box<(QName, Expr)>),
    Text(Box<Expr>),
    /// Characters in an element that is being made.
    Characters(Box<str>),
    Comment(Box<str>),
    Instruction(Box<str>, Box<str>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    First,
    Last,
    Before,
    After,
}

/// What `modify()` does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Update {
    Insert {
        content: Expr,
        place: Place,
        target: Expr,
    },
    Delete(Expr),
    /// `emptied`: with `()`, as written.
    Replace {
        target: Expr,
        with: Expr,
        emptied: bool,
    },
}

/// What a text is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Body {
    Expression(Expr),
    Update(Update),
}
