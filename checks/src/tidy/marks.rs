//! Marks in the source: the opening essay, words that mean "not finished", cited rule numbers.

use crate::lex::words;
use crate::survey::{Source, Survey, line_at};
use crate::workspace::{Violation, Workspace, crate_of};

const UNFINISHED_WORDS: [&str; 3] = ["FIXME", "XXX", "HACK"];
const UNFINISHED_CODE: [&str; 2] = ["todo", "unimplemented"];

pub(crate) fn check(workspace: &Workspace, survey: &Survey) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in &survey.sources {
        if !source.is_test && !opens_with_essay(&source.text) {
            let text = "the file does not open with `//!` that says what it is".to_owned();
            violations.push(Violation::new(&source.path, 1, "essay", text));
        }
        violations.extend(unfinished(source));
        violations.extend(citations(workspace, source));
    }
    violations
}

/// The essay stands first; only attributes of the file may stand before it.
fn opens_with_essay(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with("#!")).is_some_and(|line| {
        line.starts_with("//!") && line.trim_start_matches("//!").trim().len() > 2
    })
}

fn unfinished(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut complain = |line, what: &str| {
        let text = format!("{what}: finish it or file it as an issue");
        violations.push(Violation::new(&source.path, line, "unfinished", text));
    };
    for line in source.lexed.lines(&source.text) {
        let comment = line.comment();
        let marks = words(&comment).filter(|(_, word)| UNFINISHED_WORDS.contains(word));
        for (_, word) in marks {
            complain(line.number, word);
        }
    }
    let code = source.lexed.code.as_str();
    for (at, word) in words(code) {
        let is_macro = code[at + word.len()..].starts_with('!');
        let is_ignored_test = word == "ignore" && code[..at].trim_end().ends_with("#[");
        if (UNFINISHED_CODE.contains(&word) && is_macro) || is_ignored_test {
            complain(line_at(code, at), word);
        }
    }
    violations
}

/// `// rule N` cites the README of the crate it stands in, or of the one it names with a path.
fn citations(workspace: &Workspace, source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let Some(folder) = folder_of(&source.path) else { return violations };
    for line in source.lexed.lines(&source.text) {
        let comment = line.comment();
        let is_doc = comment.starts_with("///") || comment.starts_with("//!");
        if is_doc || comment.contains("STYLE") {
            continue;
        }
        for number in cited_rules(&comment) {
            let readme = cited_readme(&comment).unwrap_or_else(|| format!("{folder}/README.md"));
            let rules = workspace.read(&readme).unwrap_or_default();
            if !states_rule(&rules, number) {
                let text = format!("rule {number} is cited and {readme} has no line '{number}.'");
                violations.push(Violation::new(&source.path, line.number, "cited-rule", text));
            }
        }
    }
    violations
}

fn folder_of(path: &str) -> Option<String> {
    let name = crate_of(path);
    match name {
        "checks" | "prove" | "xtask" => None,
        _ if path.starts_with("crates/") => Some(format!("crates/{name}")),
        _ => Some(name.to_owned()),
    }
}

fn cited_rules(comment: &str) -> Vec<u32> {
    let all: Vec<&str> = words(comment).map(|(_, word)| word).collect();
    let pairs = all.windows(2).filter(|pair| pair[0].eq_ignore_ascii_case("rule"));
    pairs.filter_map(|pair| pair[1].parse().ok()).collect()
}

/// `lock/README.md` in a comment means `crates/lock/README.md`.
fn cited_readme(comment: &str) -> Option<String> {
    let path = comment.split(|c: char| c.is_whitespace() || "(),;`".contains(c));
    let path = path.into_iter().find(|word| word.ends_with("/README.md"))?;
    let name = path.trim_end_matches("/README.md").rsplit('/').next()?;
    Some(format!("crates/{name}/README.md"))
}

fn states_rule(readme: &str, number: u32) -> bool {
    let opening = format!("{number}.");
    readme.lines().any(|line| line.trim_start_matches([' ', '*', '#']).starts_with(&opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An essay says something, and nothing but attributes stands before it.
    #[test]
    fn essays() {
        assert!(opens_with_essay("//! The log.\nuse x;"));
        assert!(opens_with_essay("#![forbid(unsafe_code)]\n\n//! The log."));
        assert!(!opens_with_essay("use x;\n//! The log."));
        assert!(!opens_with_essay("//!\nuse x;"));
        assert!(!opens_with_essay(""));
    }

    /// Marks count in comments and code, never in text.
    #[test]
    fn unfinished_marks() {
        let cases = [
            ("// FIXME later", 1),
            ("fn a() { todo!() }", 1),
            ("#[ignore] fn a() {}", 1),
            ("#[ignore = \"slow\"] fn a() {}", 1),
            ("fn a() { b(\"FIXME\", todo) } // a HACKER", 0),
            ("fn ignore() {}", 0),
        ];
        for (text, count) in cases {
            let source = Source::new("crates/x/src/lib.rs".to_owned(), text.to_owned());
            assert_eq!(unfinished(&source).len(), count, "{text}");
        }
    }

    /// What a comment cites, and where that must stand.
    #[test]
    fn citing() {
        assert_eq!(cited_rules("// rule 5, and rule 12: held"), [5, 12]);
        assert_eq!(cited_rules("// a rule of thumb"), [0_u32; 0]);
        let elsewhere = cited_readme("// safe by (lock/README.md, rule 3)");
        assert_eq!(elsewhere.as_deref(), Some("crates/lock/README.md"));
        assert!(states_rule("Rules\n\n 3. Latch first.", 3));
        assert!(states_rule("**3.** Latch first.", 3));
        assert!(!states_rule("13. Latch first.", 3));
    }
}
