//! Target `tsql`: any text through the batch splitter, the lexer and the parser.
//!
//! An input is a text, or, after a byte 1, a text that is built deep: prefix, opening, middle,
//! closing and end, separated by zeros, the opening and closing repeated up to 100,000 times.
//!
//! Promises
//!  1. Any text ends in a tree or in errors; a deep one in error 191, or it was only long.
//!  2. A statement's place lies in its batch, on character boundaries, behind the one before.
//!  3. The same text gives the same tree, and dropping it or copying it overflows no stack.
//!  4. A statement's own text can be parsed alone, whatever comes of it.

use std::path::{Path, PathBuf};
use tsql::{ParseOptions, batches, parse};

/// The longest text that a deep input may become.
const DEEP_BYTES_MAX: usize = 5 << 20;
/// What opens and closes a level people write; longer inventions go less deep.
const TURN_BYTES_MAX: usize = 48;
const DEPTHS: [usize; 8] = [2, 30, 120, 300, 1_000, 3_000, 10_000, 100_000];
/// Longer texts are parsed, but not again from their parts.
const LONG_BYTES: usize = 20_000;
const MARK: u8 = 1;

/// Reads an input and parses it every way there is.
pub(crate) fn run(data: &[u8]) {
    match data.split_first() {
        Some((&MARK, rest)) => survives(&deep(rest)),
        _ => survives(&String::from_utf8_lossy(data)),
    }
}

fn deep(data: &[u8]) -> String {
    let Some((&depth, rest)) = data.split_first() else { return String::new() };
    let text = String::from_utf8_lossy(rest);
    let mut parts = text.split('\0');
    let mut part = || parts.next().unwrap_or_default();
    let (before, open, middle, close, after) = (part(), part(), part(), part(), part());
    let turn = (open.len() + close.len()).max(1);
    let most = if turn <= TURN_BYTES_MAX { DEEP_BYTES_MAX } else { DEEP_BYTES_MAX / 16 } / turn;
    let n = DEPTHS[usize::from(depth) % DEPTHS.len()].min(most);
    [before, &open.repeat(n), middle, &close.repeat(n), after].concat()
}

fn survives(text: &str) {
    for quoted_identifier in [true, false] {
        let options = ParseOptions { quoted_identifier };
        parses(text, options);
        if text.len() > LONG_BYTES {
            return;
        }
        let _ = tsql::parse_expression(text, options);
        let _ = tsql::parse_condition(text, options);
        let _ = tsql::parse_parameters(text, options);
    }
    let _ = tsql::parse_type(text);
    let _ = tsql::parse_object_name(text);
    for batch in batches::split(text) {
        parses(batch.text, ParseOptions::default());
    }
}

fn parses(text: &str, options: ParseOptions) {
    let parsed = parse(text, options);
    let mut end = 0;
    for statement in &parsed.batch.statements {
        let span = statement.span;
        assert!(span.start >= end, "statements stand one behind the other");
        assert!(span.start < span.end && span.end as usize <= text.len(), "{span:?}");
        assert!(span.line >= 1, "lines are counted from 1");
        let own = text.get(span.start as usize..span.end as usize);
        let own = own.expect("a statement begins and ends between characters");
        if parsed.errors.is_empty() && text.len() <= LONG_BYTES {
            // It may need what stands around it (labels, settings), but never panics.
            let _ = parse(own, options);
        }
        end = span.end;
    }
    for error in &parsed.errors {
        assert!(error.number() > 0 && !error.text().is_empty(), "an error says what is wrong");
    }
    if text.len() <= LONG_BYTES {
        let again = parse(text, options);
        assert!(again.batch == parsed.batch, "the same text, the same tree");
        drop(again.batch.clone());
    }
}

