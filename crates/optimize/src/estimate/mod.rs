//! How many rows: from histograms, densities and keys.
//!
//! A slot has one writer in the whole plan, so what is known of a column is known of its slot
//! wherever it is read: [`Estimator`] notes once which column of which table each slot holds. How
//! many rows an operator gives is then its input's rows times what its conditions keep.
//!
//! The rules are those that SQL Server documents for its estimator since 2014: conditions on
//! several columns count with falling weight (the most selective fully, the next with its square
//! root, and so on, four in all), values beyond a histogram's end are expected to be there when
//! rows were added since, and a join's smaller side is expected to be contained in the larger.

mod column;
mod condition;
mod groups;
mod guess;
mod join;
mod origin;

pub(crate) use column::ColumnFacts;
pub(crate) use origin::Origins;

use crate::facts::{Facts, Size};
use catalog::view::{Index, Object, PhysicalColumn, Table};
use plan::{Slot, TableNo};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Rows of a table nobody has counted.
const TABLE_ROWS: f64 = 10_000.0;
/// What a row and an index's entry take beside their values, and what a page holds.
const ROW_BYTES: f64 = 11.0;
const ENTRY_BYTES: f64 = 7.0;
const PAGE_BYTES: f64 = 8096.0;
/// Rows of a system view.
pub(crate) const VIEW_ROWS: f64 = 100.0;
/// What is kept by a condition of which nothing is known: a comparison with `=`, with `<` or `>`,
/// LIKE, anything else.
const EQUAL: f64 = 0.1;
const RANGE: f64 = 0.3;
const LIKE: f64 = 0.09;
const OTHER: f64 = 0.5;

/// What is known of the statement's columns.
pub(crate) struct Estimator<'a> {
    references: &'a [Object],
    facts: &'a dyn Facts,
    origins: Origins,
    sizes: RefCell<BTreeMap<base::HobtId, Size>>,
}

impl<'a> Estimator<'a> {
    pub(crate) fn new(
        references: &'a [Object],
        facts: &'a dyn Facts,
        origins: Origins,
    ) -> Estimator<'a> {
        Estimator { references, facts, origins, sizes: RefCell::default() }
    }

    /// How large an index is.
    pub(crate) fn size(&self, table: &Table, index: &Index) -> Size {
        if let Some(known) = self.sizes.borrow().get(&index.partitions.first()) {
            return *known;
        }
        let found = self.known_size(table, index).unwrap_or_else(|| {
            let known = index.gathered.distribution.as_ref();
            let rows = known.map_or(TABLE_ROWS, |d| d.rows as f64);
            let layout = table.hobt_layout(index);
            let bytes: f64 = layout.columns.iter().map(|c| self.stored_bytes(table, *c)).sum();
            let beside = if index.kind.holds_entries() { ENTRY_BYTES } else { ROW_BYTES };
            Size { rows, pages: (rows * (bytes + beside) / PAGE_BYTES).max(1.0) }
        });
        self.sizes.borrow_mut().insert(index.partitions.first(), found);
        found
    }

    /// The size of all its partitions; none where one of them is not known.
    fn known_size(&self, table: &Table, index: &Index) -> Option<Size> {
        let mut sizes = index.partitions.iter().map(|p| self.facts.size(table.database, p.hobt));
        let first = sizes.next()??;
        sizes.try_fold(first, |sum, size| {
            let size = size?;
            Some(Size { rows: sum.rows + size.rows, pages: sum.pages + size.pages })
        })
    }

    /// Rows of a table now.
    pub(crate) fn table_rows(&self, table: &Table) -> f64 {
        self.size(table, table.base()).rows.max(1.0)
    }

    fn stored_bytes(&self, table: &Table, column: PhysicalColumn) -> f64 {
        match column {
            PhysicalColumn::Column(n) => ColumnFacts::of(table, n, TABLE_ROWS, self.facts).width(),
            PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier => 2.0,
            PhysicalColumn::Rid => 8.0,
        }
    }

    fn table(&self, no: TableNo) -> Option<&'a Table> {
        match self.references.get(no.0 as usize)? {
            Object::Table(t) => Some(t),
            _ => None,
        }
    }

    /// What is known of a slot's column.
    pub(crate) fn column(&self, slot: Slot) -> Option<ColumnFacts<'a>> {
        let (table, column) = self.origins.column(slot)?;
        let table = self.table(table)?;
        Some(ColumnFacts::of(table, column, self.table_rows(table), self.facts))
    }

    /// What the world looks like.
    pub(crate) fn facts(&self) -> &'a dyn Facts {
        self.facts
    }

    /// Bytes of the values of some slots.
    pub(crate) fn width<'s>(&self, slots: impl IntoIterator<Item = &'s Slot>) -> f64 {
        slots.into_iter().map(|&s| self.column(s).map_or(8.0, |c| c.width())).sum()
    }
}

/// What conditions keep together that keep such parts alone.
pub(crate) fn backed_off(mut parts: Vec<f64>) -> f64 {
    parts.sort_by(f64::total_cmp);
    let weights = [1.0, 0.5, 0.25, 0.125];
    parts.iter().zip(weights).map(|(part, weight)| part.clamp(0.0, 1.0).powf(weight)).product()
}
