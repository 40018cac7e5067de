//! Files that a physical operator is named in: what somebody touches who adds one, or changes it.
//!
//! An operator describes itself in `plan`, so whoever asks for its inputs, slots or memory names no
//! variant. Those that name one make it, run it or treat it as a case of its own.
//!
//! Rules
//!  1. A file of a crate names an operator where its code has `Physical::Name`; tests do not count.
//!  2. At most [`FILES_ASKED`] files name one; ratchet.toml may grant an operator more.
//!  3. No import renames the enum or brings its variants into scope: their names would be hidden.

use crate::lex::words;
use crate::ratchet::{Allowances, Measure, compare};
use crate::survey::{Source, body, line_at, test_ranges};
use crate::workspace::Violation;
use std::collections::{BTreeMap, BTreeSet};

/// The file that lists the operators.
const LIST: &str = "crates/plan/src/physical/mod.rs";
const ENUM: &str = "Physical";
const RULE: &str = "operator";
/// No operator shall be named in more.
const FILES_ASKED: usize = 6;

/// The files that name each operator.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operators {
    files: BTreeMap<String, BTreeSet<String>>,
    /// Imports that hide names: path and line.
    hidden: Vec<(String, usize)>,
}

impl Operators {
    /// Of the crates.
    pub(crate) fn of(sources: &[Source]) -> Operators {
        let list = sources.iter().find(|source| source.path == LIST);
        let names = list.map(|source| variants(&source.lexed.code)).unwrap_or_default();
        let mut files: BTreeMap<String, BTreeSet<String>> =
            names.into_iter().map(|name| (name, BTreeSet::new())).collect();
        let mut hidden = Vec::new();
        for source in sources.iter().filter(|source| is_counted(source)) {
            let code = &source.lexed.code;
            let tests = test_ranges(code);
            for (at, found) in mentions(code) {
                if tests.iter().any(|range| range.contains(&at)) {
                    continue;
                }
                match found {
                    Mention::Variant(name) => {
                        if let Some(files) = files.get_mut(name) {
                            files.insert(source.path.clone());
                        }
                    }
                    Mention::Hidden => hidden.push((source.path.clone(), line_at(code, at))),
                }
            }
        }
        Operators { files, hidden }
    }

    /// The operator that most files name.
    fn largest(&self) -> Option<(&String, &BTreeSet<String>)> {
        self.files.iter().max_by_key(|(_, files)| files.len())
    }

    /// How many files name the operator that most of them name.
    pub(crate) fn most(&self) -> usize {
        self.largest().map_or(0, |(_, files)| files.len())
    }

    /// The files that name at least half of all operators.
    fn naming_most(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for file in self.files.values().flatten() {
            *counts.entry(file).or_default() += 1;
        }
        let half = self.files.len().div_ceil(2);
        counts.into_iter().filter(|(_, count)| *count >= half).map(|(file, _)| file).collect()
    }
}

fn is_counted(source: &Source) -> bool {
    let shipped = source.path.starts_with("crates/") && source.path.contains("/src/");
    shipped && !source.is_test
}

/// What stands behind the name of the enum.
#[derive(Debug, PartialEq, Eq)]
enum Mention<'c> {
    Variant(&'c str),
    /// `as`, `*`, or a list.
    Hidden,
}

/// Where code names a variant, or imports what would hide one.
fn mentions(code: &str) -> impl Iterator<Item = (usize, Mention<'_>)> {
    words(code).filter(|(_, word)| *word == ENUM).filter_map(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        if words(rest).next() == Some((0, "as")) {
            return Some((at, Mention::Hidden));
        }
        let path = rest.strip_prefix("::")?.trim_start();
        match words(path).next() {
            Some((0, name)) => Some((at, Mention::Variant(name))),
            _ if path.starts_with(['*', '{']) => Some((at, Mention::Hidden)),
            _ => None,
        }
    })
}

