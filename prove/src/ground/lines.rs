//! Lines that a run reached: LLVM's own tools over the profiles of an instrumented build.
//!
//! The tools must be of rustc's LLVM version, since the profile's format is LLVM's own. They are
//! looked for in the folder that GHOSTLIGHT_LLVM names, in rustc's own folder (its llvm-tools
//! component), and on the path with and without the version behind the name.

use checks::Outcome;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines with code, and those that were executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) covered: u64,
    pub(crate) all: u64,
}

impl Lines {
    pub(crate) fn percent(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.covered as f64 * 100.0 / self.all as f64 }
    }
}

/// llvm-profdata and llvm-cov.
pub struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

#[derive(Deserialize)]
struct Export {
    data: Vec<ExportPart>,
}

#[derive(Deserialize)]
struct ExportPart {
    files: Vec<ExportFile>,
}

#[derive(Deserialize)]
struct ExportFile {
    filename: String,
    summary: ExportSummary,
}

#[derive(Deserialize)]
struct ExportSummary {
    lines: ExportLines,
}

#[derive(Deserialize)]
struct ExportLines {
    count: u64,
    covered: u64,
}

fn output(command: &mut Command) -> Option<String> {
    let finished = command.output().ok().filter(|finished| finished.status.success())?;
    Some(String::from_utf8_lossy(&finished.stdout).into_owned())
}

/// The number behind "LLVM version".
fn version(text: &str) -> Option<u32> {
    let after = text.split("LLVM version").nth(1)?;
    after.trim_start_matches([':', ' ']).split('.').next()?.trim().parse().ok()
}

impl Tools {
    /// The tools of rustc's version.
    ///
    /// # Errors
    /// They are nowhere.
    pub fn find() -> Outcome<Tools> {
        let rustc = output(Command::new("rustc").arg("-vV")).ok_or("rustc does not answer")?;
        let wanted = version(&rustc).ok_or("rustc does not say its LLVM version")?;
        let own = output(Command::new("rustc").args(["--print", "target-libdir"]));
        let own = own.and_then(|text| Some(Path::new(text.trim()).parent()?.join("bin")));
        let given = std::env::var_os("GHOSTLIGHT_LLVM").map(PathBuf::from);
        let find = |name: &str| {
            let within = [given.as_ref(), own.as_ref()].into_iter().flatten().map(|f| f.join(name));
            let named = [format!("{name}-{wanted}"), name.to_owned()].map(PathBuf::from);
            within.chain(named).find(|path| {
                let said = output(Command::new(path).arg("--version"));
                said.and_then(|text| version(&text)) == Some(wanted)
            })
        };
        match (find("llvm-profdata"), find("llvm-cov")) {
            (Some(profdata), Some(cov)) => Ok(Tools { profdata, cov }),
            _ => Err(format!(
                "no llvm-profdata and llvm-cov of version {wanted}: install llvm-{wanted} or \
                 rustup's llvm-tools, or name their folder in GHOSTLIGHT_LLVM"
            )),
        }
    }

    /// Adds profiles up.
    ///
    /// # Errors
    /// The tool fails.
    pub fn merge(&self, profiles: &[PathBuf], into: &Path) -> Outcome<()> {
        let mut command = Command::new(&self.profdata);
        command.args(["merge", "--sparse"]).args(profiles).arg("-o").arg(into);
        output(&mut command).map(|_| ()).ok_or_else(|| format!("merge {}", into.display()))
    }

    /// The lines of a crate that a program reached.
    pub(crate) fn lines(&self, program: &Path, profile: &Path, name: &str) -> Outcome<Lines> {
        let mut command = Command::new(&self.cov);
        command.args(["export", "--summary-only"]).arg(program);
        command.arg(format!("--instr-profile={}", profile.display()));
        let text = output(&mut command).ok_or("llvm-cov does not export")?;
        sum(&text, name)
    }
}

fn sum(export: &str, name: &str) -> Outcome<Lines> {
    let export: Export =
        serde_json::from_str(export).map_err(|e| format!("read llvm-cov's export: {e}"))?;
    let sources = format!("crates/{name}/src/");
    let mut lines = Lines::default();
    for file in export.data.iter().flat_map(|part| &part.files) {
        if file.filename.contains(&sources) {
            lines.covered += file.summary.lines.covered;
            lines.all += file.summary.lines.count;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways in which LLVM's programs and rustc say their version.
    #[test]
    fn versions_are_read() {
        assert_eq!(version("host: x\nLLVM version: 22.1.2\n"), Some(22));
        assert_eq!(version("Debian LLVM version 14.0.6\n"), Some(14));
        assert_eq!(version("rustc 1.95.0"), None);
    }

    /// Only the crate's own sources are counted.
    #[test]
    fn files_of_the_crate_are_added_up() {
        let file = |name: &str, count, covered| {
            format!(
                r#"{{"filename":"{name}","summary":{{"lines":{{"count":{count},"covered":{covered}}}}}}}"#
            )
        };
        let files = [
            file("/r/crates/wal/src/a.rs", 10, 9),
            file("/r/crates/wal/src/b.rs", 10, 7),
            file("/r/crates/page/src/a.rs", 10, 0),
        ];
        let export = format!(r#"{{"data":[{{"files":[{}]}}]}}"#, files.join(","));
        assert_eq!(sum(&export, "wal"), Ok(Lines { covered: 16, all: 20 }));
        assert_eq!(sum(&export, "tds"), Ok(Lines::default()));
        assert!(sum("no json", "wal").is_err());
    }
}
