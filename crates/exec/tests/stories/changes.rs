//! INSERT, UPDATE and DELETE: every index in step, and each refusal in SQL Server's words.

use crate::build::*;
use crate::fake::{Bench, Fake};
use EntryField::{Column, Uniquifier};
use base::SqlResult;
use exec::Outcome;
use plan::*;
use types::{BinaryOp, SqlType, Value};

const NAME: SqlType = SqlType::varchar(5);

/// T (id int primary key clustered, name varchar(5) not null, n int null), unique index U on name,
/// index N on n. Hobts 1, 2, 3.
fn bench() -> Bench {
    let mut bench = Bench::default();
    bench.tables.insert(1, Fake::tree(&[(0, INT, false)], Some(1)));
    bench.tables.insert(2, Fake::tree(&[(0, NAME, false)], Some(1)));
    bench.tables.insert(3, Fake::tree(&[(0, INT, false), (1, INT, false)], None));
    bench
}

fn table() -> Target {
    let mut base = index(1, 1, "PK_T", &[Column(0), Column(1), Column(2)], &[0]);
    base.unique = Uniqueness::PrimaryKey;
    let mut by_name = index(2, 2, "U", &[Column(1), Column(0)], &[0]);
    by_name.unique = Uniqueness::Index;
    let by_n = index(3, 3, "N", &[Column(2), Column(0)], &[0, 1]);
    target(
        vec![column("id", INT, false), column("name", NAME, false), column("n", INT, true)],
        vec![base, by_name, by_n],
    )
}

/// INSERT T VALUES (…): the source's slots are 0.., the new row's 10...
fn insert(t: Target, rows: &[&[Scalar]]) -> PhysicalPlan {
    let types: Vec<SqlType> = rows[0].iter().map(|x| x.ty.sql_type).collect();
    let value = |(i, &t): (usize, &SqlType)| InsertColumn {
        slot: Slot(10 + i as u32),
        source: ColumnSource::Value(col_of(i as u32, t)),
    };
    let columns = types.iter().enumerate().map(value).collect();
    let insert =
        Insert { target: t, source: values(rows, 0), columns, identity: None, output: None };
    plan(Statement::Insert(Box::new(insert)), 20)
}

fn add(bench: &mut Bench, rows: &[(i32, &str, Option<i32>)]) -> SqlResult<Outcome> {
    let rows: Vec<Vec<Scalar>> = rows
        .iter()
        .map(|(id, name, n)| vec![int(*id), text(name), n.map_or(null(), int)])
        .collect();
    let rows: Vec<&[Scalar]> = rows.iter().map(Vec::as_slice).collect();
    bench.run(&insert(table(), &rows)).map(|r| r.1)
}

fn contents(bench: &Bench) -> [Vec<Vec<Value>>; 3] {
    [
        bench.tables[&1].values(&[INT, NAME, INT]),
        bench.tables[&2].values(&[NAME, INT]),
        bench.tables[&3].values(&[INT, INT]),
    ]
}

/// Every index holds exactly what the base rows say.
fn assert_in_step(bench: &Bench, expected: &[(i32, &str, Option<i32>)]) {
    let [base, by_name, by_n] = contents(bench);
    let row = |(id, name, n): &(i32, &str, Option<i32>)| {
        vec![Value::Int(*id), Value::varchar(name), (*n).into()]
    };
    assert_eq!(base, expected.iter().map(row).collect::<Vec<_>>());
    let mut names: Vec<(String, i32)> =
        expected.iter().map(|r| (r.1.to_lowercase(), r.0)).collect();
    names.sort();
    let got: Vec<(String, i32)> = by_name
        .iter()
        .map(|r| (r[0].as_text().unwrap().to_lowercase(), r[1].as_i64().unwrap() as i32))
        .collect();
    assert_eq!(got, names);
    let mut numbers: Vec<(Option<i64>, Option<i64>)> =
        expected.iter().map(|r| (r.2.map(i64::from), Some(r.0.into()))).collect();
    numbers.sort();
    let got: Vec<_> = by_n.iter().map(|r| (r[0].as_i64(), r[1].as_i64())).collect();
    assert_eq!(got, numbers);
}

