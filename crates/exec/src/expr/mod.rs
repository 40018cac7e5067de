//! `Expr`: a scalar expression compiled for row mode.
//!
//! ```text
//!   cond      `Cond`, a predicate; compare: how two values compare; in_list: the list of IN
//!   subplan   a subquery, with the answer that it keeps
//!   append    text appended to a variable in place
//! ```
//! It is a separate tree, so that an executor owns what it runs. Columns, constants and variables
//! are read in place; only computed operands make a value. An expression is evaluated only for rows
//! that reach it, so errors (8134, 8115, 245) belong to such rows.

pub(crate) mod append;
mod compare;
mod cond;
mod in_list;
mod subplan;

pub(crate) use cond::Cond;
pub(crate) use subplan::Subplan;

use crate::run::Run;
use base::{SqlError, SqlResult, limits, messages};
use builtins::{Call, Fact, Function, XmlMethod};
use plan::{Scalar, ScalarKind, Slot};
use std::sync::Arc;
use types::datetime::Dialect;
use types::{
    BinaryOp, Collation, SqlType, Value, apply, bit_not, convert, convert_collated, is_dated,
    negate,
};

/// How deep a tree may nest: what `bind` admits, with the conversions it adds.
pub(crate) const DEPTH_MAX: usize = limits::EXPRESSION_DEPTH_MAX * 4;
/// Room for the answers of functions that have one answer in a run.
const ONCE_RESERVED: usize = 12;
/// Arguments of a function that need no allocation.
const ARGUMENTS_INLINE: usize = 4;

/// A compiled scalar.
pub(crate) enum Expr {
    Constant(Value),
    Slot(usize),
    Variable(usize),
    Fact(Fact, SqlType),
    Negate(Box<Expr>, SqlType),
    BitNot(Box<Expr>, SqlType),
    Binary {
        op: BinaryOp,
        sides: Box<(Expr, Expr)>,
        result: SqlType,
    },
    /// Many binary operators, each the left side of the next: computed in a loop.
    Chain {
        first: Box<Expr>,
        rest: Box<[Link]>,
    },
    Case {
        branches: Box<[(Cond, Expr)]>,
        otherwise: Option<Box<Expr>>,
    },
    Coalesce(Box<[Expr]>),
    Cast(Box<Cast>),
    Function(Box<FunctionCall>),
    Method(Box<MethodCall>),
    Call(Box<UserCall>),
    Subquery(usize),
    Let {
        slot: Slot,
        value: Box<Expr>,
        body: Box<Expr>,
    },
}

/// A conversion.
pub(crate) struct Cast {
    operand: Expr,
    from: SqlType,
    to: SqlType,
    /// The collation of the operand's characters, and of the result's.
    collations: (Collation, Collation),
    style: Option<Expr>,
    attempt: bool,
}

/// A function with its arguments.
pub(crate) struct FunctionCall {
    function: &'static Function,
    args: Box<[Expr]>,
    arg_types: Box<[SqlType]>,
    result: SqlType,
    collation: Collation,
    /// One answer for all rows of a run.
    once: bool,
}

/// A method of xml with the value that it is called on and its arguments.
pub(crate) struct MethodCall {
    method: Arc<XmlMethod>,
    args: Box<[Expr]>,
}

/// A function of the user with its arguments.
pub(crate) struct UserCall {
    function: plan::UserFunction,
    null_on_null_input: bool,
    args: Box<[Expr]>,
}

/// An operator of a chain with its right side.
pub(crate) struct Link {
    pub(crate) op: BinaryOp,
    pub(crate) right: Expr,
    pub(crate) result: SqlType,
}

/// How many operators make a chain that is computed in a loop.
const LONG: usize = 16;

fn is_long(mut scalar: &Scalar) -> bool {
    for _ in 0..LONG {
        let ScalarKind::Binary { left, .. } = &scalar.kind else { return false };
        scalar = left;
    }
    true
}

/// 191: nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[])
}

impl Expr {
    /// Compiles a scalar.
    ///
    /// # Errors
    /// 191.
    pub(crate) fn new(scalar: &Scalar) -> SqlResult<Expr> {
        Expr::at_depth(scalar, 0)
    }

    /// Compiles a list.
    ///
    /// # Errors
    /// 191.
    pub(crate) fn all(list: &[Scalar]) -> SqlResult<Vec<Expr>> {
        list.iter().map(Expr::new).collect()
    }

