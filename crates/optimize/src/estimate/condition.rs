//! The part of rows for which conditions are true.
//!
//! Conditions on one column are taken together first: bounds become one range, of several
//! equalities the most selective counts. Equalities on columns that a statistics object has as its
//! first ones use the density of their combination, bent by the first column's histogram.

use super::column::{ColumnFacts, End};
use super::{EQUAL, Estimator, LIKE, OTHER, RANGE, backed_off};
use plan::{CompareOp, LikeText, Predicate, Scalar, ScalarKind, Slot};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use types::{KeyPrecision, SqlType, Value, encode_storage};

/// What conditions say of one column.
#[derive(Default)]
struct ColumnConditions {
    /// The part that the most selective equality keeps.
    equal: Option<f64>,
    low: Option<Limit>,
    high: Option<Limit>,
    /// What else they keep.
    others: f64,
}

/// An end of a range.
struct Limit {
    value: Option<Vec<u8>>,
    inclusive: bool,
}

/// Where a value is among those of a column.
enum ValuePosition {
    /// Nothing is known of it.
    Unknown,
    /// It is NULL, or has no form there.
    Never,
    /// In stored form: it, or the next one to it, and how that lies to it.
    At(Vec<u8>, Ordering),
}

/// A condition on one column.
enum OnColumn {
    Equal(f64),
    Low(Limit),
    High(Limit),
    Part(f64),
}

