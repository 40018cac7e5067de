//! Scalar expressions as trees that row mode evaluates.
//!
//! Types are settled: where an operator needs its operands in other types there is a `Cast`, and
//! `types::apply` is called with `ty.sql_type`. An int column compared with an int constant is
//! three nodes and no allocation.

use crate::{Predicate, Slot, SubqueryId, VariableId};
use base::{DatabaseId, ObjectId};
use builtins::{Fact, Function, XmlMethod};
use std::sync::Arc;
use types::{BinaryOp, Collation, SqlType, Value};

/// How firmly a value has its collation: which of two wins when they meet (the label of the
/// reference page "Collation Precedence").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coercibility {
    /// Constants, variables, results of functions over those.
    #[default]
    Default,
    /// A column.
    Implicit,
    /// Two columns of different collations met: the value has none. What needs one is an error.
    None(CollationConflict),
    /// COLLATE.
    Explicit,
}

impl Coercibility {
    /// The greater one wins.
    pub fn rank(self) -> u8 {
        match self {
            Coercibility::Default => 0,
            Coercibility::Implicit => 1,
            Coercibility::None(_) => 2,
            Coercibility::Explicit => 3,
        }
    }

    /// Why the value has no collation.
    pub fn unresolved(self) -> Option<CollationConflict> {
        match self {
            Coercibility::None(unresolved) => Some(unresolved),
            Coercibility::Default | Coercibility::Implicit | Coercibility::Explicit => None,
        }
    }
}

/// Where a value lost its collation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollationConflict {
    /// The collation that was there first.
    pub earlier: Collation,
    /// The one that came beside it.
    pub later: Collation,
    /// What put them together.
    pub operator: CombiningOperator,
}

/// An operator whose result may have no collation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CombiningOperator {
    /// `+`
    Add,
    /// CASE, and what is one: IIF, COALESCE.
    Case,
    /// CHOOSE
    Choose,
    /// CONCAT
    Concat,
    /// CONCAT_WS
    ConcatWs,
    /// UNION ALL, and the rows of VALUES.
    UnionAll,
}

impl CombiningOperator {
    /// As messages spell it.
    pub fn name(self) -> &'static str {
        match self {
            CombiningOperator::Add => "add",
            CombiningOperator::Case => "CASE",
            CombiningOperator::Choose => "CHOOSE",
            CombiningOperator::Concat => "concat",
            CombiningOperator::ConcatWs => "concat_ws",
            CombiningOperator::UnionAll => "UNION ALL",
        }
    }
}

/// What is known of an expression's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalarType {
    /// Their type.
    pub sql_type: SqlType,
    /// Whether one may be NULL.
    pub nullable: bool,
    /// How they compare, if characters.
    pub collation: Collation,
    /// How firmly they compare so.
    pub coercibility: Coercibility,
}

impl ScalarType {
    /// A type with the default collation.
    pub fn new(sql_type: SqlType, nullable: bool) -> Self {
        ScalarType {
            sql_type,
            nullable,
            collation: Collation::default(),
            coercibility: Coercibility::Default,
        }
    }

    /// The same, converted.
    #[must_use]
    pub fn converted(self, sql_type: SqlType) -> Self {
        ScalarType { sql_type, ..self }
    }
}

/// Something with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// What it computes.
    pub kind: ScalarKind,
    /// What its values are.
    pub ty: ScalarType,
}

/// See [`Scalar`]. Equal ones are the same computation.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarKind {
    /// A constant of the expression's type, or NULL.
    Constant(Value),
    /// A column: a slot of the frame.
    Column(Slot),
    /// A variable or parameter.
    Variable(VariableId),
    /// `@@name`; convert the fact's value to the expression's type.
    Global(Fact),
    /// `-x`: `types::negate` with the expression's type.
    Negate(Box<Scalar>),
    /// `~x`
    BitNot(Box<Scalar>),
    /// `types::apply`; the operands have the types that `types::operation` asked for.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left operand.
        left: Box<Scalar>,
        /// Right operand.
        right: Box<Scalar>,
    },
    /// The result of the first branch whose predicate is true. Results have the expression's type.
    Case {
        /// Conditions with their results.
        branches: Vec<(Predicate, Scalar)>,
        /// ELSE; NULL when absent.
        otherwise: Option<Box<Scalar>>,
    },
    /// The first operand that is not NULL. All have the expression's type.
    Coalesce(Vec<Scalar>),
    /// `types::convert` from the operand's type to the expression's.
    Cast {
        /// What is converted.
        operand: Box<Scalar>,
        /// CONVERT's style as an int.
        style: Option<Box<Scalar>>,
        /// TRY_: NULL instead of an error.
        attempt: bool,
        /// Nobody wrote it.
        implicit: ImplicitFlag,
    },
    /// A function of the registry.
    Function {
        /// Which.
        function: &'static Function,
        /// Its arguments, not converted.
        args: Vec<Scalar>,
        /// Their types, as `Call::arg_types` wants them.
        arg_types: Box<[SqlType]>,
    },
    /// A method of xml.
    Method {
        /// Which, with its expression.
        method: Arc<XmlMethod>,
        /// The value of xml, then what the expression names.
        args: Vec<Scalar>,
    },
    /// A scalar function of the user. The arguments have the types of its parameters.
    Call(Box<UserCall>),
    /// The one value of a subquery; NULL when it has no row, error 512 when it has two.
    Subquery(SubqueryId),
    /// Puts a value into a slot, then computes the body, which reads it there: the operand of a
    /// simple CASE is computed once.
    Let {
        /// Written by this alone.
        slot: Slot,
        /// What is put there.
        value: Box<Scalar>,
        /// What is computed.
        body: Box<Scalar>,
    },
}

/// Whether a conversion is none of the text's. That is told of a plan and means nothing else: all
/// are equal, so that expressions match that compute the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitFlag(pub bool);

impl PartialEq for ImplicitFlag {
    fn eq(&self, _: &ImplicitFlag) -> bool {
        true
    }
}

/// A function of the user, or a sequence to draw from: what `exec`'s `Callout` finds it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserFunction {
    /// Its database.
    pub database: DatabaseId,
    /// Its id.
    pub object: ObjectId,
}

/// A call of a scalar function of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct UserCall {
    /// Which.
    pub function: UserFunction,
    /// `database.schema.function`
    pub name: Box<str>,
    /// RETURNS NULL ON NULL INPUT: not called when an argument is NULL.
    pub null_on_null_input: bool,
    /// Its arguments.
    pub args: Vec<Scalar>,
}

impl Scalar {
    /// A constant of a type.
    pub fn constant(value: Value, sql_type: SqlType) -> Scalar {
        let nullable = value.is_null();
        Scalar { kind: ScalarKind::Constant(value), ty: ScalarType::new(sql_type, nullable) }
    }

    /// NULL of a type.
    pub fn null(sql_type: SqlType) -> Scalar {
        Scalar::constant(Value::Null, sql_type)
    }

    /// A column.
    pub fn column(slot: Slot, ty: ScalarType) -> Scalar {
        Scalar { kind: ScalarKind::Column(slot), ty }
    }

    /// The value of a constant.
    pub fn as_constant(&self) -> Option<&Value> {
        match &self.kind {
            ScalarKind::Constant(v) => Some(v),
            _ => None,
        }
    }

    /// The slot of a column.
    pub fn as_column(&self) -> Option<Slot> {
        match self.kind {
            ScalarKind::Column(slot) => Some(slot),
            _ => None,
        }
    }
}
