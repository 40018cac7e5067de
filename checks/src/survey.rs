//! What the source consists of: files, functions with their lengths and assertions, documents.
//!
//! A function's length is its lines of code from `fn` to the closing brace, without blank and
//! comment lines. Only assertions inside functions count: one checked at compile time cannot
//! fail at run time. Code under `#[cfg(test)]`, in `tests.rs` and in `tests/` is test code.

use crate::lex::{LexedSource, words};
use crate::workspace::{Outcome, Workspace};
use std::ops::Range;

const ASSERTIONS: [&str; 6] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];

/// All that tidy and the proofs look at, read once.
pub(crate) struct Survey {
    pub(crate) sources: Vec<Source>,
    pub(crate) documents: Vec<Document>,
}

/// One Rust file.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) lexed: LexedSource,
    pub(crate) is_test: bool,
    pub(crate) functions: Vec<Function>,
}

/// One function that has a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
    pub(crate) asserts: usize,
    pub(crate) is_test: bool,
}

/// One markdown file.
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Survey {
    pub(crate) fn take(workspace: &Workspace) -> Outcome<Survey> {
        let mut sources = Vec::new();
        for path in workspace.files(".rs")? {
            let text = workspace.read(&path)?;
            sources.push(Source::new(path, text));
        }
        let mut documents = Vec::new();
        for path in workspace.files(".md")? {
            let text = workspace.read(&path)?;
            documents.push(Document { path, text });
        }
        Ok(Survey { sources, documents })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.sources.iter().any(|source| source.path == path)
    }
}

impl Source {
    pub(crate) fn new(path: String, text: String) -> Source {
        let lexed = LexedSource::new(&text);
        let is_test = is_test_path(&path);
        let tests = if is_test { Vec::new() } else { test_ranges(&lexed.code) };
        let mut functions = functions(&lexed.code, &tests);
        for function in &mut functions {
            function.is_test |= is_test;
        }
        Source { path, text, lexed, is_test, functions }
    }

    pub(crate) fn line_count(&self) -> usize {
        self.text.lines().count()
    }
}

fn is_test_path(path: &str) -> bool {
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    stem == "tests" || stem.ends_with("_tests") || path.split('/').any(|part| part == "tests")
}

/// The line, counted from 1, that a place of `code` is on.
pub(crate) fn line_at(code: &str, at: usize) -> usize {
    code.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where the items under a `#[cfg(test)]` lie; of one without braces, its attribute alone.
pub(crate) fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices("#[cfg(") {
        let Some(length) = code[start..].find(']') else { continue };
        let attribute = &code[start..start + length];
        let names_test = words(attribute).any(|(_, word)| word == "test");
        let inside = ranges.iter().any(|range| range.contains(&start));
        if !names_test || attribute.contains("not(") || inside {
            continue;
        }
        let end = body(code, start + length).map_or(start + length, |range| range.end);
        ranges.push(start..end);
    }
    ranges
}

/// The braces, both included, of the item that goes on at `from`; none where `;` ends it first.
pub(crate) fn body(code: &str, from: usize) -> Option<Range<usize>> {
    let mut nesting = 0_i32;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => nesting += 1,
            b')' | b']' => nesting -= 1,
            b';' if nesting <= 0 => return None,
            b'{' if nesting <= 0 => return Some(at..closing_brace(code, at)),
            _ => {}
        }
    }
    None
}

/// The place after the brace that closes the one at `open`; the end where none does.
fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// Every function with a body. `fn` in a type such as `fn(u8)` has no name, so is none.
fn functions(code: &str, tests: &[Range<usize>]) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in words(code).filter(|(_, word)| *word == "fn") {
        let after = code[at + 2..].trim_start();
        let name: String =
            after.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
        if name.is_empty() {
            continue;
        }
        let Some(body) = body(code, at + 2) else { continue };
        let text = &code[at..body.end];
        found.push(Function {
            name,
            line: line_at(code, at),
            lines: text.lines().filter(|line| !line.trim().is_empty()).count(),
            asserts: asserts(&code[body.clone()]),
            is_test: tests.iter().any(|range| range.contains(&at)),
        });
    }
    found
}

fn asserts(code: &str) -> usize {
    words(code)
        .filter(|(at, word)| ASSERTIONS.contains(word) && code[at + word.len()..].starts_with('!'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str) -> Vec<(String, usize, usize, usize, bool)> {
        let source = Source::new("crates/x/src/lib.rs".to_owned(), text.to_owned());
        let found = source.functions.into_iter();
        found.map(|f| (f.name, f.line, f.lines, f.asserts, f.is_test)).collect()
    }

    /// Lengths count code lines from `fn` to the brace, whatever text and comments hold.
    #[test]
    fn function_lengths() {
        let cases = [
            ("fn a() {}", 1),
            ("fn a()\n{\n}\n", 3),
            ("fn a() {\n\n    // note\n    b();\n}\n", 3),
            ("fn a(x: [u8; 4]) -> [u8; { 4 }]\nwhere\n    u8: Copy,\n{\n    x\n}", 6),
            ("fn a() {\n    let b = \"}\";\n    let c = '}';\n    d()\n}", 5),
            ("fn a() {\n    if b { c() } else { d() }\n}\nfn_like();", 3),
            ("fn a() {\n    /* } */\n    b(r#\"}\"#)\n}", 3),
            ("fn a<F: Fn(fn(u8))>(f: F) {\n    f(|x| { x; })\n}", 3),
        ];
        for (text, lines) in cases {
            let found = survey(text);
            assert_eq!(found.len(), 1, "functions in: {text}");
            assert_eq!(found[0].2, lines, "length of: {text}");
        }
    }

    /// A declaration without a body, a function type and the word in a string are no functions.
    #[test]
    fn what_is_no_function() {
        for text in
            ["trait T { fn a(&self) -> [u8; 2]; }", "type F = fn(u8) -> u8;", "\"fn a(){}\""]
        {
            assert_eq!(survey(text), [], "in: {text}");
        }
    }

    /// Code under cfg(test) is told from the rest; its assertions are not the engine's.
    #[test]
    fn test_code_and_assertions() {
        let text = "const _: () = assert!(1 < 2);\n\
            fn a() { assert!(x); debug_assert_eq!(x, y); assert_valid(x); }\n\
            #[cfg(test)]\nmod tests {\n    fn b() { assert!(x) }\n}\n\
            #[cfg(not(test))]\nfn c() {}\n#[cfg(test)]\nmod other;\nfn d() {}\n";
        let found = survey(text);
        let expected = [
            ("a", 2, 1, 2, false),
            ("b", 5, 1, 1, true),
            ("c", 8, 1, 0, false),
            ("d", 11, 1, 0, false),
        ];
        let found: Vec<_> = found.iter().map(|f| (f.0.as_str(), f.1, f.2, f.3, f.4)).collect();
        assert_eq!(found, expected);
    }

    /// A body that never closes ends with the file, and nothing panics.
    #[test]
    fn unbalanced_source() {
        assert_eq!(survey("fn a() {\n    {\n").len(), 1);
        assert_eq!(survey("fn a(").len(), 0);
        assert_eq!(survey("fn").len(), 0);
    }
}
