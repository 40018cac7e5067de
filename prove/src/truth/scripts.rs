//! The scripts of a line: each runs embedded in a folder of its own, its output must be the one
//! that lies beside it, to the byte.

use crate::ground::figure::Figure;
use crate::ground::program::{FinishedRun, Ground, empty, finish};
use checks::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SCRIPT: Duration = Duration::from_secs(120);

/// A figure for all scripts of a line: how many say what they must, and the first that does not.
pub(crate) fn run(ground: &Ground<'_>, section: u32, line: u32) -> Outcome<Vec<Figure>> {
    let folder = ground.script("truth").join(format!("{section}.{line:02}"));
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let scripts = found(&folder)?;
    let work = ground.folder(&format!("truth.{section}.{line}"))?;
    let mut wrong = Vec::new();
    for script in &scripts {
        if let Some(difference) = difference(ground, script, &work)? {
            wrong.push(difference);
        }
    }
    let right = scripts.len() - wrong.len();
    Ok(vec![Figure {
        what: "scripts that say what they must".to_owned(),
        figure: match wrong.first() {
            Some(first) => format!("{right} of {}; {first}", scripts.len()),
            None => format!("{right} of {}", scripts.len()),
        },
        limit: "all, 3 at least".to_owned(),
        pass: wrong.is_empty() && scripts.len() >= 3,
    }])
}

/// The `.sql` files of a folder, in the order of their names.
fn found(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let told = |e: std::io::Error| format!("read {}: {e}", folder.display());
    let mut scripts = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}

/// The first line in which a script's output is not as it must be.
fn difference(ground: &Ground<'_>, script: &Path, work: &Path) -> Outcome<Option<String>> {
    let data = work.join("data");
    empty(&data)?;
    let mut command = Command::new(ground.binary()?);
    command.args(["sql", "-W", "-s", "|", "--data"]).arg(&data).arg("-i").arg(script);
    let FinishedRun { output, .. } = finish(command, &work.join("output"), SCRIPT)?;
    // Where the folder lies is not what the script says.
    let output = output.replace(&*data.to_string_lossy(), "DATA");
    let expected = script.with_extension("out");
    let expected =
        fs::read_to_string(&expected).map_err(|e| format!("read {}: {e}", expected.display()))?;
    let name = script.file_stem().unwrap_or_default().display();
    Ok(first_difference(&expected, &output)
        .map(|(line, said)| format!("{name}, line {line}: \"{said}\"")))
}

/// The number and text of the first line that differs.
fn first_difference(expected: &str, said: &str) -> Option<(usize, String)> {
    if expected == said {
        return None;
    }
    let (mut expected, mut said) = (expected.lines(), said.lines());
    for number in 1.. {
        match (expected.next(), said.next()) {
            (None, None) => return Some((number, "a line's end".to_owned())),
            (wanted, found) if wanted == found => {}
            (_, found) => return Some((number, found.unwrap_or("no more").to_owned())),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    /// The line that differs is told, also one that is missing.
    #[test]
    fn the_first_line_that_differs() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some((2, "c".to_owned())));
        assert_eq!(first_difference("a\nb\n", "a\n"), Some((2, "no more".to_owned())));
        assert_eq!(first_difference("a\n", "a"), Some((2, "a line's end".to_owned())));
    }
}
