//! Sorting, joining and grouping against the plainest possible models, over random rows with
//! NULLs and repeats, with memory to spare and with next to none.

use crate::build::*;
use crate::fake::{Bench, Dice, Fake};
use plan::*;
use std::sync::atomic::Ordering::Relaxed;
use types::{SqlType, Value, compare};

type Rows = Vec<Vec<Value>>;

/// Rows of a number, a word in either case, and a running number.
fn random_rows(dice: &mut Dice, count: usize, spread: u64) -> Rows {
    let row = |i: usize| {
        let a = dice.roll(spread + 1);
        let word = format!("{}{:03}", if dice.roll(2) == 0 { "w" } else { "W" }, dice.roll(spread));
        vec![
            if a == spread { Value::Null } else { Value::Int(a as i32) },
            if dice.roll(9) == 0 { Value::Null } else { Value::varchar(&word) },
            Value::Int(i as i32),
        ]
    };
    (0..count).map(row).collect()
}

const TYPES: [SqlType; 3] = [INT, SqlType::varchar(50), INT];

/// The grants tried: plenty, and next to none (each operator has its small workspace).
const GRANTS: [usize; 2] = [1 << 28, 0];

fn table(bench: &mut Bench, hobt: u32, rows: &Rows) {
    let fake = Fake::heap();
    for r in rows {
        let row: Vec<(Value, SqlType)> = r.iter().cloned().zip(TYPES).collect();
        fake.load(&row);
    }
    bench.tables.insert(hobt, fake);
}

fn order(a: &[Value], b: &[Value]) -> std::cmp::Ordering {
    let each = a.iter().zip(b).map(|(x, y)| compare(x, y, C));
    each.fold(std::cmp::Ordering::Equal, |all, one| all.then(one))
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort_by(|a, b| order(a, b));
    rows
}

fn assert_same(got: &Rows, expected: &Rows, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}: rows");
    for (g, e) in got.iter().zip(expected) {
        assert!(order(g, e).is_eq(), "{what}: {g:?} is not {e:?}");
    }
}

#[test]
fn a_sort_orders_as_the_model_and_is_stable_in_memory_and_on_disk() {
    let mut dice = Dice(11);
    for count in [0, 1, 700, 40_000] {
        let rows = random_rows(&mut dice, count, 50);
        let mut expected = rows.clone();
        // b descending, then a: the third column shows that equal ones keep their order.
        expected.sort_by(|x, y| compare(&y[1], &x[1], C).then(compare(&x[0], &y[0], C)));
        for grant in GRANTS {
            let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
            table(&mut bench, 1, &rows);
            let sort = Physical::Sort(Sort {
                input: Box::new(access(scan_of(1, 0, &TYPES))),
                keys: vec![key(1, true), key(0, false)],
                carried: slots(&[0, 1, 2]),
                distinct: false,
            });
            let got = bench.rows(&query(sort, &[0, 1, 2], 3));
            assert_same(&got, &expected, "sort");
            assert_eq!(bench.spills.made.load(Relaxed) > 64, grant == 0 && count > 30_000);
        }
    }
}

/// Keys that are cut because they are long are told apart by the values.
#[test]
fn a_sort_by_long_strings_orders_as_the_model() {
    let mut dice = Dice(21);
    let mut rows = random_rows(&mut dice, 9000, 60);
    for r in &mut rows {
        let prefix = ["à la carte ".repeat(20), "A la carte ".repeat(20)];
        if let Some(word) = r[1].as_text() {
            r[1] = Value::varchar(&(prefix[dice.roll(2) as usize].clone() + &word));
        }
    }
    for descending in [false, true] {
        let mut expected = rows.clone();
        expected.sort_by(|x, y| {
            let words = compare(&x[1], &y[1], C);
            let words = if descending { words.reverse() } else { words };
            words.then(compare(&x[0], &y[0], C))
        });
        for (grant, carried) in GRANTS.into_iter().zip([vec![0, 1, 2], vec![2]]) {
            let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
            table(&mut bench, 1, &rows);
            let sort = Physical::Sort(Sort {
                input: Box::new(access(scan_of(1, 0, &TYPES))),
                keys: vec![key(1, descending), key(0, false)],
                carried: slots(&carried),
                distinct: false,
            });
            let got = bench.rows(&query(sort, &[2], 3));
            let numbers = expected.iter().map(|r| vec![r[2].clone()]).collect();
            assert_same(&got, &numbers, "long keys");
        }
    }
}

