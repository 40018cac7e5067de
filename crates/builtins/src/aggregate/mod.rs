//! Aggregates as state machines: start, step per row, merge partial results, finish.
//!
//! DISTINCT and the warning 8153 about NULLs are the executor's; a state only remembers whether
//! it met one (`saw_null`). Sums are kept exactly (256 bits would not be needed: 128 hold 2^64
//! values of any integer type) and overflow is judged when they are finished, so that the order
//! of rows cannot decide about an error.

mod sketch;

use crate::call::invalid_argument;
use base::{SqlError, SqlResult, messages};
use sketch::Sketch;
use std::cmp::Ordering;
use types::{
    Bytes, Collation, Decimal, Family, SqlType, Value, arithmetic_overflow, compare, convert,
    fit_number,
};

/// An aggregate function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the function of that name")]
pub enum Aggregate {
    /// COUNT(*) and COUNT(x): the executor passes any value that is not NULL for `*`
    Count,
    CountBig,
    Sum,
    Avg,
    Min,
    Max,
    Stdev,
    StdevP,
    Var,
    VarP,
    ChecksumAgg,
    /// What the first row of the group has, NULL too: those of several calls are of one row. No
    /// text can call it.
    Any,
    /// Its separator is given to `start`.
    StringAgg,
    /// STRING_AGG WITHIN GROUP over what `ORDERED` makes of its rows.
    StringAggOrdered(JoinedType),
    /// APPROX_PERCENTILE_CONT and APPROX_PERCENTILE_DISC: the fraction is given to `start` as a
    /// float, as the separator is.
    ApproxPercentile(Percentile),
}

/// Which percentile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Percentile {
    /// Between two values where the fraction falls there.
    pub continuous: bool,
    /// Ranks are counted from the greatest value.
    pub descending: bool,
}

/// The type of texts that carry their order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct JoinedType {
    /// Of UTF-16.
    pub wide: bool,
    /// Of any length.
    pub max: bool,
}

const NAMES: &[(&str, Aggregate)] = &[
    ("COUNT", Aggregate::Count),
    ("COUNT_BIG", Aggregate::CountBig),
    ("SUM", Aggregate::Sum),
    ("AVG", Aggregate::Avg),
    ("MIN", Aggregate::Min),
    ("MAX", Aggregate::Max),
    ("STDEV", Aggregate::Stdev),
    ("STDEVP", Aggregate::StdevP),
    ("VAR", Aggregate::Var),
    ("VARP", Aggregate::VarP),
    ("CHECKSUM_AGG", Aggregate::ChecksumAgg),
    ("STRING_AGG", Aggregate::StringAgg),
    ("APPROX_PERCENTILE_CONT", approx(true)),
    ("APPROX_PERCENTILE_DISC", approx(false)),
];

const fn approx(continuous: bool) -> Aggregate {
    Aggregate::ApproxPercentile(Percentile { continuous, descending: false })
}

