//! query.7, the rules that surprise: golden scripts whose every case follows a documented rule.
//!
//! A case is one request of a script in `tests/golden/rules`; a script names the source of its
//! rules in a comment above them, and a case without such a comment is not counted.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::{Outcome, process};
use std::fs;

const CASES: usize = 400;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let folder = ground.workspace.root.join("tests/golden/rules");
    let entries = fs::read_dir(&folder).map_err(|e| format!("read {}: {e}", folder.display()))?;
    let (mut sourced, mut bare) = (0, 0);
    for entry in entries {
        let path = entry.map_err(|e| format!("read {}: {e}", folder.display()))?.path();
        let script =
            fs::read_to_string(&path).map_err(|e| format!("read {}: {e}", path.display()))?;
        let (with, without) = cases(&script);
        sourced += with;
        bare += without;
    }
    let arguments = ["test", "--package", "instance", "--test", "golden", "--locked"];
    let mut command = process::cargo(ground.workspace, &arguments);
    command.env("GHOSTLIGHT_GOLDEN", "rules/");
    let hold = process::succeeds(command)?;
    Ok(vec![
        figure("cases with their source", sourced, format!("at least {CASES}"), sourced >= CASES),
        figure("cases without", bare, "0".to_owned(), bare == 0),
        figure("scripts hold", hold, "true".to_owned(), hold),
    ])
}

/// Requests below a source, and requests below none.
fn cases(script: &str) -> (usize, usize) {
    let (mut with, mut without, mut sourced) = (0, 0, false);
    for line in script.lines() {
        if line.starts_with("# Source: ") {
            sourced = true;
        } else if line.starts_with("# ") {
            sourced = false;
        } else if line.starts_with("a> ") && sourced {
            with += 1;
        } else if line.starts_with("a> ") {
            without += 1;
        }
    }
    (with, without)
}

fn figure(what: &str, figure: impl ToString, limit: String, pass: bool) -> Figure {
    Figure { what: what.to_owned(), figure: figure.to_string(), limit, pass }
}
