//! path.10, the house: floors hold, rules of style hold, nothing is too long, invariants are
//! asserted, hard parts are told. Sizes are measured as they are, whatever ratchet.toml allows.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::{LongestItem, Outcome, StandingReport, Violation};

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let found = StandingReport::measure(ground.workspace)?;
    let whole = found.asserts;
    Ok(vec![
        none("violations of layers", &found.layers),
        none("violations of tidy", &found.tidy),
        longest("longest function", &found.function),
        longest("longest file", &found.file),
        Figure {
            what: "assertions per function, floors 2-4".to_owned(),
            figure: format!("{:.2} ({} in {})", whole.average(), whole.asserts, whole.functions),
            limit: "at least 1".to_owned(),
            pass: whole.average() >= 1.0,
        },
        none("crates without the README they need", &found.readmes),
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

fn longest(what: &str, LongestItem { lines, name, lines_max }: &LongestItem) -> Figure {
    Figure {
        what: what.to_owned(),
        figure: format!("{lines} lines, {name}"),
        limit: format!("{lines_max} lines"),
        pass: (1..=*lines_max).contains(lines),
    }
}