#[test]
fn a_sort_for_top_keeps_the_least_and_a_distinct_one_repeats_nothing() {
    let mut dice = Dice(12);
    let rows = random_rows(&mut dice, 3000, 40);
    let mut all = rows.clone();
    all.sort_by(|x, y| compare(&x[0], &y[0], C));
    for grant in GRANTS {
        for (count, offset) in [(0, 0), (1, 0), (10, 5), (2990, 20), (9000, 0)] {
            let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
            table(&mut bench, 1, &rows);
            let sort = Physical::TopSort(TopSort {
                input: Box::new(access(scan_of(1, 0, &TYPES))),
                top: Top { offset: Some(big(offset)), ..top(big(count)) },
                keys: vec![key(0, false)],
                carried: slots(&[0, 2]),
            });
            let got = bench.rows(&query(sort, &[0, 2], 3));
            let wanted = all.iter().skip(offset as usize).take(count as usize);
            let expected = wanted.map(|r| vec![r[0].clone(), r[2].clone()]).collect();
            assert_same(&got, &expected, "top sort");
        }
        let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
        table(&mut bench, 1, &rows);
        let sort = Physical::Sort(Sort {
            input: Box::new(access(scan_of(1, 0, &TYPES))),
            keys: vec![key(0, false), key(1, false)],
            carried: slots(&[0, 1]),
            distinct: true,
        });
        let got = bench.rows(&query(sort, &[0, 1], 3));
        let pairs = rows.iter().map(|r| r[..2].to_vec()).collect();
        let mut expected = sorted(pairs);
        expected.dedup_by(|a, b| order(a, b).is_eq());
        assert_same(&got, &expected, "distinct");
    }
}

/// The pairs that a join keeps, by the definition; slots 0-2 are the build side's.
fn joined(kind: JoinKind, build: &Rows, probe: &Rows, least_sum: i32) -> Rows {
    let matches = |b: &[Value], p: &[Value]| {
        !b[1].is_null()
            && compare(&b[1], &p[1], C).is_eq()
            && b[2].as_i64().unwrap() + p[2].as_i64().unwrap() >= least_sum.into()
    };
    let nulls = || vec![Value::Null; 3];
    let mut out = Rows::new();
    for p in probe {
        let partners: Vec<_> = build.iter().filter(|b| matches(b, p)).collect();
        match kind {
            JoinKind::Semi if !partners.is_empty() => out.push(p.clone()),
            JoinKind::Anti if partners.is_empty() => out.push(p.clone()),
            JoinKind::Semi | JoinKind::Anti => {}
            _ => {
                out.extend(partners.iter().map(|b| [b.to_vec(), p.clone()].concat()));
                if partners.is_empty() && matches!(kind, JoinKind::Left | JoinKind::Full) {
                    out.push([nulls(), p.clone()].concat());
                }
            }
        }
    }
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        let lonely = build.iter().filter(|b| !probe.iter().any(|p| matches(b, p)));
        out.extend(lonely.map(|b| [b.clone(), nulls()].concat()));
    }
    sorted(out)
}

