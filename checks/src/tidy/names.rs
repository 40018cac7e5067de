//! Names that say nothing: of files, and of public types.

use crate::lex::words;
use crate::survey::{Source, Survey, line_at};
use crate::workspace::Violation;

/// A function without a home is a concept without a name.
const FILES: [&str; 7] = ["utils", "util", "common", "helpers", "helper", "misc", "shared"];
const SUFFIXES: [&str; 6] = ["Manager", "Handler", "Helper", "Impl", "Info", "Data"];
/// Nouns of the domain: what a log record or an undo step is handed to, and MS-TDS's TYPE_INFO.
const EXCUSED: [&str; 3] = ["RedoHandler", "UndoHandler", "TypeInfo"];

pub(crate) fn check(survey: &Survey) -> Vec<Violation> {
    let mut violations = Vec::new();
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

#[cfg(test)]
mod tests {
    use super::*;

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
