//! A query as data: what both engines are asked, before either's spelling.
//!
//! Every expression has one of four kinds, and two of the same kind compare. Nothing here can raise
//! an error that depends on which rows a plan looks at first, beside an overflow.

/// What an expression's values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Whole numbers.
    Int,
    /// Numbers with two digits after the point.
    Decimal,
    /// Lower-case letters and digits: equal under every collation or different under all.
    Text,
    /// Days.
    Date,
}

/// Every kind.
pub(crate) const KINDS: [Kind; 4] = [Kind::Int, Kind::Decimal, Kind::Text, Kind::Date];

/// `=`, `<>`, …
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operator(pub(crate) &'static str);

/// A function of values.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Function {
    /// The first that is not NULL.
    Coalesce,
    /// NULL when both are equal.
    NullIf,
    /// Without sign.
    Abs,
    /// Characters of a text.
    Length,
    /// A part of a text.
    Substring(u32, u32),
    /// All of one letter for another.
    Replace(char, char),
    /// One text after another.
    Concatenate,
    /// The year of a day.
    Year,
    /// The month of a day.
    Month,
    /// From the first day to the second.
    DaysBetween,
    /// So many days on.
    AddDays(i64),
    /// A whole number as text.
    TextOfInt,
    /// A whole number as a decimal.
    DecimalOfInt,
}

/// A function of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aggregate {
    /// `COUNT(*)`
    CountRows,
    /// `COUNT(x)`
    Count,
    /// `SUM(x)` of an exact number, of which the engines make different types.
    Sum(Kind),
    /// `MIN(x)`
    Min,
    /// `MAX(x)`
    Max,
    /// `AVG(x)`, of which the engines make different types.
    Average,
    /// `STRING_AGG`, ordered by what it joins.
    Join,
}

/// A function over a window.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Window {
    /// An aggregate, or a function by name that takes what `argument` is.
    pub(crate) function: WindowFunction,
    /// Its argument.
    pub(crate) argument: Option<Box<Expr>>,
    /// PARTITION BY
    pub(crate) partition: Vec<Expr>,
    /// ORDER BY, descending where true.
    pub(crate) order: Vec<(Expr, bool)>,
    /// ROWS or RANGE BETWEEN …
    pub(crate) frame: Option<&'static str>,
}

/// What a window computes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum WindowFunction {
    /// An aggregate.
    Aggregate(Aggregate),
    /// RANK, ROW_NUMBER …
    Named(&'static str),
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    /// A column of a source.
    Column(String, String),
    /// A whole number.
    Int(i64),
    /// Hundredths.
    Decimal(i64),
    /// Letters and digits.
    Text(String),
    /// Days after 2000-01-01.
    Date(i64),
    /// NULL of a kind.
    Null(Kind),
    /// `+ - *`, and `/ %` by what is not zero.
    Arithmetic(char, Box<Expr>, Box<Expr>),
    /// A function.
    Call(Function, Vec<Expr>),
    /// CASE WHEN … ELSE … END
    Case(Vec<(Cond, Expr)>, Option<Box<Expr>>),
    /// An aggregate, DISTINCT where true.
    Aggregate(Aggregate, bool, Option<Box<Expr>>),
    /// A window function.
    Window(Window),
    /// A subquery of one row and one column.
    Subquery(Box<Query>),
}

/// A condition. The last `bool` of a variant negates it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cond {
    /// A comparison.
    Compare(Operator, Expr, Expr),
    /// IS NULL
    IsNull(Expr, bool),
    /// BETWEEN
    Between(Expr, Expr, Expr, bool),
    /// IN (list)
    InList(Expr, Vec<Expr>, bool),
    /// LIKE
    Like(Expr, String, bool),
    /// IS DISTINCT FROM
    Distinct(Expr, Expr, bool),
    /// All.
    And(Vec<Cond>),
    /// Any.
    Or(Vec<Cond>),
    /// Not.
    Not(Box<Cond>),
    /// EXISTS
    Exists(Box<Query>, bool),
    /// IN (subquery)
    InQuery(Expr, Box<Query>, bool),
    /// Compared with ANY, or ALL where true.
    Quantified(Operator, Expr, Box<Query>, bool),
}

/// How a join keeps rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JoinKind {
    /// INNER
    Inner,
    /// LEFT
    Left,
    /// RIGHT
    Right,
    /// FULL
    Full,
    /// CROSS
    Cross,
}

/// What stands in FROM.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant, reason = "a tree is made once and walked a few dozen times")]
pub(crate) enum Source {
    /// A table with an alias.
    Table(String, String),
    /// A query with an alias.
    Derived(Box<Query>, String),
    /// A common table expression with an alias.
    Common(String, String),
    /// A join; CROSS has no condition.
    Join(JoinKind, Box<Source>, Box<Source>, Option<Cond>),
    /// APPLY (OUTER where true) of a query with an alias.
    Apply(bool, Box<Source>, Box<Query>, String),
}

/// GROUP BY.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Group {
    /// The keys.
    pub(crate) keys: Vec<Expr>,
    /// How they are combined.
    pub(crate) form: GroupForm,
}

/// The form of GROUP BY.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum GroupForm {
    /// All keys.
    Plain,
    /// ROLLUP
    Rollup,
    /// CUBE
    Cube,
    /// GROUPING SETS of positions in the keys.
    Sets(Vec<Vec<usize>>),
}

/// SELECT.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Select {
    /// DISTINCT
    pub(crate) distinct: bool,
    /// What is selected, named c0, c1, …
    pub(crate) items: Vec<Expr>,
    /// FROM
    pub(crate) from: Source,
    /// WHERE
    pub(crate) filter: Option<Cond>,
    /// GROUP BY; `Some` with no keys groups all rows into one.
    pub(crate) group: Option<Group>,
    /// HAVING
    pub(crate) having: Option<Cond>,
}

/// Selects, combined.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Body {
    /// One.
    Select(Box<Select>),
    /// UNION, UNION ALL, EXCEPT, INTERSECT.
    Set(&'static str, Box<Body>, Box<Body>),
}

/// A query.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Query {
    /// WITH
    pub(crate) common: Vec<(String, Query)>,
    /// What it selects.
    pub(crate) body: Body,
    /// How many columns, and of what.
    pub(crate) kinds: Vec<Kind>,
    /// Ordered by all its columns: rows left out, and rows kept.
    pub(crate) limit: Option<(u64, u64)>,
}

/// A change of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Change {
    /// UPDATE table SET column = … WHERE …
    Update(String, Vec<(String, Expr)>, Cond),
    /// DELETE FROM table WHERE …
    Delete(String, Cond),
    /// INSERT INTO table (columns) query
    Insert(String, Vec<String>, Query),
}

impl Change {
    /// What it changes.
    pub(crate) fn table(&self) -> &str {
        match self {
            Change::Update(table, ..) | Change::Delete(table, _) | Change::Insert(table, ..) => {
                table
            }
        }
    }
}
