//! The workspace as files: where its root is, what lies in it, and how a violation is spelled.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What every command answers: did all hold, or could it not even look.
pub type Outcome<T> = Result<T, String>;

/// The root folder; all paths that are printed are relative to it.
pub struct Workspace {
    /// The folder that layers.toml lies in.
    pub root: PathBuf,
}

/// One broken rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) text: String,
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, rule: &'static str, text: String) -> Self {
        Violation { path: path.to_owned(), line, rule, text }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.text)
    }
}

/// Prints the violations in order of place, then `passed` where there are none.
pub(crate) fn report(mut violations: Vec<Violation>, passed: &str) -> bool {
    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() {
        println!("{passed}");
    } else {
        println!("{} violations", violations.len());
    }
    violations.is_empty()
}

impl Workspace {
    /// The folder above this crate's own manifest.
    ///
    /// # Errors
    /// It is no checkout any more.
    pub fn open() -> Outcome<Workspace> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().ok_or("checks has no folder above it")?;
        if !root.join("layers.toml").is_file() {
            return Err(format!("no layers.toml in {}: run from the checkout", root.display()));
        }
        Ok(Workspace { root: root.to_owned() })
    }

    /// Cargo's output folder: the one that this program itself was built into.
    pub fn target(&self) -> PathBuf {
        let own = env::current_exe().unwrap_or_default();
        let folder = own.parent().and_then(Path::parent);
        folder.map_or_else(|| self.root.join("target"), Path::to_owned)
    }

    /// The text of a file named from the root.
    ///
    /// # Errors
    /// It is not there, or no text.
    pub fn read(&self, path: &str) -> Outcome<String> {
        fs::read_to_string(self.root.join(path)).map_err(|e| format!("read {path}: {e}"))
    }

    /// Whether a file or folder is there, named from the root.
    pub fn holds(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// All files whose name ends with `suffix`, sorted, without build output and hidden folders.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn files(&self, suffix: &str) -> Outcome<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let shown = folder.display().to_string();
            let entries = fs::read_dir(self.root.join(&folder))
                .map_err(|e| format!("list folder {shown}: {e}"))?;
            for entry in entries {
                let entry = entry.map_err(|e| format!("list folder {shown}: {e}"))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let kind = entry.file_type().map_err(|e| format!("look at {name}: {e}"))?;
                if name.starts_with('.') || name == "target" || name == "node_modules" {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(folder.join(&name));
                } else if kind.is_file() && name.ends_with(suffix) {
                    found.push(folder.join(&name).display().to_string());
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The crate that a path belongs to: `crates/NAME/...` or `NAME/...` at the root.
pub(crate) fn crate_of(path: &str) -> &str {
    let inner = path.strip_prefix("crates/").unwrap_or(path);
    inner.split('/').next().unwrap_or(inner)
}
