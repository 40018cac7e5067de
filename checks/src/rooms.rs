//! How full the rooms are, for a proof: files that name each other, files that an operator or a
//! type of storage is named in, methods of the largest types.
//!
//! Methods are counted in all `impl` blocks of a type, those of traits included, in code that is no
//! test; of a trait they are those that it declares.

use crate::count::Count;
use crate::lex::words;
use crate::survey::{Source, Survey, body, test_ranges};
use crate::workspace::{Outcome, Workspace};
use crate::{border, layers};

/// Types whose methods are counted, and the crate that each is in.
const LARGE_TYPES: [(&str, &str); 2] = [("Session", "session"), ("Binder", "bind")];

/// All counts, in an order that stays.
///
/// # Errors
/// A file cannot be read.
pub fn counts(workspace: &Workspace) -> Outcome<Vec<Count>> {
    let survey = Survey::take(workspace)?;
    let mut counts = layers::counts(workspace)?;
    for (name, files) in border::counts(&survey.sources) {
        counts.push(Count::of(format!("files beyond its owner that name {name}"), files));
    }
    for (name, package) in LARGE_TYPES {
        let folder = format!("crates/{package}/src/");
        let of_crate = survey.sources.iter().filter(|s| s.path.starts_with(&folder) && !s.is_test);
        let methods = of_crate.map(|source| methods_of(source, name)).sum();
        counts.push(Count::of(format!("methods of {name}"), methods));
    }
    Ok(counts)
}

/// Methods in the `impl` blocks of a type in a file.
fn methods_of(source: &Source, name: &str) -> usize {
    let code = &source.lexed.code;
    let tests = test_ranges(code);
    let blocks = words(code)
        .filter(|(at, word)| *word == "impl" && !tests.iter().any(|range| range.contains(at)));
    let bodies = blocks.filter_map(|(at, _)| {
        let block = body(code, at)?;
        let head = &code[at..block.start];
        // `impl Trait for Type`: the type is behind the `for`.
        let target = head.rsplit(" for ").next().unwrap_or(head);
        words(target).any(|(_, word)| word == name).then_some(block)
    });
    bodies.map(|block| words(&code[block]).filter(|(_, word)| *word == "fn").count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of the type and of its traits count; those of others and tests do not.
    #[test]
    fn methods() {
        let text = "impl Room { fn a() {} pub fn b() {} }
            impl<'a> Door<'a> for Room<'a> { fn c() {} }
            impl Room for Other { fn d() {} }
            #[cfg(test)] mod tests { impl Room { fn e() {} } }";
        let source = Source::new("crates/x/src/a.rs".to_owned(), text.to_owned());
        assert_eq!(methods_of(&source, "Room"), 3);
        assert_eq!(methods_of(&source, "Other"), 1);
    }
}
