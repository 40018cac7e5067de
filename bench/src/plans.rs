//! Texts and plans (proof query.8): how fast simple statements are parsed, and what 10,000 kept
//! plans weigh.

use crate::engine::{Durability, Engine as _, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Each parsed by itself, as drivers send them.
const SIMPLE: [&str; 4] = [
    "select v from p where id = @k",
    "insert p values (1, 2)",
    "update p set v = v + 1 where id = 5",
    "delete p where id = 7",
];
const PARSED: usize = 2_000_000;
const PER_SECOND_MIN: f64 = 1e6;
const PLANS: i64 = 10_000;
const PLANS_MB_MAX: u64 = 200;
const SIZE_ERROR_MAX: f64 = 0.25;

pub(crate) fn run(binary: &Path, folder: &Path, repetitions: usize) -> Outcome<Vec<Figure>> {
    let speeds = (0..repetitions).map(|_| parsed_per_second()).collect();
    let speed = median(speeds);
    let mut figures = vec![Figure {
        what: "simple statements parsed in a second by one core".to_owned(),
        figure: format!("{speed:.0}"),
        limit: format!("above {PER_SECOND_MIN}"),
        pass: speed > PER_SECOND_MIN,
    }];
    figures.extend(kept(binary, folder)?);
    Ok(figures)
}

/// CPU time is not asked: one thread that waits for nothing.
fn parsed_per_second() -> f64 {
    let options = tsql::ParseOptions::default();
    let start = Instant::now();
    for n in 0..PARSED {
        let parsed = tsql::parse(black_box(SIMPLE[n % SIMPLE.len()]), options);
        assert!(black_box(parsed).errors.is_empty(), "simple statements parse");
    }
    PARSED as f64 / start.elapsed().as_secs_f64()
}

/// Queries of three tables, each text with a constant of its own.
fn kept(binary: &Path, folder: &Path) -> Outcome<Vec<Figure>> {
    let durability = Durability::Delayed;
    let start = Start { binary, folder: &folder.join("plans"), durability, memory_mb: None };
    let mut server = ghostlight::start_server(&start)?;
    server.run(&server.script("plans")?)?;
    let mut session = server.login()?;
    let query = |n: i64| {
        format!(
            "select o.id, c.name, l.quantity from orders as o join customers as c \
             on c.id = o.customer join lines as l on l.ordered = o.id where o.id = {n}"
        )
    };
    // What the first of its kind brings along is no plan's weight.
    for n in 0..100 {
        session.batch(&query(-n - 1)).map_err(|e| e.to_string())?;
    }
    let cached = "select count(*) from sys.dm_exec_cached_plans";
    let charged = "select sum(cast(size_in_bytes as bigint)) / 1024 from sys.dm_exec_cached_plans";
    let before = (server.number(cached)?, server.resident_kb(), server.number(charged)?);
    for n in 0..PLANS {
        session.batch(&query(n)).map_err(|e| e.to_string())?;
    }
    let after = (server.number(cached)?, server.resident_kb(), server.number(charged)?);
    let grown_mb = after.1.saturating_sub(before.1) / 1024;
    let plans = after.0 - before.0;
    let share = (after.2 - before.2) as f64 / after.1.saturating_sub(before.1).max(1) as f64;
    Ok(vec![
        Figure {
            what: "plans kept more".to_owned(),
            figure: plans.to_string(),
            limit: format!("at least {PLANS}"),
            pass: plans >= PLANS,
        },
        Figure {
            what: "resident memory of the server grew by".to_owned(),
            figure: format!("{grown_mb} MB"),
            limit: format!("less than {PLANS_MB_MAX} MB"),
            pass: grown_mb < PLANS_MB_MAX,
        },
        Figure {
            what: "size_in_bytes of the kept plans / what the server grew by".to_owned(),
            figure: format!("{share:.2}"),
            limit: format!("within {SIZE_ERROR_MAX} of 1"),
            pass: (share - 1.0).abs() <= SIZE_ERROR_MAX,
        },
    ])
}