    pub(crate) fn at_depth(scalar: &Scalar, depth: usize) -> SqlResult<Expr> {
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let deeper = |s: &Scalar| Expr::at_depth(s, depth + 1);
        let boxed = |s: &Scalar| deeper(s).map(Box::new);
        let all = |list: &[Scalar]| list.iter().map(deeper).collect::<SqlResult<Box<[Expr]>>>();
        let result = scalar.ty.sql_type;
        Ok(match &scalar.kind {
            ScalarKind::Constant(v) => Expr::Constant(v.clone()),
            ScalarKind::Column(slot) => Expr::Slot(slot.0 as usize),
            ScalarKind::Variable(id) => Expr::Variable(id.0 as usize),
            ScalarKind::Global(fact) => Expr::Fact(*fact, result),
            ScalarKind::Negate(x) => Expr::Negate(boxed(x)?, result),
            ScalarKind::BitNot(x) => Expr::BitNot(boxed(x)?, result),
            ScalarKind::Binary { .. } if is_long(scalar) => Expr::chain(scalar, depth)?,
            ScalarKind::Binary { op, left, right } => {
                let mut sides = Box::new((deeper(left)?, deeper(right)?));
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) {
                    sides.0.widen(result);
                    sides.1.widen(result);
                }
                Expr::Binary { op: *op, sides, result }
            }
            ScalarKind::Case { branches, otherwise } => {
                let branch = |(when, then): &(plan::Predicate, Scalar)| {
                    Ok((Cond::at_depth(when, depth + 1)?, deeper(then)?))
                };
                Expr::Case {
                    branches: branches.iter().map(branch).collect::<SqlResult<_>>()?,
                    otherwise: otherwise.as_deref().map(boxed).transpose()?,
                }
            }
            ScalarKind::Coalesce(list) => Expr::Coalesce(all(list)?),
            ScalarKind::Cast { operand, style, attempt, .. } => Expr::Cast(Box::new(Cast {
                operand: deeper(operand)?,
                from: operand.ty.sql_type,
                to: result,
                collations: (operand.ty.collation, scalar.ty.collation),
                style: style.as_deref().map(deeper).transpose()?,
                attempt: *attempt,
            })),
            ScalarKind::Function { function, args, arg_types } => {
                let texts = args.iter().filter(|a| a.ty.sql_type.is_character());
                let rank = |a: &Scalar| a.ty.coercibility.rank();
                let text = texts.reduce(|a, b| if rank(b) > rank(a) { b } else { a });
                Expr::Function(Box::new(FunctionCall {
                    function,
                    args: all(args)?,
                    arg_types: arg_types.clone(),
                    result,
                    collation: text.map_or(scalar.ty.collation, |a| a.ty.collation),
                    once: is_once(function, args),
                }))
            }
            ScalarKind::Method { method, args } => {
                let method = Arc::clone(method);
                Expr::Method(Box::new(MethodCall { method, args: all(args)? }))
            }
            ScalarKind::Call(call) => Expr::Call(Box::new(UserCall {
                function: call.function,
                null_on_null_input: call.null_on_null_input,
                args: all(&call.args)?,
            })),
            ScalarKind::Subquery(id) => Expr::Subquery(id.0 as usize),
            ScalarKind::Let { slot, value, body } => {
                Expr::Let { slot: *slot, value: boxed(value)?, body: boxed(body)? }
            }
        })
    }

    /// A chain of operators from its left end.
    fn chain(scalar: &Scalar, depth: usize) -> SqlResult<Expr> {
        let mut rest = Vec::new();
        let mut at = scalar;
        while let ScalarKind::Binary { op, left, right } = &at.kind {
            let (op, result) = (*op, at.ty.sql_type);
            let mut right = Expr::at_depth(right, depth + 1)?;
            if matches!(op, BinaryOp::Add | BinaryOp::Sub) {
                right.widen(result);
            }
            rest.push(Link { op, right, result });
            at = left;
        }
        rest.reverse();
        let first = Box::new(Expr::at_depth(at, depth + 1)?);
        Ok(Expr::Chain { first, rest: rest.into() })
    }

    /// Gives a constant summand the scale of its sum: the same number, added at once.
    fn widen(&mut self, sum: SqlType) {
        if let (Expr::Constant(Value::Decimal(d)), SqlType::Decimal { scale, .. }) =
            (&mut *self, sum)
            && d.scale() < scale
            && let Some(wide) = d.rescale(scale)
        {
            *d = wide;
        }
    }

    /// The value where it lies, when it need not be computed.
    #[inline]
    pub(crate) fn peek<'a>(&'a self, run: &'a Run<'_>) -> Option<&'a Value> {
        match self {
            Expr::Constant(v) => Some(v),
            Expr::Slot(slot) => Some(&run.frame[*slot]),
            Expr::Variable(id) => Some(&run.variables[*id]),
            _ => None,
        }
    }

    /// Its value for the row at hand.
    ///
    /// # Errors
    /// What evaluation meets.
    pub(crate) fn eval(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        match self {
            Expr::Constant(v) => Ok(v.clone()),
            Expr::Slot(slot) => Ok(run.frame[*slot].clone()),
            Expr::Variable(id) => Ok(run.variables[*id].clone()),
            Expr::Fact(fact, to) => fitted(run.facts.fact(*fact)?, *to),
            Expr::Negate(x, result) => x.with(run, |v| negate(v, *result))?,
            Expr::BitNot(x, result) => x.with(run, |v| bit_not(v, *result))?,
            Expr::Binary { op, sides, result } => {
                with_two(&sides.0, &sides.1, run, |l, r| apply(*op, l, r, *result))?
            }
            Expr::Chain { first, rest } => {
                let mut left = first.eval(run)?;
                for Link { op, right, result } in rest {
                    left = right.with(run, |right| apply(*op, &left, right, *result))??;
                }
                Ok(left)
            }
            Expr::Case { branches, otherwise } => {
                for (when, then) in branches {
                    if when.eval(run)? == Some(true) {
                        return then.eval(run);
                    }
                }
                otherwise.as_ref().map_or(Ok(Value::Null), |x| x.eval(run))
            }
            Expr::Coalesce(list) => {
                for x in list {
                    let v = x.eval(run)?;
                    if !v.is_null() {
                        return Ok(v);
                    }
                }
                Ok(Value::Null)
            }
            Expr::Cast(cast) => cast.eval(run),
            Expr::Function(call) => call.eval(run),
            Expr::Method(call) => call.eval(run),
            Expr::Call(call) => call.eval(run),
            Expr::Subquery(id) => subplan::scalar(run, *id),
            Expr::Let { slot, value, body } => {
                let v = value.eval(run)?;
                run.set(*slot, v);
                body.eval(run)
            }
        }
    }

    /// Hands its value to `f`, without a copy where it need not be computed.
    #[inline]
    pub(crate) fn with<R>(&self, run: &mut Run<'_>, f: impl FnOnce(&Value) -> R) -> SqlResult<R> {
        if let Some(v) = self.peek(run) {
            return Ok(f(v));
        }
        Ok(f(&self.eval(run)?))
    }
}