impl Aggregate {
    /// The aggregate of a name, in any case.
    pub fn by_name(name: &str) -> Option<Aggregate> {
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|&(_, a)| a)
    }

    /// Its name in upper case.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::StringAggOrdered(_) => "STRING_AGG",
            Aggregate::ApproxPercentile(Percentile { continuous: true, .. }) => {
                "APPROX_PERCENTILE_CONT"
            }
            Aggregate::ApproxPercentile(_) => "APPROX_PERCENTILE_DISC",
            Aggregate::Any => "ANY",
            _ => NAMES.iter().find(|(_, a)| *a == self).map_or("", |(n, _)| n),
        }
    }

    /// The type of the result over an argument type.
    ///
    /// # Errors
    /// 8117 when the aggregate does not take such values.
    pub fn result_type(self, argument: SqlType) -> SqlResult<SqlType> {
        let invalid = || {
            let name = self.name().to_ascii_lowercase();
            SqlError::new(messages::OPERAND_TYPE_INVALID, &[&argument.error_name(), &name])
        };
        let sum = match argument {
            SqlType::TinyInt | SqlType::SmallInt | SqlType::Int => Some(SqlType::Int),
            SqlType::BigInt => Some(SqlType::BigInt),
            SqlType::Decimal { scale, .. } => Some(SqlType::Decimal { precision: 38, scale }),
            SqlType::Money | SqlType::SmallMoney => Some(SqlType::Money),
            SqlType::Real | SqlType::Float => Some(SqlType::Float),
            _ => None,
        };
        if argument.is_text_image() {
            return Err(match self {
                Aggregate::StringAgg | Aggregate::StringAggOrdered(_) => {
                    invalid_argument(argument, 0, "string_agg")
                }
                _ => invalid(),
            });
        }
        match self {
            Aggregate::Count => Ok(SqlType::Int),
            Aggregate::CountBig => Ok(SqlType::BigInt),
            Aggregate::Sum => sum.ok_or_else(invalid),
            Aggregate::Avg => Ok(match sum.ok_or_else(invalid)? {
                SqlType::Decimal { scale, .. } => {
                    SqlType::Decimal { precision: 38, scale: scale.max(6) }
                }
                other => other,
            }),
            Aggregate::Min | Aggregate::Max if matches!(argument, SqlType::Bit | SqlType::Xml) => {
                Err(invalid())
            }
            Aggregate::Min | Aggregate::Max | Aggregate::Any => Ok(argument),
            Aggregate::Stdev | Aggregate::StdevP | Aggregate::Var | Aggregate::VarP => {
                sum.map(|_| SqlType::Float).ok_or_else(invalid)
            }
            Aggregate::ApproxPercentile(Percentile { continuous: true, .. }) => {
                sum.map(|_| SqlType::Float).ok_or_else(invalid)
            }
            Aggregate::ApproxPercentile(_) => Ok(argument),
            Aggregate::ChecksumAgg => match argument.family() {
                Family::Integer => Ok(SqlType::Int),
                _ => Err(invalid()),
            },
            Aggregate::StringAggOrdered(JoinedType { wide, max }) => Ok(match (wide, max) {
                (true, true) => SqlType::NVARCHAR_MAX,
                (true, false) => SqlType::nvarchar(4000),
                (false, true) => SqlType::VARCHAR_MAX,
                (false, false) => SqlType::varchar(8000),
            }),
            Aggregate::StringAgg => Ok(match argument {
                SqlType::VARCHAR_MAX | SqlType::NVARCHAR_MAX => argument,
                _ if argument.family() == Family::Char => SqlType::varchar(8000),
                _ => SqlType::nvarchar(4000),
            }),
        }
    }

    /// A state that has seen no row. The separator counts for STRING_AGG alone.
    pub fn start(self, argument: SqlType, collation: Collation, separator: Value) -> State {
        let core = match self {
            Aggregate::Count | Aggregate::CountBig => Core::Count,
            Aggregate::Min => Core::Extreme(Value::Null, Ordering::Less),
            Aggregate::Max => Core::Extreme(Value::Null, Ordering::Greater),
            Aggregate::Sum | Aggregate::Avg => match argument.family() {
                Family::Float => Core::Float { sum: 0.0, lost: 0.0 },
                Family::Decimal => Core::Decimal(Decimal::ZERO),
                _ => Core::Whole(0),
            },
            Aggregate::Stdev | Aggregate::StdevP | Aggregate::Var | Aggregate::VarP => {
                Core::Spread { mean: 0.0, squares: 0.0 }
            }
            Aggregate::ChecksumAgg => Core::Checksum(0),
            Aggregate::Any => Core::First(Value::Null),
            Aggregate::StringAgg => Core::Text(Vec::new(), separator),
            Aggregate::ApproxPercentile(_) => {
                Core::Ranks(Box::default(), if let Value::Float(p) = separator { p } else { 0.0 })
            }
            Aggregate::StringAggOrdered(_) => Core::Ordered(Vec::new(), separator),
        };
        let (rows, nulls, ordered_bytes) = (0, false, 0);
        State { aggregate: self, argument, collation, rows, nulls, ordered_bytes, core }
    }
}

