//! Batch mode at the doors of `access` and `exec`, over a heap and a clustered index of a real
//! database: batches are the rows of the scan, and a plan that runs by batches gives the rows that
//! it gives in row mode, in their order, and obeys the same isolation.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected ends")]

#[allow(dead_code, reason = "another test program uses the rest")]
#[path = "../stories/build.rs"]
mod build;
#[allow(dead_code, reason = "another test program uses the rest")]
#[path = "../stories/fake.rs"]
mod fake;
mod isolation;
mod table;

use access::{
    BatchColumn, BatchRows, Field, Isolation, LockPlan, RowCursor, ScanRange, TableSource,
};
use base::{SqlResult, messages};
use build::{access, cmp, col_of, int, query, scan_of};
use catalog::view::IndexKind;
use exec::{ExecContext, Executor, GrantTerms, OperatorCount, ResourceSemaphores};
use fake::{Bench, Facts, Identities, Rows, Spills};
use plan::{Access, CompareOp, Physical, PhysicalPlan, Predicate, Scalar, Slot};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use table::{ROWS, Row, TYPES, Table, value};
use types::{BinaryOp, SqlType, Value};
use vector::ROWS_MAX;
use work::{CommitTime, Work};

const KINDS: [IndexKind; 2] = [IndexKind::Heap, IndexKind::Clustered];
const COLUMNS: u32 = TYPES.len() as u32;

/// What a run of a plan gave, and what its operators counted.
#[derive(PartialEq, Debug)]
struct Run {
    rows: SqlResult<Vec<Row>>,
    counts: Vec<OperatorCount>,
}

/// How a plan is run.
#[derive(Clone, Copy)]
struct Level {
    isolation: Isolation,
    as_of: Option<CommitTime>,
}

const PLAIN: Level = Level { isolation: Isolation::ReadCommitted, as_of: None };

fn run(table: &Table, work: &mut Work, mut executor: Executor, level: Level) -> Run {
    let bench = Bench::default();
    let semaphores: ResourceSemaphores = bench.semaphores();
    let (spill, identity) = (Spills::default(), Identities::default());
    let mut out = Rows::default();
    let mut rows = Ok(Vec::new());
    // Running again gives the same.
    for _ in 0..2 {
        out.0.clear();
        let mut context = ExecContext {
            work,
            private: None,
            hobts: table,
            spill: &spill,
            variables: &mut [],
            facts: &Facts,
            identity: &identity,
            callout: &exec::NoCallout,
            grant: GrantTerms { semaphores: &semaphores, workers: None },
            isolation: level.isolation,
            as_of: level.as_of,
            qualifies_first: false,
            row_limit: None,
        };
        rows = executor.run(&mut context, &mut out).map(|_| out.0.clone());
    }
    // Up to an error batch mode has read whole batches, row mode rows.
    let counts = if rows.is_ok() { executor.counts() } else { Vec::new() };
    Run { rows, counts }
}

/// Row mode and batch mode of a plan, which reads the table by so many batch scans.
fn both(table: &Table, work: &mut Work, plan: &PhysicalPlan, level: Level, scans: usize) -> Run {
    if !work.is_active() {
        work.begin(false, "");
    }
    let counted = &table.counted;
    let (before, rows_before) = (counted.batches.load(Relaxed), counted.scans.load(Relaxed));
    let by_rows = run(table, work, Executor::new(plan).unwrap(), level);
    assert_eq!(counted.batches.load(Relaxed), before, "row mode reads by row");
    let scans_by_row = counted.scans.load(Relaxed) - rows_before;
    let by_batches = run(table, work, Executor::by_batches(plan).unwrap(), level);
    assert_eq!(counted.batches.load(Relaxed) - before, 2 * scans, "scans by batches");
    let others = counted.scans.load(Relaxed) - rows_before - scans_by_row;
    assert_eq!(others + 2 * scans, scans_by_row, "the others read by row");
    assert_eq!(by_batches, by_rows, "batch mode does what row mode does");
    by_batches
}

fn scan() -> Access {
    scan_of(300, 0, &TYPES)
}

fn filtered(predicate: Predicate) -> Access {
    Access { residual: Some(predicate), ..scan() }
}

/// A column of the table, and its type.
fn column(n: usize) -> Scalar {
    col_of(n as u32, TYPES[n])
}

fn op() -> impl Strategy<Value = CompareOp> {
    prop::sample::select(vec![
        CompareOp::Equal,
        CompareOp::NotEqual,
        CompareOp::Less,
        CompareOp::LessOrEqual,
        CompareOp::Greater,
        CompareOp::GreaterOrEqual,
    ])
}

