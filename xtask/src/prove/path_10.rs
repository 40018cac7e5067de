//! path.10, the house: floors hold, rules of style hold, nothing is too long, invariants are
//! asserted, hard parts are told. Sizes are measured as they are, whatever ratchet.toml allows.

use super::Figure;
use super::program::Ground;
use crate::layers::{self, Layers};
use crate::survey::Survey;
use crate::tidy::{self, FILE_LINES_MAX, FUNCTION_LINES_MAX};
use crate::workspace::{Outcome, Violation};

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let workspace = ground.workspace;
    let survey = Survey::take(workspace)?;
    let layers = Layers::read(workspace)?;
    let tables = tidy::tables(workspace)?;
    let functions = survey.sources.iter().flat_map(|source| {
        source.functions.iter().map(|f| (f.lines, format!("{}::{}", source.path, f.name)))
    });
    let counted = survey.sources.iter().filter(|s| !s.is_test && !tables.contains(&s.path));
    let files = counted.map(|source| (source.line_count(), source.path.clone()));
    let whole = tidy::total(&tidy::asserts(&layers, &survey));
    Ok(vec![
        none("violations of layers", &layers::violations(workspace)?),
        none("violations of tidy", &tidy::check(workspace, &survey)?),
        longest("longest function", functions.max(), FUNCTION_LINES_MAX),
        longest("longest file", files.max(), FILE_LINES_MAX),
        Figure {
            what: "assertions per function, floors 2-4".to_owned(),
            figure: format!("{:.2} ({} in {})", whole.average(), whole.asserts, whole.functions),
            limit: "at least 1".to_owned(),
            pass: whole.average() >= 1.0,
        },
        none("crates without the README they need", &tidy::missing_readmes(workspace, &layers)?),
    ])
}

fn none(what: &str, violations: &[Violation]) -> Figure {
    let first = violations.first().map(|first| format!(", e.g. {first}")).unwrap_or_default();
    Figure {
        what: what.to_owned(),
        figure: format!("{}{first}", violations.len()),
        limit: "0".to_owned(),
        pass: violations.is_empty(),
    }
}

fn longest(what: &str, found: Option<(usize, String)>, limit: usize) -> Figure {
    let (lines, name) = found.unwrap_or_default();
    Figure {
        what: what.to_owned(),
        figure: format!("{lines} lines, {name}"),
        limit: format!("{limit} lines"),
        pass: (1..=limit).contains(&lines),
    }
}
