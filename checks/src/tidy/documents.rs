//! Documents: one title each, and links that lead somewhere.

use crate::survey::{Document, Survey};
use crate::workspace::{Violation, Workspace};
use std::path::Path;

pub(crate) fn check(workspace: &Workspace, survey: &Survey) -> Vec<Violation> {
    let mut violations = Vec::new();
    for document in &survey.documents {
        let titles = titles(&document.text);
        if titles.len() != 1 {
            let line = titles.get(1).copied().unwrap_or(1);
            let text = format!("{} titles (lines with one #), exactly one asked", titles.len());
            violations.push(Violation::new(&document.path, line, "one-title", text));
        }
        violations.extend(dead_links(workspace, document));
    }
    violations
}

/// The lines outside code fences, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, line))
    })
}

fn titles(text: &str) -> Vec<usize> {
    prose(text).filter(|(_, line)| line.starts_with("# ")).map(|(number, _)| number).collect()
}

/// Targets of `[text](target)` outside code spans.
fn links(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (index, plain) in line.split('`').enumerate() {
        if index % 2 == 1 {
            continue;
        }
        for after in plain.split("](").skip(1) {
            found.extend(after.split(')').next());
        }
    }
    found
}

fn dead_links(workspace: &Workspace, document: &Document) -> Vec<Violation> {
    let folder = Path::new(&document.path).parent().unwrap_or(Path::new(""));
    let mut violations = Vec::new();
    for (number, line) in prose(&document.text) {
        for link in links(line) {
            let file = link.split('#').next().unwrap_or(link).trim();
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            if !workspace.root.join(folder).join(file).exists() {
                let text = format!("the link to '{link}' leads nowhere");
                violations.push(Violation::new(&document.path, number, "dead-link", text));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A title inside a code fence is code.
    #[test]
    fn one_title() {
        assert_eq!(titles("# A\n\n## B\n```sh\n# not this\n```\n"), [1]);
        assert_eq!(titles("# A\n# B\n"), [1, 2]);
    }

    /// Links in prose are found, those in code are not.
    #[test]
    fn links_of_a_line() {
        assert_eq!(links("see [a](x.md#top) and [`b`](../y.md)"), ["x.md#top", "../y.md"]);
        assert_eq!(links("`[a](x.md)`"), [""; 0]);
    }
}