fn message(result: SqlResult<Outcome>) -> (i32, String) {
    let e = result.expect_err("it is refused");
    (e.number(), e.text().to_owned())
}

#[test]
fn an_insert_reaches_every_index_and_each_refusal_names_what_was_refused() {
    let mut bench = bench();
    let outcome = add(&mut bench, &[(2, "b", None), (1, "a  ", Some(5))]).unwrap();
    assert_eq!(outcome.rows_affected, 2);
    assert_in_step(&bench, &[(1, "a  ", Some(5)), (2, "b", None)]);
    assert_eq!(
        message(add(&mut bench, &[(2, "c", None)])),
        (
            2627,
            "Violation of PRIMARY KEY constraint 'PK_T'. Cannot insert duplicate key in object \
             'dbo.T'. The duplicate key value is (2)."
                .to_owned()
        )
    );
    let (number, text) = message(add(&mut bench, &[(3, "B", None)]));
    assert_eq!(number, 2601);
    assert!(
        text.ends_with("'dbo.T' with unique index 'U'. The duplicate key value is (B)."),
        "{text}"
    );
    let (number, text) = message(add(&mut bench, &[(4, "abcdefg", None)]));
    assert_eq!(number, 2628);
    assert!(text.ends_with("table 'db.dbo.T', column 'name'. Truncated value: 'abcde'."), "{text}");
    let t = insert(table(), &[&[int(9), Scalar::null(NAME), int(1)]]);
    let (number, text) = message(bench.run(&t).map(|r| r.1));
    assert_eq!(number, 515);
    assert_eq!(
        text,
        "Cannot insert the value NULL into column 'name', table 'db.dbo.T'; column does not allow \
         nulls. INSERT fails."
    );
}

#[test]
fn a_check_refuses_what_is_false_and_passes_what_is_unknown() {
    let mut bench = bench();
    let checked = |n: Scalar| {
        let mut t = table();
        t.checks.push(CheckConstraint {
            name: "CK_n".into(),
            column: Some("n".into()),
            predicate: cmp(CompareOp::Greater, col(12), int(0)),
            of_view: false,
        });
        insert(t, &[&[int(1), text("a"), n]])
    };
    let (number, text) = message(bench.run(&checked(int(0))).map(|r| r.1));
    assert_eq!(number, 547);
    assert_eq!(
        text,
        "The INSERT statement conflicted with the CHECK constraint \"CK_n\". The conflict occurred \
         in database \"db\", table \"dbo.T\", column 'n'."
    );
    assert_eq!(bench.run(&checked(null())).unwrap().1.rows_affected, 1);
}

#[test]
fn a_row_beyond_a_page_is_refused() {
    let mut bench = Bench::default();
    bench.tables.insert(1, Fake::heap());
    let wide = SqlType::varchar(8000);
    let t = target(
        vec![column("a", wide, true), column("b", wide, true)],
        vec![index(0, 1, "", &[Column(0), Column(1)], &[])],
    );
    let long = text(&"x".repeat(5000));
    let (number, text) = message(bench.run(&insert(t, &[&[long.clone(), long]])).map(|r| r.1));
    assert_eq!(number, 511);
    assert!(text.contains("10007") && text.contains("8060"), "{text}");
}

