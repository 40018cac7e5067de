//! `Cond`: a predicate compiled for row mode. True, false, or `None` for unknown.

use super::compare::compared;
use super::in_list::InList;
use super::subplan::Comparison;
use super::{DEPTH_MAX, Expr, subplan, too_deep, with_two};
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use builtins::LikePattern;
use plan::{CompareOp, LikeText, Predicate, Slot};
use std::cell::RefCell;
use std::sync::Arc;
use types::{Collation, Value, compare};

/// A compiled predicate.
pub(crate) enum Cond {
    Constant(Option<bool>),
    Compare { op: CompareOp, sides: Box<(Expr, Expr)>, collation: Collation },
    IsNull(Expr),
    IsDistinct { sides: Box<(Expr, Expr)>, collation: Collation },
    Like { operand: Expr, pattern: Pattern },
    InList { operand: Expr, list: Box<InList> },
    Exists(usize),
    Quantified(Box<SubqueryComparison>),
    Not(Box<Cond>),
    And(Box<[Cond]>),
    Or(Box<[Cond]>),
    Let { slot: Slot, value: Expr, body: Box<Cond> },
}

/// A comparison with the rows of a subquery.
pub(crate) struct SubqueryComparison {
    operand: Expr,
    subquery: usize,
    comparison: Comparison,
}

/// The right side of LIKE.
pub(crate) enum Pattern {
    Compiled(Arc<LikePattern>),
    Dynamic(Box<DynamicPattern>),
}

/// A pattern that is compiled when run, and again only when it changes.
pub(crate) struct DynamicPattern {
    pattern: Expr,
    escape: Option<Expr>,
    collation: Collation,
    last: RefCell<Option<(Value, Option<char>, LikePattern)>>,
}

impl Cond {
    /// Compiles a predicate.
    ///
    /// # Errors
    /// 191.
    pub(crate) fn new(predicate: &Predicate) -> SqlResult<Cond> {
        Cond::at_depth(predicate, 0)
    }

    pub(crate) fn at_depth(predicate: &Predicate, depth: usize) -> SqlResult<Cond> {
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let expr = |s| Expr::at_depth(s, depth + 1);
        let cond = |p| Cond::at_depth(p, depth + 1);
        let both = |l, r| SqlResult::Ok(Box::new((expr(l)?, expr(r)?)));
        Ok(match predicate {
            Predicate::Constant(truth) => Cond::Constant(*truth),
            Predicate::Compare { op, left, right, collation } => {
                Cond::Compare { op: *op, sides: both(left, right)?, collation: *collation }
            }
            Predicate::IsNull(x) => Cond::IsNull(expr(x)?),
            Predicate::IsDistinct { left, right, collation } => {
                Cond::IsDistinct { sides: both(left, right)?, collation: *collation }
            }
            Predicate::Like { operand, pattern, collation } => {
                let pattern = Pattern::new(pattern, *collation, depth + 1)?;
                Cond::Like { operand: expr(operand)?, pattern }
            }
            Predicate::InList { operand, list, collation } => {
                let list = Box::new(InList::new(list, *collation, depth + 1)?);
                Cond::InList { operand: expr(operand)?, list }
            }
            Predicate::Exists(id) => Cond::Exists(id.0 as usize),
            Predicate::Quantified { op, quantifier, operand, subquery, collation } => {
                Cond::Quantified(Box::new(SubqueryComparison {
                    operand: expr(operand)?,
                    subquery: subquery.0 as usize,
                    comparison: Comparison {
                        op: *op,
                        quantifier: *quantifier,
                        collation: *collation,
                    },
                }))
            }
            Predicate::Not(p) => Cond::Not(Box::new(cond(p)?)),
            Predicate::And(parts) => Cond::And(parts.iter().map(cond).collect::<SqlResult<_>>()?),
            Predicate::Or(parts) => Cond::Or(parts.iter().map(cond).collect::<SqlResult<_>>()?),
            Predicate::Let { slot, value, body } => {
                Cond::Let { slot: *slot, value: expr(value)?, body: Box::new(cond(body)?) }
            }
        })
    }