/// What nests: before, opening, middle, closing.
const NESTS: &[(&str, &str, &str, &str)] = &[
    ("SELECT ", "(", "1", ")"),
    ("SELECT ", "-", "1", ""),
    ("SELECT ", "- -", "1", ""),
    ("SELECT ", "~", "1", ""),
    ("SELECT ", "CASE WHEN 1=1 THEN ", "1", " END"),
    ("SELECT ", "CASE ", "1", " WHEN 1 THEN 2 END"),
    ("SELECT ", "f(", "1", ")"),
    ("SELECT ", "CAST(", "1", " AS int)"),
    ("SELECT ", "(SELECT ", "1", ")"),
    ("SELECT 1", "+1", "", ""),
    ("SELECT 1", "+(1", "", ")"),
    ("SELECT 1 WHERE ", "(", "1 = 1", ")"),
    ("SELECT 1 WHERE ", "NOT ", "1 = 1", ""),
    ("SELECT 1 WHERE 1=1", " AND 1=1", "", ""),
    ("SELECT 1 WHERE 1=1", " OR 1=1", "", ""),
    ("SELECT 1 WHERE 1=1", " OR NOT (1=1", "", ")"),
    ("SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "1 = 1", ")"),
    ("SELECT 1 WHERE ", "1 IN (SELECT 1 WHERE ", "1 = 1", ")"),
    ("SELECT 1 FROM ", "(", "a JOIN b ON 1 = 1", ")"),
    ("SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x"),
    ("SELECT 1 FROM ", "a JOIN ", "b", " ON 1 = 1"),
    ("SELECT 1 FROM a", " CROSS JOIN b", "", ""),
    ("SELECT 1", " UNION SELECT 1", "", ""),
    ("SELECT 1", " UNION ALL (SELECT 1", "", ")"),
    ("SELECT 1", " EXCEPT SELECT 1 INTERSECT SELECT 2", "", ""),
    ("", "BEGIN ", "SELECT 1", " END"),
    ("", "IF 1 = 1 ", "SELECT 1", ""),
    ("", "IF 1 = 1 SELECT 1 ELSE ", "SELECT 1", ""),
    ("", "WHILE 1 = 1 ", "SELECT 1", ""),
    ("", "BEGIN TRY ", "SELECT 1", " END TRY BEGIN CATCH END CATCH"),
    ("", "SELECT 1;", "", ""),
    ("CREATE PROCEDURE p AS ", "BEGIN ", "SELECT 1", " END"),
    ("SELECT a", ".b", "", ""),
    ("SELECT 1 AT TIME ZONE ", "'x' AT TIME ZONE ", "'y'", ""),
    ("SELECT 'x'", " COLLATE a", "", ""),
    ("SELECT a.b(1)", ".c(2)", "", ""),
    ("/*", "/*", "x", "*/"),
    ("SELECT 1 FROM t ", "PIVOT (SUM(a) FOR b IN (c)) d ", "", ""),
    ("SELECT ", "'", "", "'"),
    ("SELECT ", "[", "", "]"),
];

fn deep_seed(depth: u8, nest: &(&str, &str, &str, &str)) -> Vec<u8> {
    let (before, open, middle, close) = *nest;
    let text = [before, open, middle, close].join("\0");
    [&[MARK, depth][..], text.as_bytes()].concat()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                files(&path, found);
            }
        } else if [".sql", ".golden"].iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

/// The statements of the repository's own scripts, its golden scripts and its parser's tests.
pub(crate) fn statements() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["demos", "tests/golden", "tests/proofs", "crates/tsql/tests"] {
        files(&root().join(folder), &mut found);
    }
    found.sort();
    let mut texts = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if path.extension().is_some_and(|end| end == "golden") {
            let commands = text.lines().filter_map(|line| line.split_once("> "));
            texts.extend(commands.map(|(_, text)| text.to_owned()));
        } else {
            texts.extend(batches::split(&text).iter().map(|batch| batch.text.to_owned()));
        }
    }
    for name in ["statements", "shapes", "errors", "attacks"] {
        let path = root().join(format!("crates/tsql/tests/{name}.rs"));
        texts.extend(literals(&std::fs::read_to_string(path).unwrap_or_default()));
    }
    texts.retain(|text| !text.trim().is_empty());
    texts
}

/// The string literals of a Rust source, roughly: what stands between quotes.
fn literals(source: &str) -> Vec<String> {
    let (mut texts, mut current) = (Vec::new(), None::<String>);
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        match (&mut current, c) {
            (Some(text), '\\') => match chars.next() {
                Some('n') => text.push('\n'),
                Some('\n') => {
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                }
                Some(other) => text.push(other),
                None => {}
            },
            (Some(_), '"') => texts.extend(current.take()),
            (Some(text), c) => text.push(c),
            (None, '"') => current = Some(String::new()),
            (None, _) => {}
        }
    }
    texts
}

/// Valid texts: everything the repository says in T-SQL, and every nest at several depths.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = statements().into_iter().map(String::into_bytes).collect();
    for (n, nest) in NESTS.iter().enumerate() {
        seeds.push(deep_seed(n as u8 % 4, nest));
        seeds.push(deep_seed(7, nest));
    }
    seeds
}

/// Words that a fuzzer may put in: every one that the corpus has, in its first spelling.
pub fn words() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for text in statements() {
        let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_@#$".contains(c)));
        words.extend(parts.filter(|w| w.len() > 1).map(str::to_ascii_uppercase));
    }
    words.sort();
    words.dedup();
    // Numbers and one-off names teach nothing; keep it to what a grammar has.
    words.retain(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.len() < 24);
    words
}
