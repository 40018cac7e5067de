//! Search arguments: conditions on a column that a key range can answer.
//!
//! A bound must be comparable with stored keys: it has the column's type, or is text of the
//! column's family. A column that is compared in another type is converted; where that keeps the
//! order of its values (`types::kept`), a value has a bound among them, and the condition is
//! tested again unless the plan knows that the bound is the value.
//!
//! A varchar column that is compared as nvarchar (what drivers send) has a bound where its
//! collation orders both alike, Windows' do, and where the value has the same characters in the
//! column's code page: others may equal a stored one all the same (a letter with a macron the one
//! without, where accents don't count). Of a value that is known at run time alone the bound is
//! NULL then, which is none: everything is read.

use crate::node::Reader;
use plan::{Bound, CompareOp, LikeText, Predicate, Scalar, ScalarKind, Slot};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use types::{Collation, Family, KeyPrecision, Length, SqlType, Value, text};

/// What a condition asks of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ask {
    Equal(Scalar),
    Null,
    NotNull,
    /// Equality with any, or IS NULL where a pair says so.
    Any(Vec<(Scalar, bool)>),
    Lower(Bound),
    Upper(Bound),
    /// From LIKE.
    Between(Bound, Option<Bound>),
}

/// A condition that a seek can use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sarg {
    /// Whose.
    pub(crate) slot: Slot,
    pub(crate) ask: Ask,
    /// The range implies the condition: it need not be tested again.
    pub(crate) exact: bool,
}

/// A table of which something may be sought.
pub(crate) struct SeekTarget<'a> {
    /// Its slots.
    pub(crate) own: &'a BTreeSet<Slot>,
    pub(crate) column_type: &'a dyn Fn(Slot) -> Option<(SqlType, Collation)>,
    pub(crate) reader: Reader<'a>,
}

