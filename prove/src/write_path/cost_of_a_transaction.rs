//! path.2, what a transaction costs: the CPU time of the one-row loop, and whether its last tenth
//! is as fast as its first.

use crate::ground::bench;
use crate::ground::figure::{Figure, median};
use crate::ground::program::{FinishedRun, Ground, empty, finish};
use checks::Outcome;
use std::path::Path;
use std::time::Duration;

const TRANSACTIONS: f64 = 123_456.0;
const REPETITIONS: usize = 5;
const CPU_US_MAX: f64 = 5.0;
/// The last tenth's time may be that much of the first's.
const RATIO_MAX: f64 = 1.10;
const BEFORE: [&str; 3] =
    ["one_row/0_database.sql", "one_row/1_options.sql", "one_row/2_table.sql"];
const AT_MOST: Duration = Duration::from_secs(300);

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("path.2")?;
    let (mut costs, mut firsts, mut lasts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        let start_up = repeat(ground, &work, None)?.cpu;
        let whole = repeat(ground, &work, Some("one_row/3_loop.sql"))?.cpu;
        costs.push(whole.saturating_sub(start_up).as_secs_f64() * 1e6 / TRANSACTIONS);
        let tenths = repeat(ground, &work, Some("one_row/3_tenths.sql"))?.rows("tenth");
        let [(Some(first), Some(last))] = [(time(&tenths, 1), time(&tenths, 10))] else {
            return Err(format!("{} tenths instead of 10", tenths.len()));
        };
        firsts.push(first);
        lasts.push(last);
    }
    let (cost, first, last) = (median(costs), median(firsts), median(lasts));
    let mut figures = vec![
        Figure {
            what: format!("CPU of a transaction, start-up taken off, median of {REPETITIONS}"),
            figure: format!("{cost:.2} us"),
            limit: format!("{CPU_US_MAX} us"),
            pass: cost > 0.0 && cost <= CPU_US_MAX,
        },
        Figure {
            what: "last tenth against first, medians".to_owned(),
            figure: format!("{:.2} ({last:.0} us, {first:.0} us)", last / first),
            limit: format!("{RATIO_MAX:.2}"),
            pass: last <= first * RATIO_MAX,
        },
    ];
    figures.extend(bench::figures(ground, &["w1"])?);
    Ok(figures)
}

/// A new database, and the script in it.
fn repeat(ground: &Ground<'_>, work: &Path, script: Option<&str>) -> Outcome<FinishedRun> {
    let data = work.join("data");
    empty(&data)?;
    let scripts: Vec<&str> = BEFORE.into_iter().chain(script).collect();
    let finished = finish(ground.sql(&data, &scripts)?, &work.join("sql.log"), AT_MOST)?;
    if finished.succeeded { Ok(finished) } else { Err(finished.output) }
}

fn time(tenths: &[Vec<i64>], number: i64) -> Option<f64> {
    let row = tenths.iter().find(|row| row.first() == Some(&number))?;
    row.get(1).map(|us| *us as f64)
}