/// The variants of the enum.
fn variants(code: &str) -> Vec<String> {
    let head = format!("enum {ENUM} ");
    let Some(braces) = code.find(&head).and_then(|at| body(code, at + head.len())) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let mut depth = 0_i32;
    let mut begins = true;
    for (at, byte) in code.bytes().enumerate().take(braces.end - 1).skip(braces.start + 1) {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => begins = true,
            _ if begins && depth == 0 && byte.is_ascii_uppercase() => {
                names.extend(words(&code[at..]).next().map(|(_, name)| name.to_owned()));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// Prints the operator that most files name, and the files that name most operators.
pub(crate) fn print(found: &Operators) {
    let Some((name, files)) = found.largest() else { return };
    let (count, most) = (files.len(), found.naming_most());
    println!(
        "{} operators: {name} is named in {count} files, the most; {} files name half of them: {}",
        found.files.len(),
        most.len(),
        most.join(", ")
    );
}

/// Operators that too many files name, and names that are hidden.
pub(crate) fn check(found: &Operators, allowances: &Allowances) -> Vec<Violation> {
    let measures = found.files.iter().map(|(name, files)| Measure {
        path: LIST.to_owned(),
        line: 1,
        name: name.clone(),
        figure: files.len(),
    });
    let measures: Vec<Measure> = measures.collect();
    let mut violations = compare(RULE, "files that name it", FILES_ASKED, allowances, &measures);
    if found.files.is_empty() {
        let text = format!("no variants of {ENUM} are found here");
        violations.push(Violation::new(LIST, 1, RULE, text));
    }
    for (path, line) in &found.hidden {
        let text = format!("an import hides which operators the file names: write {ENUM}::Name");
        violations.push(Violation::new(path, *line, RULE, text));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operators(files: &[(&str, &str)]) -> Operators {
        let list =
            "/// All.\npub enum Physical { /// One.\n A(Box<A>), #[x] B { a: C, b: D }, C, }";
        let list = [(LIST, list)];
        let source =
            |(path, text): &(&str, &str)| Source::new((*path).to_owned(), (*text).to_owned());
        let sources: Vec<Source> = list.iter().chain(files).map(source).collect();
        Operators::of(&sources)
    }

    fn named(found: &Operators, name: &str) -> Vec<String> {
        found.files[name].iter().cloned().collect()
    }

    /// Code of crates counts; tests, text, comments and other names do not.
    #[test]
    fn files_are_counted_by_operator() {
        let found = operators(&[
            ("crates/a/src/x.rs", "fn f() { Physical::A(1); plan::Physical :: C }"),
            ("crates/a/src/y.rs", "// Physical::A\nfn f() { \"Physical::A\"; NotPhysical::A }"),
            ("crates/a/src/z.rs", "#[cfg(test)]\nmod tests { fn f() { Physical::A } }"),
            ("crates/a/tests/t.rs", "fn f() { Physical::A }"),
            ("bench/src/b.rs", "fn f() { Physical::A }"),
            ("crates/b/src/w.rs", "fn f() { match x { Physical::A(_) => {} _ => {} } }"),
        ]);
        assert_eq!(found.files.keys().collect::<Vec<_>>(), ["A", "B", "C"]);
        assert_eq!(named(&found, "A"), ["crates/a/src/x.rs", "crates/b/src/w.rs"]);
        assert_eq!(named(&found, "B"), [""; 0]);
        assert_eq!(named(&found, "C"), ["crates/a/src/x.rs"]);
        assert_eq!(found.naming_most(), ["crates/a/src/x.rs"]);
        assert_eq!(check(&found, &Allowances::new()).len(), 0);
    }

    /// One file too many fails unless the ratchet grants it.
    #[test]
    fn an_operator_has_few_files() {
        let paths: Vec<String> =
            (0..=FILES_ASKED).map(|n| format!("crates/a/src/f{n}.rs")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), "fn f() { Physical::A }")).collect();
        let found = operators(&files);
        assert_eq!(check(&found, &Allowances::new()).len(), 1);
        let granted = Allowances::from([("A".to_owned(), FILES_ASKED + 1)]);
        assert_eq!(check(&found, &granted).len(), 0);
        assert_eq!(check(&operators(&files[1..]), &granted).len(), 1);
    }

    /// A name in another's place, or none at all, would let any number of files pass.
    #[test]
    fn names_are_not_hidden() {
        for import in ["use plan::Physical as P;", "use plan::Physical::*;", "use Physical::{A};"] {
            let found = operators(&[("crates/a/src/x.rs", import)]);
            assert_eq!(check(&found, &Allowances::new()).len(), 1, "{import}");
        }
        let found = operators(&[("crates/a/src/x.rs", "use plan::{Physical, Asset};")]);
        assert_eq!(check(&found, &Allowances::new()).len(), 0);
        let nothing = Operators::of(&[]);
        assert_eq!(check(&nothing, &Allowances::new()).len(), 1);
    }
}
