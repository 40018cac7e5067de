//! Gathers statistics from rows. An index gives its keys in order; values of other columns are
//! sorted first.
//!
//! A sample reads a given number of pages of the heap or clustered index, at even distances, and
//! takes all rows of these pages. The table's number of rows is then the one that the table counts.
//! If the table does not know it since the last start, it is estimated from the sample.

use crate::build::rebuild::open_all;
use crate::build::sort::{BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, ROWS_PER_CHECK, RowOrder, Sorter};
use crate::context::{DdlContext, Place, unsupported};
use access::{Field, Hobt, Isolation, LockPlan, RowCursor, ScanRange, SourceSize, Use};
use base::{SqlError, SqlResult};
use catalog::statistics::{Collector, Distribution, StatisticsHeader};
use catalog::view::{Index, IndexKind, KeyField, PhysicalColumn, Table};
use catalog::{HobtColumn, HobtSpec};
use std::sync::Arc;

/// Uncommitted rows count, too: only the choice of plans depends on statistics.
const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);

/// The distribution of the values; `None` if there are no rows.
pub(crate) type GatherResult = SqlResult<Option<Arc<Distribution>>>;

/// How many rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    /// FULLSCAN
    All,
    /// The default. A table of up to 8 MB is read whole. Of a table of n times 8 MB, √n times 8 MB
    /// are read.
    Usual,
    /// A share of the rows, from 0 to 1.
    Share(f64),
    /// About this many rows.
    Rows(u64),
    /// `SAMPLE 0`: no rows. The statistics stay empty.
    Nothing,
}

/// The pages of the smallest sample: 8 MB, as in SQL Server. A table that is not larger is read
/// whole.
const PAGES_MIN: u64 = 1024;

impl Sample {
    /// The sample of each partition, if there are so many.
    fn of_partition(self, partitions: usize) -> Sample {
        match self {
            Sample::Rows(n) => Sample::Rows(n.div_ceil(partitions as u64)),
            same => same,
        }
    }

    /// The number of pages to read of a table of this size.
    fn pages(self, size: SourceSize) -> u64 {
        let all = size.pages as f64;
        let wanted = match self {
            Sample::All => all,
            Sample::Share(share) => all * share,
            // Without a count of rows, the rows of a page are not known: all pages are read.
            Sample::Rows(_) if size.rows == 0 => all,
            Sample::Rows(n) => all * n as f64 / size.rows as f64,
            Sample::Usual => (all * PAGES_MIN as f64).sqrt(),
            Sample::Nothing => 0.0,
        };
        (wanted.ceil() as u64).max(PAGES_MIN).min(size.pages)
    }
}

/// The rows of a table, or of a sample of it.
struct SampledRows<'s> {
    cursor: Box<dyn RowCursor + 's>,
    /// How many rows of the table each row of the sample stands for.
    share: f64,
    /// The rows of the table, if their number is known.
    rows: Option<u64>,
}

/// Begins to read a table, or a sample of it.
fn look<'s>(
    cx: &mut DdlContext<'_>,
    source: &'s dyn Hobt,
    sample: Sample,
) -> SqlResult<SampledRows<'s>> {
    source.used(Use::SystemScan, os::clock::now());
    if let Some(some) = source.sample(cx.work, &|size| sample.pages(size))? {
        let share = some.of as f64 / some.pages as f64;
        return Ok(SampledRows { cursor: some.cursor, share, rows: some.rows });
    }
    let cursor = source.scan(cx.work, &ScanRange::default(), &READ)?;
    Ok(SampledRows { cursor, share: 1.0, rows: None })
}

/// Statistics of an index: of its key columns and of the columns of the clustered key behind them.
pub(crate) fn of_index(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    index: &Index,
    sample: Sample,
) -> GatherResult {
    let (fields, columns) = key_columns(table, index);
    // Pages of a sample give no sorted keys, and neither do partitions read one after another.
    if !is_ascending(table, index) || sample != Sample::All || index.partitions.are_several() {
        return of_columns(cx, place, table, &columns, sample);
    }
    let source = place.builder.open(&HobtSpec::of(table, index))?;
    source.used(Use::SystemScan, os::clock::now());
    of_entries(cx, place, (table, &*source), (&fields, &columns))
}

/// Like [`of_index`], for an index that was just built. This read does not count as a use of it.
pub(crate) fn of_built_index(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    index: &Index,
) -> GatherResult {
    let (fields, columns) = key_columns(table, index);
    if !is_ascending(table, index) || index.partitions.are_several() {
        return of_columns(cx, place, table, &columns, Sample::All);
    }
    let source = place.builder.open(&HobtSpec::of(table, index))?;
    of_entries(cx, place, (table, &*source), (&fields, &columns))
}

/// The columns of an index's key: their fields in its entries, and their ordinals in the table.
fn key_columns(table: &Table, index: &Index) -> (Vec<usize>, Vec<usize>) {
    let layout = table.hobt_layout(index);
    let ordinal = |k: &KeyField| match layout.columns[k.field] {
        PhysicalColumn::Column(n) => Some((k.field, n)),
        PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => None,
    };
    layout.key.iter().filter_map(ordinal).unzip()
}

/// Whether the first key column ascends, so that the entries come in the order of a histogram.
fn is_ascending(table: &Table, index: &Index) -> bool {
    table.hobt_layout(index).key.first().is_some_and(|k| !k.descending)
}

