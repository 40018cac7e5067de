//! Conditions: true, false or unknown, and no SQL value.

use crate::{Scalar, Slot, SubqueryId};
use builtins::LikePattern;
use std::cmp::Ordering;
use std::sync::Arc;
use types::Collation;

/// An operator that compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl CompareOp {
    /// Whether an order of left and right satisfies it.
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            CompareOp::Equal => order == Ordering::Equal,
            CompareOp::NotEqual => order != Ordering::Equal,
            CompareOp::Less => order == Ordering::Less,
            CompareOp::LessOrEqual => order != Ordering::Greater,
            CompareOp::Greater => order == Ordering::Greater,
            CompareOp::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// The operator of `right op left`.
    pub fn mirrored(self) -> CompareOp {
        match self {
            CompareOp::Less => CompareOp::Greater,
            CompareOp::LessOrEqual => CompareOp::GreaterOrEqual,
            CompareOp::Greater => CompareOp::Less,
            CompareOp::GreaterOrEqual => CompareOp::LessOrEqual,
            same => same,
        }
    }

    /// The operator that holds where this one does not, and is unknown where it is.
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Equal => CompareOp::NotEqual,
            CompareOp::NotEqual => CompareOp::Equal,
            CompareOp::Less => CompareOp::GreaterOrEqual,
            CompareOp::LessOrEqual => CompareOp::Greater,
            CompareOp::Greater => CompareOp::LessOrEqual,
            CompareOp::GreaterOrEqual => CompareOp::Less,
        }
    }

    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            CompareOp::Equal => "=",
            CompareOp::NotEqual => "<>",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
        }
    }
}

/// How many rows must satisfy a comparison with a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// ALL
    All,
    /// ANY, SOME, IN
    Any,
}

/// The pattern of LIKE.
#[derive(Clone, Debug, PartialEq)]
pub enum LikeText {
    /// Of a constant pattern and escape.
    Compiled(Arc<LikePattern>),
    /// To be compiled when run; the escape is one character, or NULL.
    Dynamic {
        /// The pattern; of the operand's family.
        pattern: Box<Scalar>,
        /// ESCAPE
        escape: Option<Box<Scalar>>,
    },
}

/// A condition. A WHERE keeps a row only when it is true; a CHECK refuses only when it is false.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// Known at binding; `None` is unknown.
    Constant(Option<bool>),
    /// Unknown when a side is NULL. The sides have one type.
    Compare {
        /// Which.
        op: CompareOp,
        /// Left side.
        left: Box<Scalar>,
        /// Right side.
        right: Box<Scalar>,
        /// For characters.
        collation: Collation,
    },
    /// IS NULL; never unknown.
    IsNull(Box<Scalar>),
    /// IS DISTINCT FROM; never unknown.
    IsDistinct {
        /// Left side.
        left: Box<Scalar>,
        /// Right side.
        right: Box<Scalar>,
        /// For characters.
        collation: Collation,
    },
    /// Unknown when the operand or a dynamic pattern is NULL.
    Like {
        /// What is matched; varchar or nvarchar as the pattern.
        operand: Box<Scalar>,
        /// The pattern.
        pattern: LikeText,
        /// How characters compare.
        collation: Collation,
    },
    /// Equality with any of a list; as ORs of `=`. All have one type.
    InList {
        /// What is looked for.
        operand: Box<Scalar>,
        /// Where.
        list: Vec<Scalar>,
        /// For characters.
        collation: Collation,
    },
    /// Whether a subquery has a row; never unknown.
    Exists(SubqueryId),
    /// A comparison with every or any row of a subquery of one column, which has the operand's
    /// type. IN is `= ANY`, NOT IN its negation.
    Quantified {
        /// How they compare.
        op: CompareOp,
        /// How many must.
        quantifier: Quantifier,
        /// What is compared.
        operand: Box<Scalar>,
        /// With what.
        subquery: SubqueryId,
        /// For characters.
        collation: Collation,
    },
    /// Unknown stays unknown.
    Not(Box<Predicate>),
    /// All true; evaluated from the left, no further than the first false.
    And(Vec<Predicate>),
    /// Any true; evaluated from the left, no further than the first true.
    Or(Vec<Predicate>),
    /// Puts a value into a slot, then decides the body, which reads it there.
    Let {
        /// Written by this alone.
        slot: Slot,
        /// What is put there.
        value: Box<Scalar>,
        /// What is decided.
        body: Box<Predicate>,
    },
}

impl Predicate {
    /// Always true: no condition.
    pub const TRUE: Predicate = Predicate::Constant(Some(true));

    /// Both; conjunctions are kept flat.
    #[must_use]
    pub fn and(self, other: Predicate) -> Predicate {
        match (self, other) {
            (Predicate::Constant(Some(true)), p) | (p, Predicate::Constant(Some(true))) => p,
            (Predicate::And(mut a), Predicate::And(b)) => {
                a.extend(b);
                Predicate::And(a)
            }
            (Predicate::And(mut a), b) => {
                a.push(b);
                Predicate::And(a)
            }
            (a, Predicate::And(mut b)) => {
                b.insert(0, a);
                Predicate::And(b)
            }
            (a, b) => Predicate::And(vec![a, b]),
        }
    }

    /// The parts of a conjunction, nested ones too; none of one that is always true.
    pub fn conjuncts(self) -> Vec<Predicate> {
        match self {
            Predicate::Constant(Some(true)) => Vec::new(),
            Predicate::And(parts) => parts.into_iter().flat_map(Predicate::conjuncts).collect(),
            one => vec![one],
        }
    }

    /// The conjunction of parts; `None` when there are none.
    pub fn all(parts: Vec<Predicate>) -> Option<Predicate> {
        parts.into_iter().reduce(Predicate::and)
    }
}
