//! What is known of values, gathered from rows: of an index in its own order, of other columns
//! by a sort.
//!
//! A sample reads every row too, so that the count of rows is exact; what it saves is sorting and
//! comparing. Rows are chosen by a hash of their place in the scan: the same rows each time.

use crate::context::{DdlContext, Place, unsupported};
use crate::sort::{BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, ROWS_PER_CHECK, RowOrder, Sorter};
use access::{Field, Isolation, LockPlan, RowCursor, ScanRange};
use base::{SqlError, SqlResult};
use catalog::statistics::{Collector, Distribution, Whole};
use catalog::view::{Index, IndexKind, KeyField, PhysicalColumn, Table};
use catalog::{HobtColumn, HobtSpec};
use std::sync::Arc;

/// Sch-M keeps everybody else away.
const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);

/// What is found; none without rows.
pub(crate) type Found = SqlResult<Option<Arc<Distribution>>>;

/// How many rows are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    /// FULLSCAN
    All,
    /// A share of them, from 0 to 1.
    Share(f64),
    /// About so many.
    Rows(u64),
}

/// Chooses rows of a scan.
struct Picker {
    /// Of 2^64 hashes those below it; none takes every row.
    below: Option<u64>,
    rows: u64,
}

impl Picker {
    fn new(sample: Sample, table_rows: u64) -> Picker {
        let share = match sample {
            Sample::All => 1.0,
            Sample::Share(share) => share,
            Sample::Rows(n) => n as f64 / table_rows.max(1) as f64,
        };
        let below = (share < 1.0).then_some((share.max(0.0) * u64::MAX as f64) as u64);
        Picker { below, rows: 0 }
    }

    /// Whether the next row is taken. The first one always is.
    fn takes_next(&mut self) -> bool {
        self.rows += 1;
        let Some(below) = self.below else { return true };
        // SplitMix64.
        let mut z = self.rows.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.rows == 1 || (z ^ (z >> 31)) < below
    }
}

/// Of an index's key, with the columns of the clustered index that follow it.
pub(crate) fn of_index(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    index: &Index,
    sample: Sample,
) -> Found {
    let layout = table.hobt_layout(index);
    let ordinal = |k: &KeyField| match layout.columns[k.field] {
        PhysicalColumn::Column(n) => Some((k.field, n)),
        PhysicalColumn::Uniquifier | PhysicalColumn::Rid => None,
    };
    let (fields, columns): (Vec<usize>, Vec<usize>) = layout.key.iter().filter_map(ordinal).unzip();
    if layout.key.first().is_none_or(|k| k.descending) {
        return of_columns(cx, place, table, &columns, sample);
    }
    let source = place.builder.open(&HobtSpec::of(table, index))?;
    let mut picker = Picker::new(sample, source.size().rows);
    let mut collector = collector(table, &columns);
    let waiter = Arc::clone(cx.work.owner().waiter());
    let mut cursor = source.scan(cx.work, &ScanRange::default(), &READ)?;
    while cursor.next(cx.work)? {
        if picker.rows.is_multiple_of(ROWS_PER_CHECK) {
            waiter.check().map_err(SqlError::from)?;
        }
        if picker.takes_next() {
            let key = key_of(&*cursor, &fields)?;
            let key: Vec<Option<&[u8]>> = key.iter().map(|f| f.inline()).collect();
            collector.push(&key);
        }
    }
    Ok(finish(collector, table, &columns, picker.rows))
}

/// Of columns by their ordinals.
pub(crate) fn of_columns(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    columns: &[usize],
    sample: Sample,
) -> Found {
    let layout = table.hobt_layout(table.base());
    let position = |&n: &usize| layout.position(PhysicalColumn::Column(n));
    let fields: Option<Vec<usize>> = columns.iter().map(position).collect();
    let fields = fields.ok_or_else(|| unsupported("statistics on computed columns", 0))?;
    let source = place.builder.open(&HobtSpec::of(table, table.base()))?;
    let mut picker = Picker::new(sample, source.size().rows);
    let spec = sorted_spec(table, columns);
    let waiter = Arc::clone(cx.work.owner().waiter());
    let grant = cx.semaphores.ask_for_build(cx.work, BUFFER_BYTES_MAX)?;
    let mut sorter = Sorter::new(RowOrder::of(&spec), cx.spill, &waiter);
    sorter.buffer_max = grant.bytes().max(BUFFER_BYTES_MIN);
    let mut cursor = source.scan(cx.work, &ScanRange::default(), &READ)?;
    while cursor.next(cx.work)? {
        if picker.takes_next() {
            sorter.push(&key_of(&*cursor, &fields)?)?;
        }
    }
    drop(cursor);
    let mut sorted = sorter.finish()?;
    let mut collector = collector(table, columns);
    let (mut packed, mut seen) = (Vec::new(), 0_u64);
    while sorted.next(&mut packed)? {
        seen += 1;
        if seen.is_multiple_of(ROWS_PER_CHECK) {
            waiter.check().map_err(SqlError::from)?;
        }
        let mut row = Vec::with_capacity(columns.len());
        sorted.order.unpack(&packed, &mut row);
        let key: Vec<Option<&[u8]>> = row.iter().map(|f| f.inline()).collect();
        collector.push(&key);
    }
    Ok(finish(collector, table, columns, picker.rows))
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

fn finish(
    collector: Collector,
    table: &Table,
    columns: &[usize],
    rows: u64,
) -> Option<Arc<Distribution>> {
    let ids: Vec<i32> = columns.iter().map(|&n| table.columns[n].column_id).collect();
    let whole = Whole { rows, updated_ns: os::clock::now().0, columns: &ids };
    collector.finish(&whole).map(Arc::new)
}

/// An index over these columns and nothing else, for its order alone.
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
        ..HobtSpec::of(table, table.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_near_its_share_and_never_empty() {
        let taken = |sample| {
            let mut picker = Picker::new(sample, 100_000);
            (0..100_000).filter(|_| picker.takes_next()).count()
        };
        assert_eq!(taken(Sample::All), 100_000);
        assert!((9_500..10_500).contains(&taken(Sample::Share(0.1))));
        assert!((900..1_100).contains(&taken(Sample::Rows(1_000))));
        assert_eq!(taken(Sample::Rows(0)), 1);
    }
}
