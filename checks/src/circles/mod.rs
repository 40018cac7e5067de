//! Circles of files in a crate: file A names an item of B, and by some way B one of A. None of them
//! can be read, tested or moved without the others.
//!
//! ```text
//!   scan     items, imports and paths of a file
//!   modules  which file a path leads to, and so who names whom
//!   graph    circles
//! ```
//! Rules
//!  1. An edge is a `use` or a path in code (`crate::…`, `super::…`, a module in scope) that leads
//!     to an item of another file of the crate.
//!  2. A file that only passes a name on (`pub use a::B`) is passed through: who names it names the
//!     file that defines the item. `mod a;` and a `pub use` whose name the file itself does not use
//!     are no edges.
//!  3. ratchet.toml has each crate's largest circle; it may only shrink.
//!
//! What is approximated: methods and fields that are reached through a value make no edge. What a
//! macro expands to is not seen, and a name that a macro makes belongs to the file of the module in
//! which it is looked for. An import within a function holds for its module. Where a crate has both
//! a library and a program, `main.rs` is left out. Test code makes no edges.

mod graph;
mod modules;
mod scan;

use crate::ratchet::{Allowances, Measure, compare};
use crate::survey::Source;
use crate::workspace::Violation;
use modules::Modules;

/// No crate shall have a circle of more files.
const FILES_ASKED: usize = 8;
/// So many of a circle's files are named unless all are asked for.
const FILES_NAMED: usize = 8;

/// The circles of one crate.
pub(crate) struct Circles {
    name: String,
    /// Its folder from the root.
    folder: String,
    /// The largest first.
    circles: Vec<Vec<Member>>,
}

/// A file of a circle, named from `src/`.
struct Member {
    file: String,
    /// The files of the circle that it names items of.
    names: Vec<String>,
}

impl Circles {
    /// Of the crate in a folder.
    pub(crate) fn of(name: &str, folder: &str, sources: &[Source]) -> Circles {
        let modules = Modules::of(&format!("{folder}/src/"), sources.iter());
        let edges = modules.edges();
        let member = |file: usize, circle: &[usize]| {
            let within = circle.iter().filter(|other| edges[file].contains(other));
            let names = within.map(|other| modules.files[*other].clone()).collect();
            Member { file: modules.files[file].clone(), names }
        };
        let members =
            |circle: Vec<usize>| circle.iter().map(|file| member(*file, &circle)).collect();
        let circles = graph::circles(&edges).into_iter().map(members).collect();
        Circles { name: name.to_owned(), folder: folder.to_owned(), circles }
    }

    fn largest(&self) -> usize {
        self.circles.first().map_or(1, Vec::len)
    }
}

/// Prints the circles that are larger than asked, with some of their files; or with all, and whom
/// each of them names.
pub(crate) fn print(all: &[Circles], whole: bool) {
    let mut crates: Vec<&Circles> = all.iter().collect();
    crates.sort_by_key(|found| usize::MAX - found.largest());
    let large = crates.iter().filter(|found| found.largest() > FILES_ASKED).count();
    for found in &crates {
        for circle in found.circles.iter().filter(|circle| circle.len() > FILES_ASKED) {
            print!("{}: a circle of {} files: ", found.name, circle.len());
            if whole {
                println!();
                circle.iter().for_each(|m| println!("  {} -> {}", m.file, m.names.join(", ")));
                continue;
            }
            let named = circle.iter().take(FILES_NAMED).map(|member| member.file.as_str());
            let rest = if FILES_NAMED < circle.len() { ", …" } else { "" };
            println!("{}{rest}", named.collect::<Vec<_>>().join(", "));
        }
    }
    let largest = crates.first().map_or(1, |found| found.largest());
    println!("largest circle of files: {largest}; {large} crates have one above {FILES_ASKED}");
}

/// How many crates have a circle above the limit, and how many files the largest has.
pub(crate) fn counts(all: &[Circles]) -> (usize, usize) {
    let largest = all.iter().map(Circles::largest);
    (largest.clone().filter(|files| *files > FILES_ASKED).count(), largest.max().unwrap_or(0))
}