/// Comparisons with constants on either side, of columns, IS NULL; and some that no kernel decides.
fn leaf() -> impl Strategy<Value = Predicate> {
    let columns = 0..TYPES.len();
    let constant = |n: usize, seed: Option<u32>| match seed {
        Some(seed) => Scalar::constant(value(TYPES[n], seed), TYPES[n]),
        None => Scalar::constant(Value::Null, TYPES[n]),
    };
    let seed = prop::option::weighted(0.95, 0..5_u32);
    prop_oneof![
        6 => (columns.clone(), op(), seed, any::<bool>()).prop_map(move |(n, op, seed, turned)| {
            match turned {
                false => cmp(op, column(n), constant(n, seed)),
                true => cmp(op, constant(n, seed), column(n)),
            }
        }),
        2 => (0..=ROWS, op()).prop_map(|(key, op)| cmp(op, column(0), int(key))),
        1 => (columns.clone(), op()).prop_map(|(n, op)| cmp(op, column(n), column(n))),
        1 => op().prop_map(|op| cmp(op, column(0), column(1))),
        1 => op().prop_map(|op| cmp(op, column(15), column(16))),
        1 => columns.clone().prop_map(|n| Predicate::IsNull(Box::new(column(n)))),
        1 => (columns, 0..5_u32, 0..5_u32).prop_map(move |(n, a, b)| Predicate::InList {
            operand: Box::new(column(n)),
            list: vec![constant(n, Some(a)), constant(n, Some(b))],
            collation: build::C,
        }),
        1 => (0..9_i32).prop_map(|n| {
            let last = build::binary(BinaryOp::Modulo, column(0), int(9));
            cmp(CompareOp::Equal, last, int(n))
        }),
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.prop_map(|p| Predicate::Not(Box::new(p))),
            parts.clone().prop_map(Predicate::And),
            parts.prop_map(Predicate::Or),
        ]
    })
}

/// Random conditions over both kinds of tables: rows, their order and counts are those of row mode.
#[test]
fn filters_give_the_rows_of_row_mode() {
    for kind in KINDS {
        let table = Table::new(kind);
        let session = RefCell::new(table.session(52));
        let given = RefCell::new(0);
        let shape = (predicate(), any::<bool>(), prop::collection::vec(0..COLUMNS, 1..6));
        let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
        let check = |(predicate, backward, columns): (Predicate, bool, Vec<u32>)| {
            let backward = backward && kind == IndexKind::Clustered;
            let a = Access { backward, ..filtered(predicate) };
            let plan = query(access(a), &columns, COLUMNS);
            let run = both(&table, &mut session.borrow_mut(), &plan, PLAIN, 1);
            *given.borrow_mut() += run.rows.unwrap().len();
            Ok(())
        };
        TestRunner::new(config).run(&shape, check).unwrap();
        assert!(*given.borrow() > 10_000, "the conditions admit rows");
    }
}

/// Parents that open a scan again, read few of its columns or none, or stop early.
#[test]
fn parents_find_what_they_find_in_row_mode() {
    let table = Table::new(IndexKind::Clustered);
    let mut work = table.session(52);
    let less = |slot, n| cmp(CompareOp::Less, col_of(slot, SqlType::Int), int(n));
    // COUNT(*): nobody reads a column.
    let count = Physical::StreamAggregate(plan::StreamAggregate {
        input: Box::new(access(filtered(less(0, 2_000)))),
        keys: Vec::new(),
        calls: vec![plan::AggregateCall {
            function: builtins::Aggregate::Count,
            distinct: false,
            argument: None,
            separator: None,
            output: Slot(COLUMNS),
            ty: build::ty(SqlType::Int),
            phase: plan::AggregatePhase::Whole,
        }],
    });
    let run = both(&table, &mut work, &query(count, &[COLUMNS], COLUMNS + 1), PLAIN, 1);
    let expected = (0..2_000).filter(|key| key % 7 != 3).count();
    assert_eq!(run.rows.unwrap(), [[Value::Int(expected as i32)]]);
    // The inner side of a loop is opened for each outer row, whose slots its condition reads.
    let mut inner = scan_of(300, 40, &[SqlType::Int]);
    let sum = build::binary(BinaryOp::Add, col_of(0, SqlType::Int), int(1));
    let next = cmp(CompareOp::Equal, col_of(40, SqlType::Int), sum);
    inner.residual = Some(Predicate::And(vec![less(40, 30), next]));
    let join = Physical::NestedLoops(Box::new(plan::NestedLoops {
        kind: plan::JoinKind::Inner,
        outer: access(filtered(less(0, 20))),
        inner: access(inner),
        predicate: None,
        inner_slots: build::slots(&[40]),
        correlated: true,
    }));
    let run = both(&table, &mut work, &query(join, &[0, 40], 60), PLAIN, 2);
    let pairs = (0..20).filter(|key| key % 7 != 3 && (key + 1) % 7 != 3);
    let pairs: Vec<_> = pairs.map(|key| [Value::Int(key), Value::Int(key + 1)]).collect();
    assert_eq!(run.rows.unwrap(), pairs);
}