#[test]
fn identity_values_follow_their_source_and_the_last_is_told() {
    let mut bench = bench();
    let identity = IdentityColumn { column: 0, seed: 10, increment: 5, explicit: false };
    let make = |sql_type, explicit: Option<i32>| {
        let mut t = table();
        t.columns[0].sql_type = sql_type;
        let source = explicit.map_or(ColumnSource::Identity, |n| ColumnSource::Value(int(n)));
        let both: &[&[Scalar]] = &[&[text("a")], &[text("b")]];
        let value = |slot, x| InsertColumn { slot: Slot(slot), source: ColumnSource::Value(x) };
        let insert = Insert {
            target: t,
            source: values(if explicit.is_some() { &both[..1] } else { both }, 0),
            columns: vec![
                InsertColumn { slot: Slot(10), source },
                value(11, col_of(0, SqlType::varchar(8000))),
                value(12, int(0)),
            ],
            identity: Some(IdentityColumn { explicit: explicit.is_some(), ..identity }),
            output: None,
        };
        plan(Statement::Insert(Box::new(insert)), 20)
    };
    let outcome = bench.run(&make(INT, None)).unwrap().1;
    assert_eq!((outcome.identity, outcome.rows_affected), (Some(15), 2));
    assert_in_step(&bench, &[(10, "a", Some(0)), (15, "b", Some(0))]);
    for t in bench.tables.values() {
        t.rows.lock().clear();
    }
    assert_eq!(bench.run(&make(INT, Some(300))).unwrap().1.identity, Some(300));
    let (number, text) = message(bench.run(&make(SqlType::TinyInt, None)).map(|r| r.1));
    assert_eq!(number, 8115);
    assert_eq!(text, "Arithmetic overflow error converting IDENTITY to data type tinyint.");
}

/// A change of T: old row in slots 0-2, new values of assigned columns in 10-12.
fn update(t: Target, source: Physical, set: Vec<Assignment>) -> PhysicalPlan {
    let mut t = t;
    let assigned = |c: usize| set.iter().any(|a| a.column == Some(c));
    for i in &mut t.indexes {
        let moved = |f: &EntryField| matches!(f, Column(c) if assigned(*c));
        i.affected = i.index.0 <= 1 || i.fields.iter().any(moved);
        i.key_changes = i.key.iter().any(|k| moved(&i.fields[k.field]));
    }
    let old: Vec<Option<Slot>> = (0..3).map(|c| Some(Slot(c))).collect();
    let new = (0..3).map(|c| Some(Slot(if assigned(c as usize) { 10 + c } else { c }))).collect();
    let update = Update {
        target: t,
        source,
        old: OldRow { columns: old, ..OldRow::default() },
        new,
        assignments: set,
        distinct_rows: false,
        output: None,
    };
    plan(Statement::Update(Box::new(update)), 20)
}

fn set(column: usize, value: Scalar) -> Assignment {
    Assignment { column: Some(column), variable: None, value }
}

fn all_rows() -> Physical {
    let input = Box::new(access(scan_of(1, 0, &[INT, NAME, INT])));
    Physical::Spool(Spool { input, carried: slots(&[0, 1, 2]) })
}

#[test]
fn an_update_changes_the_indexes_that_hold_the_column() {
    let mut bench = bench();
    add(&mut bench, &[(1, "a", Some(1)), (2, "b", None)]).unwrap();
    let plus = binary(BinaryOp::Add, col(2), int(10));
    let outcome = bench.run(&update(table(), all_rows(), vec![set(2, plus)])).unwrap().1;
    assert_eq!(outcome.rows_affected, 2);
    assert_in_step(&bench, &[(1, "a", Some(11)), (2, "b", None)]);
    let null_name = update(table(), all_rows(), vec![set(1, Scalar::null(NAME))]);
    let (number, text) = message(bench.run(&null_name).map(|r| r.1));
    assert_eq!(number, 515);
    assert!(text.ends_with("UPDATE fails."), "{text}");
}

