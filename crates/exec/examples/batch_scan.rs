//! Rows a second of processor time, read by row and by batches, over a heap and a clustered index:
//! `cargo run -p exec --example batch_scan`. Each figure is the best of several rounds.

#![allow(clippy::unwrap_used, reason = "a measurement ends at the first surprise")]

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/batches/table.rs"]
mod table;

use access::{BatchColumn, Isolation, LockPlan, ScanRange, TableSource};
use catalog::view::IndexKind;
use std::hint::black_box;
use table::{TYPES, Table};
use types::{Collation, Relation, Value, decode_storage};
use vector::{Constant, compare_constant};
use work::Work;

/// Million rows a second of processor time, of the fastest of several rounds.
fn speed(mut round: impl FnMut() -> usize) -> f64 {
    let one = |round: &mut dyn FnMut() -> usize| {
        let begun = os::clock::thread_cpu_ns();
        let rows: usize = (0..20).map(|_| round()).sum();
        rows as f64 * 1e3 / (os::clock::thread_cpu_ns() - begun) as f64
    };
    (0..15).map(|_| one(&mut round)).fold(0.0, f64::max)
}

/// The columns that are read: a key, a decimal, a date, a text.
fn columns() -> Vec<BatchColumn> {
    let column = |&field: &usize| BatchColumn { field, sql_type: TYPES[field] };
    [0, 5, 10, 15].iter().map(column).collect()
}

/// Row mode: each column of each row becomes a value.
fn by_row(table: &Table, work: &mut Work, locks: &LockPlan) -> usize {
    let mut cursor = table.counted.scan(work, &ScanRange::default(), locks).unwrap();
    let (mut rows, columns) = (0, columns());
    while cursor.next(work).unwrap() {
        let view = cursor.view().unwrap();
        for c in &columns {
            let bytes = view.field(c.field).and_then(|field| field.inline());
            black_box(bytes.map_or(Value::Null, |b| decode_storage(b, c.sql_type).unwrap()));
        }
        rows += 1;
    }
    rows
}

/// Batches, with a filter of two comparisons.
fn by_batches(table: &Table, work: &mut Work, locks: &LockPlan) -> usize {
    let columns = columns();
    let mut cursor = table.counted.batches(work, &ScanRange::default(), locks, &columns).unwrap();
    let mut batch = BatchColumn::batch(&columns);
    let collation = Collation::default();
    let key = Constant::new(&Value::Int(1_300), TYPES[0], collation).unwrap();
    let date = Constant::new(&Value::Date(738_001), TYPES[10], collation).unwrap();
    let mut rows = 0;
    while cursor.next(work, &mut batch).unwrap() {
        rows += batch.rows();
        for (column, constant) in [(0, &key), (2, &date)] {
            let among = batch.selection();
            let truth = compare_constant(&batch.columns()[column], Relation::Less, constant, among);
            batch.filter(&truth);
        }
        black_box(batch.selection());
    }
    rows
}

fn main() {
    for kind in [IndexKind::Heap, IndexKind::Clustered] {
        let table = Table::new(kind);
        let mut work = table.session(52);
        work.begin(true, "");
        for level in [Isolation::ReadUncommitted, Isolation::ReadCommitted] {
            let locks = LockPlan::read(level);
            let rows = speed(|| by_row(&table, &mut work, &locks));
            let batches = speed(|| by_batches(&table, &mut work, &locks));
            println!(
                "{kind:?}, {level:?}: {rows:.1} million rows a second by row, \
                 {batches:.1} by batches with a filter"
            );
        }
    }
}