impl SeekTarget<'_> {
    /// The search argument of a condition. What is drawn for it must not be drawn again for a test.
    pub(crate) fn of(&self, p: &Predicate) -> Option<Sarg> {
        self.found(p).filter(|sarg| sarg.exact || !p.reads().drawn)
    }

    fn found(&self, p: &Predicate) -> Option<Sarg> {
        match p {
            Predicate::Compare { op, left, right, collation } => {
                let (side, op, value) = match (self.side(left, right), self.side(right, left)) {
                    (Some(side), _) => (side, *op, right),
                    (None, Some(side)) => (side, op.mirrored(), left),
                    (None, None) => {
                        let of_right = || self.widened(right, op.mirrored(), left, *collation);
                        return self.widened(left, *op, right, *collation).or_else(of_right);
                    }
                };
                compared(side, op, value, self.column(side.0, *collation)?)
            }
            Predicate::IsNull(x) => {
                let slot = self.known(x)?;
                Some(Sarg { slot, ask: Ask::Null, exact: true })
            }
            Predicate::Not(inner) => match &**inner {
                Predicate::IsNull(x) => {
                    let slot = self.known(x)?;
                    Some(Sarg { slot, ask: Ask::NotNull, exact: true })
                }
                Predicate::IsDistinct { left, right, collation } => {
                    self.same(left, right, *collation)
                }
                _ => None,
            },
            Predicate::Or(parts) => self.any_of(parts),
            Predicate::InList { operand, list, collation } => {
                self.in_list(operand, list, *collation)
            }
            Predicate::Like { operand, pattern, collation } => {
                self.like(operand, pattern, *collation)
            }
            _ => None,
        }
    }

    /// What is there before the seek; so is a subquery's value that reads nothing of the table.
    fn usable(&self, x: &Scalar) -> bool {
        let reads = x.reads();
        let changing = reads.changing || reads.subqueries.iter().any(|id| self.reader.changes(*id));
        !changing && self.reader.whole(reads).is_disjoint(self.own)
    }

    /// A column of the table beside what it can be compared with.
    fn side(&self, x: &Scalar, other: &Scalar) -> Option<(Slot, KeyPrecision)> {
        let side = ordered(x).filter(|_| in_its_type(x, other))?;
        (self.own.contains(&side.0) && self.usable(other)).then_some(side)
    }

    /// A column of the table as it is.
    fn known(&self, x: &Scalar) -> Option<Slot> {
        let slot = x.as_column().filter(|s| self.own.contains(s))?;
        (self.column_type)(slot).map(|_| slot)
    }

    /// A column's type, where text is compared as its keys are.
    fn column(&self, slot: Slot, collation: Collation) -> Option<SqlType> {
        let (column, own) = (self.column_type)(slot)?;
        (!column.is_character() || own == collation).then_some(column)
    }

    /// `IS NOT DISTINCT FROM`: the value, and NULL, which it may be.
    fn same(&self, left: &Scalar, right: &Scalar, collation: Collation) -> Option<Sarg> {
        let (slot, value) = match (self.known(left), self.known(right)) {
            (Some(slot), _) if self.usable(right) => (slot, right),
            (_, Some(slot)) if self.usable(left) => (slot, left),
            _ => return None,
        };
        let (value, _) = fit(value, self.column(slot, collation)?)?;
        let values = vec![(value, false), (Scalar::null(SqlType::Int), true)];
        Some(Sarg { slot, ask: Ask::Any(values), exact: false })
    }

    /// A column of narrow text that is compared as wide text.
    fn widened(
        &self,
        x: &Scalar,
        op: CompareOp,
        value: &Scalar,
        collation: Collation,
    ) -> Option<Sarg> {
        let slot = wide(x).filter(|s| self.own.contains(s) && self.usable(value))?;
        let (_, own) = (self.column_type)(slot)?;
        let alike = own == collation && orders_alike(own);
        if !alike || value.ty.sql_type.family() != Family::NChar {
            return None;
        }
        let value = narrowed(value)?;
        let known = value.as_constant().is_some();
        let end = || Bound { unless_null: !known, ..bound(value.clone(), true) };
        let ask = match op {
            CompareOp::Equal if known => Ask::Equal(value),
            CompareOp::Equal => Ask::Between(end(), Some(end())),
            CompareOp::Less | CompareOp::LessOrEqual => Ask::Upper(end()),
            CompareOp::Greater | CompareOp::GreaterOrEqual => Ask::Lower(end()),
            CompareOp::NotEqual => return None,
        };
        Some(Sarg { slot, ask, exact: false })
    }

    /// The same with any of several constants.
    fn widened_list(
        &self,
        operand: &Scalar,
        list: &[Scalar],
        collation: Collation,
    ) -> Option<Sarg> {
        let slot = wide(operand)?;
        let value = |x: &Scalar| match self.widened(operand, CompareOp::Equal, x, collation)?.ask {
            Ask::Equal(value) => Some((value, false)),
            _ => None,
        };
        let values = list.iter().map(value).collect::<Option<Vec<_>>>()?;
        Some(Sarg { slot, ask: Ask::Any(values), exact: false })
    }

    fn in_list(&self, operand: &Scalar, list: &[Scalar], collation: Collation) -> Option<Sarg> {
        if wide(operand).is_some() {
            return self.widened_list(operand, list, collation);
        }
        let slot = column_of(operand).filter(|s| self.own.contains(s))?;
        let column = self.column(slot, collation)?;
        if !list.iter().all(|x| in_its_type(operand, x) && self.usable(x)) {
            return None;
        }
        let fitted: Option<Vec<(Scalar, bool)>> = list.iter().map(|x| fit(x, column)).collect();
        let fitted = fitted?;
        let exact = fitted.iter().all(|(_, exact)| *exact);
        let values = fitted.into_iter().map(|(x, _)| (x, false)).collect();
        Some(Sarg { slot, ask: Ask::Any(values), exact })
    }

    fn like(&self, operand: &Scalar, pattern: &LikeText, collation: Collation) -> Option<Sarg> {
        let slot = operand.as_column().filter(|s| self.own.contains(s))?;
        let (column, of_column) = (self.column_type)(slot)?;
        if of_column != collation {
            return None;
        }
        let ask = match pattern {
            LikeText::Compiled(pattern) => like(pattern, column)?,
            LikeText::Dynamic { pattern, escape } => {
                let escape = escape.as_deref();
                if !self.usable(pattern) || !escape.is_none_or(|x| self.usable(x)) {
                    return None;
                }
                like_later(pattern, escape, column, collation)
            }
        };
        Some(Sarg { slot, ask, exact: false })
    }

    /// Equalities of one column with several values.
    fn any_of(&self, parts: &[Predicate]) -> Option<Sarg> {
        let mut all: Option<Sarg> = None;
        for part in parts {
            let Sarg { slot, ask, exact } = self.of(part)?;
            let values = match ask {
                Ask::Equal(x) => vec![(x, false)],
                Ask::Null => vec![(Scalar::null(SqlType::Int), true)],
                Ask::Any(values) => values,
                _ => return None,
            };
            match &mut all {
                None => all = Some(Sarg { slot, ask: Ask::Any(values), exact }),
                Some(Sarg { slot: known, ask: Ask::Any(list), exact: both }) if *known == slot => {
                    list.extend(values);
                    *both &= exact;
                }
                Some(_) => return None,
            }
        }
        all
    }
}

