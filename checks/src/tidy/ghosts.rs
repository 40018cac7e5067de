//! Which files may ask the kind of a record whether it is a ghost.
//!
//! From floor 4 on "is there a row?" depends on the record's writer as well, and
//! `rowstore/src/current.rs` alone answers it. A question about the bytes of a record is asked by
//! its name, `page::is_ghost_record`.

use crate::layers::Layers;
use crate::lex::words;
use crate::survey::{Source, Survey, line_at};
use crate::workspace::{Violation, crate_of};

const JUDGE: &str = "crates/rowstore/src/current.rs";
const FIRST_FLOOR: u32 = 4;

pub(crate) fn check(layers: &Layers, survey: &Survey) -> Vec<Violation> {
    let is_high = |source: &&Source| {
        let floor = layers.floor_of(crate_of(&source.path));
        floor.is_some_and(|floor| floor >= FIRST_FLOOR)
    };
    survey.sources.iter().filter(is_high).flat_map(questions).collect()
}

/// `kind.is_ghost()`, or `RecordKind::is_ghost`, in tests as well.
fn questions(source: &Source) -> Vec<Violation> {
    if source.path == JUDGE {
        return Vec::new();
    }
    let code = source.lexed.code.as_str();
    let is_asked = |at: usize| {
        let before = code[..at].trim_end();
        before.ends_with('.') || before.ends_with("::")
    };
    let asked = words(code).filter(|(at, word)| *word == "is_ghost" && is_asked(*at));
    let text = "is_ghost: ask `current` for a row, `page::is_ghost_record` for a record's bytes";
    asked
        .map(|(at, _)| Violation::new(&source.path, line_at(code, at), "ghost", text.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        questions(&Source::new(path.to_owned(), text.to_owned())).len()
    }

    /// The kind is asked by a method or by its path; a variable of that name asks nothing.
    #[test]
    fn ways_to_ask() {
        let cases = [
            ("fn a(r: &[u8]) -> bool { RecordKind::of(r[0]).is_ghost() }", 1),
            ("fn a(k: RecordKind) -> bool { k\n    .is_ghost() }", 1),
            ("fn a(k: Option<RecordKind>) -> bool { k.is_some_and(RecordKind::is_ghost) }", 1),
            ("#[cfg(test)]\nmod tests { fn a() { kind.is_ghost(); } }", 1),
            ("fn a(r: &[u8]) { let is_ghost = page::is_ghost_record(r); b(is_ghost) }", 0),
            ("fn a() { b(\"kind.is_ghost()\") } // kind.is_ghost()", 0),
        ];
        for (text, count) in cases {
            assert_eq!(found("crates/btree/src/x.rs", text), count, "{text}");
            assert_eq!(found(JUDGE, text), 0, "the judge may ask: {text}");
        }
    }

    /// Floor 3 and below may ask, floor 4 and above may not, crates beside the floors may.
    #[test]
    fn floors() {
        let text = "[floors]\n3 = [\"low\"]\n4 = [\"high\"]\n[may_name]\nlow = []\nhigh = []\n\
                    [must_not_reach]\n[exempt]\ncrates = [\"beside\"]\n";
        let layers: Layers = toml::from_str(text).unwrap();
        let source =
            |path: &str| Source::new(path.to_owned(), "fn a() { kind.is_ghost(); }".to_owned());
        let paths = ["crates/low/src/a.rs", "crates/high/tests/a.rs", "beside/src/a.rs"];
        let survey = Survey { sources: paths.map(source).into(), documents: Vec::new() };
        let places: Vec<String> = check(&layers, &survey).into_iter().map(|v| v.path).collect();
        assert_eq!(places, ["crates/high/tests/a.rs"]);
    }
}