impl Estimator<'_> {
    /// The part of rows that satisfy all of some conditions.
    pub(crate) fn all(&self, conditions: &[&Predicate]) -> f64 {
        let mut columns: BTreeMap<Slot, ColumnConditions> = BTreeMap::new();
        let mut parts = Vec::new();
        for p in conditions {
            match self.on_column(p) {
                Some((slot, found)) => {
                    let new = || ColumnConditions { others: 1.0, ..ColumnConditions::default() };
                    columns.entry(slot).or_insert_with(new).add(found);
                }
                None => parts.push(self.part(p)),
            }
        }
        self.combinations(&mut columns, &mut parts);
        for (slot, asked) in &columns {
            if let Some(facts) = self.column(*slot) {
                parts.push(asked.part(&facts));
            }
        }
        backed_off(parts)
    }

    /// The part of rows that satisfy a condition.
    pub(crate) fn part(&self, p: &Predicate) -> f64 {
        if let Some((slot, found)) = self.on_column(p)
            && let Some(facts) = self.column(slot)
        {
            let mut asked = ColumnConditions { others: 1.0, ..ColumnConditions::default() };
            asked.add(found);
            return asked.part(&facts);
        }
        match p {
            Predicate::Constant(Some(true)) => 1.0,
            Predicate::Constant(_) => 0.0,
            Predicate::Compare { op, left, right, .. } => self.compared(*op, left, right),
            Predicate::And(parts) => self.all(&parts.iter().collect::<Vec<_>>()),
            Predicate::Or(parts) => 1.0 - parts.iter().map(|p| 1.0 - self.part(p)).product::<f64>(),
            Predicate::Not(inner) => (1.0 - self.part(inner) - self.unknown(inner)).max(0.0),
            Predicate::Like { .. } => LIKE,
            Predicate::InList { list, .. } => (EQUAL * list.len() as f64).min(OTHER),
            Predicate::Let { body, .. } => self.part(body),
            Predicate::IsNull(_) => EQUAL,
            Predicate::IsDistinct { .. } | Predicate::Exists(_) | Predicate::Quantified { .. } => {
                OTHER
            }
        }
    }

    /// The part of rows for which a condition is unknown.
    fn unknown(&self, p: &Predicate) -> f64 {
        let operand = match p {
            Predicate::Compare { left, .. } => left,
            Predicate::Like { operand, .. } | Predicate::InList { operand, .. } => operand,
            _ => return 0.0,
        };
        let slot = crate::sarg::column_of(operand);
        slot.and_then(|s| self.column(s)).map_or(0.0, |c| c.nulls())
    }

    /// A comparison that is not of one column with a value.
    fn compared(&self, op: CompareOp, left: &Scalar, right: &Scalar) -> f64 {
        let sides = [crate::sarg::column_of(left), crate::sarg::column_of(right)];
        let equal = match sides.map(|s| s.and_then(|s| self.column(s))) {
            [Some(a), Some(b)] => 1.0 / a.distinct().max(b.distinct()).max(1.0),
            [Some(one), None] | [None, Some(one)] => one.equal(None),
            [None, None] => EQUAL,
        };
        match op {
            CompareOp::Equal => equal,
            CompareOp::NotEqual => 1.0 - equal,
            _ => RANGE,
        }
    }

    /// A condition that asks one column for values which are the same for all its rows.
    fn on_column(&self, p: &Predicate) -> Option<(Slot, OnColumn)> {
        match p {
            Predicate::Compare { op, left, right, .. } => {
                let side = |x: &Scalar| {
                    let wide = || Some((crate::sarg::wide(x)?, KeyPrecision::Values));
                    crate::sarg::ordered(x).or_else(wide)
                };
                let sides = (side(left), side(right));
                let ((slot, kept), op, value) = match sides {
                    (Some(side), None) => (side, *op, right),
                    (None, Some(side)) => (side, op.mirrored(), left),
                    _ => return None,
                };
                let facts = self.column(slot)?;
                value.reads().subqueries.is_empty().then_some(())?;
                let found = match kept {
                    KeyPrecision::Days => self.of_day(&facts, op, value),
                    KeyPrecision::Values => self.versus(&facts, op, value),
                };
                Some((slot, found))
            }
            Predicate::IsNull(x) => {
                let slot = x.as_column()?;
                Some((slot, OnColumn::Part(self.column(slot)?.nulls())))
            }
            Predicate::InList { operand, list, .. } => {
                let wide = || crate::sarg::wide(operand);
                let slot = crate::sarg::column_of(operand).or_else(wide)?;
                let facts = self.column(slot)?;
                let stored = |x| match self.stored(x, facts.sql_type()) {
                    ValuePosition::At(bytes, Ordering::Equal) => Some(Some(bytes)),
                    ValuePosition::Unknown => Some(None),
                    ValuePosition::Never | ValuePosition::At(..) => None,
                };
                let mut values: Vec<Option<Vec<u8>>> = list.iter().filter_map(stored).collect();
                values.sort();
                values.dedup_by(|a, b| a.is_some() && a == b);
                let sum: f64 = values.iter().map(|v| facts.equal(v.as_deref())).sum();
                Some((slot, OnColumn::Part(sum.min(1.0))))
            }
            Predicate::Like { operand, pattern, .. } => {
                let slot = match &operand.kind {
                    ScalarKind::Cast { operand, .. } => operand.as_column()?,
                    _ => operand.as_column()?,
                };
                Some((slot, OnColumn::Part(self.like(slot, operand, pattern)?)))
            }
            Predicate::Not(inner) => match &**inner {
                Predicate::IsNull(x) => {
                    let slot = x.as_column()?;
                    Some((slot, OnColumn::Part(1.0 - self.column(slot)?.nulls())))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn versus(&self, facts: &ColumnFacts<'_>, op: CompareOp, value: &Scalar) -> OnColumn {
        let (value, lies) = match self.stored(value, facts.sql_type()) {
            ValuePosition::Never => return OnColumn::Part(0.0),
            ValuePosition::Unknown => (None, Ordering::Equal),
            ValuePosition::At(bytes, lies) => (Some(bytes), lies),
        };
        let equal = if lies.is_eq() { facts.equal(value.as_deref()) } else { 0.0 };
        let limit = |inclusive| Limit { value, inclusive };
        match op {
            CompareOp::Equal if lies.is_ne() => OnColumn::Part(0.0),
            CompareOp::Equal => OnColumn::Equal(equal),
            CompareOp::NotEqual => OnColumn::Part((1.0 - facts.nulls() - equal).max(0.0)),
            CompareOp::Less => OnColumn::High(limit(lies.is_lt())),
            CompareOp::LessOrEqual => OnColumn::High(limit(lies.is_le())),
            CompareOp::Greater => OnColumn::Low(limit(lies.is_gt())),
            CompareOp::GreaterOrEqual => OnColumn::Low(limit(lies.is_ge())),
        }
    }

    /// A comparison of a column's day.
    fn of_day(&self, facts: &ColumnFacts<'_>, op: CompareOp, value: &Scalar) -> OnColumn {
        let column = facts.sql_type();
        let ends = match self.value(value) {
            Some(Value::Null) => return OnColumn::Part(0.0),
            Some(day) => {
                let first = types::key_bound(&day, SqlType::Date, column).0;
                [first, types::day_end(&day, column)].map(|v| Some(encoded(&v, column)))
            }
            None => [None, None],
        };
        let [first, last] = ends;
        let limit = |value, inclusive| Limit { value, inclusive };
        let within = |first: &Option<Vec<u8>>, last: &Option<Vec<u8>>| {
            let [low, high] = [first, last].map(|v| v.as_deref());
            match low {
                Some(_) => facts.between(
                    Some(End { value: low, inclusive: true }),
                    Some(End { value: high, inclusive: true }),
                ),
                None => EQUAL,
            }
        };
        match op {
            CompareOp::Equal => OnColumn::Part(within(&first, &last)),
            CompareOp::NotEqual => {
                OnColumn::Part((1.0 - facts.nulls() - within(&first, &last)).max(0.0))
            }
            CompareOp::Less => OnColumn::High(limit(first, false)),
            CompareOp::LessOrEqual => OnColumn::High(limit(last, true)),
            CompareOp::Greater => OnColumn::Low(limit(last, false)),
            CompareOp::GreaterOrEqual => OnColumn::Low(limit(first, true)),
        }
    }

    /// Where a value is among the stored ones of a column's type.
    fn stored(&self, x: &Scalar, column: SqlType) -> ValuePosition {
        let own = x.ty.sql_type;
        let (value, lies) = match self.value(x) {
            None => return ValuePosition::Unknown,
            Some(Value::Null) => return ValuePosition::Never,
            Some(value) if own != column && types::has_bounds(own, column) => {
                types::key_bound(&value, own, column)
            }
            Some(value) => match types::convert(&value, own, column, 0) {
                Ok(value) => (value, Ordering::Equal),
                Err(_) => return ValuePosition::Never,
            },
        };
        ValuePosition::At(encoded(&value, column), lies)
    }

    fn like(&self, slot: Slot, operand: &Scalar, pattern: &LikeText) -> Option<f64> {
        let facts = self.column(slot)?;
        let sniffed;
        let pattern = match pattern {
            LikeText::Compiled(pattern) => &**pattern,
            LikeText::Dynamic { pattern, escape: None } => {
                let Some(value) = self.value(pattern) else { return Some(LIKE) };
                sniffed = builtins::LikePattern::compile(&value, None, operand.ty.collation);
                &sniffed
            }
            LikeText::Dynamic { .. } => return Some(LIKE),
        };
        let (from, to) = (facts.sql_type(), operand.ty.sql_type);
        let matches = |value: &Value| {
            let value = types::convert(value, from, to, 0);
            value.is_ok_and(|v| pattern.matches(&v).unwrap_or(false))
        };
        Some(facts.sampled(matches).unwrap_or(LIKE))
    }

    /// Equalities on several columns of one table that statistics know together become one part.
    fn combinations(&self, columns: &mut BTreeMap<Slot, ColumnConditions>, parts: &mut Vec<f64>) {
        let equal: Vec<(Slot, ColumnFacts<'_>, f64)> = columns
            .iter()
            .filter_map(|(slot, asked)| Some((*slot, self.column(*slot)?, asked.equal?)))
            .collect();
        if equal.len() < 2 {
            return;
        }
        let table = equal[0].1.table;
        let of = |ordinal: usize| {
            equal.iter().find(|(_, c, _)| c.ordinal == ordinal && std::ptr::eq(c.table, table))
        };
        let mut best: Option<(usize, f64, Vec<Slot>)> = None;
        for known in table.all_statistics().into_iter().filter(|s| s.is_whole()) {
            let Some(d) = known.gathered.distribution.as_deref() else { continue };
            let found: Vec<_> = known.columns.iter().map_while(|&c| of(c)).collect();
            let length = found.len().min(d.prefixes.len());
            if length < 2 || best.as_ref().is_some_and(|b| b.0 >= length) {
                continue;
            }
            let (first, all) = (d.prefixes[0].density(), d.prefixes[length - 1].density());
            let part = found[0].2 * all / first;
            best = Some((length, part, found[..length].iter().map(|f| f.0).collect()));
        }
        let Some((_, part, slots)) = best else { return };
        for slot in slots {
            if let Some(asked) = columns.get_mut(&slot) {
                // What else is asked of the column keeps all of the few that are left.
                asked.equal = Some(1.0);
            }
        }
        parts.push(part);
    }
}

impl ColumnConditions {
    fn add(&mut self, found: OnColumn) {
        match found {
            OnColumn::Equal(part) => {
                self.equal = Some(self.equal.map_or(part, |known| known.min(part)));
            }
            OnColumn::Low(limit) if self.low.is_none() => self.low = Some(limit),
            OnColumn::High(limit) if self.high.is_none() => self.high = Some(limit),
            OnColumn::Low(_) | OnColumn::High(_) => {}
            OnColumn::Part(part) => self.others = self.others.min(part),
        }
    }

    fn part(&self, facts: &ColumnFacts<'_>) -> f64 {
        if let Some(part) = self.equal {
            return part.min(self.others);
        }
        let end = |limit: &Limit| (limit.value.clone(), limit.inclusive);
        let (low, high) = (self.low.as_ref().map(end), self.high.as_ref().map(end));
        if low.is_none() && high.is_none() {
            return self.others;
        }
        let low =
            low.as_ref().map(|(v, inclusive)| End { value: v.as_deref(), inclusive: *inclusive });
        let high =
            high.as_ref().map(|(v, inclusive)| End { value: v.as_deref(), inclusive: *inclusive });
        facts.between(low, high).min(self.others)
    }
}

/// The stored form of a value.
fn encoded(value: &Value, sql_type: SqlType) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_storage(value, sql_type, &mut bytes);
    bytes
}
