//! 1.13: folders that earlier builds made open, say what they said then, and are sound afterwards.

use crate::ground::figure::Figure;
use crate::ground::program::{Ground, empty, finish};
use checks::{Outcome, process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const OPENS: Duration = Duration::from_secs(300);

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let formats = ground.workspace.root.join("tests/formats");
    archives(&formats)?.iter().map(|archive| opened(ground, &formats, archive)).collect()
}

/// Every archive of every date.
fn archives(formats: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for date in listed(formats)?.into_iter().filter(|path| path.is_dir()) {
        let is_archive = |path: &PathBuf| path.to_string_lossy().ends_with(".tar.gz");
        found.extend(listed(&date)?.into_iter().filter(is_archive));
    }
    found.sort();
    Ok(found)
}

fn listed(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let told = |e: std::io::Error| format!("read {}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(told)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(told)).collect()
}

/// Unpacks a folder, opens it, reads and changes it as `check.sql` says.
fn opened(ground: &Ground<'_>, formats: &Path, archive: &Path) -> Outcome<Figure> {
    let work = ground.folder("truth.1.13")?;
    let data = work.join("data");
    empty(&data)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(&data);
    if !process::succeeds(tar)? {
        return Err(format!("{} cannot be unpacked", archive.display()));
    }
    let mut command = Command::new(ground.binary()?);
    command.args(["sql", "-W", "-s", "|", "--data"]).arg(&data);
    command.arg("-i").arg(formats.join("check.sql"));
    let said = finish(command, &work.join("output"), OPENS)?.output;
    let name = archive.to_string_lossy().replace(".tar.gz", ".out");
    let expected = fs::read_to_string(&name).map_err(|e| format!("read {name}: {e}"))?;
    let differing = expected.lines().zip(said.lines()).filter(|(was, is)| was != is).count();
    let lines = expected.lines().count();
    Ok(Figure {
        what: format!("{} opens and is used on", named(formats, archive)),
        figure: format!("{} of {lines} lines as then", lines.saturating_sub(differing)),
        limit: "all".to_owned(),
        pass: said == expected,
    })
}

/// An archive as it lies below tests/formats.
fn named(formats: &Path, archive: &Path) -> String {
    archive.strip_prefix(formats).unwrap_or(archive).display().to_string()
}
