//! Scans, seeks, lookups, loops, top, spools, windows: what rows they give, in which order.

use crate::build::*;
use crate::fake::{Bench, Fake};
use plan::*;
use types::{BinaryOp, SqlType, Value};

fn ints(rows: &[Vec<Value>]) -> Vec<Vec<Option<i64>>> {
    rows.iter().map(|r| r.iter().map(Value::as_i64).collect()).collect()
}

fn first(rows: &[Vec<Value>]) -> Vec<Option<i64>> {
    rows.iter().map(|r| r[0].as_i64()).collect()
}

fn some(list: &[i64]) -> Vec<Option<i64>> {
    list.iter().copied().map(Some).collect()
}

fn pair(a: i32, b: Option<i32>) -> [(Value, SqlType); 2] {
    [(Value::Int(a), INT), (b.into(), INT)]
}

/// An index on (a) with columns a, b: rows (1..=9, a * 10), and (NULL, 0).
fn bench() -> Bench {
    let mut bench = Bench::default();
    let table = Fake::tree(&[(0, INT, false)], Some(1));
    table.load(&[(Value::Null, INT), (Value::Int(0), INT)]);
    for a in 1..=9 {
        table.load(&pair(a, Some(a * 10)));
    }
    bench.tables.insert(1, table);
    bench
}

fn range(equal: Vec<Scalar>, lower: Option<Bound>, upper: Option<Bound>) -> SeekRange {
    SeekRange { null_matches: vec![false; equal.len()], equal, lower, upper }
}

fn bound(value: Scalar, inclusive: bool) -> Option<Bound> {
    Some(Bound { value, inclusive, after_null: false, unless_null: false })
}

fn seek(ranges: Vec<SeekRange>) -> Option<Seek> {
    let (types, collations) = (vec![INT], vec![types::Collation::default()]);
    Some(Seek { types, descending: vec![false], collations, ranges, unique: false })
}

#[test]
fn a_scan_gives_every_row_and_its_residual_gives_locks_back() {
    let mut bench = bench();
    let mut a = scan(1, 0, 2);
    a.residual = Some(cmp(CompareOp::Greater, col(1), int(70)));
    assert_eq!(first(&bench.rows(&query(access(a), &[0, 1], 2))), some(&[8, 9]));
    let released = bench.tables[&1].released.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(released, 2 * 8, "two runs, eight rows each");
}

#[test]
fn seeks_follow_their_bounds_in_both_directions_and_null_is_only_found_on_purpose() {
    let mut bench = bench();
    let cases: Vec<(SeekRange, Vec<Option<i64>>)> = vec![
        (range(vec![int(4)], None, None), some(&[4])),
        (range(vec![null()], None, None), vec![]),
        (range(vec![], bound(int(7), false), None), some(&[8, 9])),
        (range(vec![], bound(int(2), true), bound(int(4), false)), some(&[2, 3])),
        (range(vec![], None, bound(null(), true)), vec![]),
        (
            SeekRange { equal: vec![null()], null_matches: vec![true], lower: None, upper: None },
            vec![None],
        ),
        (
            range(
                vec![],
                Some(Bound {
                    value: null(),
                    inclusive: false,
                    after_null: true,
                    unless_null: false,
                }),
                bound(int(2), true),
            ),
            some(&[1, 2]),
        ),
    ];
    for (r, expected) in cases {
        for backward in [false, true] {
            let mut a = scan(1, 0, 2);
            a.seek = seek(vec![r.clone()]);
            a.backward = backward;
            let mut expected = expected.clone();
            if backward {
                expected.reverse();
            }
            assert_eq!(first(&bench.rows(&query(access(a), &[0], 2))), expected, "{r:?}");
        }
    }
}

