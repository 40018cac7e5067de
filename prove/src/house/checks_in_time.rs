//! house.3, the checks: all of them are green within a quarter of an hour, and golden files are as
//! they were but for the reads that the hint saves.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::house::{BEGAN, ENDED};
use checks::{Outcome, process};
use std::process::Command;
use std::time::Instant;

const MINUTES_MAX: f64 = 15.0;
/// A procedure's update by key reads its page once, not twice: three lines of logical reads.
const LINES_OF_THE_HINT: u64 = 3;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(vec![golden_files(ground)?, all_checks(ground)?])
}

/// Lines of golden files that were there when the issue began, and were others at its end.
fn golden_files(ground: &Ground<'_>) -> Outcome<Figure> {
    let mut command = Command::new("git");
    command.current_dir(&ground.workspace.root);
    command.args(["diff", "--numstat", "--diff-filter=MD", BEGAN, ENDED, "--", "tests/golden"]);
    let output = command.output().map_err(|e| format!("run git: {e}"))?;
    let known = output.status.success();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let removed = |line: &str| line.split('\t').nth(1)?.parse::<u64>().ok();
    let lines: u64 = text.lines().filter_map(removed).sum();
    Ok(Figure {
        what: format!("lines of golden files that changed from {BEGAN} to {ENDED}"),
        figure: if known { format!("{lines}") } else { "this checkout has no history".to_owned() },
        limit: format!("{LINES_OF_THE_HINT}: reads that the hint saves"),
        pass: known && lines <= LINES_OF_THE_HINT,
    })
}

fn all_checks(ground: &Ground<'_>) -> Outcome<Figure> {
    let began = Instant::now();
    let mut command = Command::new(ground.workspace.root.join(".ci/run"));
    command.current_dir(&ground.workspace.root);
    let green = process::succeeds(command)?;
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    Ok(Figure {
        what: ".ci/run".to_owned(),
        figure: format!("{}, {minutes:.1} minutes", if green { "green" } else { "red" }),
        limit: format!("green within {MINUTES_MAX} minutes"),
        pass: green && minutes <= MINUTES_MAX,
    })
}
