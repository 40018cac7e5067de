//! path.4, a table eight times the memory: loaded, scanned, indexed, updated, sorted and grouped
//! under `--max-memory 128MB`, each step in a process of its own whose peak is measured.

use crate::ground::figure::Figure;
use crate::ground::program::{FinishedRun, Ground, finish};
use checks::Outcome;
use std::path::Path;
use std::time::Duration;

const TABLE_BYTES_MIN: u64 = 1 << 30;
const PAGE_BYTES: u64 = 8192;
const ROWS: i64 = 1 << 20;
const PEAK_KB_MAX: u64 = 224 << 10;
const AT_MOST: Duration = Duration::from_secs(420);

/// A script, the row it must answer with, and whether it reads the whole table.
struct Step {
    script: &'static str,
    name: &'static str,
    first: fn(i64) -> bool,
    reads_all: bool,
}

const STEPS: [Step; 6] = [
    Step { script: "big/1_load.sql", name: "load", first: |n| n == ROWS, reads_all: false },
    Step { script: "big/2_scan.sql", name: "scan", first: |n| n == ROWS, reads_all: true },
    Step { script: "big/3_index.sql", name: "index", first: |n| n > 900, reads_all: true },
    Step { script: "big/4_updates.sql", name: "updates", first: |n| n > 15_000, reads_all: true },
    Step { script: "big/5_order.sql", name: "order", first: |n| n == ROWS, reads_all: true },
    Step { script: "big/6_group.sql", name: "group", first: |n| n >= ROWS - 3, reads_all: true },
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("path.4")?;
    let mut figures = Vec::new();
    for step in &STEPS {
        let data = work.join("data");
        let mut command = ground.sql(&data, &[step.script])?;
        command.args(["--max-memory", "128MB"]);
        match finish(command, &work.join(format!("{}.log", step.name)), AT_MOST) {
            Ok(finished) => figures.extend(judge(step, &finished)),
            Err(why) => figures.push(failed(step, why)),
        }
        if step.name == "load" && figures.iter().any(|figure| !figure.pass) {
            break;
        }
    }
    forget(&work);
    Ok(figures)
}

/// What a step used, and for the load how large the table is.
fn judge(step: &Step, finished: &FinishedRun) -> Vec<Figure> {
    let rows = finished.rows(step.name);
    let answered = rows.iter().any(|row| row.first().is_some_and(|n| (step.first)(*n)));
    if !finished.succeeded || !answered {
        return vec![failed(step, finished.output.trim().replace('\n', " / "))];
    }
    let read = finished.read_bytes;
    let enough = !step.reads_all || read >= TABLE_BYTES_MIN;
    let mut figures = vec![Figure {
        what: format!("{}: peak resident, read by system calls", step.name),
        figure: format!(
            "{} MB, {} MB, {:.1} s of CPU",
            finished.peak_kb >> 10,
            read >> 20,
            finished.cpu.as_secs_f64()
        ),
        limit: format!(
            "{} MB, {}",
            PEAK_KB_MAX >> 10,
            if step.reads_all { "at least 1024 MB" } else { "any" }
        ),
        pass: finished.peak_kb > 0 && finished.peak_kb <= PEAK_KB_MAX && enough,
    }];
    if step.name == "load" {
        let pages = finished.rows("pages").first().and_then(|row| row.first().copied());
        let bytes = u64::try_from(pages.unwrap_or(0)).unwrap_or(0) * PAGE_BYTES;
        figures.push(Figure {
            what: "the table".to_owned(),
            figure: format!("{} MB", bytes >> 20),
            limit: format!("at least {} MB", TABLE_BYTES_MIN >> 20),
            pass: bytes >= TABLE_BYTES_MIN,
        });
    }
    figures
}

fn failed(step: &Step, why: String) -> Figure {
    let limit = "its answer".to_owned();
    Figure { what: step.name.to_owned(), figure: why, limit, pass: false }
}

/// Gigabytes need not stay; what cannot be removed is emptied next time.
fn forget(work: &Path) {
    let _ = std::fs::remove_dir_all(work.join("data"));
}
