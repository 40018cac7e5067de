//! Sizes: lines of a file and of a function, width of a line, unsafe blocks of a crate.

use crate::lex::words;
use crate::ratchet::{Measure, Ratchet, compare};
use crate::survey::{Source, Survey};
use crate::workspace::{Violation, crate_of};
use std::collections::BTreeMap;

pub(crate) const FILE_LINES_MAX: usize = 1000;
pub(crate) const FUNCTION_LINES_MAX: usize = 70;
const WIDTH_MAX: usize = 100;

pub(crate) fn check(survey: &Survey, ratchet: &Ratchet) -> Vec<Violation> {
    let is_table = |source: &&Source| ratchet.tables.contains(&source.path);
    let prose: Vec<&Source> = survey.sources.iter().filter(|s| !is_table(s)).collect();
    let files: Vec<Measure> = prose.iter().filter(|s| !s.is_test).map(|s| file(s)).collect();
    let functions: Vec<Measure> = survey.sources.iter().flat_map(function_lengths).collect();
    let widths: Vec<Measure> = prose.iter().filter_map(|s| wide_lines(s)).collect();
    let unsafes = unsafe_blocks(survey);

    let mut violations =
        compare("file-length", "lines", FILE_LINES_MAX, &ratchet.file_lines, &files);
    let lengths = &ratchet.function_lines;
    violations.extend(compare("fn-length", "lines", FUNCTION_LINES_MAX, lengths, &functions));
    violations.extend(compare("width", "lines over 100", 0, &ratchet.wide_lines, &widths));
    violations.extend(compare("unsafe", "unsafe blocks", 0, &ratchet.unsafe_blocks, &unsafes));
    for path in ratchet.tables.iter().filter(|path| !survey.has(path)) {
        let text = format!("{path} does not exist: remove its entry");
        violations.push(Violation::new("ratchet.toml", 1, "file-length", text));
    }
    violations
}

fn file(source: &Source) -> Measure {
    let path = source.path.clone();
    Measure { name: path.clone(), path, line: 1, figure: source.line_count() }
}

fn function_lengths(source: &Source) -> impl Iterator<Item = Measure> {
    source.functions.iter().map(|function| Measure {
        path: source.path.clone(),
        line: function.line,
        name: format!("{}::{}", source.path, function.name),
        figure: function.lines,
    })
}

/// Lines wider than the limit; the content of literals and lines that hold an address are free.
fn wide_lines(source: &Source) -> Option<Measure> {
    let lines = source.lexed.lines(&source.text);
    let wide: Vec<usize> = lines
        .filter(|line| line.width_without_text() > WIDTH_MAX && !line.text.contains("://"))
        .map(|line| line.number)
        .collect();
    let path = source.path.clone();
    wide.first().map(|line| Measure { name: path.clone(), path, line: *line, figure: wide.len() })
}

/// `unsafe { … }` and `unsafe impl`, per crate; the line shown is the last one found.
fn unsafe_blocks(survey: &Survey) -> Vec<Measure> {
    let mut per_crate: BTreeMap<&str, Measure> = BTreeMap::new();
    for source in &survey.sources {
        let code = source.lexed.code.as_str();
        for (at, _) in words(code).filter(|(_, word)| *word == "unsafe") {
            let after = code[at + "unsafe".len()..].trim_start();
            if !after.starts_with('{') && !after.starts_with("impl ") {
                continue;
            }
            let name = crate_of(&source.path);
            let measure = per_crate.entry(name).or_insert_with(|| Measure {
                path: String::new(),
                line: 0,
                name: name.to_owned(),
                figure: 0,
            });
            measure.path.clone_from(&source.path);
            measure.line = crate::survey::line_at(code, at);
            measure.figure += 1;
        }
    }
    per_crate.into_values().collect()
}
