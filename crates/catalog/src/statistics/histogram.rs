//! `Histogram`: how many rows a comparison with a value keeps.

use super::{Distribution, Step};
use types::{Collation, SqlType, StorageOrder, Value, compare_storage, decode_storage};

/// The steps of a distribution with the order of their keys.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    steps: &'a [Step],
    order: StorageOrder,
    sql_type: SqlType,
}

impl<'a> Histogram<'a> {
    /// Of a column of this type. Values are asked for in its stored form.
    pub fn of(known: &'a Distribution, sql_type: SqlType, collation: Collation) -> Histogram<'a> {
        Histogram { steps: &known.steps, order: compare_storage(sql_type, collation), sql_type }
    }

    /// Rows that are NULL.
    pub fn null_rows(&self) -> f64 {
        self.steps.first().filter(|s| s.key.is_none()).map_or(0.0, |s| s.equal_rows)
    }

    /// Rows that are not NULL.
    pub fn value_rows(&self) -> f64 {
        self.values().map(|s| s.range_rows + s.equal_rows).sum()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().filter(|s| s.key.is_some())
    }

    /// Rows with a value.
    pub fn equal_rows(&self, value: &[u8]) -> f64 {
        let below = |s: &Step| s.key.as_deref().is_none_or(|key| self.order.of(key, value).is_lt());
        let Some(step) = self.steps.get(self.steps.partition_point(below)) else { return 0.0 };
        let key = step.key.as_deref().unwrap_or_default();
        match self.order.of(key, value).is_eq() {
            true => step.equal_rows,
            false if step.distinct_range_rows > 0.0 => step.average_range_rows(),
            false => 0.0,
        }
    }

    /// Rows below a value, NULL not among them.
    pub fn less_rows(&self, value: &[u8]) -> f64 {
        let mut rows = 0.0;
        let mut low: Option<&[u8]> = None;
        for step in self.values() {
            let Some(key) = step.key.as_deref() else { continue };
            let order = self.order.of(key, value);
            if order.is_lt() {
                rows += step.range_rows + step.equal_rows;
                low = Some(key);
                continue;
            }
            let part = match low {
                _ if order.is_eq() => 1.0,
                None => 0.0,
                Some(low) => self.part(low, value, key),
            };
            return rows + part * step.range_rows;
        }
        rows
    }

    /// Whether a value is none below the last that was seen.
    pub fn is_behind(&self, value: &[u8]) -> bool {
        let last = self.values().last().and_then(|s| s.key.as_deref());
        last.is_none_or(|last| self.order.of(last, value).is_le())
    }

    /// How many rows there would be from one value to another if they lay everywhere as those
    /// that were seen; `None` where values have no distance.
    pub fn rows_in_stretch(&self, low: &[u8], high: &[u8]) -> Option<f64> {
        let at = |bytes| position(bytes, self.sql_type);
        let first = at(self.values().next()?.key.as_deref()?)?;
        let last = at(self.values().last()?.key.as_deref()?)?;
        let wide = (last > first).then_some(last - first)?;
        Some(((at(high)? - at(low)?).max(0.0) / wide) * self.value_rows())
    }

    /// The order of two stored values.
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        self.order.of(a, b)
    }

    /// How far a value is on the way from one key to another: half when that cannot be said.
    pub(super) fn part(&self, low: &[u8], value: &[u8], high: &[u8]) -> f64 {
        let at = |bytes| position(bytes, self.sql_type);
        match (at(low), at(value), at(high)) {
            (Some(low), Some(value), Some(high)) if high > low => {
                ((value - low) / (high - low)).clamp(0.0, 1.0)
            }
            _ => 0.5,
        }
    }
}

/// A stored value as a place on a line, for types that have a distance.
pub(super) fn position(bytes: &[u8], sql_type: SqlType) -> Option<f64> {
    let days = |days: i32, part: f64| Some(f64::from(days) + part);
    match decode_storage(bytes, sql_type).ok()? {
        Value::Decimal(d) => Some(d.to_f64()),
        Value::Float(f) => Some(f),
        Value::Real(f) => Some(f64::from(f)),
        Value::Date(d) => days(d, 0.0),
        Value::DateTime(d) => days(d.days, f64::from(d.ticks) / 25_920_000.0),
        Value::SmallDateTime(d) => days(i32::from(d.days), f64::from(d.minutes) / 1440.0),
        Value::DateTime2(d) => days(d.days, d.ticks as f64 / 864e9),
        value => value.as_i64().map(|n| n as f64),
    }
}