#[test]
fn a_hash_join_of_each_kind_joins_as_the_definition_says() {
    let kinds = [
        JoinKind::Inner,
        JoinKind::Left,
        JoinKind::Right,
        JoinKind::Full,
        JoinKind::Semi,
        JoinKind::Anti,
    ];
    let mut dice = Dice(13);
    let plenty = "partitions were used";
    for (builds, probes, spread) in [(0, 30, 5), (30, 0, 5), (40, 60, 20), (1500, 700, 900)] {
        let build = random_rows(&mut dice, builds, spread);
        let probe = random_rows(&mut dice, probes, spread);
        for kind in kinds {
            for least_sum in [0, 60] {
                let expected = joined(kind, &build, &probe, least_sum);
                for grant in GRANTS {
                    let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
                    table(&mut bench, 1, &build);
                    table(&mut bench, 2, &probe);
                    let sum = binary(types::BinaryOp::Add, col(2), col(5));
                    let join = Physical::HashJoin(Box::new(HashJoin {
                        kind,
                        build: access(scan_of(1, 0, &TYPES)),
                        probe: access(scan_of(2, 3, &TYPES)),
                        keys: vec![(Slot(1), Slot(4), C)],
                        residual: Some(cmp(CompareOp::GreaterOrEqual, sum, int(least_sum))),
                        build_slots: slots(&[0, 1, 2]),
                        probe_slots: slots(&[3, 4, 5]),
                    }));
                    let narrow = matches!(kind, JoinKind::Semi | JoinKind::Anti);
                    let columns: &[u32] = if narrow { &[3, 4, 5] } else { &[0, 1, 2, 3, 4, 5] };
                    let plan = query(join, columns, 6);
                    let mut executor = exec::Executor::new(&plan).unwrap();
                    for _ in 0..2 {
                        let mut got = crate::fake::Rows::default();
                        bench.with(|cx| executor.run(cx, &mut got)).unwrap();
                        let what = format!("{kind:?} of {builds} and {probes}, grant {grant}");
                        assert_same(&sorted(got.0), &expected, &what);
                    }
                    let spilled = bench.spills.made.load(Relaxed) > 0;
                    assert_eq!(spilled, grant == 0 && builds > 1000, "{plenty}");
                }
            }
        }
    }
}

/// Rows of table `hobt` from slot `first` on, ordered by word and, if `two`, by number.
fn by_word(hobt: u32, first: u32, descending: bool, two: bool) -> Physical {
    let mut keys = vec![key(first + 1, descending)];
    if two {
        keys.push(key(first, false));
    }
    Physical::Sort(Sort {
        input: Box::new(access(scan_of(hobt, first, &TYPES))),
        keys,
        carried: slots(&[first, first + 1, first + 2]),
        distinct: false,
    })
}

#[test]
fn a_merge_join_of_each_kind_joins_as_the_definition_says() {
    let kinds = [
        JoinKind::Inner,
        JoinKind::Left,
        JoinKind::Right,
        JoinKind::Full,
        JoinKind::Semi,
        JoinKind::Anti,
    ];
    let mut dice = Dice(17);
    for (lefts, rights, spread, unique) in [
        (0, 0, 5, false),
        (0, 30, 5, false),
        (30, 0, 5, false),
        (40, 60, 20, false),
        (40, 60, 20, true),
        (300, 900, 400, true),
        (60, 900, 2, false),
        (500, 700, 400, false),
    ] {
        let mut left = random_rows(&mut dice, lefts, spread);
        if unique {
            let same = |a: &mut Vec<Value>, b: &mut Vec<Value>| {
                !a[1].is_null() && compare(&a[1], &b[1], C).is_eq()
            };
            left.sort_by(|a, b| compare(&a[1], &b[1], C));
            left.dedup_by(same);
        }
        let right = random_rows(&mut dice, rights, spread);
        for (kind, least_sum) in kinds.into_iter().flat_map(|k| [(k, None), (k, Some(60))]) {
            let expected = joined(kind, &right, &left, least_sum.unwrap_or(0));
            for (grant, descending) in GRANTS.into_iter().zip([false, true]) {
                let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
                table(&mut bench, 1, &right);
                table(&mut bench, 2, &left);
                let sum = binary(types::BinaryOp::Add, col(2), col(5));
                let join = Physical::MergeJoin(Box::new(MergeJoin {
                    kind,
                    left: by_word(2, 3, descending, false),
                    right: by_word(1, 0, descending, false),
                    keys: vec![MergeKey {
                        left: Slot(4),
                        right: Slot(1),
                        collation: C,
                        descending,
                    }],
                    many_to_many: !unique,
                    residual: least_sum.map(|n| cmp(CompareOp::GreaterOrEqual, sum, int(n))),
                    left_slots: slots(&[3, 4, 5]),
                    right_slots: slots(&[0, 1, 2]),
                }));
                let narrow = matches!(kind, JoinKind::Semi | JoinKind::Anti);
                let columns: &[u32] = if narrow { &[3, 4, 5] } else { &[0, 1, 2, 3, 4, 5] };
                let plan = query(join, columns, 6);
                let mut executor = exec::Executor::new(&plan).unwrap();
                for _ in 0..2 {
                    let mut got = crate::fake::Rows::default();
                    bench.with(|cx| executor.run(cx, &mut got)).unwrap();
                    let what = format!("{kind:?} of {lefts} and {rights}, grant {grant}");
                    assert_same(&sorted(got.0), &expected, &what);
                }
                let gathers = !unique && (!narrow || least_sum.is_some());
                let spills = grant == 0 && gathers && spread == 2;
                assert_eq!(executor.counts()[0].spilled_bytes > 0, spills, "a group on disk");
            }
        }
    }
}

