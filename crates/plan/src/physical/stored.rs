//! Stored rows that an operator reads: which heap or index, which columns, where in it.

use crate::held::{HeldBytes, fields, nothing};
use crate::show::list;
use crate::{LockHints, Predicate, Scalar, Slot};
use base::{DatabaseId, HobtId, ObjectId};
use std::fmt;
use types::{Collation, SqlType};

/// Which hobt, with the names that show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its database.
    pub database: DatabaseId,
    /// The table.
    pub object: ObjectId,
    /// The heap or index.
    pub hobt: HobtId,
    /// `schema.table`
    pub table: Box<str>,
    /// The index's name; empty for a heap.
    pub index: Box<str>,
    /// The alias in the query.
    pub alias: Box<str>,
}

/// A physical column read into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanColumn {
    /// Position among the hobt's physical columns: the argument of `RowCursor::field`.
    pub field: usize,
    /// Its type: what `types::decode_storage` is asked with.
    pub sql_type: SqlType,
    /// Where its value goes. A uniquifier's bytes go as a varbinary, NULL when absent.
    pub slot: Slot,
}

/// The ranges of a seek.
#[derive(Clone, Debug, PartialEq)]
pub struct Seek {
    /// The types of the key's first columns, as many as the longest bound has; bounds are
    /// converted to them already.
    pub types: Vec<SqlType>,
    /// Whether each of those orders descending in the index. Bounds are in key order: where the
    /// first range column descends, `lower` holds the greater value.
    pub descending: Vec<bool>,
    /// How each of those compares text.
    pub collations: Vec<Collation>,
    /// Ranges. Several come from IN and OR: they may repeat and overlap, and are to be sorted and
    /// united when opened (in key order, or against it when `backward`).
    pub ranges: Vec<SeekRange>,
    /// At most one row matches: the key is unique and wholly given, by one range.
    pub unique: bool,
}

/// One range. A bound with a NULL value matches nothing (comparisons with NULL are unknown),
/// except where `null_matches`.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekRange {
    /// Leading columns that are equal: part of both bounds.
    pub equal: Vec<Scalar>,
    /// Positions in `equal` that come from IS NULL: there NULL is sought.
    pub null_matches: Vec<bool>,
    /// Lower bound of the next column in key order.
    pub lower: Option<Bound>,
    /// Upper bound of the next column in key order.
    pub upper: Option<Bound>,
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The value.
    pub value: Scalar,
    /// Whether rows that equal it are within.
    pub inclusive: bool,
    /// The value is NULL on purpose: the range begins (or, descending, ends) where NULLs do not
    /// reach, as `col < 5` asks.
    pub after_null: bool,
    /// NULL, once it is computed, is no bound at all.
    pub unless_null: bool,
}

fields! {
    Source: table, index, alias;
    Seek: types, descending, collations, ranges;
    SeekRange: equal, null_matches, lower, upper;
    Bound: value;
}
nothing!(ScanColumn);

/// What an operator reads of a heap or an index.
#[derive(Clone, Copy, Debug)]
pub struct StoredAccess<'p> {
    /// Which.
    pub source: &'p Source,
    /// What is read.
    pub columns: &'p [ScanColumn],
    /// As [`crate::Access::rid`].
    pub rid: Option<Slot>,
    /// As [`crate::Access::hint`].
    pub hint: Option<Slot>,
    /// As [`crate::Access::location`].
    pub location: Option<Slot>,
    /// Locks.
    pub locks: &'p LockHints,
    /// What must be true of a row beyond what is sought.
    pub residual: Option<&'p Predicate>,
    /// The row of each of its input's rows, or rows of the whole or of ranges.
    pub reading: Reading<'p>,
}

/// How stored rows are found.
#[derive(Clone, Copy, Debug)]
pub enum Reading<'p> {
    /// One by one, by the places that an input gives.
    Lookup,
    /// From one end to the other.
    Scan {
        /// The ranges; `None`: everything.
        seek: Option<&'p Seek>,
        /// In key order.
        ordered: bool,
        /// From the end of the key order.
        backward: bool,
    },
}

impl StoredAccess<'_> {
    /// The slots that it fills.
    pub(super) fn written(&self) -> Vec<Slot> {
        let place = self.rid.into_iter().chain(self.hint).chain(self.location);
        self.columns.iter().map(|c| c.slot).chain(place).collect()
    }

    /// Whether rows are found by the places that an input gives.
    pub fn is_lookup(&self) -> bool {
        matches!(self.reading, Reading::Lookup)
    }

    /// What is sought.
    pub fn seek(&self) -> Option<&Seek> {
        match self.reading {
            Reading::Scan { seek, .. } => seek,
            Reading::Lookup => None,
        }
    }
}

/// Writes columns with the slots that they go into.
pub(super) fn scan_columns(f: &mut fmt::Formatter<'_>, columns: &[ScanColumn]) -> fmt::Result {
    f.write_str(" (")?;
    list(f, columns, |f, c| write!(f, "{}: {}", c.field, c.slot))?;
    f.write_str(")")
}
