//! Types that are not known yet: of the word NULL, and of parameters that nobody declared.

use plan::{Scalar, ScalarKind, VariableId};
use types::{Length, SqlType};

/// The type that a name has while types are deduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndeclaredType {
    /// It is no such parameter.
    No,
    /// The parameter of this number, of which nothing is known.
    Untyped(u16),
    /// It is tried whether this type will do.
    Tried(SqlType),
}

/// What a place says of a parameter. Of several the first counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Inference {
    /// It is of this type.
    Is(SqlType),
    /// It stands in an expression: candidates are to be tried.
    General,
    /// Nothing: 11502.
    Nothing,
    /// It meets another one: 11503.
    Meets(u16),
    /// It is the argument of a parameter of a function that has this name.
    Formal(Box<str>),
    /// It gets a value of this type.
    Assigned(SqlType),
}

/// Learns what types parameters have.
pub trait Deduction {
    /// What a name is for which there is no variable.
    fn undeclared(&self, name: &str) -> UndeclaredType;

    /// A place has said something.
    fn learn(&self, parameter: u16, what: Inference);

    /// The statement needs a conversion of this cost.
    fn cost(&self, cost: u32);
}

/// Variables from here on have no place: they are parameters without a type.
const UNTYPED: u32 = u32::MAX - u16::MAX as u32;

/// The parameter for which types are tried.
pub(crate) const TRIED: u32 = UNTYPED - 1;

/// A parameter without a type as a variable.
pub fn untyped_variable(parameter: u16) -> VariableId {
    VariableId(UNTYPED + u32::from(parameter))
}

/// The parameter without a type that a variable is.
pub fn untyped_parameter(variable: VariableId) -> Option<u16> {
    u16::try_from(variable.0.checked_sub(UNTYPED)?).ok()
}

/// The parameter that an expression is, if it is one without a type.
pub(crate) fn untyped(x: &Scalar) -> Option<u16> {
    match x.kind {
        ScalarKind::Variable(id) => untyped_parameter(id),
        _ => None,
    }
}

/// Whether a scalar is the word NULL, which takes any type. A CAST of NULL is never folded, so
/// that it stays one of its own type.
pub(crate) fn is_untyped_null(x: &Scalar) -> bool {
    matches!(&x.kind, ScalarKind::Constant(v) if v.is_null())
}

/// Whether an expression takes any type: the word NULL, or a parameter without one.
pub(crate) fn takes_any_type(x: &Scalar) -> bool {
    is_untyped_null(x) || untyped(x).is_some()
}

/// The types that are tried for a parameter in an expression, the one of the highest precedence
/// first; of text and bytes the shorter one first.
pub fn candidates() -> Vec<SqlType> {
    vec![
        SqlType::Variant,
        SqlType::Xml,
        SqlType::DateTimeOffset(7),
        SqlType::DateTime2(7),
        SqlType::DateTime,
        SqlType::SmallDateTime,
        SqlType::Date,
        SqlType::Time(7),
        SqlType::Float,
        SqlType::Real,
        SqlType::decimal(38, 19),
        SqlType::Money,
        SqlType::SmallMoney,
        SqlType::BigInt,
        SqlType::Int,
        SqlType::SmallInt,
        SqlType::TinyInt,
        SqlType::Bit,
        SqlType::nvarchar(4000),
        SqlType::NVarChar(Length::Max),
        SqlType::varchar(8000),
        SqlType::VarChar(Length::Max),
        SqlType::varbinary(8000),
        SqlType::VarBinary(Length::Max),
    ]
}