/// Two columns, one descending: NULL in either matches nothing, wherever it sorts.
#[test]
fn a_merge_join_by_two_columns_joins_as_the_definition_says() {
    let mut dice = Dice(18);
    let (left, right) = (random_rows(&mut dice, 300, 12), random_rows(&mut dice, 400, 12));
    let fits = |l: &[Value], r: &[Value]| {
        !l[0].is_null()
            && !l[1].is_null()
            && compare(&l[0], &r[0], C).is_eq()
            && compare(&l[1], &r[1], C).is_eq()
    };
    let mut expected = Rows::new();
    for l in &left {
        let partners: Vec<_> = right.iter().filter(|r| fits(l, r)).collect();
        expected.extend(partners.iter().map(|r| [r.to_vec(), l.clone()].concat()));
        if partners.is_empty() {
            expected.push([vec![Value::Null; 3], l.clone()].concat());
        }
    }
    let lonely = right.iter().filter(|r| !left.iter().any(|l| fits(l, r)));
    expected.extend(lonely.map(|r| [r.clone(), vec![Value::Null; 3]].concat()));
    let mut bench = Bench::default();
    table(&mut bench, 1, &right);
    table(&mut bench, 2, &left);
    let pair = |left, right, descending| MergeKey {
        left: Slot(left),
        right: Slot(right),
        collation: C,
        descending,
    };
    let join = Physical::MergeJoin(Box::new(MergeJoin {
        kind: JoinKind::Full,
        left: by_word(2, 3, true, true),
        right: by_word(1, 0, true, true),
        keys: vec![pair(4, 1, true), pair(3, 0, false)],
        many_to_many: true,
        residual: None,
        left_slots: slots(&[3, 4, 5]),
        right_slots: slots(&[0, 1, 2]),
    }));
    let got = bench.rows(&query(join, &[0, 1, 2, 3, 4, 5], 6));
    assert_same(&sorted(got), &sorted(expected), "two columns");
}

fn call(
    function: builtins::Aggregate,
    distinct: bool,
    x: Option<u32>,
    output: u32,
) -> AggregateCall {
    AggregateCall {
        function,
        distinct,
        argument: x.map(col),
        separator: None,
        output: Slot(output),
        ty: ty(INT),
        phase: AggregatePhase::Whole,
    }
}

/// By word: COUNT(*), SUM(a), COUNT(DISTINCT a), MAX(c).
fn grouped(rows: &Rows) -> Rows {
    let mut groups: Vec<(Value, Rows)> = Vec::new();
    for r in rows {
        match groups.iter_mut().find(|g| compare(&g.0, &r[1], C).is_eq()) {
            Some(g) => g.1.push(r.clone()),
            None => groups.push((r[1].clone(), vec![r.clone()])),
        }
    }
    let result = |(key, rows): (Value, Rows)| {
        let a: Vec<i32> = rows.iter().filter_map(|r| r[0].as_i64()).map(|n| n as i32).collect();
        let mut distinct = a.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let sum = if a.is_empty() { Value::Null } else { Value::Int(a.iter().sum()) };
        let last = rows.iter().filter_map(|r| r[2].as_i64()).max().unwrap();
        vec![
            key,
            Value::Int(rows.len() as i32),
            sum,
            Value::Int(distinct.len() as i32),
            Value::Int(last as i32),
        ]
    };
    sorted(groups.into_iter().map(result).collect())
}