/// SET id = id + 1, and an exchange of names: no key meets one that is about to move itself.
#[test]
fn rows_that_move_within_a_unique_key_do_not_meet_each_other() {
    for limit_bytes in [1 << 20, 0] {
        let mut bench = Bench { limit_bytes, ..bench() };
        let rows: Vec<(i32, String, Option<i32>)> =
            (1..=300).map(|i| (i, format!("n{i}"), Some(i % 7))).collect();
        let rows: Vec<(i32, &str, Option<i32>)> =
            rows.iter().map(|r| (r.0, r.1.as_str(), r.2)).collect();
        add(&mut bench, &rows).unwrap();
        let plus = binary(BinaryOp::Add, col(0), int(1));
        let outcome = bench.run(&update(table(), all_rows(), vec![set(0, plus)])).unwrap().1;
        assert_eq!(outcome.rows_affected, 300);
        let moved: Vec<(i32, &str, Option<i32>)> =
            rows.iter().map(|r| (r.0 + 1, r.1, r.2)).collect();
        assert_in_step(&bench, &moved);
        // Two rows that end on one key are still refused.
        let same = update(table(), all_rows(), vec![set(0, int(7))]);
        assert_eq!(message(bench.run(&same).map(|r| r.1)).0, 2627);
    }
    let mut bench = bench();
    add(&mut bench, &[(1, "a", None), (2, "b", None)]).unwrap();
    let other = Scalar {
        kind: ScalarKind::Case {
            branches: vec![(eq(col(0), int(1)), text("b"))],
            otherwise: Some(Box::new(text("a"))),
        },
        ty: ty(SqlType::varchar(8000)),
    };
    bench.run(&update(table(), all_rows(), vec![set(1, other)])).unwrap();
    assert_in_step(&bench, &[(1, "b", None), (2, "a", None)]);
}

/// `UPDATE TOP (1) T SET @i = id = @i + 1`
#[test]
fn one_row_follows_a_variable_that_its_own_update_assigns() {
    let mut bench = bench();
    add(&mut bench, &[(1, "a", None)]).unwrap();
    bench.variables = vec![Value::Int(1)];
    let source = Physical::Top(TopRows {
        input: Box::new(access(scan_of(1, 0, &[INT, NAME, INT]))),
        top: top(big(1)),
    });
    let step = Assignment {
        column: Some(0),
        variable: Some((VariableId(0), ty(INT))),
        value: binary(BinaryOp::Add, var(0), int(1)),
    };
    let plan = update(table(), source, vec![step]);
    let mut executor = exec::Executor::new(&plan).unwrap();
    for _ in 0..100 {
        let outcome = bench.with(|cx| executor.run(cx, &mut exec::NoRows)).unwrap();
        assert_eq!(outcome.rows_affected, 1);
    }
    assert_eq!(bench.variables, [Value::Int(101)]);
    assert_in_step(&bench, &[(101, "a", None)]);
}

#[test]
fn a_delete_removes_every_entry_and_a_row_that_a_join_brings_twice_goes_once() {
    let mut bench = bench();
    add(&mut bench, &[(1, "a", None), (2, "b", Some(3)), (3, "c", Some(3))]).unwrap();
    let twice = Physical::NestedLoops(Box::new(NestedLoops {
        kind: JoinKind::Inner,
        outer: all_rows(),
        inner: values(&[&[int(2)], &[int(2)], &[int(3)]], 5),
        predicate: Some(eq(col(0), col(5))),
        inner_slots: slots(&[5]),
        correlated: true,
    }));
    let delete = Delete {
        target: table(),
        source: twice,
        old: OldRow { columns: (0..3).map(|c| Some(Slot(c))).collect(), ..OldRow::default() },
        distinct_rows: true,
        output: None,
    };
    let plan = plan(Statement::Delete(Box::new(delete)), 8);
    assert_eq!(bench.run(&plan).unwrap().1.rows_affected, 2);
    assert_in_step(&bench, &[(1, "a", None)]);
    assert_eq!(bench.run(&plan).unwrap().1.rows_affected, 0);
}

