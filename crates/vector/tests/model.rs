//! Vectors against rows of values: whatever the type and the form, a vector is the column of values
//! that it was made of, and a kernel says what comparing the values one by one says.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected ends")]

use proptest::prelude::*;
use types::{
    ALL_TYPES, Bytes, Collation, DateTime, DateTime2, DateTimeOffset, Decimal, Relation,
    SmallDateTime, SqlType, Value, Variant, compare, decode_storage, encode_storage,
};
use vector::{
    Batch, Constant, Entries, ROWS_MAX, RowSet, TEXT_BYTES, Truth, Vector, comparable,
    compare_constant, compare_vectors, is_null,
};

const RELATIONS: [Relation; 6] = [
    Relation::Equal,
    Relation::NotEqual,
    Relation::Less,
    Relation::LessOrEqual,
    Relation::Greater,
    Relation::GreaterOrEqual,
];

/// Every type of SQL once, and decimals of each kind of lane.
fn types() -> Vec<SqlType> {
    let more = [SqlType::decimal(9, 2), SqlType::decimal(18, 0), SqlType::decimal(19, 4)];
    let short = [SqlType::Char(3), SqlType::NChar(2), SqlType::Binary(5), SqlType::Time(3)];
    let fits = |t: &&SqlType| types::fixed_width(**t).is_none_or(|width| width < 100);
    ALL_TYPES.iter().filter(fits).copied().chain(more).chain(short).collect()
}

fn collation() -> Collation {
    Collation::SQL_LATIN1_CI_AS
}

/// A string that is short or long, with capitals and blanks behind it.
fn string(seed: i64) -> String {
    const WORDS: [&str; 8] =
        ["", "a", "A", "a ", "b", "Straße 12 in Berlin", "straße 12 IN berlin", "twelve bytes"];
    WORDS[seed.rem_euclid(8) as usize].to_owned()
}

/// A value of a type: few different ones, of every sign and size.
fn value(sql_type: SqlType, seed: i64) -> Value {
    let small = seed.rem_euclid(7) - 3;
    let positive = seed.rem_euclid(7);
    let moment = || DateTime2 { days: 738_000 + small as i32, ticks: positive as u64 * 10_000 };
    match sql_type {
        SqlType::Bit => Value::Bit(seed % 2 == 0),
        SqlType::TinyInt => Value::TinyInt([0, 1, 127, 128, 255][seed.rem_euclid(5) as usize]),
        SqlType::SmallInt => Value::SmallInt(small as i16 * 10_000),
        SqlType::Int => Value::Int(small as i32 * 700_000_000),
        SqlType::BigInt => Value::BigInt(small * 3_000_000_000_000_000_000),
        SqlType::Decimal { precision, scale } => {
            let unit = 10_i128.pow(u32::from(precision) - 1);
            Value::Decimal(Decimal::new(i128::from(small) * unit, scale).unwrap())
        }
        SqlType::Money => Value::Money(small * 3_000_000_000_000_000_000),
        SqlType::SmallMoney => Value::Money(small * 700_000_000),
        SqlType::Real => Value::Real([0.0, -0.0, 1.5, -1e30, f32::MAX][positive as usize % 5]),
        SqlType::Float => Value::Float([0.0, -0.0, 1.5, -1e300, 1e-300][positive as usize % 5]),
        SqlType::Date => Value::Date(738_000 + small as i32),
        SqlType::Time(_) => Value::Time(positive as u64 * 36_000_000_000),
        SqlType::DateTime => {
            Value::DateTime(DateTime { days: small as i32, ticks: positive as u32 % 3 })
        }
        SqlType::SmallDateTime => Value::SmallDateTime(SmallDateTime {
            days: positive as u16 * 10_000,
            minutes: positive as u16,
        }),
        SqlType::DateTime2(_) => Value::DateTime2(moment()),
        SqlType::DateTimeOffset(_) => {
            Value::DateTimeOffset(DateTimeOffset { utc: moment(), offset: small as i16 * 60 })
        }
        SqlType::UniqueIdentifier => Value::Guid([seed as u8 % 3; 16]),
        SqlType::Variant => {
            let inner = Value::Int(small as i32);
            Value::Variant(Variant::new(inner, SqlType::Int, collation()).unwrap().into())
        }
        SqlType::Xml => decode_storage(b"\0<a/>", SqlType::Xml).unwrap(),
        SqlType::RowVersion => Value::Binary(Bytes::new(&seed.to_be_bytes())),
        SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => {
            fitting(Value::nvarchar(&string(seed)), sql_type)
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image => {
            fitting(Value::varbinary(string(seed).as_bytes()), sql_type)
        }
        SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => {
            fitting(Value::varchar(&string(seed)), sql_type)
        }
    }
}

/// A string as a column of the type has it: cut, and padded.
fn fitting(value: Value, sql_type: SqlType) -> Value {
    decode_storage(&stored(&value.cut_to(sql_type), sql_type), sql_type).unwrap()
}

fn stored(value: &Value, sql_type: SqlType) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_storage(value, sql_type, &mut bytes);
    bytes
}