#[test]
fn both_ways_of_grouping_agree_with_the_model() {
    use builtins::Aggregate::{Count, Max, Sum};
    let calls = vec![
        call(Count, false, None, 3),
        call(Sum, false, Some(0), 4),
        call(Count, true, Some(0), 5),
        call(Max, false, Some(2), 6),
    ];
    let mut dice = Dice(14);
    for (count, spread) in [(0, 5), (1, 5), (300, 10), (4000, 1500)] {
        let rows = random_rows(&mut dice, count, spread);
        let expected = grouped(&rows);
        for grant in GRANTS {
            let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
            table(&mut bench, 1, &rows);
            let input = || Box::new(access(scan_of(1, 0, &TYPES)));
            let keys = vec![(Slot(1), C)];
            let hashed = Physical::HashAggregate(HashAggregate {
                input: input(),
                keys: keys.clone(),
                calls: calls.clone(),
            });
            let sort = Physical::Sort(Sort {
                input: input(),
                keys: vec![key(1, false)],
                carried: slots(&[0, 1, 2]),
                distinct: false,
            });
            let streamed = Physical::StreamAggregate(StreamAggregate {
                input: Box::new(sort),
                keys,
                calls: calls.clone(),
            });
            for (what, tree) in [("hash", hashed), ("stream", streamed)] {
                let plan = query(tree, &[1, 3, 4, 5, 6], 7);
                let (got, outcome) = bench.run(&plan).unwrap();
                assert_same(&sorted(got), &expected, what);
                let nulls = rows.iter().any(|r| r[0].is_null());
                assert_eq!(outcome.nulls_eliminated, nulls, "warning 8153");
            }
            assert_eq!(bench.spills.made.load(Relaxed) > 0, grant == 0 && count >= 300);
        }
    }
}

/// ANY of several columns is of one row, the first of its group, also where a part of the states
/// is put together and where groups wait on disk; it passes over no NULL.
#[test]
fn any_of_several_columns_is_of_the_first_row() {
    use plan::AggregatePhase::{Final, Partial};
    let any = |from: u32, to: u32, phase| {
        let argument = Some(col_of(from, TYPES[(from % 3) as usize]));
        AggregateCall { argument, phase, ..call(builtins::Aggregate::Any, false, None, to) }
    };
    let rows = random_rows(&mut Dice(23), 4000, 1500);
    let mut firsts: Vec<Vec<Value>> = Vec::new();
    for r in &rows {
        if firsts.iter().all(|first| compare(&first[0], &r[1], C).is_ne()) {
            firsts.push(vec![r[1].clone(), r[0].clone(), r[2].clone()]);
        }
    }
    let expected = sorted(firsts);
    for grant in GRANTS {
        let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
        table(&mut bench, 1, &rows);
        let groups = |input, calls| {
            Physical::HashAggregate(HashAggregate {
                input: Box::new(input),
                keys: vec![(Slot(1), C)],
                calls,
            })
        };
        let scan = || access(scan_of(1, 0, &TYPES));
        let whole =
            groups(scan(), vec![any(0, 3, Default::default()), any(2, 5, Default::default())]);
        let partial = groups(scan(), vec![any(0, 6, Partial), any(2, 8, Partial)]);
        let finals = vec![any(6, 3, Final), any(8, 5, Final)];
        for tree in [whole, groups(partial, finals)] {
            let (got, outcome) = bench.run(&query(tree, &[1, 3, 5], 9)).unwrap();
            assert_same(&sorted(got), &expected, "any");
            assert!(!outcome.nulls_eliminated);
        }
        assert_eq!(bench.spills.made.load(Relaxed) > 0, grant == 0);
    }
}

