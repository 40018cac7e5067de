//! The form of a golden script, and how it is run.
//!
//! - `# sentence` tells the promise; blank lines separate.
//! - `a> text` is a batch of session a (any letter), `a| text` its further lines.
//! - What follows is what that session gets: rows `v | v`, `(no rows)`, `(n rows affected)`, `Msg
//!   N, Level L, State S, Line n` and its text, messages plain; an output parameter `@name = v`.
//!   Addresses and LSNs that DBCC PAGE prints are `~`. A batch that neither ends nor fails within
//!   a moment says `(waits)`, and what it gets later stands behind `a< ` after the batch that let
//!   it go on. A session that was killed while it ran nothing is gone at once; its next batch gets
//!   `(connection closed)`, and the one behind that a new session.
//! - `! restart` stops the instance and opens it again; `! crash` opens a copy of the files as
//!   they are, as after kill -9. `! close a` drops the connection a; `! attention a` cancels what
//!   it waits in, whose end then stands behind `a< ` as well. `! fill tempdb` takes all room that
//!   tempdb has or may grow to; `! free tempdb` gives it back.

use crate::sessions::{Sessions, Wait};
use std::fmt::Write as _;

enum Step<'a> {
    /// A comment or an empty line, kept.
    Remark(&'a str),
    /// `! word …`, and what the script expects of those who wait.
    Order { line: &'a str, expected: Vec<&'a str> },
    /// A session's batch, its source lines, and what the script expects.
    Batch { session: char, lines: Vec<&'a str>, expected: Vec<&'a str> },
}

fn prefixed(line: &str, mark: char) -> Option<(char, &str)> {
    let mut chars = line.chars();
    let session = chars.next().filter(char::is_ascii_lowercase)?;
    let rest = chars.as_str().strip_prefix(mark)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| (session, rest.get(1..).unwrap_or("")))
}

fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for line in text.lines() {
        if let Some((session, _)) = prefixed(line, '>') {
            steps.push(Step::Batch { session, lines: vec![line], expected: Vec::new() });
            continue;
        }
        if line.starts_with("! ") {
            steps.push(Step::Order { line, expected: Vec::new() });
            continue;
        }
        if line.starts_with('#') || line.trim().is_empty() {
            steps.push(Step::Remark(line));
            continue;
        }
        match steps.iter_mut().rev().find(|s| !matches!(s, Step::Remark(r) if r.is_empty())) {
            Some(Step::Batch { session, lines, expected }) => match prefixed(line, '|') {
                Some((of, _)) if of == *session && expected.is_empty() => lines.push(line),
                _ => expected.push(line),
            },
            Some(Step::Order { expected, .. }) => expected.push(line),
            _ => panic!("output before any batch: {line}"),
        }
    }
    steps
}

/// Runs a script; the script with what the engine says now.
pub(crate) fn run(text: &str, bless: bool) -> String {
    let mut sessions = Sessions::open();
    let mut now = String::new();
    for step in steps(text) {
        match step {
            Step::Remark(line) => push(&mut now, line),
            Step::Order { line, expected } => {
                push(&mut now, line);
                let ends = order(&mut sessions, &line[2..]);
                late(&mut sessions, &expected, ends, bless, &mut now);
            }
            Step::Batch { session, lines, expected } => {
                lines.iter().for_each(|l| push(&mut now, l));
                let batch: Vec<&str> = lines.iter().map(|l| l.get(3..).unwrap_or("")).collect();
                let waits = expected.first().is_some_and(|l| l.trim() == "(waits)");
                let wait = match (bless, waits) {
                    (true, _) => Wait::Unknown,
                    (false, true) => Wait::Expected,
                    (false, false) => Wait::Unexpected,
                };
                now.push_str(&sessions.run(session, &batch.join("\n"), wait));
                late(&mut sessions, &expected, None, bless, &mut now);
            }
        }
    }
    let unfinished = sessions.close();
    now.push_str(&unfinished);
    now
}

/// What waiting sessions got because of the batch that just ran, or of an order that `ends` one.
fn late(
    sessions: &mut Sessions,
    expected: &[&str],
    ends: Option<char>,
    bless: bool,
    now: &mut String,
) {
    for session in sessions.waiting() {
        let due = expected.iter().any(|l| matches!(prefixed(l, '<'), Some((s, _)) if s == session));
        let wait = match (bless, due) {
            _ if ends == Some(session) => Wait::Unexpected,
            (true, _) => Wait::Unknown,
            (false, true) => Wait::Unexpected,
            (false, false) => Wait::Expected,
        };
        let Some(text) = sessions.finished(session, wait) else { continue };
        let text = if text.is_empty() { "(done)\n".to_owned() } else { text };
        for line in text.lines() {
            // Writing to a String cannot fail.
            let _ = writeln!(now, "{session}< {line}");
        }
    }
}

/// Does what an order says; the session whose batch it ends, if it waits for that.
fn order(sessions: &mut Sessions, order: &str) -> Option<char> {
    let words: Vec<&str> = order.split_whitespace().collect();
    let letter = |session: &str| session.chars().next().expect("a letter");
    match words[..] {
        ["restart"] => sessions.restart(),
        ["crash"] => sessions.crash(),
        ["fill", "tempdb"] => sessions.fill_tempdb(),
        ["free", "tempdb"] => sessions.free_tempdb(),
        ["close", session] => sessions.drop_one(letter(session)),
        ["attention", session] => sessions.attention(letter(session)),
        _ => panic!("unknown order: {order}"),
    }
    match words[..] {
        ["attention", session] => Some(letter(session)),
        _ => None,
    }
}

fn push(now: &mut String, line: &str) {
    now.push_str(line);
    now.push('\n');
}

fn solid(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect()
}

/// Whether two scripts say the same; empty lines and spaces at ends say nothing.
pub(crate) fn same(was: &str, now: &str) -> bool {
    solid(was) == solid(now)
}

/// The lines that are gone and new, each block with the line before it.
pub(crate) fn difference(was: &str, now: &str) -> String {
    let (was, now) = (solid(was), solid(now));
    let width = now.len() + 1;
    let mut common = vec![0u32; (was.len() + 1) * width];
    for i in (0..was.len()).rev() {
        for j in (0..now.len()).rev() {
            common[i * width + j] = if was[i] == now[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut out, mut quiet) = (0, 0, String::new(), true);
    let mut command = "";
    while i < was.len() || j < now.len() {
        if i < was.len() && j < now.len() && was[i] == now[j] {
            if prefixed(was[i], '>').is_some() {
                command = was[i];
            }
            quiet = true;
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if quiet {
            push(&mut out, &format!("  {command}"));
            quiet = false;
        }
        let drop = j == now.len()
            || i < was.len() && common[(i + 1) * width + j] >= common[i * width + j + 1];
        if drop {
            push(&mut out, &format!("- {}", was[i]));
            i += 1;
        } else {
            push(&mut out, &format!("+ {}", now[j]));
            j += 1;
        }
    }
    out
}