/// The state of one aggregate of one group.
#[derive(Clone, Debug)]
pub struct State {
    aggregate: Aggregate,
    argument: SqlType,
    collation: Collation,
    /// Values that were not NULL; of ANY, all.
    rows: i64,
    nulls: bool,
    /// What the texts of `Core::Ordered` take.
    ordered_bytes: usize,
    core: Core,
}

#[derive(Clone, Debug)]
enum Core {
    Count,
    /// Integers and money.
    Whole(i128),
    Decimal(Decimal),
    /// A float sum with what rounding has lost (Neumaier).
    Float {
        sum: f64,
        lost: f64,
    },
    /// Mean and sum of squared distances (Welford).
    Spread {
        mean: f64,
        squares: f64,
    },
    /// The least or greatest so far, and the order by which another replaces it.
    Extreme(Value, Ordering),
    Checksum(i32),
    First(Value),
    /// Joined text and separator.
    Text(Vec<u8>, Value),
    /// Texts with their order, and separator.
    Ordered(Vec<Bytes>, Value),
    /// Values by rank, and the fraction that is asked for.
    Ranks(Box<Sketch>, f64),
}

impl State {
    /// Whether NULLs were passed over: warning 8153.
    pub fn saw_null(&self) -> bool {
        self.nulls
    }

    /// Heap bytes that the state keeps, for memory grants.
    pub fn heap_bytes(&self) -> usize {
        match &self.core {
            Core::Extreme(v, _) | Core::First(v) => v.heap_bytes(),
            Core::Text(t, _) => t.capacity(),
            Core::Ranks(sketch, _) => sketch.heap_bytes(),
            Core::Ordered(..) => self.ordered_bytes,
            _ => 0,
        }
    }

    /// Whether nothing is to be freed with it, whatever it will see.
    pub fn owns_nothing(&self) -> bool {
        match self.core {
            Core::Count
            | Core::Whole(_)
            | Core::Decimal(_)
            | Core::Float { .. }
            | Core::Spread { .. }
            | Core::Checksum(_) => true,
            Core::Extreme(..)
            | Core::First(_)
            | Core::Text(..)
            | Core::Ordered(..)
            | Core::Ranks(..) => false,
        }
    }

    /// Whether it keeps more the more it sees, and its result is as large.
    pub fn grows(&self) -> bool {
        matches!(self.core, Core::Text(..) | Core::Ordered(..))
    }

    /// Takes one value of the argument type.
    ///
    /// # Errors
    /// 8115 when a sum leaves 38 digits.
    #[inline]
    pub fn step(&mut self, value: &Value) -> SqlResult<()> {
        if value.is_null() && !matches!(self.core, Core::First(_)) {
            self.nulls = true;
            return Ok(());
        }
        self.rows += 1;
        match &mut self.core {
            Core::Count => {}
            Core::Whole(sum) => *sum += whole_of(value),
            Core::Decimal(sum) => {
                let Value::Decimal(d) = value else { return Ok(()) };
                *sum = sum.checked_add(*d).ok_or_else(|| too_large(self.argument))?;
            }
            Core::Float { sum, lost } => add_float(sum, lost, float_of(value)),
            Core::Spread { mean, squares } => {
                let Value::Float(x) = convert(value, self.argument, SqlType::Float, 0)? else {
                    return Ok(());
                };
                let distance = x - *mean;
                *mean += distance / self.rows as f64;
                *squares += distance * (x - *mean);
            }
            Core::Extreme(best, order) => {
                if best.is_null() || compare(value, best, self.collation) == *order {
                    *best = value.clone();
                }
            }
            Core::Checksum(sum) => *sum ^= value.as_i64().unwrap_or(0) as i32,
            Core::First(first) => {
                if self.rows == 1 {
                    *first = value.clone();
                }
            }
            Core::Ordered(all, _) => {
                if let Value::Binary(pair) = value {
                    self.ordered_bytes += ordered_bytes(pair);
                    all.push(pair.clone());
                }
            }
            Core::Ranks(sketch, _) => {
                let ranked = self.aggregate.result_type(self.argument)?;
                sketch.push(convert(value, self.argument, ranked, 0)?, self.collation);
            }
            Core::Text(text, separator) => {
                let t = self.aggregate.result_type(self.argument)?;
                let one = convert(value, self.argument, t, 0)?;
                let between = separator.as_bytes().map_or(0, <[u8]>::len);
                grow(text, one.as_bytes().map_or(0, <[u8]>::len) + between)?;
                if self.rows > 1 {
                    text.extend_from_slice(separator.as_bytes().unwrap_or(&[]));
                }
                text.extend_from_slice(one.as_bytes().unwrap_or(&[]));
            }
        }
        Ok(())
    }