#[test]
fn points_of_an_in_list_are_read_in_key_order_and_once() {
    let mut bench = bench();
    bench.variables = vec![Value::Int(7)];
    let points = [int(5), int(2), var(0), null(), int(5), int(99)];
    for backward in [false, true] {
        let mut a = scan(1, 0, 1);
        a.seek = seek(points.iter().map(|p| range(vec![p.clone()], None, None)).collect());
        a.backward = backward;
        let mut expected = some(&[2, 5, 7]);
        if backward {
            expected.reverse();
        }
        assert_eq!(first(&bench.rows(&query(access(a), &[0], 1))), expected);
    }
}

/// Loops over an outer table, with a correlated seek inside.
fn loops(kind: JoinKind) -> Physical {
    let mut inner = scan(1, 2, 2);
    inner.seek = seek(vec![range(vec![col(1)], None, None)]);
    Physical::NestedLoops(Box::new(NestedLoops {
        kind,
        outer: access(scan(2, 0, 2)),
        inner: access(inner),
        predicate: Some(cmp(CompareOp::Less, col(2), int(9))),
        inner_slots: slots(&[2, 3]),
        correlated: true,
    }))
}

#[test]
fn loop_joins_keep_what_their_kind_says() {
    let mut bench = bench();
    let outer = Fake::heap();
    for (a, b) in [(1, Some(3)), (2, None), (3, Some(9)), (4, Some(50)), (5, Some(3))] {
        outer.load(&pair(a, b));
    }
    bench.tables.insert(2, outer);
    let mut ask = |kind| ints(&bench.rows(&query(loops(kind), &[0, 3], 4)));
    let (n, s) = (None, Some);
    assert_eq!(ask(JoinKind::Inner), [[s(1), s(30)], [s(5), s(30)]]);
    assert_eq!(
        ask(JoinKind::Left),
        [[s(1), s(30)], [s(2), n], [s(3), n], [s(4), n], [s(5), s(30)]]
    );
    let mut ask = |kind| first(&bench.rows(&query(loops(kind), &[0], 4)));
    assert_eq!(ask(JoinKind::Semi), some(&[1, 5]));
    assert_eq!(ask(JoinKind::Anti), some(&[2, 3, 4]));
}

#[test]
fn an_inner_side_that_depends_on_nothing_is_kept_between_outer_rows() {
    let mut bench = bench();
    let view = VirtualScan {
        database: base::DatabaseId(5),
        object: base::ObjectId(-1),
        name: "sys.v".into(),
        arguments: Vec::new(),
        columns: scan(1, 2, 1).columns,
        residual: Some(cmp(CompareOp::Less, col(2), int(3))),
    };
    let spool =
        Physical::Spool(Spool { input: Box::new(access(scan(1, 4, 1))), carried: slots(&[4]) });
    for (inner, inner_slot, each) in [(Physical::Virtual(Box::new(view)), 2, 2), (spool, 4, 10)] {
        let join = Physical::NestedLoops(Box::new(NestedLoops {
            kind: JoinKind::Inner,
            outer: access(scan(1, 0, 1)),
            inner,
            predicate: None,
            inner_slots: slots(&[inner_slot]),
            correlated: false,
        }));
        assert_eq!(bench.rows(&query(join, &[0, inner_slot], 5)).len(), 10 * each);
    }
}

#[test]
fn a_lookup_finds_the_base_row_of_an_entry_by_key_and_by_rid() {
    let mut bench = bench();
    let entries = Fake::tree(&[(0, INT, false), (1, INT, false)], None);
    for a in [3, 5, 77] {
        entries.load(&pair(100 - a, Some(a)));
    }
    bench.tables.insert(2, entries);
    let mut lookup = KeyLookup {
        input: access(scan(2, 0, 2)),
        source: source(1),
        locator: slots(&[1]),
        types: vec![INT],
        by_rid: false,
        columns: vec![ScanColumn { field: 1, sql_type: INT, slot: Slot(2) }],
        rid: None,
        hint: None,
        location: None,
        residual: None,
        locks: LockHints::default(),
    };
    let rows = bench.rows(&query(Physical::Lookup(Box::new(lookup.clone())), &[2], 4));
    assert_eq!(first(&rows), some(&[50, 30]), "77 is gone: no row");
    // A heap: the entry holds the RID.
    let heap = Fake::heap();
    heap.load(&pair(1, Some(11)));
    heap.load(&pair(2, Some(22)));
    bench.tables.insert(3, heap);
    let mut a = scan(3, 0, 1);
    a.rid = Some(Slot(1));
    lookup.input = access(a);
    lookup.source = source(3);
    lookup.types = vec![SqlType::Binary(8)];
    lookup.by_rid = true;
    let rows = bench.rows(&query(Physical::Lookup(Box::new(lookup)), &[2], 4));
    assert_eq!(first(&rows), some(&[11, 22]));
}