/// A clustered index that is not unique: its uniquifier is part of what other indexes hold.
#[test]
fn the_uniquifier_of_a_base_row_travels_into_other_indexes() {
    let mut bench = Bench::default();
    let raw = SqlType::varbinary(4);
    let base = Fake::with_uniquifier(&[(0, INT, false), (1, raw, false)], None, Some(1));
    bench.tables.insert(1, base);
    let second = Fake::tree(&[(0, INT, false), (1, INT, false), (2, raw, false)], None);
    bench.tables.insert(2, second);
    let fields = [Column(1), Column(0), Uniquifier];
    let t = target(
        vec![column("k", INT, false), column("v", INT, true)],
        vec![
            index(1, 1, "C", &[Column(0), Uniquifier, Column(1)], &[0, 1]),
            index(2, 2, "I", &fields, &[0, 1, 2]),
        ],
    );
    let rows: [&[Scalar]; 3] = [&[int(7), int(1)], &[int(7), int(2)], &[int(7), int(3)]];
    bench.run(&insert(t.clone(), &rows)).unwrap();
    let entries = bench.tables[&2].values(&[INT, INT, raw]);
    let tags: Vec<Value> = entries.iter().map(|r| r[2].clone()).collect();
    let expected = [Value::Null, Value::varbinary(&[1, 0, 0, 0]), Value::varbinary(&[2, 0, 0, 0])];
    assert_eq!(tags, expected);
    // Delete the second by what the scan shows.
    let mut a = scan_of(1, 0, &[INT, raw, INT]);
    a.residual = Some(eq(col(2), int(2)));
    let delete = Delete {
        target: t,
        source: access(a),
        old: OldRow {
            columns: vec![Some(Slot(0)), Some(Slot(2))],
            uniquifier: Some(Slot(1)),
            ..OldRow::default()
        },
        distinct_rows: false,
        output: None,
    };
    let plan = plan(Statement::Delete(Box::new(delete)), 4);
    assert_eq!(bench.run(&plan).unwrap().1.rows_affected, 1);
    assert_eq!(bench.tables[&1].values(&[INT, raw, INT]).len(), 2);
    assert_eq!(bench.tables[&2].values(&[INT, INT, raw]).len(), 2);
}

/// A heap: rows are known by their RID, which stays when a row changes.
#[test]
fn rows_of_a_heap_are_changed_by_their_rid() {
    let mut bench = Bench::default();
    bench.tables.insert(1, Fake::heap());
    let rid = SqlType::Binary(8);
    bench.tables.insert(2, Fake::tree(&[(0, INT, false), (1, rid, false)], None));
    let mut t = target(
        vec![column("a", INT, true)],
        vec![
            index(0, 1, "", &[Column(0)], &[]),
            index(2, 2, "I", &[Column(0), EntryField::Rid], &[0, 1]),
        ],
    );
    bench.run(&insert(t.clone(), &[&[int(1)], &[int(2)], &[int(2)]])).unwrap();
    let before = bench.tables[&2].values(&[INT, rid]);
    t.indexes[1].key_changes = true;
    let mut a = scan(1, 0, 1);
    a.rid = Some(Slot(1));
    a.hint = Some(Slot(2));
    let update = Update {
        target: t,
        source: access(a),
        old: OldRow {
            columns: vec![Some(Slot(0))],
            uniquifier: None,
            rid: Some(Slot(1)),
            hint: Some(Slot(2)),
        },
        new: vec![Some(Slot(10))],
        assignments: vec![set(0, binary(BinaryOp::Mul, col(0), int(100)))],
        distinct_rows: false,
        output: None,
    };
    let plan = plan(Statement::Update(Box::new(update)), 20);
    assert_eq!(bench.run(&plan).unwrap().1.rows_affected, 3);
    let after = bench.tables[&2].values(&[INT, rid]);
    let rids = |rows: &[Vec<Value>]| rows.iter().map(|r| r[1].clone()).collect::<Vec<_>>();
    assert_eq!(rids(&after), rids(&before));
    assert_eq!(after[2][0], Value::Int(200));
}

/// A plan that forgot where a column's new value lies must not store NULL there.
#[test]
fn a_change_that_lacks_a_slot_of_its_row_is_refused_before_it_runs() {
    let mut broken = update(table(), all_rows(), vec![set(2, int(1))]);
    let Statement::Update(u) = &mut broken.statement else { panic!("it is an update") };
    u.new[1] = None;
    assert_eq!(exec::Executor::new(&broken).err().map(|e| e.number()), Some(50001));
}