/// A column, also one that is converted without a loss: `CAST(int AS bigint)`.
pub(crate) fn column_of(x: &Scalar) -> Option<Slot> {
    ordered(x).filter(|(_, kept)| *kept == KeyPrecision::Values).map(|(slot, _)| slot)
}

/// A column as it is compared, with what its conversion keeps.
pub(crate) fn ordered(x: &Scalar) -> Option<(Slot, KeyPrecision)> {
    match &x.kind {
        ScalarKind::Column(slot) => Some((*slot, KeyPrecision::Values)),
        ScalarKind::Cast { operand, style: None, attempt: false, .. } => {
            let slot = operand.as_column()?;
            Some((slot, types::kept(operand.ty.sql_type, x.ty.sql_type)?))
        }
        _ => None,
    }
}

/// Whether a collation orders narrow text as it orders its wide form.
fn orders_alike(collation: Collation) -> bool {
    matches!(collation, Collation::LATIN1_CI_AS | Collation::LATIN1_CS_AS | Collation::LATIN1_CI_AI)
}

/// A column of narrow text in the whole of its wide form.
pub(crate) fn wide(x: &Scalar) -> Option<Slot> {
    let ScalarKind::Cast { operand, style: None, attempt: false, .. } = &x.kind else {
        return None;
    };
    use Length::N;
    use SqlType as T;
    let whole = match (operand.ty.sql_type, x.ty.sql_type) {
        (T::Char(n) | T::VarChar(N(n)), T::NChar(m) | T::NVarChar(N(m))) => m >= n,
        (T::Char(_) | T::VarChar(N(_)), T::NVarChar(Length::Max)) => true,
        _ => false,
    };
    operand.as_column().filter(|_| whole)
}

/// Wide text as narrow text of the same characters: none for a constant that has no such form, an
/// expression that is NULL then where the value is not known yet.
fn narrowed(value: &Scalar) -> Option<Scalar> {
    if let Some(known) = value.as_constant() {
        let Value::NChar(wide) = known else { return None };
        let narrow = text::narrow(wide);
        let same = text::widen(&narrow) == wide[..];
        let sql_type = SqlType::varchar(narrow.len().clamp(1, 8000) as u16);
        return same.then(|| Scalar::constant(Value::Char(narrow.into()), sql_type));
    }
    let cast = |x: &Scalar, to: SqlType| {
        let (operand, implicit) = (Box::new(x.clone()), plan::ImplicitFlag(true));
        let kind = ScalarKind::Cast { operand, style: None, attempt: false, implicit };
        Scalar { kind, ty: x.ty.converted(to) }
    };
    let narrow = cast(value, SqlType::VARCHAR_MAX);
    let same = Predicate::Compare {
        op: CompareOp::Equal,
        left: Box::new(cast(&narrow, value.ty.sql_type)),
        right: Box::new(value.clone()),
        collation: Collation::LATIN1_BIN2,
    };
    let mut ty = narrow.ty;
    ty.nullable = true;
    let kind = ScalarKind::Case { branches: vec![(same, narrow)], otherwise: None };
    Some(Scalar { kind, ty })
}

