//! One column: what statistics and keys say of its values, for a table as large as it is now.

use super::{EQUAL, RANGE};
use crate::facts::Facts;
use catalog::statistics::{Distribution, Histogram};
use catalog::view::{Column, Index, Table};
use types::{Family, SqlType, fixed_width};

/// What is known of a column.
#[derive(Clone, Copy)]
pub(crate) struct ColumnFacts<'a> {
    pub(crate) table: &'a Table,
    pub(crate) ordinal: usize,
    /// Rows of the table now.
    pub(crate) rows: f64,
    known: Option<&'a Distribution>,
    facts: &'a dyn Facts,
}

impl<'a> ColumnFacts<'a> {
    pub(crate) fn of(
        table: &'a Table,
        ordinal: usize,
        rows: f64,
        facts: &'a dyn Facts,
    ) -> ColumnFacts<'a> {
        let own = table.statistics.iter().filter(|s| s.columns.first() == Some(&ordinal));
        // Those of a filtered index know of its own rows only.
        let whole = table.indexes.iter().filter(|i| i.filter.is_none());
        let of_index = whole.filter(|i| leads(i, ordinal));
        let gathered = own.map(|s| &s.gathered).chain(of_index.map(|i| &i.gathered));
        let known = gathered.filter_map(|g| g.distribution.as_deref());
        let known = known.filter(|d| d.rows > 0).max_by_key(|d| (d.updated_ns, d.sampled));
        ColumnFacts { table, ordinal, rows, known, facts }
    }

    pub(crate) fn column(&self) -> &'a Column {
        &self.table.columns[self.ordinal]
    }

    pub(crate) fn sql_type(&self) -> SqlType {
        self.column().sql_type
    }

    /// Statistics whose first column it is.
    pub(crate) fn known(&self) -> Option<&'a Distribution> {
        self.known
    }

    pub(crate) fn histogram(&self) -> Option<Histogram<'a>> {
        let column = self.column();
        self.known.map(|d| Histogram::of(d, column.sql_type, column.collation))
    }

    /// No two rows have the same value.
    pub(crate) fn unique(&self) -> bool {
        let only = |i: &&Index| i.unique && !i.disabled && i.key.len() == 1 && i.filter.is_none();
        self.table.indexes.iter().filter(only).any(|i| leads(i, self.ordinal))
    }

    /// Different values.
    pub(crate) fn distinct(&self) -> f64 {
        if self.unique() {
            return self.rows;
        }
        let found = match self.known {
            Some(d) => {
                let distinct = d.prefixes.first().map_or(1.0, |p| p.distinct);
                // What is nearly unique stays so when rows come.
                let share = distinct / (d.rows as f64).max(1.0);
                if share > 0.9 { share * self.rows } else { distinct }
            }
            None => match self.sql_type() {
                SqlType::Bit => 2.0,
                SqlType::TinyInt => self.rows.powf(0.75).min(256.0),
                _ => self.rows.powf(0.75),
            },
        };
        found.clamp(1.0, self.rows.max(1.0))
    }

    /// Rows that came since statistics were made. Where as many have gone the table is no larger,
    /// but changes were counted: what came is half of them and of the growth.
    fn grown(&self) -> f64 {
        let Some(d) = self.known else { return 0.0 };
        let more = self.rows - d.rows as f64;
        let (table, column) = (self.table, self.column().column_id);
        let now = self.facts.modifications(table.database, table.object_id, column);
        let came = now.map_or(more, |now| (now.saturating_sub(d.modified) as f64 + more) / 2.0);
        came.max(more).clamp(0.0, self.rows)
    }

    /// The part of rows in a range that begins behind the last value which was seen, where new
    /// ones may be: half of those that came; between two values no more than there were in as long
    /// a stretch.
    fn beyond(&self, h: &Histogram<'_>, low: &[u8], high: Option<&[u8]>) -> f64 {
        let came = self.grown();
        let dense = high.and_then(|high| h.rows_in_stretch(low, high)).unwrap_or(f64::INFINITY);
        (came * 0.5).min(dense) / self.rows.max(1.0)
    }

    /// The part of rows that is NULL.
    pub(crate) fn nulls(&self) -> f64 {
        if !self.column().nullable {
            return 0.0;
        }
        match (self.known, self.histogram()) {
            (Some(d), Some(h)) => h.null_rows() / d.rows as f64,
            _ => 0.05,
        }
    }

    /// The part of rows with a value; with any one value when it is not known.
    pub(crate) fn equal(&self, value: Option<&[u8]>) -> f64 {
        let rows = self.rows.max(1.0);
        if self.unique() {
            return 1.0 / rows;
        }
        let average = (1.0 - self.nulls()) / self.distinct();
        let (Some(value), Some(d), Some(h)) = (value, self.known, self.histogram()) else {
            return match self.known {
                Some(_) => average,
                None => average.min(EQUAL),
            };
        };
        let found = h.equal_rows(value) / d.rows as f64;
        if found > 0.0 {
            return found.max(1.0 / rows);
        }
        // Not among those that were seen: one that came since, or none.
        let beyond = self.grown() / rows;
        average.min(beyond).max(1.0 / rows)
    }

    /// The part of rows between two values, either of which may be missing or unknown.
    pub(crate) fn between(&self, low: Option<End<'_>>, high: Option<End<'_>>) -> f64 {
        let some = 1.0 - self.nulls();
        let unknown = |end: &Option<End<'_>>| matches!(end, Some(End { value: None, .. }));
        if unknown(&low) || unknown(&high) || self.known.is_none() {
            let ends = [low.is_some(), high.is_some()].iter().filter(|e| **e).count();
            return some * RANGE.powf([0.0, 1.0, 1.5][ends]);
        }
        let (Some(d), Some(h)) = (self.known, self.histogram()) else { return some };
        let rows = d.rows as f64;
        let below = |end: &End<'_>, with: bool| {
            let Some(value) = end.value else { return 0.0 };
            let own = if with { h.equal_rows(value) } else { 0.0 };
            h.less_rows(value) + own
        };
        let from = low.as_ref().map_or(0.0, |end| below(end, !end.inclusive));
        let to = high.as_ref().map_or(h.value_rows(), |end| below(end, end.inclusive));
        let found = ((to - from) / rows).clamp(0.0, some);
        let least = 1.0 / self.rows.max(1.0);
        let low = low.and_then(|end| end.value).filter(|_| found <= 0.0);
        if let Some(low) = low.filter(|low| h.is_behind(low)) {
            return self.beyond(&h, low, high.and_then(|end| end.value)).max(least);
        }
        found.max(least)
    }

    /// The part of rows whose value satisfies a test, from the string summary or the histogram's
    /// keys as a sample.
    pub(crate) fn sampled(&self, test: impl Fn(&types::Value) -> bool) -> Option<f64> {
        let d = self.known?;
        if !d.strings.is_empty() {
            let all = d.strings.len() as f64;
            let kept = d.string_values(self.sql_type()).filter(test).count() as f64;
            // A sample that has none says little of how few there are.
            return Some((kept / all).max(0.5 / (all + 1.0)) * (1.0 - self.nulls()));
        }
        let (mut kept, mut all) = (0.0, 0.0);
        for step in d.steps.iter().filter(|s| s.key.is_some()) {
            let rows = step.equal_rows + step.range_rows;
            all += rows;
            if test(&step.key_value(self.sql_type())) {
                kept += rows;
            }
        }
        // A sample that has none says little of how few there are.
        let least = 0.5 / (d.steps.len() as f64 + 1.0);
        (all > 0.0 && d.steps.len() >= 10).then(|| (kept / all).max(least.min(1.0)))
    }

    /// Bytes of a value on average.
    pub(crate) fn width(&self) -> f64 {
        let sql_type = self.sql_type();
        if let Some(bytes) = fixed_width(sql_type) {
            return f64::from(bytes);
        }
        if let Some(p) = self.known.and_then(|d| d.prefixes.first()) {
            return p.average_bytes;
        }
        let most = match sql_type.family() {
            Family::Char | Family::NChar | Family::Binary => sql_type.max_length(),
            _ => 16,
        };
        // Of a max type nothing is known.
        if most < 0 { 4_000.0 } else { f64::from(most) / 2.0 }
    }
}

/// An end of a range; its stored form where it is known.
#[derive(Clone, Copy)]
pub(crate) struct End<'v> {
    pub(crate) value: Option<&'v [u8]>,
    pub(crate) inclusive: bool,
}

fn leads(index: &Index, ordinal: usize) -> bool {
    index.key.first().is_some_and(|k| k.column == ordinal)
}