fn top_rows(bench: &mut Bench, top: Top) -> Result<Vec<Option<i64>>, i32> {
    let input = Box::new(access(scan(1, 0, 2)));
    let plan = query(Physical::Top(TopRows { input, top }), &[0], 2);
    bench.run(&plan).map(|r| first(&r.0)).map_err(|e| e.number())
}

#[test]
fn top_counts_percents_ties_and_offsets() {
    let mut bench = Bench::default();
    let table = Fake::heap();
    for a in [1, 2, 2, 2, 3, 4, 5] {
        table.load(&pair(a, None));
    }
    bench.tables.insert(1, table);
    assert_eq!(top_rows(&mut bench, top(big(0))), Ok(vec![]));
    assert_eq!(top_rows(&mut bench, top(big(2))), Ok(some(&[1, 2])));
    assert_eq!(top_rows(&mut bench, top(big(-1))), Err(1014));
    assert_eq!(top_rows(&mut bench, top(Scalar::null(SqlType::BigInt))), Err(1014));
    let ties = Top { ties: Some(vec![key(0, false)]), ..top(big(2)) };
    assert_eq!(top_rows(&mut bench, ties), Ok(some(&[1, 2, 2, 2])));
    let percent =
        |p: f64| Top { percent: true, ..top(Scalar::constant(Value::Float(p), SqlType::Float)) };
    assert_eq!(top_rows(&mut bench, percent(20.0)), Ok(some(&[1, 2])));
    assert_eq!(top_rows(&mut bench, percent(100.0)).map(|r| r.len()), Ok(7));
    assert_eq!(top_rows(&mut bench, percent(100.1)), Err(1014));
    let page = Top { offset: Some(big(4)), ..top(big(2)) };
    assert_eq!(top_rows(&mut bench, page), Ok(some(&[3, 4])));
    let rest = Top { count: None, percent: false, ties: None, offset: Some(big(5)) };
    assert_eq!(top_rows(&mut bench, rest), Ok(some(&[4, 5])));
}

/// WHERE removes a row before the select list sees it: 1 / (a - 3) of a = 3 never happens.
#[test]
fn removed_rows_are_not_computed() {
    let mut bench = bench();
    let minus = binary(BinaryOp::Sub, col(0), int(3));
    let column = binary(BinaryOp::Div, int(6), minus);
    let compute = |keep: Predicate| {
        Physical::Compute(Compute {
            input: Box::new(Physical::Filter(Filter {
                input: Box::new(access(scan(1, 0, 1))),
                predicate: keep,
            })),
            columns: vec![(Slot(1), column.clone())],
        })
    };
    let kept = cmp(CompareOp::NotEqual, col(0), int(3));
    assert_eq!(bench.rows(&query(compute(kept), &[1], 2)).len(), 8);
    let all = bench.run(&query(compute(Predicate::TRUE), &[1], 2));
    assert_eq!(all.map_err(|e| e.number()).err(), Some(8134));
}