/// Whether a side is compared in the type that it is converted to, if it is.
fn in_its_type(side: &Scalar, other: &Scalar) -> bool {
    let (own, other) = (side.ty.sql_type, other.ty.sql_type);
    let decimals = own.family() == Family::Decimal && other.family() == Family::Decimal;
    side.as_column().is_some() || own == other || decimals
}

fn compared(
    (slot, kept): (Slot, KeyPrecision),
    op: CompareOp,
    value: &Scalar,
    column: SqlType,
) -> Option<Sarg> {
    if kept == KeyPrecision::Days {
        return of_day(slot, op, value, column);
    }
    if op == CompareOp::Equal {
        let (value, exact) = fit(value, column)?;
        return Some(Sarg { slot, ask: Ask::Equal(value), exact });
    }
    let (value, lies) = match fit(value, column) {
        Some((value, true)) => (value, Some(Ordering::Equal)),
        // A bit is what is not 0: no value lies beside it.
        _ if column == SqlType::Bit => return None,
        _ if !types::has_bounds(value.ty.sql_type, column) => return None,
        _ => end_of(value, column),
    };
    let exact = lies.is_some();
    // What lies at the bound itself is tested where its place beside the value is not known.
    let at = |within: bool| bound(value.clone(), within || !exact);
    let lies = lies.unwrap_or(Ordering::Equal);
    let ask = match op {
        CompareOp::Less => Ask::Upper(at(lies.is_lt())),
        CompareOp::LessOrEqual => Ask::Upper(at(lies.is_le())),
        CompareOp::Greater => Ask::Lower(at(lies.is_gt())),
        CompareOp::GreaterOrEqual => Ask::Lower(at(lies.is_ge())),
        CompareOp::Equal | CompareOp::NotEqual => return None,
    };
    Some(Sarg { slot, ask, exact })
}

/// Where a range ends that ends at a value, and how that lies to it where the value is known.
fn end_of(value: &Scalar, column: SqlType) -> (Scalar, Option<Ordering>) {
    match value.as_constant() {
        Some(known) => {
            let (found, lies) = types::key_bound(known, value.ty.sql_type, column);
            (Scalar::constant(found, column), Some(lies))
        }
        None => (called(&builtins::KEY_BOUND, value, column), None),
    }
}

/// A comparison of a column's day: from its first moment to its last.
fn of_day(slot: Slot, op: CompareOp, value: &Scalar, column: SqlType) -> Option<Sarg> {
    if value.ty.sql_type != SqlType::Date {
        return None;
    }
    let first = || bound(end_of(value, column).0, true);
    let last = || {
        let end = match value.as_constant() {
            Some(day) => Scalar::constant(types::day_end(day, column), column),
            None => called(&builtins::DAY_END, value, column),
        };
        bound(end, true)
    };
    let ask = match op {
        CompareOp::Equal => Ask::Between(first(), Some(last())),
        CompareOp::Less => Ask::Upper(first()),
        CompareOp::LessOrEqual => Ask::Upper(last()),
        CompareOp::Greater => Ask::Lower(last()),
        CompareOp::GreaterOrEqual => Ask::Lower(first()),
        CompareOp::NotEqual => return None,
    };
    Some(Sarg { slot, ask, exact: false })
}

/// A call that makes a bound of a value.
fn called(function: &'static builtins::Function, value: &Scalar, column: SqlType) -> Scalar {
    let args = vec![value.clone(), Scalar::null(column)];
    let arg_types = [value.ty.sql_type, column].into();
    let mut ty = value.ty.converted(column);
    ty.nullable = true;
    Scalar { kind: ScalarKind::Function { function, args, arg_types }, ty }
}