    /// Whether `remove` undoes `step` exactly: counts, exact sums and checksums.
    pub fn is_removable(&self) -> bool {
        matches!(self.core, Core::Count | Core::Whole(_) | Core::Decimal(_) | Core::Checksum(_))
    }

    /// The order by which a value replaces the one before in MIN or MAX; `None` for all others.
    pub fn replaces(&self) -> Option<Ordering> {
        match self.core {
            Core::Extreme(_, order) => Some(order),
            _ => None,
        }
    }

    /// Takes back one value that `step` has taken, where that can be done.
    ///
    /// # Errors
    /// 8115 when a sum leaves 38 digits.
    pub fn remove(&mut self, value: &Value) -> SqlResult<()> {
        debug_assert!(self.is_removable(), "others are not undone");
        if value.is_null() {
            return Ok(());
        }
        self.rows -= 1;
        match &mut self.core {
            Core::Whole(sum) => *sum -= whole_of(value),
            Core::Decimal(sum) => {
                let Value::Decimal(d) = value else { return Ok(()) };
                *sum = sum.checked_sub(*d).ok_or_else(|| too_large(self.argument))?;
            }
            Core::Checksum(sum) => *sum ^= value.as_i64().unwrap_or(0) as i32,
            Core::Count
            | Core::Float { .. }
            | Core::Spread { .. }
            | Core::Extreme(..)
            | Core::First(_)
            | Core::Text(..)
            | Core::Ordered(..)
            | Core::Ranks(..) => {}
        }
        Ok(())
    }

    /// Takes over what another state of the same aggregate has seen.
    ///
    /// # Errors
    /// As `step`.
    pub fn merge(&mut self, other: &State) -> SqlResult<()> {
        debug_assert_eq!(self.aggregate, other.aggregate);
        self.nulls |= other.nulls;
        if other.rows == 0 {
            return Ok(());
        }
        let (n, m) = (self.rows as f64, other.rows as f64);
        match (&mut self.core, &other.core) {
            (Core::Whole(a), Core::Whole(b)) => *a += b,
            (Core::Decimal(a), Core::Decimal(b)) => {
                *a = a.checked_add(*b).ok_or_else(|| too_large(self.argument))?;
            }
            (Core::Float { sum, lost }, Core::Float { sum: s, lost: l }) => {
                add_float(sum, lost, *s);
                *lost += l;
            }
            (Core::Spread { mean, squares }, Core::Spread { mean: b, squares: q }) => {
                let distance = b - *mean;
                *squares += q + distance * distance * n * m / (n + m);
                *mean += distance * m / (n + m);
            }
            (Core::Extreme(best, order), Core::Extreme(b, _))
                if best.is_null() || compare(b, best, self.collation) == *order =>
            {
                *best = b.clone();
            }
            (Core::Checksum(a), Core::Checksum(b)) => *a ^= b,
            (Core::First(first), Core::First(b)) if self.rows == 0 => *first = b.clone(),
            (Core::Text(text, separator), Core::Text(b, _)) => {
                if self.rows > 0 {
                    text.extend_from_slice(separator.as_bytes().unwrap_or(&[]));
                }
                text.extend_from_slice(b);
            }
            (Core::Ordered(all, _), Core::Ordered(more, _)) => {
                self.ordered_bytes += other.ordered_bytes;
                all.extend_from_slice(more);
            }
            (Core::Ranks(all, _), Core::Ranks(more, _)) => all.merge(more, self.collation),
            _ => {}
        }
        self.rows += other.rows;
        Ok(())
    }

