//! `messages`: the message table names each number once, in order, with places that can be filled.

use crate::lex::{LexedSource, words};
use crate::survey::line_at;
use crate::workspace::{Outcome, Violation, Workspace, report};
use std::collections::BTreeSet;

pub(crate) const TABLE: &str = "crates/base/src/messages.rs";

/// Checks the table and prints; true where nothing is violated.
///
/// # Errors
/// The table cannot be read.
pub fn run(workspace: &Workspace) -> Outcome<bool> {
    let text = workspace.read(TABLE)?;
    let passed = format!("{} messages, each number once", rows(&text).len());
    Ok(report(check(&text), &passed))
}

struct Row<'a> {
    line: usize,
    name: &'a str,
    number: u32,
    severity: u32,
    text: &'a str,
}

/// The rows `NAME = number, severity, "text";`. Anything else in the file is not a row.
fn rows(source: &str) -> Vec<Row<'_>> {
    let lexed = LexedSource::new(source);
    let code = lexed.code.as_str();
    let mut rows = Vec::new();
    let all: Vec<(usize, &str)> = words(code).collect();
    for window in all.windows(3) {
        let [(at, name), (_, number), (severity_at, severity)] = window else { continue };
        let (Ok(number), Ok(severity_number)) = (number.parse(), severity.parse()) else {
            continue;
        };
        let end = severity_at + severity.len();
        let Some(open) = code[end..].find('"').map(|offset| end + offset + 1) else { continue };
        let Some(close) = code[open..].find('"').map(|offset| open + offset) else { continue };
        rows.push(Row {
            line: line_at(code, *at),
            name: &source[*at..at + name.len()],
            number,
            severity: severity_number,
            text: &source[open..close],
        });
    }
    rows
}

/// Every violation of the table whose source is given.
pub(crate) fn check(source: &str) -> Vec<Violation> {
    let rows = rows(source);
    let mut violations = Vec::new();
    let mut complain = |line, text| {
        violations.push(Violation::new(TABLE, line, "messages", text));
    };
    if rows.is_empty() {
        complain(1, "no row of the form NAME = number, severity, \"text\";".to_owned());
    }
    let mut names = BTreeSet::new();
    let mut before = 0;
    for Row { line, name, number, severity, text } in rows {
        if !names.insert(name) {
            complain(line, format!("{name} stands here twice"));
        }
        if number == before {
            complain(line, format!("{number} stands here twice"));
        } else if number < before {
            complain(line, format!("{number} stands after {before}: sort by number"));
        }
        before = before.max(number);
        if severity > 25 {
            complain(line, format!("{number} has severity {severity}; the largest is 25"));
        }
        if leaves_a_place_out(text) {
            complain(line, format!("{number}'s places do not count up from {{0}}"));
        }
    }
    violations
}

/// A place may be used twice; those used must count up from `{0}`.
fn leaves_a_place_out(text: &str) -> bool {
    let is_used = |place: &usize| text.contains(&format!("{{{place}}}"));
    let used = (0..10).filter(is_used).count();
    !(0..used).all(|place| is_used(&place))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each way a table can be wrong is told; a right one is not.
    #[test]
    fn tables() {
        let cases = [
            ("A = 1, 15, \"x {0} {1}\";\nB = 2, 16, \"{0} and {0}\";", 0),
            ("A = 1, 15, \"x\";\nB = 1, 16, \"y\";", 1),
            ("A = 2, 15, \"x\";\nB = 1, 16, \"y\";", 1),
            ("A = 1, 15, \"x\";\nA = 2, 16, \"y\";", 1),
            ("A = 1, 26, \"x\";", 1),
            ("A = 1, 16, \"{1} only\";", 1),
            ("fn nothing() {}", 1),
        ];
        for (source, count) in cases {
            let found = check(source);
            assert_eq!(found.len(), count, "{source}: {found:?}");
        }
    }
}