/// A value as a key of a column; false when it may have been changed by that.
fn fit(x: &Scalar, column: SqlType) -> Option<(Scalar, bool)> {
    let own = x.ty.sql_type;
    if own == column {
        return Some((x.clone(), true));
    }
    let kept = types::kept(column, own);
    match (own.family(), column.family()) {
        // Text and bytes of any length compare with stored ones as they are.
        (a, b) if a == b && matches!(a, Family::Char | Family::NChar | Family::Binary) => {
            Some((x.clone(), true))
        }
        (Family::Variant, _) | (_, Family::Variant) => None,
        (Family::Char | Family::NChar | Family::Binary | Family::Guid, _) => None,
        (_, Family::Char | Family::NChar | Family::Binary | Family::Guid) => None,
        (a, b) if (a == Family::Temporal) != (b == Family::Temporal) => None,
        // A float may be equal to numbers it isn't.
        (Family::Float, b) if b != Family::Float && kept != Some(KeyPrecision::Values) => None,
        (a, Family::Float) if a != Family::Float => None,
        _ => {
            let exact =
                types::kept(own, column) == Some(KeyPrecision::Values) || constant_fits(x, column);
            Some((converted(x, column), exact))
        }
    }
}

fn constant_fits(x: &Scalar, column: SqlType) -> bool {
    let Some(value) = x.as_constant() else { return false };
    let there = types::convert(value, x.ty.sql_type, column, 0);
    let back = there.and_then(|v| types::convert(&v, column, x.ty.sql_type, 0));
    back.is_ok_and(|v| v == *value)
}

/// NULL where the value has no form in the column's type: nothing stored equals it then.
fn converted(x: &Scalar, column: SqlType) -> Scalar {
    let mut ty = x.ty.converted(column);
    if let Some(value) = x.as_constant() {
        let value = types::convert(value, x.ty.sql_type, column, 0).unwrap_or(Value::Null);
        ty.nullable = value.is_null();
        return Scalar { kind: ScalarKind::Constant(value), ty };
    }
    ty.nullable = true;
    let (operand, implicit) = (Box::new(x.clone()), plan::ImplicitFlag(true));
    let kind = ScalarKind::Cast { operand, style: None, attempt: true, implicit };
    Scalar { kind, ty }
}

/// The range in which strings lie that match a pattern.
fn like(pattern: &builtins::LikePattern, column: SqlType) -> Option<Ask> {
    let (from, to) = pattern.range()?;
    let value = |units: &[u16]| {
        let wide = text::bytes_of_units(units);
        let value = match column.family() {
            Family::NChar => Value::NChar(types::Bytes::from(wide)),
            _ => Value::Char(types::Bytes::from(text::narrow(&wide))),
        };
        let sql_type = match column.family() {
            Family::NChar => SqlType::nvarchar(units.len().min(4000) as u16),
            _ => SqlType::varchar(units.len().min(8000) as u16),
        };
        Scalar::constant(value, sql_type)
    };
    let bound = |units: &[u16], inclusive| bound(value(units), inclusive);
    Some(Ask::Between(bound(&from, true), to.map(|u| bound(&u, false))))
}

/// The same of a pattern that is known when the statement runs.
fn like_later(
    pattern: &Scalar,
    escape: Option<&Scalar>,
    column: SqlType,
    collation: Collation,
) -> Ask {
    let sql_type = match column.family() {
        Family::NChar => SqlType::nvarchar(4000),
        _ => SqlType::varchar(8000),
    };
    let mut args: Vec<Scalar> = std::iter::once(pattern).chain(escape).cloned().collect();
    // The range is one of the column's order, whatever that of the pattern is.
    args.iter_mut().for_each(|arg| arg.ty.collation = collation);
    let call = |function, inclusive| {
        let arg_types = args.iter().map(|a| a.ty.sql_type).collect();
        let kind = ScalarKind::Function { function, args: args.clone(), arg_types };
        let mut ty = pattern.ty.converted(sql_type);
        ty.nullable = true;
        Bound { unless_null: true, ..bound(Scalar { kind, ty }, inclusive) }
    };
    let end = call(&builtins::LIKE_RANGE_END, false);
    Ask::Between(call(&builtins::LIKE_RANGE_START, true), Some(end))
}

fn bound(value: Scalar, inclusive: bool) -> Bound {
    Bound { value, inclusive, after_null: false, unless_null: false }
}
