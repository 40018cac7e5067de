//! How long a comparison takes for a row, in each kind of lane and form: it prints a table.
//! `cargo run -p vector --example speed`, with the crate optimised by
//! `--config 'profile.dev.package.vector.opt-level=3'`.

#![allow(clippy::unwrap_used, reason = "a measurement ends at the first surprise")]

use std::hint::black_box;
use types::{Collation, Relation, SqlType, Value, convert};
use vector::{Constant, Entries, ROWS_MAX, RowSet, Vector, compare_constant, compare_vectors};

const C: Collation = Collation::SQL_LATIN1_CI_AS;

/// Nanoseconds of processor time a row, of the fastest of several rounds.
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    const TIMES: u32 = 2_000;
    let round = |work: &mut dyn FnMut()| {
        let begun = os::clock::thread_cpu_ns();
        (0..TIMES).for_each(|_| work());
        os::clock::thread_cpu_ns() - begun
    };
    let best = (0..15).map(|_| round(&mut work)).min().unwrap_or(u64::MAX);
    best as f64 / f64::from(TIMES) / ROWS_MAX as f64
}

fn number(n: usize) -> i32 {
    (n * 7919 % 1000) as i32
}

fn column(sql_type: SqlType) -> Vector {
    let mut vector = Vector::new(sql_type);
    for n in 0..ROWS_MAX {
        match n % 10 {
            0 => vector.push(&Value::Null),
            _ => vector.push(&converted(number(n), sql_type)),
        }
    }
    vector
}

fn converted(n: i32, sql_type: SqlType) -> Value {
    convert(&Value::Int(n), SqlType::Int, sql_type, 0).unwrap()
}

fn main() {
    let all = RowSet::first(ROWS_MAX);
    let types = [SqlType::Int, SqlType::decimal(38, 2), SqlType::Float, SqlType::varchar(30)];
    for sql_type in types {
        let (vector, other) = (column(sql_type), column(sql_type));
        let constant = Constant::new(&converted(500, sql_type), sql_type, C).unwrap();
        let with_constant = nanoseconds(|| {
            black_box(compare_constant(&vector, Relation::Less, black_box(&constant), &all));
        });
        let with_column = nanoseconds(|| {
            black_box(compare_vectors(&vector, Relation::Less, black_box(&other), C, &all));
        });
        println!("{sql_type:<15} constant {with_constant:.3} ns, column {with_column:.3} ns a row");
    }
    let values: Vec<Value> = (0..100).map(|n| converted(n, SqlType::varchar(30))).collect();
    let entries = Entries::new(SqlType::varchar(30), &values);
    let codes: Vec<_> = (0..ROWS_MAX).map(|n| Some(number(n) as u32 % 100)).collect();
    let dictionary = Vector::dictionary(&entries, &codes);
    let runs: Vec<_> = values[..64].iter().map(|v| (v.clone(), 16)).collect();
    let runs = Vector::runs(SqlType::varchar(30), &runs);
    let constant = Constant::new(&values[50], SqlType::varchar(30), C).unwrap();
    for (form, vector) in [("dictionary", dictionary), ("runs", runs)] {
        let ns = nanoseconds(|| {
            black_box(compare_constant(&vector, Relation::Less, black_box(&constant), &all));
        });
        println!("varchar {form:<12} {ns:.3} ns a row");
    }
}
