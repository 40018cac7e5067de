//! Guesses of how many rows, by shape alone. Statistics replace this file's numbers, not its users.

/// Rows of a table nobody has counted.
pub(crate) const TABLE_ROWS: f64 = 10_000.0;
/// Rows of a system view.
pub(crate) const VIEW_ROWS: f64 = 100.0;
/// The part that an equality keeps which no index answers.
pub(crate) const EQUAL_TESTED: f64 = 0.1;
/// The part of rows that one equality keeps.
pub(crate) const EQUAL: f64 = 0.01;
/// The part that a range with one end keeps.
pub(crate) const RANGE: f64 = 0.3;
/// The part that a range with two ends keeps.
pub(crate) const BETWEEN: f64 = 0.1;
/// The part that any other condition keeps.
pub(crate) const OTHER: f64 = 0.5;
/// The cost of descending a B-tree, in rows scanned.
pub(crate) const SEEK: f64 = 3.0;
/// The cost of reading an entry of a narrow index, in rows scanned.
pub(crate) const ENTRY: f64 = 0.6;
/// Outer rows up to which a loop join with a seek beats reading the inner side once.
pub(crate) const LOOP_OUTER: f64 = 3_000.0;

/// The cost of sorting so many rows.
pub(crate) fn sort(rows: f64) -> f64 {
    let rows = rows.max(1.0);
    rows * (1.0 + rows.log2()) * 0.2
}
