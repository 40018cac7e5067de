//! Compares indexes with their table, entry by entry, by fingerprints.
//!
//! Reading the table yields the entries that each index must have; reading the index yields the
//! entries that it has. A fingerprint is a hash of all columns of an entry: key, locator and
//! included columns. Only if the two sets differ, both are read again, and the rows of the buckets
//! that differ are reported.
//!
//! Invariants
//!  1. Every row of the table has one entry in each index whose filter it passes, and every entry
//!     has its row.
//!  2. Rows on an unusable page are not reported one by one. Behind a damaged index page no row
//!     counts as missing; behind a damaged page of the table no entry counts as surplus.

use super::owner::Owner;
use super::{CheckCounts, CheckFinding, CheckReport, FINDINGS_MAX};
use crate::database::Database;
use access::{Batch, EntryPart, Fingerprint, RowLocation, StoredHobt, differences};
use base::{PageId, SqlError, messages};
use catalog::view::{Index, PhysicalColumn, Table};
use os::wait::{CancelReason, Waiter};
use page::{Field, RowLayout};
use std::sync::Arc;
use types::ColumnTest;

/// The most batches of rows that are compared one by one before the check stops naming rows.
const BATCHES_MAX: usize = 16;
/// The characters of a value that a message shows.
const SHOWN: usize = 60;

/// A place of a row: the partition, its page, and the slot there.
type RowPlace<'h> = (&'h dyn StoredHobt, PageId, u16);

/// An index, and how its entries are made from rows.
struct Pair<'t> {
    index: &'t Index,
    hobts: &'t [Arc<dyn StoredHobt>],
    /// Of a row of the table.
    wanted: Vec<EntryPart>,
    /// The parts of an entry, taken from the entry.
    stored: Vec<EntryPart>,
    /// For each test of the filter: the position of its column in the table's rows.
    tested: Vec<Option<usize>>,
    expected: Fingerprint,
    found: Fingerprint,
    rows_complete: bool,
    entries_complete: bool,
}

impl<'t> Pair<'t> {
    fn new(table: &Table, index: &'t Index, hobts: &'t [Arc<dyn StoredHobt>]) -> Pair<'t> {
        let (of_base, of_index) = (table.hobt_layout(table.base()), table.hobt_layout(index));
        let part = |column: &PhysicalColumn| match of_base.position(*column) {
            Some(at) => EntryPart::Column(at),
            // Only the RID of a row is not a column of it.
            None => EntryPart::Rid,
        };
        Pair {
            index,
            hobts,
            wanted: of_index.columns.iter().map(part).collect(),
            tested: tests(index)
                .iter()
                .map(|t| of_base.position(PhysicalColumn::Column(t.column)))
                .collect(),
            stored: (0..of_index.columns.len()).map(EntryPart::Column).collect(),
            expected: Fingerprint::default(),
            found: Fingerprint::default(),
            rows_complete: true,
            entries_complete: true,
        }
    }

    /// Whether the index must have an entry for a row.
    fn admits(&self, layout: &RowLayout, row: RowLocation<'_>) -> bool {
        tests(self.index).iter().zip(&self.tested).all(|(test, at)| {
            let field = at.and_then(|at| layout.field(row.record, at));
            test.holds_stored(match field {
                None | Some(Field::Null) => None,
                Some(Field::Inline(bytes)) => Some(bytes),
                Some(Field::OffRow(_)) => Some(&[]),
            })
        })
    }

    fn see_row(&mut self, base: (&dyn StoredHobt, &RowLayout), row: RowLocation<'_>) {
        let (base, layout) = base;
        if !self.admits(layout, row) {
            return;
        }
        match base.entry_hash(row, &self.wanted) {
            Some(hash) => self.expected.add(hash),
            None => self.rows_complete = false,
        }
    }

    fn see_entry(&mut self, hobt: &dyn StoredHobt, row: RowLocation<'_>) {
        match hobt.entry_hash(row, &self.stored) {
            Some(hash) => self.found.add(hash),
            None => self.entries_complete = false,
        }
    }
}