/// Many more values than fit in memory, short ones and long ones, each counted once.
#[test]
fn distinct_values_beyond_the_grant_are_each_taken_in_once() {
    use builtins::Aggregate::{Count, Max, Sum};
    let mut rows = random_rows(&mut Dice(22), 30_000, 9_000);
    for r in rows.iter_mut().skip(15_000) {
        r[1] = r[1].as_text().map_or(Value::Null, |word| Value::varchar(&word.repeat(9)));
    }
    let distinct = |column: usize| {
        let mut values: Vec<Value> = rows.iter().map(|r| r[column].clone()).collect();
        values.retain(|v| !v.is_null());
        values.sort_by(|a, b| compare(a, b, C));
        values.dedup_by(|a, b| compare(a, b, C).is_eq());
        values
    };
    let (numbers, words) = (distinct(0), distinct(1));
    let sum: i64 = numbers.iter().filter_map(Value::as_i64).sum();
    let most = words.last().unwrap().clone();
    let expected = vec![vec![
        Value::Int(numbers.len() as i32),
        Value::Int(sum as i32),
        Value::Int(words.len() as i32),
        most,
    ]];
    let calls = vec![
        call(Count, true, Some(0), 3),
        call(Sum, true, Some(0), 4),
        AggregateCall { argument: Some(col_of(1, TYPES[1])), ..call(Count, true, Some(1), 5) },
        AggregateCall { argument: Some(col_of(1, TYPES[1])), ..call(Max, true, Some(1), 6) },
    ];
    for grant in [1 << 28, 1 << 18, 0] {
        let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
        table(&mut bench, 1, &rows);
        let input = Box::new(access(scan_of(1, 0, &TYPES)));
        let tree = Physical::StreamAggregate(StreamAggregate {
            input,
            keys: Vec::new(),
            calls: calls.clone(),
        });
        let got = bench.rows(&query(tree, &[3, 4, 5, 6], 7));
        assert_same(&got, &expected, "distinct");
        assert_eq!(bench.spills.made.load(Relaxed) > 0, grant < 1 << 20);
    }
}

#[test]
fn without_keys_there_is_one_group_also_of_no_rows() {
    use builtins::Aggregate::{Count, Sum};
    let mut bench = Bench::default();
    table(&mut bench, 1, &Rows::new());
    let calls = vec![call(Count, false, None, 3), call(Sum, false, Some(0), 4)];
    let input = Box::new(access(scan_of(1, 0, &TYPES)));
    let tree = Physical::StreamAggregate(StreamAggregate { input, keys: Vec::new(), calls });
    let rows = bench.rows(&query(tree, &[3, 4], 5));
    assert_eq!(rows, [[Value::Int(0), Value::Null]]);
}

#[test]
fn a_spool_and_a_percentage_larger_than_the_grant_give_every_row_in_order() {
    let mut dice = Dice(15);
    let rows = random_rows(&mut dice, 2000, 30);
    for grant in GRANTS {
        let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
        table(&mut bench, 1, &rows);
        let input = || Box::new(access(scan_of(1, 0, &TYPES)));
        let spool = Physical::Spool(Spool { input: input(), carried: slots(&[0, 1, 2]) });
        assert_same(&bench.rows(&query(spool, &[0, 1, 2], 3)), &rows, "spool");
        let half =
            Top { percent: true, ..top(Scalar::constant(Value::Float(50.0), SqlType::Float)) };
        let top = Physical::Top(TopRows { input: input(), top: half });
        let first = rows[..1000].to_vec();
        assert_same(&bench.rows(&query(top, &[0, 1, 2], 3)), &first, "top percent");
        assert_eq!(bench.spills.made.load(Relaxed) > 0, grant == 0);
    }
}

/// MAX_GRANT_PERCENT = 0 makes a sort spill that has memory enough, and it gives the same.
#[test]
fn a_hint_bounds_the_memory_of_a_statement() {
    let rows = random_rows(&mut Dice(3), 40_000, 1_000_000);
    let mut answers = Vec::new();
    for max_percent in [None, Some(100.0), Some(0.0)] {
        let mut bench = Bench::default();
        table(&mut bench, 1, &rows);
        let sort = Physical::Sort(Sort {
            input: Box::new(access(scan_of(1, 0, &TYPES))),
            keys: vec![key(0, false), key(1, false), key(2, false)],
            carried: slots(&[0, 1, 2]),
            distinct: false,
        });
        let mut plan = query(sort, &[0, 1, 2], 3);
        plan.header.grant = GrantHints { min_percent: None, max_percent };
        answers.push(bench.rows(&plan));
        assert_eq!(bench.spills.made.load(Relaxed) > 0, max_percent == Some(0.0));
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
}

/// Takes rows, and looks what the statement has used at most.
struct Look<'a> {
    semaphores: &'a exec::ResourceSemaphores,
    rows: Rows,
    used_bytes_max: usize,
}