/// What asks for places of rows, a part of the table, locks for a change or large values reads by
/// row, and gives the same.
#[test]
fn what_may_not_run_by_batches_runs_by_row() {
    let table = Table::new(IndexKind::Heap);
    let mut work = table.session(52);
    let slot = Some(Slot(COLUMNS));
    let locks = plan::LockHints { strength: plan::Strength::Update, ..scan().locks };
    let mut large = scan();
    large.columns[15].sql_type = SqlType::VARCHAR_MAX;
    let cases = [
        Access { rid: slot, ..scan() },
        Access { hint: slot, ..scan() },
        Access { location: slot, ..scan() },
        Access { locks, ..scan() },
        large,
    ];
    for a in cases {
        let plan = query(access(a), &[0, 15], COLUMNS + 1);
        both(&table, &mut work, &plan, PLAIN, 0);
    }
}

/// All columns of the table, read by batches: they are the rows of the scan, in batches that are
/// full but for the last; and read by row again they have the stored bytes of the scan.
#[test]
fn batches_are_the_rows_of_the_scan() {
    let columns: Vec<BatchColumn> = TYPES
        .iter()
        .enumerate()
        .map(|(field, &sql_type)| BatchColumn { field, sql_type })
        .collect();
    let locks = LockPlan::read(Isolation::ReadCommitted);
    for kind in KINDS {
        let table = Table::new(kind);
        let mut work = table.session(52);
        work.begin(false, "");
        let range = ScanRange::default();
        let source = &table.counted;
        let expected = fields_of(&mut *source.scan(&mut work, &range, &locks).unwrap(), &mut work);
        assert_eq!(expected.len(), (0..ROWS).filter(|key| key % 7 != 3).count());
        let mut cursor = source.batches(&mut work, &range, &locks, &columns).unwrap();
        let mut batch = BatchColumn::batch(&columns);
        for _ in 0..2 {
            let (mut found, mut sizes) = (Vec::new(), Vec::new());
            while cursor.next(&mut work, &mut batch).unwrap() {
                sizes.push(batch.rows());
                assert_eq!(batch.selection().count(), batch.rows());
                for row in batch.selection() {
                    let bytes = |v: &vector::Vector| {
                        let mut bytes = Vec::new();
                        v.append_stored(row, &mut bytes).then_some(bytes)
                    };
                    found.push(batch.columns().iter().map(bytes).collect::<Vec<_>>());
                }
            }
            assert!(found == expected, "batches have the rows of the scan");
            assert!(sizes.len() > 2 && sizes[..sizes.len() - 1].iter().all(|&n| n == ROWS_MAX));
            assert!(!cursor.next(&mut work, &mut batch).unwrap() && batch.rows() == 0);
            cursor.rewind(&mut work, &range).unwrap();
        }
        let pages = cursor.reads().pages.logical;
        assert!(pages > 20, "{pages} pages were read");
        let mut rows = BatchRows::new(cursor, &columns);
        for _ in 0..2 {
            assert!(fields_of(&mut rows, &mut work) == expected, "rows of batches");
            rows.rewind(&mut work, &range).unwrap();
        }
        assert!(rows.next(&mut work).unwrap() && rows.rid().is_none() && rows.hint().is_none());
        let other = rows.field(TYPES.len()).unwrap_err();
        assert_eq!(other.number(), messages::INTERNAL.number);
    }
}

/// The stored bytes of the rows of a cursor.
fn fields_of(cursor: &mut dyn RowCursor, work: &mut Work) -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = Vec::new();
    while cursor.next(work).unwrap() {
        let field = |n| match cursor.field(n).unwrap() {
            Field::Null => None,
            field => Some(field.inline().unwrap().to_vec()),
        };
        rows.push((0..TYPES.len()).map(field).collect());
    }
    rows
}

/// Stored bytes that are no value of the column's type end a batch scan with 824, as they end a
/// scan of row mode.
#[test]
fn bytes_that_are_no_value_are_told() {
    let table = Table::new(IndexKind::Heap);
    let mut work = table.session(52);
    let mut a = scan();
    a.columns[0].sql_type = SqlType::Bit;
    let run = both(&table, &mut work, &query(access(a), &[0], COLUMNS), PLAIN, 1);
    assert_eq!(run.rows.unwrap_err().number(), 824);
}