/// Whether two values are the same to the bit: the zeros of floats are not.
fn is_same(a: &Value, b: &Value) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

/// A column of values, runs of them among them, and NULLs; and which form its vector has.
#[derive(Clone, Debug)]
struct Column {
    sql_type: SqlType,
    values: Vec<Value>,
    form: u8,
}

impl Column {
    fn new(sql_type: SqlType, seeds: &[Option<i64>], form: u8) -> Column {
        let constant = form == 2;
        let values = (0..seeds.len())
            .map(|n| seeds[if constant { 0 } else { n }])
            .map(|seed| seed.map_or(Value::Null, |seed| value(sql_type, seed)))
            .collect();
        Column { sql_type, values, form }
    }

    fn vector(&self) -> Vector {
        match self.form {
            0 => self.flat(),
            1 => {
                let mut vector = Vector::new(self.sql_type);
                for value in &self.values {
                    let bytes = (!value.is_null()).then(|| stored(value, self.sql_type));
                    vector.push_stored(bytes.as_deref()).unwrap();
                }
                vector
            }
            2 => {
                let value = self.values.first().unwrap_or(&Value::Null);
                Vector::constant(self.sql_type, value, self.values.len())
            }
            3 => self.dictionary(0),
            4 => self.dictionary(ROWS_MAX + 1),
            _ => {
                let mut runs: Vec<(Value, usize)> = Vec::new();
                for value in &self.values {
                    match runs.last_mut() {
                        Some((last, count)) if is_same(last, value) => *count += 1,
                        _ => runs.push((value.clone(), 1)),
                    }
                }
                Vector::runs(self.sql_type, &runs)
            }
        }
    }

    fn flat(&self) -> Vector {
        let mut vector = Vector::new(self.sql_type);
        self.values.iter().for_each(|value| vector.push(value));
        vector
    }

    /// With so many entries that no row has in front of those of the rows.
    fn dictionary(&self, unused: usize) -> Vector {
        let mut entries = vec![value(self.sql_type, 1); unused];
        let mut codes = Vec::new();
        for value in &self.values {
            codes.push((!value.is_null()).then(|| {
                let known = entries[unused..].iter().position(|e| is_same(e, value));
                known.map_or_else(
                    || {
                        entries.push(value.clone());
                        entries.len() - 1
                    },
                    |n| n + unused,
                ) as u32
            }));
        }
        Vector::dictionary(&Entries::new(self.sql_type, &entries), &codes)
    }

    /// What a comparison of each row with another value says, among some rows.
    fn compared(&self, relation: Relation, with: &dyn Fn(usize) -> Value, among: &RowSet) -> Truth {
        let mut truth = Truth::UNKNOWN;
        for row in among.iter().filter(|&row| row < self.values.len()) {
            let (a, b) = (&self.values[row], &with(row));
            if a.is_null() || b.is_null() {
                continue;
            }
            match relation.holds(compare(a, b, collation())) {
                true => truth.yes.insert(row),
                false => truth.no.insert(row),
            }
        }
        truth
    }
}

fn assert_same(vector: &Vector, values: &[Value]) {
    assert_eq!(vector.len(), values.len());
    for (row, value) in values.iter().enumerate() {
        assert_eq!(&vector.value(row), value, "row {row} of {}", vector.sql_type());
        assert_eq!(vector.valid().contains(row), !value.is_null());
        let mut bytes = Vec::new();
        let is_there = vector.append_stored(row, &mut bytes);
        assert_eq!(is_there, !value.is_null());
        if is_there {
            assert_eq!(bytes, stored(value, vector.sql_type()));
        }
    }
    assert!(!vector.valid().contains(values.len()));
}

fn seeds() -> impl Strategy<Value = Vec<Option<i64>>> {
    let run = (prop::option::weighted(0.8, -20..20_i64), 1..5_usize);
    prop::collection::vec(run, 0..60).prop_map(|runs| {
        runs.into_iter().flat_map(|(seed, count)| std::iter::repeat_n(seed, count)).collect()
    })
}