/// The filter of an index.
fn tests(index: &Index) -> &[ColumnTest] {
    index.filter.as_ref().map_or(&[], |f| &f.tests)
}

/// Checks a table and its indexes, each by its partitions: a row and its entry need not be in
/// partitions of one number.
pub(super) fn check(
    database: &Database,
    table: &Table,
    base: &[Arc<dyn StoredHobt>],
    indexes: &[(&Index, Vec<Arc<dyn StoredHobt>>)],
    report: &mut CheckReport,
    waiter: &Waiter,
) -> Result<(), CancelReason> {
    let mut pairs: Vec<Pair<'_>> =
        indexes.iter().map(|(index, hobts)| Pair::new(table, index, hobts)).collect();
    let (mut looked, mut complete) = (CheckCounts::default(), true);
    for hobt in base {
        let owner = Owner::of(&**hobt, Some(table));
        let (mut nulls, layout) = (Vec::new(), hobt.layout());
        let found = hobt.verify(waiter, &mut |row| {
            Database::check_nulls(table, layout, &owner, row, &mut nulls);
            pairs.iter_mut().for_each(|pair| pair.see_row((&**hobt, layout), row));
        })?;
        database.take_in(&**hobt, &owner, &found, report);
        nulls.into_iter().for_each(|finding| report.push(finding));
        looked.rows += found.rows;
        looked.pages += found.pages;
        complete &= found.complete;
    }
    report.objects.insert(table.object_id.0, looked);
    for mut pair in pairs {
        pair.rows_complete &= complete;
        for hobt in pair.hobts {
            let entries = hobt.verify(waiter, &mut |row| pair.see_entry(&**hobt, row))?;
            pair.entries_complete &= entries.complete;
            database.take_in(&**hobt, &Owner::of(&**hobt, Some(table)), &entries, report);
        }
        compare(table, base, &pair, report, waiter)?;
    }
    Ok(())
}

fn compare(
    table: &Table,
    base: &[Arc<dyn StoredHobt>],
    pair: &Pair<'_>,
    report: &mut CheckReport,
    waiter: &Waiter,
) -> Result<(), CancelReason> {
    let batches = pair.expected.differing(&pair.found);
    for batch in batches.iter().take(BATCHES_MAX) {
        let (missing, extra) = collect(base, pair, batch, waiter)?;
        for at in missing.into_iter().filter(|_| pair.entries_complete) {
            waiter.check()?;
            report.push(missing_row(table, pair, at));
        }
        for at in extra.into_iter().filter(|_| pair.rows_complete) {
            waiter.check()?;
            report.push(extra_row(table, pair, at));
        }
        if report.consistency.len() >= FINDINGS_MAX {
            return Ok(());
        }
    }
    Ok(())
}

/// Finds rows without an entry and entries without a row, in some buckets.
fn collect<'h>(
    base: &'h [Arc<dyn StoredHobt>],
    pair: &Pair<'h>,
    batch: &Batch,
    waiter: &Waiter,
) -> Result<(Vec<RowPlace<'h>>, Vec<RowPlace<'h>>), CancelReason> {
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    for hobt in base {
        let layout = hobt.layout();
        hobt.verify(waiter, &mut |row| {
            let hash = hobt.entry_hash(row, &pair.wanted).filter(|h| batch.has(*h));
            if let Some(hash) = hash.filter(|_| pair.admits(layout, row)) {
                rows.push((hash, (&**hobt, row.page, row.slot)));
            }
        })?;
    }
    for hobt in pair.hobts {
        hobt.verify(waiter, &mut |row| {
            if let Some(hash) = hobt.entry_hash(row, &pair.stored).filter(|h| batch.has(*h)) {
                entries.push((hash, (&**hobt, row.page, row.slot)));
            }
        })?;
    }
    Ok(differences(rows, entries))
}

