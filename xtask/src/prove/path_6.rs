//! path.6, isolation by anomalies: the golden scripts of several sessions in tests/golden.

use super::Figure;
use super::program::Ground;
use crate::process;
use crate::workspace::Outcome;
use std::process::Stdio;

const FOLDER: &str = "tests/golden/isolation";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let limit = "all, at least one";
    let what = "golden scripts of several sessions";
    if !ground.workspace.holds(FOLDER) {
        return Ok(vec![Figure::unmeasured(&format!("{what}: no {FOLDER}"), limit)]);
    }
    let scripts = std::fs::read_dir(ground.workspace.root.join(FOLDER))
        .map_err(|e| format!("list {FOLDER}: {e}"))?
        .count();
    let arguments = ["test", "--release", "--locked", "--package", "instance", "--test", "golden"];
    let mut command = process::cargo(ground.workspace, &arguments);
    let finished =
        command.stderr(Stdio::piped()).output().map_err(|e| format!("start cargo: {e}"))?;
    let output = String::from_utf8_lossy(&finished.stdout);
    let tests = output.lines().filter(|line| line.ends_with("... ok")).count();
    let failed = output.lines().filter(|line| line.ends_with("... FAILED")).count();
    let pass = finished.status.success() && scripts > 0 && tests > 0;
    let verdict = if pass { "passed" } else { "not passed" };
    Ok(vec![Figure {
        what: what.to_owned(),
        figure: format!("{scripts} scripts {verdict}; tests: {tests} passed, {failed} failed"),
        limit: limit.to_owned(),
        pass,
    }])
}