/// Crates whose largest circle is not what the ratchet has.
pub(crate) fn check(all: &[Circles], allowances: &Allowances) -> Vec<Violation> {
    let measures = all.iter().map(|found| Measure {
        path: format!("{}/src", found.folder),
        line: 1,
        name: found.name.clone(),
        figure: found.largest(),
    });
    let measures: Vec<Measure> = measures.collect();
    compare("circle", "files in a circle", 1, allowances, &measures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| {
            Source::new(format!("crates/x/src/{path}"), (*text).to_owned())
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let found = Circles::of("x", "crates/x", &sources);
        let files = |circle: Vec<Member>| circle.into_iter().map(|m| m.file).collect::<Vec<_>>();
        found.circles.into_iter().map(|circle| files(circle).join(" ")).collect()
    }

    const NONE: [&str; 0] = [];

    /// Two files that name each other are a circle, by imports or by paths in code.
    #[test]
    fn a_circle_of_two() {
        let root = ("lib.rs", "mod a; mod b;");
        let a = ("a.rs", "use crate::b::B; pub struct A;");
        assert_eq!(circles(&[root, a, ("b.rs", "pub struct B(super::a::A);")]), ["a.rs b.rs"]);
        assert_eq!(
            circles(&[root, a, ("b.rs", "use super::a; pub struct B(a::A);")]),
            ["a.rs b.rs"]
        );
        assert_eq!(circles(&[root, a, ("b.rs", "pub struct B; // crate::a::A")]), NONE);
        let test = "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }";
        assert_eq!(circles(&[root, a, ("b.rs", test)]), NONE);
    }

    /// A root that declares modules and passes names on glues nothing together.
    #[test]
    fn a_root_that_passes_on() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use b::*; pub use c::deep::C as D;"),
            ("a.rs", "use crate::{B, D}; pub struct A;"),
            ("b.rs", "pub struct B(crate::D);"),
            ("c/mod.rs", "pub mod deep;"),
            ("c/deep.rs", "pub struct C;"),
        ];
        assert_eq!(circles(&files), NONE);
        let mut circular = files;
        circular[4].1 = "use crate::A; pub struct C(A);";
        assert_eq!(circles(&circular), ["a.rs b.rs c/deep.rs"]);
        circular[1].1 = "use crate::D; pub struct A;";
        assert_eq!(circles(&circular), ["a.rs c/deep.rs"]);
    }

    /// A parent that defines what its children use, and uses them, is in their circle.
    #[test]
    fn a_parent_in_the_circle() {
        let parent = ("a/mod.rs", "mod b; pub use b::B; pub struct A;");
        let child = ("a/b.rs", "use super::A; pub struct B(A);");
        assert_eq!(circles(&[("lib.rs", "mod a;"), parent, child]), NONE);
        let parent = ("a/mod.rs", "mod b; pub use b::B; pub struct A; fn f(_: B) {}");
        assert_eq!(circles(&[("lib.rs", "mod a;"), parent, child]), ["a/mod.rs a/b.rs"]);
        let parent = ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }");
        assert_eq!(circles(&[("lib.rs", "mod a;"), parent, child]), ["a/mod.rs a/b.rs"]);
    }

    /// Names of other crates lead nowhere, also where a module is named like one.
    #[test]
    fn names_from_outside() {
        let files = [
            ("lib.rs", "mod wal; mod b;"),
            ("wal.rs", "use crate::b::B; use std::fmt; pub struct W(fmt::Error, B);"),
            ("b.rs", "use wal::Log; pub struct B(Log, wal::Lsn, b::C);"),
        ];
        assert_eq!(circles(&files), NONE);
    }

    /// The ratchet lets a circle shrink, and nothing else.
    #[test]
    fn a_circle_only_shrinks() {
        let files =
            [("a.rs", "use super::b::B; struct A;"), ("b.rs", "use crate::a::A; struct B;")];
        let source = |(path, text): &(&str, &str)| {
            Source::new(format!("crates/x/src/{path}"), (*text).to_owned())
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let found = [Circles::of("x", "crates/x", &sources)];
        let check =
            |allowed: usize| check(&found, &Allowances::from([("x".to_owned(), allowed)])).len();
        assert_eq!([check(1), check(2), check(3)], [1, 0, 1]);
        assert_eq!(super::check(&found, &Allowances::new()).len(), 1);
    }
}
