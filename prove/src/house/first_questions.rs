//! house.4, the first questions of a newcomer: a table of ARCHITECTURE.md links to each answer, and
//! README.md links to ARCHITECTURE.md.
//!
//! Whether the answer at the end is understood, a reader judges; that the way holds, this does.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;
use std::path::{Component, Path, PathBuf};

const CLICKS_MAX: usize = 3;
const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "\n## First questions\n";
/// What each question that the issue names has in it.
const ASKED: [&str; 5] = ["visibility", "COMMIT", "function", "turn", "page"];

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
    let has = |word: &&&str| figures.iter().any(|figure| figure.what.contains(**word));
    let found = ASKED.iter().filter(has).count();
    figures.push(Figure {
        what: "questions of the issue".to_owned(),
        figure: found.to_string(),
        limit: ASKED.len().to_string(),
        pass: found == ASKED.len(),
    });
    Ok(figures)
}

/// Each row of the table, with the way to its answer: the README, the page, and the first file that
/// the answer links to.
fn questions(text: &str) -> Vec<(&str, Vec<PathBuf>)> {
    let section = text.split(HEADING).nth(1).unwrap_or_default();
    section.split("\n## ").next().unwrap_or_default().lines().filter_map(way_of).collect()
}

fn way_of(line: &str) -> Option<(&str, Vec<PathBuf>)> {
    let (question, answer) = line.strip_prefix("| ")?.split_once(" | ")?;
    let target = links(Path::new(PAGE), answer).into_iter().next()?;
    Some((question, vec![PathBuf::from("README.md"), PathBuf::from(PAGE), target]))
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

/// Other files that a document links to, from the root of the checkout.
fn links(from: &Path, text: &str) -> Vec<PathBuf> {
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = |rest: &str| Some(rest.split_once(')')?.0.split('#').next()?.to_owned());
    let others = |target: &String| !target.is_empty();
    let targets = text.split("](").skip(1).filter_map(target).filter(others);
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

    /// Rows are questions; the way ends at the first link of the answer.
    #[test]
    fn questions_are_read() {
        let text = "# A\n\n## First questions\n\n| question | where |\n|---|---|\n\
            | What? | [a](docs/a.md), [b](b.md) |\n\n## More\n\n| No? | [c](c.md) |\n";
        let way = ["README.md", "ARCHITECTURE.md", "docs/a.md"].map(PathBuf::from).to_vec();
        assert_eq!(questions(text), [("What?", way)]);
    }
}
