//! Folders that earlier builds made: this build opens each, reads every row, changes rows, closes
//! and opens it once more, and CHECKDB finds nothing.
//!
//! `tests/formats/DATE` holds what the build of that day left: `clean` was closed, `killed` was
//! ended by SIGKILL with changes behind its last checkpoint, open transactions, an open snapshot.
//! `check.sql` must say of each exactly what the build that made it said (`NAME.out`).

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "folders and processes of the real system")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("formats-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn formats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats")
}

/// Every archive of every date, sorted.
fn archives() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for date in std::fs::read_dir(formats()).unwrap() {
        let date = date.unwrap().path();
        if !date.is_dir() {
            continue;
        }
        let files = std::fs::read_dir(date).unwrap().map(|file| file.unwrap().path());
        found.extend(files.filter(|path| path.to_string_lossy().ends_with(".tar.gz")));
    }
    found.sort();
    found
}

fn sql(data: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghostlight"));
    command.args(["sql", "-W", "-s", "|", "--data"]).arg(data).args(arguments);
    let Output { stdout, stderr, .. } = command.output().unwrap();
    String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr)
}

fn opens(archive: &Path) {
    let name = archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap();
    let scratch = Scratch::new(name);
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(&scratch.0);
    assert!(tar.status().unwrap().success(), "{}", archive.display());
    let check = formats().join("check.sql");
    let said = sql(&scratch.0, &["-i", check.to_str().unwrap()]);
    let expected = std::fs::read_to_string(archive.with_file_name(format!("{name}.out"))).unwrap();
    assert_eq!(said, expected, "{}", archive.display());
    for database in ["master", "msdb", "kept", "versions", "options"] {
        let query = format!("DBCC CHECKDB ({database}) WITH NO_INFOMSGS");
        assert_eq!(sql(&scratch.0, &["-Q", &query]), "", "{}: {database}", archive.display());
    }
}

/// Each folder of `tests/formats` opens, with every row in its place.
#[test]
fn folders_of_earlier_builds_open() {
    let archives = archives();
    assert!(archives.len() >= 2, "there are folders of earlier builds");
    archives.iter().for_each(|archive| opens(archive));
}