fn missing_row(table: &Table, pair: &Pair<'_>, (base, page, slot): RowPlace<'_>) -> CheckFinding {
    let (name, index) = (&table.name, pair.index);
    let error = SqlError::new(
        messages::CHECKDB_MISSING_ROW,
        &[name, &table.object_id, &index.name, &index.index_id],
    );
    let record = base.record_at(page, slot).unwrap_or_default();
    let of_index = table.hobt_layout(index).columns;
    let values = values(table, base, &record, &pair.wanted, &of_index);
    let locator = locator_of_row(table, base, &record, (page, slot));
    let args: [&dyn std::fmt::Display; 4] = [&page, &slot, &locator, &values];
    let row = Some(SqlError::new(messages::CHECKDB_DATA_ROW, &args));
    CheckFinding { object: table.object_id, page, error, row }
}

fn extra_row(table: &Table, pair: &Pair<'_>, (hobt, page, slot): RowPlace<'_>) -> CheckFinding {
    let (name, index) = (&table.name, pair.index);
    let error = SqlError::new(
        messages::CHECKDB_EXTRA_ROW,
        &[name, &table.object_id, &index.name, &index.index_id],
    );
    let record = hobt.record_at(page, slot).unwrap_or_default();
    let layout = table.hobt_layout(index);
    let text = values(table, hobt, &record, &pair.stored, &layout.columns);
    let (parts, columns): (Vec<EntryPart>, Vec<PhysicalColumn>) = pair
        .stored
        .iter()
        .zip(&layout.columns)
        .filter(|(_, column)| is_locator(table, **column))
        .unzip();
    let locator = values(table, hobt, &record, &parts, &columns);
    let args: [&dyn std::fmt::Display; 4] = [&page, &slot, &text, &locator];
    let row = Some(SqlError::new(messages::CHECKDB_INDEX_ROW, &args));
    CheckFinding { object: table.object_id, page, error, row }
}

/// Whether a column of an entry is part of the locator of its row.
fn is_locator(table: &Table, column: PhysicalColumn) -> bool {
    match column {
        PhysicalColumn::Column(n) => table.base().key.iter().any(|k| k.column == n),
        PhysicalColumn::Dropped(_) => false,
        PhysicalColumn::Uniquifier | PhysicalColumn::Rid => true,
    }
}

fn locator_of_row(
    table: &Table,
    base: &dyn StoredHobt,
    record: &[u8],
    (page, slot): (PageId, u16),
) -> String {
    let layout = table.hobt_layout(table.base());
    if layout.key.is_empty() {
        return format!("HEAP RID = ({page}:{slot})");
    }
    let columns: Vec<PhysicalColumn> = layout.key.iter().map(|k| layout.columns[k.field]).collect();
    let parts: Vec<EntryPart> = layout.key.iter().map(|k| EntryPart::Column(k.field)).collect();
    values(table, base, record, &parts, &columns)
}

/// `name = value` of some columns.
fn values(
    table: &Table,
    hobt: &dyn StoredHobt,
    record: &[u8],
    parts: &[EntryPart],
    columns: &[PhysicalColumn],
) -> String {
    let one = |(part, column): (&EntryPart, &PhysicalColumn)| {
        let name: &str = match column {
            PhysicalColumn::Column(n) => &table.columns[*n].name,
            PhysicalColumn::Dropped(_) => "dropped",
            PhysicalColumn::Uniquifier => "UNIQUIFIER",
            PhysicalColumn::Rid => "HEAP RID",
        };
        let EntryPart::Column(at) = part else { return format!("{name} = its place") };
        let value = match hobt.layout().field(record, *at) {
            None => "?".to_owned(),
            Some(Field::Null) => "NULL".to_owned(),
            Some(Field::OffRow(_)) => "(off the row)".to_owned(),
            Some(Field::Inline(bytes)) => value(table, *column, bytes),
        };
        format!("{name} = {value}")
    };
    let all: Vec<String> = parts.iter().zip(columns).map(one).collect();
    all.join(", ")
}

fn value(table: &Table, column: PhysicalColumn, bytes: &[u8]) -> String {
    let hex = || bytes.iter().map(|b| format!("{b:02X}")).collect::<String>();
    let text = match column {
        PhysicalColumn::Column(n) => {
            let of_type = table.columns[n].sql_type;
            types::decode_storage(bytes, of_type).map_or_else(|_| hex(), |v| v.to_string())
        }
        PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => hex(),
    };
    text.chars().take(SHOWN).collect()
}