/// Statistics from all entries of an index, read in order.
fn of_entries(
    cx: &mut DdlContext<'_>,
    place: &Place,
    (table, source): (&Table, &dyn Hobt),
    (fields, columns): (&[usize], &[usize]),
) -> GatherResult {
    let modified = modified(place, table, columns);
    let mut collector = collector(table, columns);
    let waiter = Arc::clone(cx.work.owner().waiter());
    let mut cursor = source.scan(cx.work, &ScanRange::default(), &READ)?;
    let mut rows = 0_u64;
    while cursor.next(cx.work)? {
        if rows.is_multiple_of(ROWS_PER_CHECK) {
            waiter.check().map_err(SqlError::from)?;
        }
        rows += 1;
        let key = key_of(&*cursor, fields)?;
        let key: Vec<Option<&[u8]>> = key.iter().map(|f| f.inline()).collect();
        collector.push(&key);
    }
    Ok(finish(collector, table, columns, (rows, modified)))
}

/// Statistics of columns of the table, given by their ordinals.
pub(crate) fn of_columns(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    columns: &[usize],
    sample: Sample,
) -> GatherResult {
    let layout = table.hobt_layout(table.base());
    let position = |&n: &usize| layout.position(PhysicalColumn::Column(n));
    let fields: Option<Vec<usize>> = columns.iter().map(position).collect();
    let fields = fields.ok_or_else(|| unsupported("statistics on computed columns", 0))?;
    if sample == Sample::Nothing {
        return Ok(None);
    }
    let modified = modified(place, table, columns);
    let hobts = open_all(place, table, table.base())?;
    let spec = sorted_spec(table, columns);
    let waiter = Arc::clone(cx.work.owner().waiter());
    let grant = cx.semaphores.ask_for_build(cx.work, BUFFER_BYTES_MAX, 1)?;
    let mut sorter = Sorter::new(RowOrder::of(&spec), cx.spill, &waiter);
    sorter.buffer_max = grant.bytes().max(BUFFER_BYTES_MIN);
    let mut rows = 0;
    for hobt in &hobts {
        let own = sample.of_partition(hobts.len());
        let SampledRows { mut cursor, share, rows: known } = look(cx, &**hobt, own)?;
        let mut taken = 0_u64;
        while cursor.next(cx.work)? {
            taken += 1;
            sorter.push(&key_of(&*cursor, &fields)?)?;
        }
        rows += known.unwrap_or((taken as f64 * share) as u64).max(taken);
    }
    let mut sorted = sorter.finish()?;
    let mut collector = collector(table, columns);
    let mut seen = 0_u64;
    while let Some((order, packed)) = sorted.next()? {
        seen += 1;
        if seen.is_multiple_of(ROWS_PER_CHECK) {
            waiter.check().map_err(SqlError::from)?;
        }
        let mut row = Vec::with_capacity(columns.len());
        order.unpack(packed, &mut row);
        let key: Vec<Option<&[u8]>> = row.iter().map(|f| f.inline()).collect();
        collector.push(&key);
    }
    Ok(finish(collector, table, columns, (rows, modified)))
}

fn key_of<'a>(cursor: &'a dyn RowCursor, fields: &[usize]) -> SqlResult<Vec<Field<'a>>> {
    let field = |&n: &usize| match cursor.field(n)? {
        Field::OffRow(_) => {
            Err(unsupported("statistics on values that are stored off their row", 0))
        }
        field => Ok(field),
    };
    fields.iter().map(field).collect()
}

fn collector(table: &Table, columns: &[usize]) -> Collector {
    let of = |&n: &usize| (table.columns[n].sql_type, table.columns[n].collation);
    Collector::new(&columns.iter().map(of).collect::<Vec<_>>())
}

/// The number of changes of the first column so far.
fn modified(place: &Place, table: &Table, columns: &[usize]) -> u64 {
    let first = columns.first().and_then(|&n| table.columns.get(n));
    first.map_or(0, |c| place.modifications.of(table.object_id, c.column_id))
}

fn finish(
    collector: Collector,
    table: &Table,
    columns: &[usize],
    (rows, modified): (u64, u64),
) -> Option<Arc<Distribution>> {
    let ids: Vec<i32> = columns.iter().map(|&n| table.columns[n].column_id).collect();
    let whole = StatisticsHeader { rows, updated_ns: os::clock::now().0, modified, columns: &ids };
    collector.finish(&whole).map(Arc::new)
}

/// The definition of an index over only these columns. It gives the sort its order; no such index
/// is made.
fn sorted_spec(table: &Table, columns: &[usize]) -> HobtSpec {
    let column = |&n: &usize| {
        let c = &table.columns[n];
        HobtColumn { sql_type: c.sql_type, nullable: true, collation: c.collation }
    };
    HobtSpec {
        kind: IndexKind::Nonclustered,
        columns: columns.iter().map(column).collect(),
        key: (0..columns.len()).map(|field| KeyField { field, descending: false }).collect(),
        declared_key: columns.len(),
        unique: false,
        ..HobtSpec::of_hobt(table, table.base(), table.base().partitions.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_of_as_many_pages_as_was_said() {
        let size = SourceSize { rows: 100_000, pages: 16_384 };
        assert_eq!(Sample::All.pages(size), 16_384);
        assert_eq!(Sample::Share(0.1).pages(size), 1_639);
        assert_eq!(Sample::Share(0.01).pages(size), 1_024, "the least");
        assert_eq!(Sample::Rows(10_000).pages(size), 1_639);
        assert_eq!(Sample::Usual.pages(size), 4_096, "sixteen times 8 MB");
        let small = SourceSize { rows: 9, pages: 1_000 };
        assert_eq!(Sample::Share(0.5).pages(small), 1_000, "read whole");
        let unknown = SourceSize { rows: 0, pages: 7_000 };
        assert_eq!(Sample::Rows(5).pages(unknown), 7_000, "not known");
    }
}
