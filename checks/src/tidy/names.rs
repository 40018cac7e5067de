//! Names that say nothing: of files, of public types, and of types that are named by no noun.
//!
//! Invariants
//!  1. A type is named by its last word: `IndexHints` is a kind of hints. That word is no
//!     participle, no preposition and no adverb, for a reader cannot tell what an `Asked` is.
//!  2. A word of a type's name that ends in `ed` counts as a participle, except nouns in `eed`
//!     such as `Seed`. Other words count when `NO_NOUNS` lists them.
//!  3. ratchet.toml says how many such types a crate still has. Every other crate has none.

use crate::lex::words;
use crate::ratchet::{Measure, Ratchet, compare};
use crate::survey::{Source, Survey, line_at};
use crate::workspace::{Violation, crate_of};
use std::collections::BTreeMap;

/// A function without a home is a concept without a name.
const FILES: [&str; 7] = ["utils", "util", "common", "helpers", "helper", "misc", "shared"];
const SUFFIXES: [&str; 6] = ["Manager", "Handler", "Helper", "Impl", "Info", "Data"];
/// Nouns of the domain: what a log record or an undo step is handed to, and MS-TDS's TYPE_INFO.
const EXCUSED: [&str; 3] = ["RedoHandler", "UndoHandler", "TypeInfo"];

const RULE: &str = "type-noun";
/// Participles that do not end in `ed`, past tenses, prepositions, adverbs and question words.
const NO_NOUNS: &[&str] = &[
    // participles and past tenses
    "Began",
    "Begun",
    "Broken",
    "Built",
    "Buried",
    "Capturing",
    "Chosen",
    "Deciding",
    "Did",
    "Doing",
    "Done",
    "Drawn",
    "Driving",
    "Found",
    "Gave",
    "Given",
    "Gone",
    "Growing",
    "Grown",
    "Heard",
    "Held",
    "Hidden",
    "Inserting",
    "Kept",
    "Known",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Making",
    "Met",
    "Noting",
    "Owing",
    "Pending",
    "Put",
    "Ran",
    "Received",
    "Resting",
    "Running",
    "Said",
    "Seen",
    "Sent",
    "Serving",
    "Shown",
    "Shrunk",
    "Sliding",
    "Sought",
    "Standing",
    "Taken",
    "Taught",
    "Thrown",
    "Told",
    "Took",
    "Torn",
    "Waiting",
    "Wanting",
    "Won",
    "Written",
    "Yielding",
    // prepositions and conjunctions
    "Above",
    "Across",
    "After",
    "Among",
    "Around",
    "As",
    "At",
    "Before",
    "Behind",
    "Below",
    "Beside",
    "Besides",
    "Between",
    "Beyond",
    "By",
    "During",
    "For",
    "From",
    "In",
    "Inside",
    "Into",
    "Near",
    "Of",
    "Off",
    "On",
    "Out",
    "Outside",
    "Over",
    "Past",
    "Since",
    "Than",
    "Through",
    "To",
    "Toward",
    "Under",
    "Until",
    "Up",
    "Upon",
    "With",
    "Within",
    "Without",
    // adverbs, pronouns and question words
    "Again",
    "Ahead",
    "Alike",
    "Alone",
    "Already",
    "Also",
    "Apart",
    "Aside",
    "Away",
    "Each",
    "Either",
    "Elsewhere",
    "How",
    "Instead",
    "Never",
    "Now",
    "Nowhere",
    "Once",
    "Only",
    "Otherwise",
    "Own",
    "Rather",
    "Still",
    "Then",
    "There",
    "Thus",
    "Together",
    "Twice",
    "What",
    "When",
    "Where",
    "Which",
    "While",
    "Who",
    "Whose",
    "Why",
    "Yet",
];
/// SQL's own names of clauses and statements, and nouns that are made of two words.
const NOUNS: &[&str] = &[
    "ExecuteAs",
    "CatchUp",
    "FollowUp",
    "GroupBy",
    "OutputInto",
    "ReadAhead",
    "SelectInto",
    "WaitFor",
    "While",
];

pub(crate) fn check(survey: &Survey, ratchet: &Ratchet) -> Vec<Violation> {
    let mut violations = no_nouns(survey, ratchet);
    for source in &survey.sources {
        if let Some(part) = empty_part(&source.path) {
            let text = format!("'{part}' names no concept");
            violations.push(Violation::new(&source.path, 1, "file-name", text));
        }
        violations.extend(type_names(source));
    }
    violations
}

fn empty_part(path: &str) -> Option<&str> {
    path.split('/').map(|part| part.trim_end_matches(".rs")).find(|part| FILES.contains(part))
}

/// `pub struct`, `pub(crate) enum`, `pub trait` … whose name ends with a banned word.
fn type_names(source: &Source) -> Vec<Violation> {
    let code = source.lexed.code.as_str();
    let all: Vec<(usize, &str)> = words(code).collect();
    let mut violations = Vec::new();
    for (index, window) in all.windows(2).enumerate() {
        let [(_, kind), (at, name)] = window else { continue };
        if !matches!(*kind, "struct" | "enum" | "trait") || EXCUSED.contains(name) {
            continue;
        }
        let before = &all[index.saturating_sub(3)..index];
        let is_public = before.iter().any(|(_, word)| *word == "pub");
        let banned = SUFFIXES.iter().find(|suffix| name.ends_with(*suffix));
        if let (true, Some(suffix)) = (is_public, banned) {
            let text = format!("{kind} {name}: '{suffix}' says nothing about what it is");
            let line = line_at(code, *at);
            violations.push(Violation::new(&source.path, line, "type-name", text));
        }
    }
    violations
}