    /// Hands out what it has seen, to be [`State::load`]ed into a fresh state of the same call.
    pub fn save(&self, out: &mut dyn FnMut(&Value)) {
        out(&Value::BigInt(self.rows));
        out(&Value::Bit(self.nulls));
        match &self.core {
            Core::Count => {}
            Core::Whole(sum) => out(&Value::varbinary(&sum.to_le_bytes())),
            Core::Decimal(sum) => out(&Value::Decimal(*sum)),
            Core::Float { sum: a, lost: b } | Core::Spread { mean: a, squares: b } => {
                out(&Value::Float(*a));
                out(&Value::Float(*b));
            }
            Core::Extreme(best, _) => out(best),
            Core::First(first) => out(first),
            Core::Checksum(sum) => out(&Value::Int(*sum)),
            Core::Text(text, _) => out(&Value::varbinary(text)),
            Core::Ordered(all, _) => all.iter().for_each(|b| out(&Value::Binary(b.clone()))),
            Core::Ranks(sketch, _) => sketch.save(out),
        }
    }

    /// Takes over what [`State::save`] handed out. A state of this call that has seen nothing.
    ///
    /// # Errors
    /// What `next` meets.
    pub fn load(&mut self, next: &mut dyn FnMut() -> SqlResult<Value>) -> SqlResult<()> {
        self.rows = next()?.as_i64().unwrap_or(0);
        self.nulls = next()? == Value::Bit(true);
        let float = |v: Value| if let Value::Float(x) = v { x } else { 0.0 };
        match &mut self.core {
            Core::Count => {}
            Core::Whole(sum) => {
                let bytes = next()?;
                let bytes = bytes.as_bytes().and_then(|b| b.try_into().ok()).unwrap_or([0; 16]);
                *sum = i128::from_le_bytes(bytes);
            }
            Core::Decimal(sum) => {
                if let Value::Decimal(d) = next()? {
                    *sum = d;
                }
            }
            Core::Float { sum: a, lost: b } | Core::Spread { mean: a, squares: b } => {
                *a = float(next()?);
                *b = float(next()?);
            }
            Core::Extreme(best, _) => *best = next()?,
            Core::First(first) => *first = next()?,
            Core::Checksum(sum) => *sum = next()?.as_i64().unwrap_or(0) as i32,
            Core::Text(text, _) => {
                let bytes = next()?;
                text.extend_from_slice(bytes.as_bytes().unwrap_or(&[]));
            }
            Core::Ranks(sketch, _) => sketch.load(next)?,
            Core::Ordered(all, _) => {
                for _ in 0..self.rows {
                    if let Value::Binary(b) = next()? {
                        self.ordered_bytes += ordered_bytes(&b);
                        all.push(b);
                    }
                }
            }
        }
        Ok(())
    }

    /// The result over what was seen: NULL over nothing, but for the counts.
    ///
    /// # Errors
    /// 8115 when it does not fit its type; 9829 when joined text is too long.
    pub fn finish(&self) -> SqlResult<Value> {
        let result = self.aggregate.result_type(self.argument)?;
        if let Core::Count = self.core {
            return fit_number(self.rows as i128, result)
                .ok_or_else(|| arithmetic_overflow(result));
        }
        if self.rows == 0 {
            return Ok(Value::Null);
        }
        let average = self.aggregate == Aggregate::Avg;
        match &self.core {
            Core::Count => Ok(Value::Null),
            Core::Whole(sum) => {
                // An average of integers is cut.
                let n = if average { sum / self.rows as i128 } else { *sum };
                let fitted = match result {
                    SqlType::Money => i64::try_from(n).ok().map(Value::Money),
                    _ => fit_number(n, result),
                };
                fitted.ok_or_else(|| arithmetic_overflow(result))
            }
            Core::Decimal(sum) => {
                let scale = result.scale();
                let d = if average {
                    sum.div(Decimal::from_i64(self.rows), scale)
                } else {
                    sum.rescale(scale)
                };
                d.map(Value::Decimal).ok_or_else(|| too_large(result))
            }
            Core::Float { sum, lost } => {
                let total = sum + lost;
                let x = if average { total / self.rows as f64 } else { total };
                if x.is_finite() { Ok(Value::Float(x)) } else { Err(arithmetic_overflow(result)) }
            }
            Core::Spread { squares, .. } => Ok(self.spread(*squares)),
            Core::Extreme(best, _) => Ok(best.clone()),
            Core::First(first) => Ok(first.clone()),
            Core::Checksum(sum) => Ok(Value::Int(*sum)),
            Core::Text(text, _) => joined(text, result),
            Core::Ranks(sketch, fraction) => Ok(self.percentile(sketch, *fraction)),
            Core::Ordered(all, separator) => {
                let mut pairs: Vec<(&[u8], &[u8])> =
                    all.iter().map(|pair| crate::document::in_order(pair)).collect();
                pairs.sort_by(|a, b| a.0.cmp(b.0));
                let texts: Vec<&[u8]> = pairs.into_iter().map(|(_, text)| text).collect();
                joined(&texts.join(separator.as_bytes().unwrap_or(&[])), result)
            }
        }
    }

