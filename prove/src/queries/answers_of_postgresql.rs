//! query.5, a second judge: queries that mean the same to PostgreSQL have its rows.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::queries::judge::{figure, report};
use checks::{Outcome, process};

const TRIALS: u64 = 10;
const STATEMENTS: u64 = 500;
const COMPARED: u64 = 2000;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let build = ["build", "--quiet", "--locked", "--release", "--package", "judge"];
    if !process::succeeds(process::cargo(ground.workspace, &build))? {
        return Err("the judge does not build".to_owned());
    }
    let folder = ground.folder("query.5")?;
    let judge = ground.workspace.target().join("release/judge");
    let mut command = process::cargo(
        ground.workspace,
        &["run", "--quiet", "--locked", "--release", "--package", "bench", "--"],
    );
    command.arg("--folder").arg(folder).arg("beside").arg(judge).arg("--second");
    command.args(["--trials", &TRIALS.to_string(), "--statements", &STATEMENTS.to_string()]);
    let said = report(command)?;
    Ok(vec![
        figure("queries that both answered", &said, "answered", |n| n >= COMPARED, "2000"),
        figure("answers with rows", &said, "with rows", |n| n > COMPARED / 4, "over a quarter"),
        figure("answers that differ", &said, "findings", |n| n == 0, "0"),
    ])
}