/// The last word of a type's name, where that is no noun.
fn no_noun(name: &str) -> Option<&str> {
    let word = &name[name.rfind(|c: char| c.is_ascii_uppercase())?..];
    let is_participle = word.ends_with("ed") && !word.ends_with("eed");
    let counts = is_participle || NO_NOUNS.contains(&word);
    (counts && !NOUNS.contains(&name)).then_some(word)
}

/// Every type of a file that is named by no noun.
fn types_by_no_noun(source: &Source) -> Vec<Violation> {
    let code = source.lexed.code.as_str();
    let all: Vec<(usize, &str)> = words(code).collect();
    let mut violations = Vec::new();
    for window in all.windows(2) {
        let [(_, kind), (at, name)] = window else { continue };
        let is_type = matches!(*kind, "struct" | "enum" | "trait" | "type");
        if let (true, Some(word)) = (is_type, no_noun(name)) {
            let text = format!("{kind} {name}: '{word}' is no noun; name what it is");
            violations.push(Violation::new(&source.path, line_at(code, *at), RULE, text));
        }
    }
    violations
}

/// A crate of the ratchet may have as many as it had; the others have none.
fn no_nouns(survey: &Survey, ratchet: &Ratchet) -> Vec<Violation> {
    let mut per_crate: BTreeMap<&str, Vec<Violation>> = BTreeMap::new();
    for source in &survey.sources {
        per_crate.entry(crate_of(&source.path)).or_default().extend(types_by_no_noun(source));
    }
    let mut violations = Vec::new();
    let mut measures = Vec::new();
    for (name, found) in per_crate {
        let Some(first) = found.first() else { continue };
        if let Some(allowed) = ratchet.named_by_no_noun.get(name) {
            let (path, line, figure) = (first.path.clone(), first.line, found.len());
            measures.push(Measure { path, line, name: name.to_owned(), figure });
            if figure <= *allowed {
                continue;
            }
        }
        violations.extend(found);
    }
    let unit = "types that are named by no noun";
    violations.extend(compare(RULE, unit, 0, &ratchet.named_by_no_noun, &measures));
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type's last word is judged, whether it is public or not; a noun in `ed` passes.
    #[test]
    fn types_are_nouns() {
        let cases = [
            ("struct Asked;", 1),
            ("pub(crate) enum IndexSought {}", 1),
            ("type Beside<'a> = &'a str;", 1),
            ("pub trait PutRight {}", 0),
            ("pub struct Seed(u64);", 0),
            ("pub struct FoundIndex;", 0),
            ("pub struct GroupBy;", 0),
            ("enum Outcome { Kept, Told }", 0),
            ("// struct Asked;", 0),
        ];
        for (text, count) in cases {
            let source = Source::new("crates/x/src/lib.rs".to_owned(), text.to_owned());
            assert_eq!(types_by_no_noun(&source).len(), count, "{text}");
        }
    }

    /// A crate with an allowance may have so many and not one more, and an allowance that is too
    /// large fails.
    #[test]
    fn allowances_shrink() {
        let text = "struct Asked; struct Told;".to_owned();
        let source = || Source::new("crates/x/src/lib.rs".to_owned(), text.clone());
        for (allowed, count) in [(None, 2), (Some(1), 3), (Some(2), 0), (Some(3), 1)] {
            let survey = Survey { sources: vec![source()], documents: Vec::new() };
            let allowances = allowed.map(|most| ("x".to_owned(), most)).into_iter().collect();
            let ratchet = Ratchet { named_by_no_noun: allowances, ..Ratchet::default() };
            let found = no_nouns(&survey, &ratchet);
            assert_eq!(found.len(), count, "{allowed:?}: {found:?}");
        }
    }

    /// Only public types are judged, by the end of their name.
    #[test]
    fn suffixes() {
        let cases = [
            ("pub struct LockManager;", 1),
            ("pub(crate) enum PageInfo {}", 1),
            ("pub unsafe trait RowHandler {}", 1),
            ("pub trait RedoHandler {}", 0),
            ("pub struct DataPage;", 0),
            ("struct FileInfo;", 0),
            ("// pub struct FileInfo;", 0),
        ];
        for (text, count) in cases {
            let source = Source::new("crates/x/src/lib.rs".to_owned(), text.to_owned());
            assert_eq!(type_names(&source).len(), count, "{text}");
        }
    }

    /// A folder is judged as a file is.
    #[test]
    fn files() {
        assert_eq!(empty_part("crates/x/src/utils.rs"), Some("utils"));
        assert_eq!(empty_part("crates/common/src/lib.rs"), Some("common"));
        assert_eq!(empty_part("crates/x/src/commonwealth.rs"), None);
    }
}