/// Hands two values to `f`, without copies where they need not be computed.
#[inline]
pub(crate) fn with_two<R>(
    left: &Expr,
    right: &Expr,
    run: &mut Run<'_>,
    f: impl FnOnce(&Value, &Value) -> R,
) -> SqlResult<R> {
    if let Some(l) = left.peek(run) {
        if let Some(r) = right.peek(run) {
            return Ok(f(l, r));
        }
        let r = right.eval(run)?;
        // Computing the right side writes no slot or variable that the left one reads.
        return left.with(run, |l| f(l, &r));
    }
    let l = left.eval(run)?;
    right.with(run, |r| f(&l, r))
}

impl Cast {
    fn eval(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        let style = match &self.style {
            None => 0,
            Some(x) => match x.with(run, Value::as_i64)? {
                Some(n) => i32::try_from(n).unwrap_or(-1),
                None => return Ok(Value::Null),
            },
        };
        let (from, to, collations) = (self.from, self.to, self.collations);
        let dated = is_dated(from, to);
        let dialect = if dated { run.facts.dialect() } else { Dialect::default() };
        let convert = |v: &Value| convert_collated(v, from, to, style, dialect, collations);
        let converted = self.operand.with(run, convert)?;
        match converted {
            // TRY_CONVERT gives NULL for a bad value, not where memory lacks or the request ends.
            Err(e) if self.attempt && !is_of_request(&e) => Ok(Value::Null),
            converted => converted,
        }
    }
}

