//! query.2, rows met once and found quickly: changes of what a plan reads, and point lookups.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, finish};
use checks::Outcome;
use std::time::Duration;

const AT_MOST: Duration = Duration::from_secs(60);
const SCRIPT: &str = "query/1_halloween.sql";

/// A line of the script, and the numbers behind its name; reckoned by hand.
const LINES: [(&str, &str, [i64; 4]); 4] = [
    (
        "moved once",
        "UPDATE of a clustered key to where the scan comes next",
        [1000, 1000, 1000, 2000],
    ),
    ("index once", "UPDATE of an index's key", [1000, 1000, 11_000, 0]),
    ("doubled once", "INSERT of a table into itself", [2000, 2000, 4000, 0]),
    ("deleted once", "DELETE by what the table holds", [2000, 2000, 0, 0]),
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("query.2")?;
    let command = ground.sql(&work.join("data"), &[SCRIPT])?;
    let finished = finish(command, &work.join("sql.log"), AT_MOST)?;
    if !finished.succeeded {
        return Err(finished.output);
    }
    let judge = |(name, what, numbers): &(&str, &str, [i64; 4])| {
        let rows = finished.rows(name);
        Figure {
            what: format!("each row once: {what}"),
            figure: format!("{rows:?}"),
            limit: format!("{numbers:?}"),
            pass: rows == [numbers.to_vec()],
        }
    };
    let mut figures: Vec<Figure> = LINES.iter().map(judge).collect();
    figures.extend(bench::figures(ground, &["lookups"])?);
    Ok(figures)
}
