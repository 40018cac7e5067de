//! Constant folding: what can be computed once is computed when the plan is made.
//!
//! An expression whose computation fails stays as it is: its error belongs to the run, and a run
//! may never reach it. Text to date or time is folded only when every DATEFORMAT gives the same.

use base::{SqlError, SqlResult, messages};
use builtins::{Call, Fact, Question, SessionFacts};
use plan::{CompareOp, Predicate, Scalar, ScalarKind};
use types::datetime::{DateFormat, Moment};
use types::{
    Family, SqlType, Value, apply, bit_not, compare, convert_collated, convert_dated, negate,
};

/// A session that knows nothing: deterministic functions do not ask.
struct Nobody;

impl SessionFacts for Nobody {
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
    fn random(&self) -> u64 {
        0
    }
}

fn unknown() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a constant asked the session"])
}

/// The scalar, as a constant where its operands are.
pub(crate) fn fold(x: Scalar) -> Scalar {
    match value_of(&x) {
        // NULL of a type must stay one: only the word NULL is untyped.
        Some(value) if !value.is_null() => {
            let mut ty = x.ty;
            ty.nullable = false;
            Scalar { kind: ScalarKind::Constant(value), ty }
        }
        _ => x,
    }
}

fn value_of(x: &Scalar) -> Option<Value> {
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
                Some(s) => s.as_constant()?.as_i64()? as i32,
                None => 0,
            };
            let value = operand.as_constant()?;
            if x.ty.sql_type == SqlType::Variant {
                let (from, collation) = (operand.ty.sql_type, operand.ty.collation);
                return convert_collated(value, from, SqlType::Variant, style, collation).ok();
            }
            cast_value(value, operand.ty.sql_type, x.ty.sql_type, style)
        }
        K::Function { function, args, arg_types } if function.deterministic => {
            let values: Option<Vec<Value>> =
                args.iter().map(|a| a.as_constant().cloned()).collect();
            let mut call = Call {
                facts: &Nobody,
                arg_types,
                result: x.ty.sql_type,
                collation: x.ty.collation,
            };
            function.call(&mut call, &values?).ok()
        }
        _ => None,
    }
}

const FORMATS: [DateFormat; 6] = [
    DateFormat::Mdy,
    DateFormat::Dmy,
    DateFormat::Ymd,
    DateFormat::Ydm,
    DateFormat::Myd,
    DateFormat::Dym,
];

fn cast_value(value: &Value, from: SqlType, to: SqlType, style: i32) -> Option<Value> {
    let first = convert_dated(value, from, to, style, FORMATS[0]).ok()?;
    let dated = from.is_character() && to.family() == Family::Temporal;
    let same = |f: &DateFormat| {
        convert_dated(value, from, to, style, *f).is_ok_and(|other| other == first)
    };
    (!dated || FORMATS[1..].iter().all(same)).then_some(first)
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
