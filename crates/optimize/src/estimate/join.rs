//! The part of all pairs that an equality between columns of two relations keeps: by their
//! histograms where both have one; else the column with fewer different values is expected to be
//! contained in the other.

use super::Estimator;
use super::column::ColumnFacts;
use plan::Slot;

impl Estimator<'_> {
    /// Of an equality of two slots; `rows` are those of either side that are to be joined.
    pub(crate) fn equal_pairs(&self, left: Slot, right: Slot, rows: (f64, f64)) -> f64 {
        let (Some(a), Some(b)) = (self.column(left), self.column(right)) else {
            let distinct = self.distinct(left, rows.0).max(self.distinct(right, rows.1));
            return 1.0 / distinct.max(1.0);
        };
        if let Some(part) = aligned(&a, &b) {
            return part;
        }
        let some = (1.0 - a.nulls()) * (1.0 - b.nulls());
        some / a.distinct().max(b.distinct()).max(1.0)
    }
}

/// By histograms of one type.
fn aligned(a: &ColumnFacts<'_>, b: &ColumnFacts<'_>) -> Option<f64> {
    if a.sql_type() != b.sql_type() || a.column().collation != b.column().collation {
        return None;
    }
    let all = a.known()?.rows as f64 * b.known()?.rows as f64;
    let found = (a.histogram()?.equal_pairs(&b.histogram()?) / all).clamp(0.0, 1.0);
    // Statistics of other times may miss each other altogether.
    let least = 0.01 / a.distinct().max(b.distinct()).max(1.0);
    Some(found.max(least))
}
