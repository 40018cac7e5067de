//! Constant folding: what can be computed once is computed when the plan is made.
//!
//! An expression whose computation fails stays as it is: its error belongs to the run, and a run
//! may never reach it. Where DATEFORMAT decides what text means as a date, the plan notes it.

use base::{SqlError, SqlResult, messages};
use builtins::{Call, Fact, Question, SessionFacts};
use plan::{CompareOp, Predicate, Scalar, ScalarKind, ScalarType};
use std::cell::Cell;
use types::datetime::{Dialect, Moment};
use types::{
    SqlType, Value, apply, bit_not, compare, conversion_is_deterministic, convert_collated,
    is_dated, is_named, negate,
};

/// What constants are folded with.
#[derive(Debug)]
pub(crate) struct Folding {
    dialect: Dialect,
    /// Another one might have given something else.
    decided: Cell<bool>,
    /// A conversion was folded that SQL Server calls nondeterministic.
    undetermined: Cell<bool>,
}

impl SessionFacts for Folding {
    fn fact(&self, _: Fact) -> SqlResult<Value> {
        Err(unknown())
    }
    fn resolve(&self, _: Question, _: &[Value]) -> SqlResult<Value> {
        Err(unknown())
    }
    fn clock(&self) -> Moment {
        // No deterministic function asks; were one to, its answer would be refused by the date.
        Moment::from_civil(1, 1, 1, 0).expect("the first day exists")
    }
    fn dialect(&self) -> Dialect {
        self.decided.set(true);
        self.undetermined.set(true);
        self.dialect
    }
    fn random(&self) -> u64 {
        0
    }
}

fn unknown() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a constant asked the session"])
}

impl Folding {
    pub(crate) fn new(dialect: Dialect) -> Folding {
        Folding { dialect, decided: Cell::new(false), undetermined: Cell::new(false) }
    }

    /// How dates are written, where what was folded depends on it.
    pub(crate) fn decided_by(&self) -> Option<Dialect> {
        self.decided.get().then_some(self.dialect)
    }

    /// Whether a constant was folded that is none of a stored column.
    pub(crate) fn is_undetermined(&self) -> bool {
        self.undetermined.get()
    }

    /// The scalar, as a constant where its operands are.
    pub(crate) fn fold(&self, x: Scalar) -> Scalar {
        match self.value_of(&x) {
            // NULL of a type must stay one: only the word NULL is untyped.
            Some(value) if !value.is_null() => {
                let mut ty = x.ty;
                ty.nullable = false;
                Scalar { kind: ScalarKind::Constant(value), ty }
            }
            _ => x,
        }
    }

    fn value_of(&self, x: &Scalar) -> Option<Value> {
        use ScalarKind as K;
        match &x.kind {
            K::Negate(operand) => negate(operand.as_constant()?, x.ty.sql_type).ok(),
            K::BitNot(operand) => bit_not(operand.as_constant()?, x.ty.sql_type).ok(),
            K::Binary { op, left, right } => {
                let (left, right) = (left.as_constant()?, right.as_constant()?);
                if left.is_null() || right.is_null() {
                    return None;
                }
                apply(*op, left, right, x.ty.sql_type).ok()
            }
            K::Cast { operand, style, .. } => {
                let style = match style {
                    Some(s) => Some(s.as_constant()?.as_i64()? as i32),
                    None => None,
                };
                self.cast_value(operand, x.ty, style)
            }
            K::Coalesce(list) => first_value(list, x.ty.sql_type),
            K::Function { function, args, arg_types } if function.deterministic => {
                if function.name == "ISNULL"
                    && let Some(value) = first_value(args, x.ty.sql_type)
                {
                    return Some(value);
                }
                let values: Option<Vec<Value>> =
                    args.iter().map(|a| a.as_constant().cloned()).collect();
                let mut call = Call {
                    facts: self,
                    arg_types,
                    result: x.ty.sql_type,
                    collation: x.ty.collation,
                };
                function.call(&mut call, &values?).ok()
            }
            _ => None,
        }
    }

    fn cast_value(&self, operand: &Scalar, ty: ScalarType, style: Option<i32>) -> Option<Value> {
        let value = operand.as_constant()?;
        let (from, to) = (operand.ty.sql_type, ty.sql_type);
        let collations = (operand.ty.collation, ty.collation);
        let number = style.unwrap_or(0);
        let by = |dialect| convert_collated(value, from, to, number, dialect, collations).ok();
        let folded = by(self.dialect)?;
        let same = |dialect| by(dialect).as_ref() == Some(&folded);
        if is_dated(from, to)
            && !self.dialect.decides_nothing(is_named(value, from, to, number), same)
        {
            self.decided.set(true);
        }
        if !conversion_is_deterministic(from, to, style) {
            self.undetermined.set(true);
        }
        Some(folded)
    }
}

/// The first of several, where it is a value of the type of them all.
fn first_value(list: &[Scalar], sql_type: SqlType) -> Option<Value> {
    let first = list.first().filter(|x| x.ty.sql_type == sql_type)?;
    first.as_constant().filter(|v| !v.is_null()).cloned()
}

/// The outcome of a comparison of constants.
pub(crate) fn compared(
    op: CompareOp,
    left: &Scalar,
    right: &Scalar,
    collation: types::Collation,
) -> Option<Predicate> {
    let (a, b) = (left.as_constant()?, right.as_constant()?);
    let truth =
        if a.is_null() || b.is_null() { None } else { Some(op.holds(compare(a, b, collation))) };
    Some(Predicate::Constant(truth))
}

/// NOT, folded.
pub(crate) fn negated(p: Predicate) -> Predicate {
    match p {
        Predicate::Constant(truth) => Predicate::Constant(truth.map(|t| !t)),
        Predicate::Not(inner) => *inner,
        Predicate::Compare { op, left, right, collation } => {
            Predicate::Compare { op: op.negated(), left, right, collation }
        }
        Predicate::And(parts) => any_of(parts.into_iter().map(negated).collect()),
        Predicate::Or(parts) => all_of(parts.into_iter().map(negated).collect()),
        Predicate::Let { slot, value, body } => {
            Predicate::Let { slot, value, body: Box::new(negated(*body)) }
        }
        other => Predicate::Not(Box::new(other)),
    }
}

/// AND, folded.
pub(crate) fn all_of(parts: Vec<Predicate>) -> Predicate {
    if parts.contains(&Predicate::Constant(Some(false))) {
        return Predicate::Constant(Some(false));
    }
    parts.into_iter().fold(Predicate::TRUE, Predicate::and)
}

/// OR, folded.
pub(crate) fn any_of(parts: Vec<Predicate>) -> Predicate {
    if parts.contains(&Predicate::TRUE) {
        return Predicate::TRUE;
    }
    let mut parts: Vec<Predicate> =
        parts.into_iter().filter(|p| *p != Predicate::Constant(Some(false))).collect();
    match parts.len() {
        0 => Predicate::Constant(Some(false)),
        1 => parts.remove(0),
        _ => Predicate::Or(parts),
    }
}

/// What an identity column has that gives no value.
pub(crate) fn zero(sql_type: SqlType) -> Scalar {
    let value = types::fit_number(0, sql_type);
    let value = value.or_else(|| types::Decimal::new(0, 0).map(Value::Decimal));
    Scalar::constant(value.unwrap_or(Value::Null), sql_type)
}
