//! query.4, one answer by every plan: random statements with and without indexes, under every
//! forced join and grouping, with and without memory, before and after a restart.

use super::judge::{figure, report};
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::{Outcome, process};

const TRIALS: u64 = 100;
const STATEMENTS: u64 = 1000;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut command = process::cargo(
        ground.workspace,
        &["run", "--quiet", "--locked", "--release", "--package", "judge", "--"],
    );
    command.args(["--trials", &TRIALS.to_string(), "--statements", &STATEMENTS.to_string()]);
    let said = report(command)?;
    let asked = TRIALS * STATEMENTS;
    Ok(vec![
        figure("random statements", &said, "statements", |n| n >= asked, &asked.to_string()),
        figure("runs, each way to compute counted", &said, "runs", |n| n > asked, "more"),
        figure("answers with rows", &said, "with rows", |n| n > asked / 4, "over a quarter"),
        figure("partitions", &said, "partitions", |n| n > asked / 10, "over a tenth"),
        figure("refused by name", &said, "refused", |n| n == 0, "0"),
        figure("answers that disagree, internal errors", &said, "findings", |n| n == 0, "0"),
    ])
}
