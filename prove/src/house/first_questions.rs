//! house.4, the first questions of a newcomer: docs/first-questions.md names the way to each
//! answer, and each step of it is a link that is there, from README.md on.
//!
//! Whether the answer at the end is understood, a reader judges; that the way holds, this does.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;
use std::path::{Component, Path, PathBuf};

const CLICKS_MAX: usize = 3;
const QUESTIONS: usize = 5;
const PAGE: &str = "docs/first-questions.md";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let read = |path: &Path| {
        let whole = ground.workspace.root.join(path);
        std::fs::read_to_string(&whole).map_err(|e| format!("read {}: {e}", path.display()))
    };
    let text = read(Path::new(PAGE))?;
    let mut figures: Vec<Figure> = questions(&text)
        .into_iter()
        .map(|(question, way)| followed(question, &way, &read))
        .collect();
    figures.push(Figure {
        what: "questions".to_owned(),
        figure: figures.len().to_string(),
        limit: QUESTIONS.to_string(),
        pass: figures.len() == QUESTIONS,
    });
    Ok(figures)
}

/// Each heading of the page, with the files of its way: the backquoted paths of the line that
/// begins with "Way:".
fn questions(text: &str) -> Vec<(&str, Vec<PathBuf>)> {
    let mut found = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let question = section.lines().next().unwrap_or_default();
        let way = section.lines().find_map(|line| line.strip_prefix("Way: ")).unwrap_or_default();
        let paths = way.split('`').skip(1).step_by(2).map(PathBuf::from).collect();
        found.push((question, paths));
    }
    found
}

/// Follows a way from README.md: each file must link to the next.
fn followed(question: &str, way: &[PathBuf], read: &dyn Fn(&Path) -> Outcome<String>) -> Figure {
    let broken = way.windows(2).find_map(|step| {
        let linked = read(&step[0]).map(|text| links(&step[0], &text).contains(&step[1]));
        match linked {
            Ok(true) => None,
            Ok(false) => {
                Some(format!("{} has no link to {}", step[0].display(), step[1].display()))
            }
            Err(why) => Some(why),
        }
    });
    let from_readme = way.first().is_some_and(|first| first == Path::new("README.md"));
    let ends = way.last().is_some_and(|last| read(last).is_ok());
    let clicks = way.len().saturating_sub(1);
    let names: Vec<String> = way.iter().map(|path| path.display().to_string()).collect();
    Figure {
        what: question.to_owned(),
        figure: broken.clone().unwrap_or_else(|| names.join(" > ")),
        limit: format!("from README.md, at most {CLICKS_MAX} clicks"),
        pass: broken.is_none() && from_readme && ends && (1..=CLICKS_MAX).contains(&clicks),
    }
}

/// Files that a document links to, from the root of the checkout.
fn links(from: &Path, text: &str) -> Vec<PathBuf> {
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = |rest: &str| Some(rest.split_once(')')?.0.split('#').next()?.to_owned());
    let targets = text.split("](").skip(1).filter_map(target);
    targets.map(|target| normal(&folder.join(target))).collect()
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(way: &[&str]) -> Figure {
        let read = |path: &Path| match path.to_str() {
            Some("README.md") => Ok("[a](docs/a.md)".to_owned()),
            Some("docs/a.md") => Ok("see [b](../b.md#part), [c](./c.md)".to_owned()),
            Some("b.md" | "docs/c.md") => Ok(String::new()),
            _ => Err("no such file".to_owned()),
        };
        let way: Vec<PathBuf> = way.iter().map(PathBuf::from).collect();
        followed("q", &way, &read)
    }

    /// A way holds where each step is a link; it begins at the README and is short.
    #[test]
    fn ways() {
        assert!(figure(&["README.md", "docs/a.md", "b.md"]).pass);
        assert!(figure(&["README.md", "docs/a.md", "docs/c.md"]).pass);
        assert!(!figure(&["README.md", "b.md"]).pass, "there is no such link");
        assert!(!figure(&["docs/a.md", "b.md"]).pass, "it begins elsewhere");
        assert!(!figure(&["README.md"]).pass && !figure(&[]).pass, "a way has a step");
        assert!(!figure(&["README.md", "docs/a.md", "b.md", "b.md", "b.md"]).pass);
    }

    /// Headings are questions; their ways are the paths in backquotes.
    #[test]
    fn questions_are_read() {
        let text = "# Page\n\n## What?\n\nWay: `README.md` > `a.md`\n\nText.\n\n## Why?\n";
        let ways = questions(text);
        assert_eq!(ways[0], ("What?", vec![PathBuf::from("README.md"), PathBuf::from("a.md")]));
        assert_eq!(ways[1], ("Why?", Vec::new()));
    }
}
