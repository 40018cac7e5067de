//! What a hobt is made of, as plain data: columns, key, units. It names no SQL type, only widths
//! and comparisons.

use base::{AllocUnitId, HobtId, ObjectId, PageId};
use page::KeyColumn;

/// How rows are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HobtKind {
    /// Rows without order, named by page and slot.
    Heap,
    /// Rows in key order.
    Clustered,
    /// Entries in key order, each with the locator of its row.
    Nonclustered,
}

/// What a hobt is made of.
#[derive(Clone, Debug)]
pub struct HobtSpec {
    /// Its number.
    pub hobt: HobtId,
    /// The number of its in-row allocation unit.
    pub unit: AllocUnitId,
    /// The object that is locked for it.
    pub object: ObjectId,
    /// How rows are held.
    pub kind: HobtKind,
    /// Physical columns: `None` is variable, `Some(0)` a bit.
    pub widths: Vec<Option<u16>>,
    /// Defaults of columns added after the first so many: absent in older records.
    pub added: Vec<Option<Box<[u8]>>>,
    /// Whether any column of an index entry may be NULL.
    pub nullable: bool,
    /// The full unique key; empty for a heap.
    pub key: Vec<KeyColumn>,
    /// Whether a key column may be NULL.
    pub nullable_key: bool,
    /// The last key column is a uniquifier, to be assigned here: wherever rows have it.
    pub uniquifier: bool,
    /// Its rows have versions where the database has: users' tables, not those of the catalog.
    pub versions: bool,
    /// Its rows are pieces of values that are off their rows; they are locked with those.
    pub pieces: bool,
}

/// Where a hobt is on disk; kept by the catalog.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HobtPlaces {
    /// Head of its IAM chain.
    pub first_iam: PageId,
    /// Its root, or a heap's first page.
    pub root: PageId,
}

/// An allocation unit of a hobt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HobtUnit {
    /// Its number.
    pub unit: AllocUnitId,
    /// Where it is.
    pub places: HobtPlaces,
    /// It has the pieces of values that are off their rows, not the rows.
    pub pieces: bool,
}