    fn percentile(&self, sketch: &Sketch, fraction: f64) -> Value {
        let Aggregate::ApproxPercentile(of) = self.aggregate else { return Value::Null };
        // From the greatest value: the rank as far from the other end. A discrete one is the last
        // value that is still below what is left.
        let fraction = match of {
            Percentile { descending: false, .. } => fraction,
            Percentile { continuous: true, .. } => 1.0 - fraction,
            Percentile { .. } => {
                let rank = (fraction * self.rows as f64).ceil().max(1.0);
                (self.rows as f64 - rank + 1.0) / self.rows as f64
            }
        };
        sketch.at(fraction, of.continuous, self.collation)
    }

    fn spread(&self, squares: f64) -> Value {
        let n = self.rows as f64;
        let (divisor, root) = match self.aggregate {
            Aggregate::Stdev => (n - 1.0, true),
            Aggregate::StdevP => (n, true),
            Aggregate::Var => (n - 1.0, false),
            _ => (n, false),
        };
        // A sample of one has no spread.
        if divisor <= 0.0 {
            return Value::Null;
        }
        let variance = (squares / divisor).max(0.0);
        Value::Float(if root { variance.sqrt() } else { variance })
    }
}

/// What a text with its order takes in memory, and its place among the others.
fn ordered_bytes(pair: &Bytes) -> usize {
    pair.heap_bytes() + size_of::<Bytes>()
}

/// Makes room for so many bytes more, to twice the length where it is not much.
fn grow(text: &mut Vec<u8>, more: usize) -> SqlResult<()> {
    if text.capacity() - text.len() >= more {
        return Ok(());
    }
    types::within_longest(text.len() + more)?;
    let slow = text.len() > 16 << 20;
    let wanted = more.max(if slow { text.len() / 4 } else { text.len().max(64) });
    os::values::room(text.len() + wanted)?;
    text.try_reserve_exact(wanted).map_err(|_| os::values::exhausted())
}

fn joined(text: &[u8], result: SqlType) -> SqlResult<Value> {
    if text.len() > 8000 && !result.is_max() {
        return Err(SqlError::new(messages::STRING_AGG_TOO_LONG, &[]));
    }
    os::values::room(text.len())?;
    let bytes = Bytes::new(text);
    Ok(if result.family() == Family::NChar { Value::NChar(bytes) } else { Value::Char(bytes) })
}

fn too_large(_: SqlType) -> SqlError {
    SqlError::new(messages::ARITHMETIC_OVERFLOW_CONVERT, &[&"expression", &"numeric"])
}

fn whole_of(value: &Value) -> i128 {
    match value {
        Value::Money(m) => *m as i128,
        other => other.as_i64().unwrap_or(0) as i128,
    }
}

fn float_of(value: &Value) -> f64 {
    match *value {
        Value::Float(x) => x,
        Value::Real(x) => x as f64,
        _ => 0.0,
    }
}

fn add_float(sum: &mut f64, lost: &mut f64, x: f64) {
    let total = *sum + x;
    *lost += if sum.abs() >= x.abs() { (*sum - total) + x } else { (x - total) + *sum };
    *sum = total;
}

#[cfg(test)]
mod tests;
