//! house.1, the counts of the tree: what the issue found, and what is there now.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

/// What this count found at the commit before the issue, and what the issue asks for; `None` where
/// it asks for fewer. The operator's files were counted by hand.
const BEFORE: [(&str, usize, Option<usize>); 7] = [
    ("files beyond its owner that name RowHobt", 12, Some(0)),
    ("files beyond its owner that name IndexKind", 36, None),
    ("files that name the most named physical operator", 17, Some(6)),
    ("crates with a circle of more than 8 files", 15, Some(0)),
    ("files in the largest circle", 218, Some(8)),
    ("methods of Session", 280, None),
    ("methods of Binder", 445, None),
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let counts = checks::counts(ground.workspace)?;
    let figure = |(what, before, asked): &(&str, usize, Option<usize>)| {
        let now = counts.iter().find(|count| count.what == *what).map(|count| count.figure);
        Figure {
            what: (*what).to_owned(),
            figure: now.map_or("not counted".to_owned(), |now| format!("{now}; before {before}")),
            limit: asked.map_or(format!("fewer than {before}"), |asked| asked.to_string()),
            pass: now.is_some_and(|now| now <= asked.unwrap_or(before - 1)),
        }
    };
    Ok(BEFORE.iter().map(figure).collect())
}