fn selection() -> impl Strategy<Value = RowSet> {
    prop::collection::vec(any::<bool>(), 300)
        .prop_map(|bits| (0..bits.len()).filter(|&n| bits[n]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A vector is the values it was made of; flattened too, and of selected rows when compacted.
    #[test]
    fn vectors_are_columns(
        at in 0..types().len(), seeds in seeds(), form in 0..6_u8, kept in selection(),
    ) {
        let column = Column::new(types()[at], &seeds, form);
        let mut vector = column.vector();
        assert_same(&vector, &column.values);
        let mut flat = vector.clone();
        flat.flatten();
        assert_same(&flat, &column.values);
        let model: Vec<Value> =
            kept.iter().filter_map(|row| column.values.get(row)).cloned().collect();
        for v in [&mut vector, &mut flat] {
            v.compact(&kept);
            assert_same(v, &model);
        }
        // What is flat takes more rows.
        flat.push(&value(column.sql_type, 5));
        assert_same(&flat, &[model, vec![value(column.sql_type, 5)]].concat());
        flat.clear();
        prop_assert!(flat.is_empty());
    }

    /// A kernel says of a column and a constant what comparing values says.
    #[test]
    fn constants_compare_as_values(
        at in 0..types().len(), seeds in seeds(), form in 0..6_u8, among in selection(),
        than in prop::option::weighted(0.9, -20..20_i64),
    ) {
        let sql_type = types()[at];
        prop_assume!(sql_type != SqlType::Xml);
        let (column, than) = (
            Column::new(sql_type, &seeds, form),
            than.map_or(Value::Null, |seed| value(sql_type, seed)),
        );
        let constant = Constant::new(&than, sql_type, collation()).unwrap();
        let vector = column.vector();
        for relation in RELATIONS {
            let truth = compare_constant(&vector, relation, &constant, &among);
            let expected = column.compared(relation, &|_| than.clone(), &among);
            prop_assert_eq!(truth, expected, "{} {:?} {:?}", sql_type, relation, than);
        }
        let null = is_null(&vector, &among);
        for row in 0..300 {
            let asked = among.contains(row) && row < vector.len();
            prop_assert_eq!(null.yes.contains(row), asked && column.values[row].is_null());
            prop_assert_eq!(null.no.contains(row), asked && !column.values[row].is_null());
        }
    }

    /// The same of two columns of one type, in all pairs of forms.
    #[test]
    fn columns_compare_as_values(
        at in 0..types().len(), a in seeds(), b in seeds(), forms in (0..6_u8, 0..6_u8),
        among in selection(),
    ) {
        let sql_type = types()[at];
        prop_assume!(comparable(sql_type, sql_type));
        let rows = a.len().min(b.len());
        let a = Column::new(sql_type, &a[..rows], forms.0);
        let b = Column::new(sql_type, &b[..rows], forms.1);
        let (x, y) = (a.vector(), b.vector());
        for relation in RELATIONS {
            let truth = compare_vectors(&x, relation, &y, collation(), &among);
            let expected = a.compared(relation, &|row| b.values[row].clone(), &among);
            prop_assert_eq!(truth, expected, "{} {:?}", sql_type, relation);
        }
    }

    /// A batch filters by its selection; compacted it has the selected rows, in order.
    #[test]
    fn batches_are_rows(
        seeds in prop::collection::vec((prop::option::of(-9..9_i64), prop::option::of(0..9_i64)),
            0..=ROWS_MAX),
        than in -9..9_i64,
    ) {
        let types = [SqlType::BigInt, SqlType::varchar(30)];
        let rows: Vec<[Value; 2]> = seeds.iter().map(|(a, b)| {
            let text = b.map_or(Value::Null, |seed| value(types[1], seed));
            [a.map_or(Value::Null, Value::BigInt), text]
        }).collect();
        let mut batch = Batch::new(&types);
        for row in &rows {
            let put = |n: usize, column: &mut Vector| {
                column.push(&row[n]);
                Ok::<(), ()>(())
            };
            batch.push_row(put).unwrap();
        }
        prop_assert_eq!(batch.is_full(), rows.len() == ROWS_MAX);
        let constant = Constant::new(&Value::BigInt(than), types[0], collation()).unwrap();
        let among = *batch.selection();
        batch.filter(&compare_constant(&batch.columns()[0], Relation::Less, &constant, &among));
        let null = is_null(&batch.columns()[1], batch.selection());
        batch.filter(&null.not());
        let model: Vec<_> = rows.iter()
            .filter(|row| matches!(row[0], Value::BigInt(n) if n < than) && !row[1].is_null())
            .cloned().collect();
        prop_assert_eq!(batch.rows(), rows.len());
        prop_assert_eq!(batch.selection().count(), model.len());
        batch.compact();
        let found: Vec<_> = batch.selection().iter()
            .map(|row| [batch.value(0, row), batch.value(1, row)]).collect();
        prop_assert_eq!(found, model);
        prop_assert_eq!(batch.rows(), batch.selection().count());
    }
}

/// Stored bytes that are no value are refused, and leave vector and batch as they were.
#[test]
fn bytes_that_are_no_value_are_refused() {
    let cases: [(SqlType, &[u8]); 8] = [
        (SqlType::Bit, &[2]),
        (SqlType::Int, &[1, 2, 3]),
        (SqlType::decimal(5, 0), &[1, 0xFF, 0xFF, 0xFF, 0x7F]),
        (SqlType::decimal(38, 0), &[1; 3]),
        (SqlType::Date, &[0xFF; 3]),
        (SqlType::DateTime, &[0xFF; 8]),
        (SqlType::nvarchar(9), &[65]),
        (SqlType::UniqueIdentifier, &[0; 15]),
    ];
    for (sql_type, bytes) in cases {
        let mut vector = Vector::new(sql_type);
        vector.push(&Value::Null);
        let refused = vector.push_stored(Some(bytes)).unwrap_err();
        assert_eq!((refused.sql_type, refused.length), (sql_type, bytes.len()));
        assert_same(&vector, &[Value::Null]);
        let mut batch = Batch::new(&[SqlType::Int, sql_type]);
        let put = |n: usize, column: &mut Vector| match n {
            0 => column.push_stored(Some(&[7, 0, 0, 0])),
            _ => column.push_stored(Some(bytes)),
        };
        assert!(batch.push_row(put).is_err());
        assert_eq!((batch.rows(), batch.columns()[0].len()), (0, 0));
    }
}

/// A constant that is no value of the column has no lane; one of another scale may have.
#[test]
fn constants_that_no_lane_can_be() {
    let of = |value: Value, column| Constant::new(&value, column, collation()).is_some();
    let decimal = |n, scale| Value::Decimal(Decimal::new(n, scale).unwrap());
    assert!(of(decimal(150, 2), SqlType::decimal(9, 1)));
    assert!(!of(decimal(155, 2), SqlType::decimal(9, 1)));
    assert!(of(decimal(150, 2), SqlType::decimal(30, 1)));
    assert!(!of(Value::Float(1.0), SqlType::Int));
    assert!(!of(Value::varchar("a"), SqlType::nvarchar(9)));
    let utc = DateTime2 { days: 7, ticks: 1 };
    let moment = Value::DateTimeOffset(DateTimeOffset { utc, offset: 0 });
    assert!(of(moment.clone(), SqlType::DateTimeOffset(7)));
    assert!(!of(moment, SqlType::DateTimeOffset(3)));
}

/// What is not a number comes behind all numbers and equals itself, as in row mode.
#[test]
fn floats_order_as_in_row_mode() {
    let values = [f64::NAN, f64::INFINITY, 1.0, 0.0, -0.0, f64::NEG_INFINITY].map(Value::Float);
    let mut column = Vector::new(SqlType::Float);
    values.iter().for_each(|value| column.push(value));
    let all = RowSet::first(values.len());
    for (than, relation) in values.iter().flat_map(|v| RELATIONS.map(|r| (v, r))) {
        let constant = Constant::new(than, SqlType::Float, collation()).unwrap();
        let expected = (0..values.len())
            .filter(|&n| relation.holds(compare(&values[n], than, collation())))
            .collect();
        let truth = compare_constant(&column, relation, &constant, &all);
        assert_eq!(truth, Truth::known(expected, &all), "{relation:?} {than:?}");
    }
}

/// Long strings fill a batch before its rows do. Its memory is counted, and stays for more rows.
#[test]
fn long_strings_fill_a_batch() {
    let mut batch = Batch::new(&[SqlType::varchar(8000), SqlType::Int]);
    let empty = batch.memory_bytes();
    let text = Value::varchar(&"x".repeat(8000));
    let mut rows = 0;
    while !batch.is_full() {
        let put = |n: usize, column: &mut Vector| {
            column.push(if n == 0 { &text } else { &Value::Int(1) });
            Ok::<(), ()>(())
        };
        batch.push_row(put).unwrap();
        rows += 1;
    }
    assert_eq!(rows, TEXT_BYTES.div_ceil(8000));
    let full = batch.memory_bytes();
    assert!(full >= empty + TEXT_BYTES, "{full} bytes");
    batch.clear();
    assert_eq!((batch.memory_bytes(), batch.rows()), (full, 0));
    assert!(!batch.is_full());
}
