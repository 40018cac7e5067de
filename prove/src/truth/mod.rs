//! truth.1 to truth.4, what outsiders found: each numbered line of the issue with its example and
//! its siblings.
//!
//! A line is proven by scripts, by a program, or by both. The scripts of a line are pairs
//! `NAME.sql` and `NAME.out` in `tests/proofs/truth/SECTION.LINE`; each runs embedded in a folder
//! of its own and must say exactly what its `.out` says. A program stands in [`PROGRAMS`]. A line
//! that nothing proves fails.

mod before_login;
mod compiling;
mod damaged_log;
mod folder;
mod formats;
mod log_writes;
mod memory;
mod probe;
mod scripts;
mod several;
mod steady_costs;
mod stops;
mod streams;

use crate::ground::figure::{Figure, Measure, failed};
use crate::ground::program::Ground;
use checks::Outcome;

/// One numbered line of the issue.
struct Line {
    section: u32,
    number: u32,
    what: &'static str,
}

const fn line(section: u32, number: u32, what: &'static str) -> Line {
    Line { section, number, what }
}

/// Every line that sections 1 to 4 have.
const LINES: &[Line] = &[
    line(1, 1, "one process a data folder"),
    line(1, 2, "a torn log and a damaged one"),
    line(1, 3, "no write of the log that a file system may drop"),
    line(1, 4, "nothing is overwritten, the list of databases is whole"),
    line(1, 5, "a damaged database stays in sight"),
    line(1, 6, "names in modules"),
    line(1, 7, "keys and indexes beside columns"),
    line(1, 8, "transactions that end within modules"),
    line(1, 9, "a stop within a rollback"),
    line(1, 10, "the text of modules"),
    line(1, 11, "options of databases have their effect"),
    line(1, 12, "values"),
    line(1, 13, "folders that earlier builds made"),
    line(1, 14, "transactions over several databases"),
    line(2, 1, "a DONE for every statement"),
    line(2, 2, "implicit transactions"),
    line(2, 3, "procedures that drivers call"),
    line(2, 4, "rows through cursors"),
    line(3, 1, "values in accounts"),
    line(3, 2, "compiling ends"),
    line(3, 3, "wide statements"),
    line(3, 4, "costs that grow with what is there"),
    line(3, 5, "a probe beside heavy sessions"),
    line(3, 6, "before login"),
    line(4, 1, "what an error ends"),
    line(4, 2, "checks when modules are made"),
    line(4, 3, "syntax"),
    line(4, 4, "sharp edges of queries"),
    line(4, 5, "collations"),
    line(4, 6, "languages"),
];

/// What scripts cannot show, by section and line.
const PROGRAMS: &[(u32, u32, Measure)] = &[
    (1, 1, folder::run),
    (1, 2, damaged_log::run),
    (1, 3, log_writes::run),
    (1, 4, folder::lists),
    (1, 5, folder::damages),
    (1, 9, stops::run),
    (1, 13, formats::run),
    (1, 14, several::run),
    (2, 1, streams::run),
    (2, 3, before_login::multiplexing),
    (3, 1, memory::run),
    (3, 2, compiling::run),
    (3, 3, steady_costs::lists),
    (3, 4, steady_costs::run),
    (3, 5, probe::run),
    (3, 6, before_login::run),
];

pub(crate) fn first(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    section(ground, 1)
}

pub(crate) fn second(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    section(ground, 2)
}

pub(crate) fn third(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    section(ground, 3)
}

pub(crate) fn fourth(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    section(ground, 4)
}

fn section(ground: &Ground<'_>, section: u32) -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    for line in LINES.iter().filter(|line| line.section == section) {
        let found = of_line(ground, line);
        let name = format!("{}.{} {}", line.section, line.number, line.what);
        if found.is_empty() {
            figures.push(failed(&name, "nothing proves it".to_owned()));
        }
        let named =
            found.into_iter().map(|figure| Figure { what: joined(&name, &figure.what), ..figure });
        figures.extend(named);
    }
    Ok(figures)
}

fn joined(line: &str, what: &str) -> String {
    format!("{line}: {what}")
}

/// What the scripts and the programs of a line found.
fn of_line(ground: &Ground<'_>, line: &Line) -> Vec<Figure> {
    let key = (line.section, line.number);
    let programs = PROGRAMS.iter().filter(|(section, number, _)| (*section, *number) == key);
    let runs = programs.map(|(_, _, run)| run(ground));
    let scripts = scripts::run(ground, line.section, line.number);
    let told = |found: Outcome<Vec<Figure>>| found.unwrap_or_else(|why| vec![failed("", why)]);
    std::iter::once(scripts).chain(runs).flat_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::{LINES, PROGRAMS};

    /// A program proves a line that there is; a line stands once.
    #[test]
    fn programs_have_lines() {
        for (section, number, _) in PROGRAMS {
            let of = |line: &&super::Line| (line.section, line.number) == (*section, *number);
            assert_eq!(LINES.iter().filter(of).count(), 1, "{section}.{number}");
        }
    }
}