impl exec::RowSink for Look<'_> {
    fn row(&mut self, row: &[Value]) -> base::SqlResult<()> {
        self.rows.push(row.to_vec());
        let used = self.semaphores.grants().iter().map(|g| g.max_used_bytes).max();
        self.used_bytes_max = self.used_bytes_max.max(used.unwrap_or(0));
        Ok(())
    }
}

/// Rows that get longer, each with a block of its own: blocks that none fits are given up.
#[test]
fn a_sort_of_ever_longer_rows_stays_within_its_grant() {
    let row = |n: i32| {
        let long = Value::varchar(&"x".repeat(300_000 + 7 * n as usize));
        vec![int(60 - n), Scalar::constant(long, SqlType::VARCHAR_MAX)]
    };
    let mut bench = Bench { limit_bytes: 4 << 20, ..Bench::default() };
    let columns = slots(&[0, 1]);
    let sort = Physical::Sort(Sort {
        input: Box::new(Physical::Constants(Constants {
            rows: (0..60).map(row).collect(),
            columns,
        })),
        keys: vec![key(0, false)],
        carried: slots(&[0, 1]),
        distinct: false,
    });
    let plan = query(sort, &[0], 3);
    let semaphores = bench.semaphores();
    let mut look = Look { semaphores: &semaphores, rows: Vec::new(), used_bytes_max: 0 };
    let mut executor = exec::Executor::new(&plan).unwrap();
    bench.within(&semaphores, |cx| executor.run(cx, &mut look)).unwrap();
    let expected: Rows = (1..=60).map(|n| vec![Value::Int(n)]).collect();
    assert_same(&look.rows, &expected, "long rows");
    assert!(look.used_bytes_max <= 4 << 20, "used {}", look.used_bytes_max);
}

/// Seeks in an index spool give what the model finds: of one key in the order of the input, of a
/// range in the order of keys.
#[test]
fn an_index_spool_finds_what_the_model_does_in_memory_and_on_disk() {
    let mut dice = Dice(31);
    let rows = random_rows(&mut dice, 6000, 40);
    let outer = random_rows(&mut dice, 60, 45);
    for (grant, range) in [(GRANTS[0], false), (GRANTS[0], true), (GRANTS[1], false), (0, true)] {
        let mut bench = Bench { limit_bytes: grant, ..Bench::default() };
        table(&mut bench, 1, &outer);
        table(&mut bench, 2, &rows);
        let (by, op) = if range { (0, CompareOp::LessOrEqual) } else { (1, CompareOp::Equal) };
        let (from, column) = (col_of(by, TYPES[by as usize]), col_of(3 + by, TYPES[by as usize]));
        let predicate = Predicate::Compare {
            op,
            left: Box::new(from.clone()),
            right: Box::new(column),
            collation: C,
        };
        let spool = IndexSpool {
            input: access(scan_of(2, 3, &TYPES)),
            keys: vec![key(3 + by, false)],
            carried: slots(&[3, 4, 5]),
            equal: if range { Vec::new() } else { vec![from.clone()] },
            lower: range.then_some(from),
            upper: None,
            predicate,
        };
        let join = Physical::NestedLoops(Box::new(NestedLoops {
            kind: JoinKind::Inner,
            outer: access(scan_of(1, 0, &TYPES)),
            inner: Physical::IndexSpool(Box::new(spool)),
            predicate: None,
            inner_slots: slots(&[3, 4, 5]),
            correlated: true,
        }));
        let mut expected = Rows::new();
        for o in &outer {
            let at = by as usize;
            let fits = |r: &&Vec<Value>| {
                !o[at].is_null() && !r[at].is_null() && op.holds(compare(&o[at], &r[at], C))
            };
            let mut found: Vec<&Vec<Value>> = rows.iter().filter(fits).collect();
            found.sort_by(|a, b| compare(&a[at], &b[at], C));
            expected.extend(found.iter().map(|r| vec![o[2].clone(), r[2].clone()]));
        }
        assert!(expected.len() > 1000, "most keys are found");
        assert_same(&bench.rows(&query(join, &[2, 5], 6)), &expected, "index spool");
        assert_eq!(bench.spills.made.load(Relaxed) > 1, grant == 0);
    }
}