#[test]
fn concatenation_startup_filters_and_select_assign() {
    let mut bench = bench();
    let part = |on: bool, slot: u32| {
        let input = Box::new(access(scan(1, slot, 1)));
        Physical::StartupFilter(StartupFilter { input, predicate: Predicate::Constant(Some(on)) })
    };
    let both = |a, b| {
        Physical::Concatenation(Concatenation {
            inputs: vec![(part(a, 0), slots(&[0])), (part(b, 1), slots(&[1]))],
            columns: slots(&[2]),
        })
    };
    assert_eq!(bench.rows(&query(both(true, true), &[2], 3)).len(), 20);
    assert_eq!(bench.rows(&query(both(false, true), &[2], 3)).len(), 10);
    // SELECT @a = @a + b FROM t: each row assigns.
    bench.variables = vec![Value::Int(0)];
    let sum = binary(BinaryOp::Add, var(0), col(1));
    let assign =
        SelectAssign { source: access(scan(1, 0, 2)), assignments: vec![(VariableId(0), sum)] };
    let (_, outcome) = bench.run(&plan(Statement::Assign(assign), 2)).unwrap();
    assert_eq!((outcome.rows_affected, &bench.variables[0]), (10, &Value::Int(450)));
}

/// Functions of a window over (1: 5, 5, 6, 7, 7), (2: 1), (3: 2, 2, 3) with their answers.
fn window_cases() -> Vec<(WindowFunction, &'static [i64])> {
    use FrameEnd::{Current, Following, Last, Preceding};
    const EDGES: [i64; 9] = [5, 5, 6, 7, 7, 1, 2, 2, 3];
    let rows = |start, end| Frame { rows: true, start, end };
    let most = |frame| WindowFunction::Aggregate {
        function: builtins::Aggregate::Max,
        argument: Some(col(1)),
        frame,
    };
    let edge =
        |last, frame| WindowFunction::Edge { argument: col(1), last, frame, ignore_nulls: false };
    let shifted = |lead| WindowFunction::Shifted {
        argument: col(1),
        offset: Scalar::constant(Value::BigInt(2), SqlType::BigInt),
        default: Some(int(0)),
        lead,
        ignore_nulls: false,
    };
    let sum = |frame| WindowFunction::Aggregate {
        function: builtins::Aggregate::Sum,
        argument: Some(col(1)),
        frame,
    };
    vec![
        (WindowFunction::RowNumber, &[1, 2, 3, 4, 5, 1, 1, 2, 3]),
        (WindowFunction::Rank, &[1, 1, 3, 4, 4, 1, 1, 1, 3]),
        (WindowFunction::DenseRank, &[1, 1, 2, 3, 3, 1, 1, 1, 2]),
        (WindowFunction::Ntile(int(2)), &[1, 1, 1, 2, 2, 1, 1, 1, 2]),
        (WindowFunction::Ntile(int(4)), &[1, 1, 2, 3, 4, 1, 1, 2, 3]),
        (sum(Frame::WHOLE), &[30, 30, 30, 30, 30, 1, 7, 7, 7]),
        (sum(Frame::ROWS), &[5, 10, 16, 23, 30, 1, 2, 4, 7]),
        (sum(Frame::RANGE), &[10, 10, 16, 30, 30, 1, 4, 4, 7]),
        (sum(rows(Preceding(1), Following(1))), &[10, 16, 18, 20, 14, 1, 4, 7, 5]),
        (sum(rows(Current, Last)), &[30, 25, 20, 14, 7, 1, 7, 5, 3]),
        (most(rows(Preceding(2), Current)), &[5, 5, 6, 7, 7, 1, 2, 2, 3]),
        (most(rows(Current, Following(1))), &[5, 6, 7, 7, 7, 1, 2, 3, 3]),
        (edge(true, Frame { rows: false, ..rows(Current, Current) }), &EDGES),
        (edge(false, rows(Preceding(1), Current)), &[5, 5, 5, 6, 7, 1, 2, 2, 2]),
        (shifted(false), &[0, 0, 5, 5, 6, 0, 0, 0, 2]),
        (shifted(true), &[6, 7, 7, 0, 0, 0, 3, 0, 0]),
    ]
}

