//! Estimated rows beside counted ones: conditions on single tables, and joins of three.

use super::shops::{self, CONDITIONS, Dice, Walk};
use crate::ground::figure::{Figure, median};
use crate::ground::program::Ground;
use checks::Outcome;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const JOINS: usize = 40;
/// Lines of the table in the docs.
const WORST: usize = 15;

/// A query with what was expected and what came.
struct Case {
    text: String,
    estimate: f64,
    rows: f64,
}

impl Case {
    /// By which factor the estimate is off; less than a row counts as one.
    fn error(&self) -> f64 {
        let (a, b) = (self.estimate.max(1.0), self.rows.max(1.0));
        (a / b).max(b / a)
    }
}

pub(crate) fn judge(ground: &Ground<'_>, work: &Path, data: &Path) -> Outcome<Vec<Figure>> {
    let single: Vec<String> = CONDITIONS
        .iter()
        .map(|(table, condition)| format!("FROM {table} WHERE {}", condition.replace('?', table)))
        .collect();
    let mut dice = Dice(6);
    let joins: Vec<String> = (0..JOINS)
        .map(|_| {
            let walk = Walk::draw(&mut dice, 3);
            walk.text(&walk.tables)
        })
        .collect();
    let single = measure(ground, (work, data), "single", single)?;
    let joins = measure(ground, (work, data), "joins", joins)?;
    write_table(ground, &single, &joins)?;
    let figure = |what: &str, cases: &[Case], limit: f64| {
        let errors: Vec<f64> = cases.iter().map(Case::error).collect();
        let (middle, worst) = (median(errors.clone()), errors.iter().copied().fold(1.0, f64::max));
        Figure {
            what: format!("median q-error of {} {what} (worst {worst:.1})", cases.len()),
            figure: format!("{middle:.2}"),
            limit: format!("at most {limit}"),
            pass: middle <= limit,
        }
    };
    Ok(vec![
        figure("conditions on one table", &single, 1.5),
        figure("joins of three tables", &joins, 5.0),
    ])
}

fn measure(
    ground: &Ground<'_>,
    place: (&Path, &Path),
    name: &str,
    texts: Vec<String>,
) -> Outcome<Vec<Case>> {
    let mut script = String::from("SET NOCOUNT ON;\nGO\n");
    for (n, text) in texts.iter().enumerate() {
        let _ = writeln!(script, "SELECT 'rows', {n}, COUNT_BIG(*) {text};\nGO");
    }
    script += "SET SHOWPLAN_ALL ON;\nGO\n";
    for (n, text) in texts.iter().enumerate() {
        let _ = writeln!(script, "select {n} as q {text}\nGO");
    }
    let finished = shops::run(ground, place, name, &script)?;
    let counted = finished.rows("rows");
    let mut cases = Vec::with_capacity(texts.len());
    for (n, text) in texts.into_iter().enumerate() {
        let rows = counted.iter().find(|r| r.first() == Some(&(n as i64)));
        let rows = rows.and_then(|r| r.get(1)).ok_or_else(|| format!("no count of {text}"))?;
        let start = format!("select {n} as q ");
        let line = finished.output.lines().find(|l| l.starts_with(&start));
        let estimate = line.and_then(estimate_of).ok_or_else(|| format!("no plan of {text}"))?;
        cases.push(Case { text, estimate, rows: *rows as f64 });
    }
    Ok(cases)
}

/// EstimateRows of a line of SHOWPLAN_ALL, counted from its end: the text may hold anything.
fn estimate_of(line: &str) -> Option<f64> {
    const FROM_END: usize = 9;
    line.rsplit('|').nth(FROM_END)?.trim().parse().ok()
}

/// `docs/estimates.md`: the worst of both kinds.
fn write_table(ground: &Ground<'_>, single: &[Case], joins: &[Case]) -> Outcome<()> {
    let mut text = String::from(
        "# Estimates that were worst\n\nWritten by `cargo xtask prove query.6`, over the data of \
         `tests/proofs/query/6_data.sql` with statistics of all rows. The q-error is the factor \
         between estimated and counted rows.\n",
    );
    for (title, cases) in [("Conditions on one table", single), ("Joins of three tables", joins)] {
        let _ = writeln!(text, "\n## {title}\n\n| q-error | estimated | counted | query |");
        text += "|---|---|---|---|\n";
        let mut sorted: Vec<&Case> = cases.iter().collect();
        sorted.sort_by(|a, b| b.error().total_cmp(&a.error()));
        for case in sorted.into_iter().take(WORST) {
            let (error, estimate, rows) = (case.error(), case.estimate, case.rows);
            let _ = writeln!(text, "| {error:.2} | {estimate:.0} | {rows} | `{}` |", case.text);
        }
    }
    let path = ground.workspace.root.join("docs/estimates.md");
    fs::write(&path, text).map_err(|e| format!("write {}: {e}", path.display()))
}