    /// Whether it is true of the row at hand.
    #[inline]
    pub(crate) fn holds(&self, run: &mut Run<'_>) -> SqlResult<bool> {
        Ok(self.eval(run)? == Some(true))
    }

    /// Its truth for the row at hand.
    ///
    /// # Errors
    /// What evaluation meets.
    pub(crate) fn eval(&self, run: &mut Run<'_>) -> SqlResult<Option<bool>> {
        match self {
            Cond::Constant(truth) => Ok(*truth),
            Cond::Compare { op, sides, collation } => {
                with_two(&sides.0, &sides.1, run, |l, r| compared(*op, l, r, *collation))
            }
            Cond::IsNull(x) => Ok(Some(x.with(run, Value::is_null)?)),
            Cond::IsDistinct { sides, collation } => {
                let distinct = |l: &Value, r: &Value| compare(l, r, *collation).is_ne();
                Ok(Some(with_two(&sides.0, &sides.1, run, distinct)?))
            }
            Cond::Like { operand, pattern } => {
                let v = operand.eval(run)?;
                if v.is_null() { Ok(None) } else { pattern.matches(&v, run) }
            }
            Cond::InList { operand, list } => {
                let v = operand.eval(run)?;
                list.has(&v, run)
            }
            Cond::Exists(id) => Ok(Some(subplan::exists(run, *id)?)),
            Cond::Quantified(q) => {
                let v = q.operand.eval(run)?;
                subplan::quantified(run, q.subquery, &q.comparison, &v)
            }
            Cond::Not(p) => Ok(p.eval(run)?.map(|truth| !truth)),
            Cond::And(parts) => until(parts, false, run),
            Cond::Or(parts) => until(parts, true, run),
            Cond::Let { slot, value, body } => {
                let v = value.eval(run)?;
                run.set(*slot, v);
                body.eval(run)
            }
        }
    }
}

/// AND and OR: the deciding truth if a part has it, else unknown if a part is, else the opposite.
fn until(parts: &[Cond], deciding: bool, run: &mut Run<'_>) -> SqlResult<Option<bool>> {
    let mut truth = Some(!deciding);
    for part in parts {
        match part.eval(run)? {
            Some(t) if t == deciding => return Ok(Some(deciding)),
            Some(_) => {}
            None => truth = None,
        }
    }
    Ok(truth)
}

impl Pattern {
    fn new(text: &LikeText, collation: Collation, depth: usize) -> SqlResult<Pattern> {
        Ok(match text {
            LikeText::Compiled(pattern) => Pattern::Compiled(Arc::clone(pattern)),
            LikeText::Dynamic { pattern, escape } => Pattern::Dynamic(Box::new(DynamicPattern {
                pattern: Expr::at_depth(pattern, depth)?,
                escape: escape.as_deref().map(|e| Expr::at_depth(e, depth)).transpose()?,
                collation,
                last: RefCell::new(None),
            })),
        })
    }

    fn matches(&self, value: &Value, run: &mut Run<'_>) -> SqlResult<Option<bool>> {
        match self {
            Pattern::Compiled(pattern) => pattern.matches(value).map(Some),
            Pattern::Dynamic(dynamic) => dynamic.matches(value, run),
        }
    }
}

impl DynamicPattern {
    fn matches(&self, value: &Value, run: &mut Run<'_>) -> SqlResult<Option<bool>> {
        let pattern = self.pattern.eval(run)?;
        if pattern.is_null() {
            return Ok(None);
        }
        let escape = match &self.escape {
            None => None,
            Some(x) => escape_of(&x.eval(run)?)?,
        };
        let mut last = self.last.borrow_mut();
        let (_, _, compiled) = match last.take() {
            Some(l) if l.0 == pattern && l.1 == escape => last.insert(l),
            _ => {
                let compiled = LikePattern::compile(&pattern, escape, self.collation);
                last.insert((pattern, escape, compiled))
            }
        };
        compiled.matches(value).map(Some)
    }
}

/// The character of ESCAPE.
fn escape_of(value: &Value) -> SqlResult<Option<char>> {
    let Some(text) = value.as_text() else { return Ok(None) };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(Some(c)),
        _ => Err(SqlError::new(messages::LIKE_ESCAPE, &[&text])),
    }
}
