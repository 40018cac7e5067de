//! The border of storage: who names what only its owner knows.
//!
//! ```text
//!   type        owner      what it would mean elsewhere
//!   RowHobt     rowstore   a crate that knows one storage format
//!   IndexKind   catalog    a branch that each new kind of index has to visit
//! ```
//! Rules
//!  1. A file counts when its code names the type and its crate is not the owner. Test code does
//!     not count: a test makes what it needs.
//!  2. ratchet.toml has the number of files of each type. It may only shrink; a type without an
//!     entry is named by its owner alone.
//!
//! What is approximated: a type is known by its name alone, so a crate that has a type of its own
//! by that name is an owner, too.

use crate::lex::words;
use crate::ratchet::{Allowances, Measure, compare};
use crate::survey::{Source, test_ranges};
use crate::workspace::Violation;

/// A type, and the crates that may name it.
const OWNED: [(&str, &[&str]); 2] =
    [("RowHobt", &["rowstore"]), ("IndexKind", &["catalog", "tsql"])];

/// The files that name a type beyond its owners.
pub(crate) struct NamingFiles {
    name: &'static str,
    files: Vec<String>,
}

/// Counts the files of each type.
pub(crate) fn named(sources: &[Source]) -> Vec<NamingFiles> {
    let of = |(name, owners): &(&'static str, &[&str])| {
        let foreign = |source: &&Source| !owners.contains(&crate_of(&source.path));
        let names = |source: &&Source| !source.is_test && has(&source.lexed.code, name);
        let found = sources.iter().filter(foreign).filter(names);
        NamingFiles { name, files: found.map(|source| source.path.clone()).collect() }
    };
    OWNED.iter().map(of).collect()
}

/// How many files name each type, for a proof.
pub(crate) fn counts(sources: &[Source]) -> Vec<(&'static str, usize)> {
    named(sources).into_iter().map(|named| (named.name, named.files.len())).collect()
}

/// The folder of a crate, by a path from the root.
fn crate_of(path: &str) -> &str {
    let path = path.strip_prefix("crates/").unwrap_or(path);
    path.split('/').next().unwrap_or(path)
}

/// Whether code that is no test has the word.
fn has(code: &str, name: &str) -> bool {
    let mut tests = None;
    words(code).filter(|(_, word)| *word == name).any(|(at, _)| {
        let tests = tests.get_or_insert_with(|| test_ranges(code));
        !tests.iter().any(|range| range.contains(&at))
    })
}

/// Prints how many files name each type, with their names if they are asked for.
pub(crate) fn print(all: &[NamingFiles], whole: bool) {
    for NamingFiles { name, files } in all {
        println!("{name}: {} files beyond its owner name it", files.len());
        if whole {
            files.iter().for_each(|file| println!("  {file}"));
        }
    }
}

/// Types that more files name than the ratchet has, or fewer.
pub(crate) fn check(all: &[NamingFiles], allowances: &Allowances) -> Vec<Violation> {
    let measures = all.iter().map(|named| Measure {
        path: named.files.first().cloned().unwrap_or_default(),
        line: 1,
        name: named.name.to_owned(),
        figure: named.files.len(),
    });
    let measures: Vec<Measure> = measures.collect();
    compare("border", "files beyond its owner that name it", 0, allowances, &measures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(files: &[(&str, &str)]) -> Vec<usize> {
        let source = |(path, text): &(&str, &str)| Source::new((*path).into(), (*text).into());
        let sources: Vec<Source> = files.iter().map(source).collect();
        named(&sources).into_iter().map(|named| named.files.len()).collect()
    }

    /// Code of other crates counts; the owner's, tests, comments and longer words do not.
    #[test]
    fn who_names_what_he_does_not_own() {
        let cases = [
            ("crates/database/src/hobts.rs", "use rowstore::RowHobt;", 1),
            ("prove/src/lib.rs", "fn f(_: &RowHobt) {}", 1),
            ("crates/rowstore/src/hobt/mod.rs", "pub struct RowHobt;", 0),
            ("crates/database/tests/life.rs", "use rowstore::RowHobt;", 0),
            ("crates/database/src/a.rs", "// RowHobt\nlet a = \"RowHobt\";", 0),
            ("crates/database/src/a.rs", "struct RowHobts;", 0),
            ("crates/database/src/a.rs", "#[cfg(test)] mod tests { use x::RowHobt; }", 0),
            ("crates/database/src/a.rs", "#[cfg(test)] mod tests {} type A = RowHobt;", 1),
        ];
        for (path, text, files) in cases {
            assert_eq!(count(&[(path, text)]), [files, 0], "{path}: {text}");
        }
        let twice = ("crates/ddl/src/a.rs", "IndexKind::Heap; IndexKind::Heap");
        assert_eq!(count(&[twice, ("crates/tsql/src/a.rs", "enum IndexKind {}")]), [0, 1]);
    }

    /// A number of files only shrinks, and a type without an entry has none.
    #[test]
    fn a_type_only_withdraws() {
        let source = |path: &str| Source::new(path.into(), "RowHobt".into());
        let found = named(&[source("crates/a/src/lib.rs"), source("crates/b/src/lib.rs")]);
        let check = |allowed: usize| {
            super::check(&found, &Allowances::from([("RowHobt".to_owned(), allowed)])).len()
        };
        assert_eq!([check(1), check(2), check(3)], [1, 0, 1]);
        assert_eq!(super::check(&found, &Allowances::new()).len(), 1);
        assert!(super::check(&named(&[]), &Allowances::new()).is_empty());
    }
}