/// Whether an error belongs to the request, not to the value that is converted.
fn is_of_request(e: &SqlError) -> bool {
    let messages = [
        messages::OUT_OF_MEMORY,
        messages::LOB_TOO_LONG,
        messages::ATTENTION,
        messages::SESSION_KILLED,
    ];
    messages.iter().any(|m| m.number == e.number())
}

/// RAND has one answer in a statement for each place where it stands; NEWID one for each row.
fn is_once(function: &Function, args: &[Scalar]) -> bool {
    let fixed = |x: &Scalar| matches!(x.kind, ScalarKind::Constant(_));
    function.is_drawn() && args.iter().all(fixed)
}

impl UserCall {
    fn eval(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        let mut few = [const { Value::Null }; ARGUMENTS_INLINE];
        let mut more;
        let args = if self.args.len() <= ARGUMENTS_INLINE {
            &mut few[..self.args.len()]
        } else {
            more = vec![Value::Null; self.args.len()];
            &mut more[..]
        };
        for (place, arg) in args.iter_mut().zip(&self.args) {
            *place = arg.eval(run)?;
        }
        if self.null_on_null_input && args.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        let callout = run.callout;
        callout.scalar(self.function, args, run.work)
    }
}

impl MethodCall {
    fn eval(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        let args = self.args.iter().map(|x| x.eval(run)).collect::<SqlResult<Vec<Value>>>()?;
        let dialect = run.facts.dialect();
        self.method.call(&args, dialect, &mut || run.tick_builtin())
    }
}

impl FunctionCall {
    fn eval(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        if !self.once {
            return self.eval_now(run);
        }
        let place = std::ptr::from_ref(self) as usize;
        if let Some((_, value)) = run.once.iter().find(|(p, _)| *p == place) {
            return Ok(value.clone());
        }
        let value = self.eval_now(run)?;
        if run.once.is_empty() {
            run.once.reserve(ONCE_RESERVED);
        }
        run.once.push((place, value.clone()));
        Ok(value)
    }

    fn eval_now(&self, run: &mut Run<'_>) -> SqlResult<Value> {
        if self.args.is_empty() {
            return self.call(run, &[]);
        }
        let mut few = [const { Value::Null }; ARGUMENTS_INLINE];
        let mut more;
        let args = if self.args.len() <= ARGUMENTS_INLINE {
            &mut few[..self.args.len()]
        } else {
            more = vec![Value::Null; self.args.len()];
            &mut more[..]
        };
        for (place, arg) in args.iter_mut().zip(&self.args) {
            *place = arg.eval(run)?;
        }
        self.call(run, args)
    }

    fn call(&self, run: &Run<'_>, args: &[Value]) -> SqlResult<Value> {
        let mut call = Call {
            facts: run.facts,
            arg_types: &self.arg_types,
            result: self.result,
            collation: self.collation,
        };
        self.function.call(&mut call, args)
    }
}

/// A fact in the type that the plan gives it.
fn fitted(answer: Value, to: SqlType) -> SqlResult<Value> {
    match natural_type(&answer) {
        Some(from) => convert(&answer, from, to, 0),
        None => Ok(answer),
    }
}

/// A type whose value this is; `None` for NULL.
pub(crate) fn natural_type(value: &Value) -> Option<SqlType> {
    Some(match value {
        Value::Null => return None,
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(d) => SqlType::decimal(38, d.scale()),
        Value::Money(_) => SqlType::Money,
        Value::Real(_) => SqlType::Real,
        Value::Float(_) => SqlType::Float,
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time(7),
        Value::DateTime(_) => SqlType::DateTime,
        Value::SmallDateTime(_) => SqlType::SmallDateTime,
        Value::DateTime2(_) => SqlType::DateTime2(7),
        Value::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
        Value::Char(_) => SqlType::VARCHAR_MAX,
        Value::NChar(_) => SqlType::NVARCHAR_MAX,
        Value::Binary(_) => SqlType::VARBINARY_MAX,
        Value::Guid(_) => SqlType::UniqueIdentifier,
        Value::Variant(_) => SqlType::Variant,
        Value::Xml(_) => SqlType::Xml,
    })
}