#[test]
fn window_functions_count_within_partitions() {
    let mut bench = Bench::default();
    let table = Fake::heap();
    // Partition, order: as a sort has left them.
    for (p, o) in [(1, 5), (1, 5), (1, 6), (1, 7), (1, 7), (2, 1), (3, 2), (3, 2), (3, 3)] {
        table.load(&pair(p, Some(o)));
    }
    bench.tables.insert(1, table);
    let cases = window_cases();
    let window = |functions: Vec<WindowFunction>| {
        let call = |(i, function): (usize, WindowFunction)| WindowCall {
            function,
            output: Slot(2 + i as u32),
            ty: ty(INT),
        };
        Physical::Window(Window {
            input: Box::new(access(scan(1, 0, 2))),
            partition: vec![(Slot(0), C)],
            order: vec![(Slot(1), C)],
            calls: functions.into_iter().enumerate().map(call).collect(),
            carried: slots(&[0, 1]),
        })
    };
    for (function, expected) in &cases {
        let rows = bench.rows(&query(window(vec![function.clone()]), &[2], 3));
        assert_eq!(first(&rows), some(expected), "{function:?}");
    }
    // All at once, with next to no memory.
    bench.limit_bytes = 0;
    let all = window(cases.iter().map(|c| c.0.clone()).collect());
    let columns: Vec<u32> = (2..2 + cases.len() as u32).collect();
    let rows = ints(&bench.rows(&query(all, &columns, 2 + cases.len() as u32)));
    for (i, (function, expected)) in cases.iter().enumerate() {
        let column: Vec<Option<i64>> = rows.iter().map(|r| r[i]).collect();
        assert_eq!(column, some(expected), "{function:?}");
    }
    let none = window(vec![WindowFunction::Ntile(int(0))]);
    assert_eq!(bench.run(&query(none, &[2], 3)).err().map(|e| e.number()), Some(4116));
}

#[test]
fn a_correlated_subquery_reads_the_row_around_it_and_a_cancelled_request_ends() {
    let mut bench = bench();
    let mut inner = scan(1, 2, 2);
    inner.seek = seek(vec![range(vec![binary(BinaryOp::Add, col(0), int(1))], None, None)]);
    let x = Scalar { kind: ScalarKind::Subquery(SubqueryId(0)), ty: ty(INT) };
    let compute = Physical::Compute(Compute {
        input: Box::new(access(scan(1, 0, 1))),
        columns: vec![(Slot(4), x)],
    });
    let mut plan = query(compute, &[0, 4], 5);
    plan.subqueries.push(Subquery {
        source: access(inner),
        columns: slots(&[3]),
        ty: ty(INT),
        scalar: true,
        outer: slots(&[0]),
        session: false,
    });
    let rows = ints(&bench.rows(&plan));
    assert_eq!(rows[1], [Some(1), Some(20)]);
    assert_eq!(rows[9], [Some(9), None]);
    // 10 rows squared, thrice: enough for a look at the waiter.
    let cross = |outer, inner| {
        Physical::NestedLoops(Box::new(NestedLoops {
            kind: JoinKind::Inner,
            outer,
            inner,
            predicate: None,
            inner_slots: Vec::new(),
            correlated: true,
        }))
    };
    let table = |slot| access(scan(1, slot, 1));
    let many = cross(cross(table(0), table(1)), table(2));
    bench.waiter.cancel(os::wait::CancelReason::Attention);
    assert_eq!(bench.run(&query(many, &[0], 3)).err().map(|e| e.number()), Some(3617));
}

#[test]
fn counters_tell_what_each_operator_did() {
    let mut bench = bench();
    let input = Box::new(access(scan(1, 0, 2)));
    let predicate = cmp(CompareOp::Greater, col(0), int(4));
    let plan = query(Physical::Filter(Filter { input, predicate }), &[0], 2);
    let mut executor = exec::Executor::new(&plan).unwrap();
    bench.with(|cx| executor.run(cx, &mut exec::NoRows)).unwrap();
    let counts: Vec<(u64, u64)> =
        executor.counts().iter().map(|c| (c.rows, c.executions())).collect();
    assert_eq!(counts, [(5, 1), (10, 1)]);
}
