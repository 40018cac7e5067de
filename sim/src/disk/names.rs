//! Names of files: what is seen, what is durable, and the changes between the two.
//!
//! Folders are durable when made: the engine makes one, once, before anything is promised.

use super::survive::Survival;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) type FileNo = u64;

#[derive(Clone)]
enum Change {
    Put { path: PathBuf, file: FileNo },
    Remove { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf, file: FileNo },
}

#[derive(Clone, Default)]
pub(crate) struct Names {
    seen: BTreeMap<PathBuf, FileNo>,
    durable: BTreeMap<PathBuf, FileNo>,
    changes: Vec<(u64, Change)>,
    dirs: BTreeSet<PathBuf>,
}

fn apply(names: &mut BTreeMap<PathBuf, FileNo>, change: &Change) {
    match change {
        Change::Put { path, file } => {
            names.insert(path.clone(), *file);
        }
        Change::Remove { path } => {
            names.remove(path);
        }
        // One step: the file has one name before and after, even if an earlier rename vanished.
        Change::Rename { to, file, .. } => {
            names.retain(|_, f| f != file);
            names.insert(to.clone(), *file);
        }
    }
}

impl Change {
    fn is_in(&self, dir: &Path) -> bool {
        let inside = |p: &Path| p.parent().unwrap_or(Path::new("")) == dir;
        match self {
            Change::Put { path, .. } | Change::Remove { path } => inside(path),
            Change::Rename { from, to, .. } => inside(from) || inside(to),
        }
    }

    fn file(&self) -> Option<FileNo> {
        match self {
            Change::Put { file, .. } | Change::Rename { file, .. } => Some(*file),
            Change::Remove { .. } => None,
        }
    }
}

impl Names {
    pub(crate) fn get(&self, path: &Path) -> Option<FileNo> {
        self.seen.get(path).copied()
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = FileNo> {
        self.seen.values().copied()
    }

    pub(crate) fn is_dir(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || path == Path::new("/") || self.dirs.contains(path)
    }

    pub(crate) fn add_dir(&mut self, dir: &Path) {
        for d in dir.ancestors() {
            self.dirs.insert(d.to_owned());
        }
    }

    pub(crate) fn list(&self, dir: &Path) -> Vec<PathBuf> {
        let names = self.seen.keys().chain(&self.dirs);
        let mut found: Vec<PathBuf> = names.filter(|p| p.parent() == Some(dir)).cloned().collect();
        found.sort();
        found
    }

    fn change(&mut self, number: u64, change: Change) {
        apply(&mut self.seen, &change);
        self.changes.push((number, change));
    }

    pub(crate) fn put(&mut self, number: u64, path: &Path, file: FileNo) {
        self.change(number, Change::Put { path: path.to_owned(), file });
    }

    pub(crate) fn remove(&mut self, number: u64, path: &Path) {
        self.change(number, Change::Remove { path: path.to_owned() });
    }

    pub(crate) fn rename(&mut self, number: u64, from: &Path, to: &Path, file: FileNo) {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.change(number, Change::Rename { from, to, file });
    }

    pub(crate) fn sync(&mut self, dir: &Path) {
        let durable = &mut self.durable;
        self.changes.retain(|(_, change)| {
            let settled = change.is_in(dir);
            if settled {
                apply(durable, change);
            }
            !settled
        });
    }

    /// Whether a file can still be reached, now or after a crash.
    pub(crate) fn reach(&self, file: FileNo) -> bool {
        self.seen.values().any(|&f| f == file)
            || self.durable.values().any(|&f| f == file)
            || self.changes.iter().any(|(_, c)| c.file() == Some(file))
    }

    pub(crate) fn after_crash(&self, survival: &mut Survival) -> Names {
        let numbers: Vec<u64> = self.changes.iter().map(|&(n, _)| n).collect();
        let mut durable = self.durable.clone();
        for ((_, change), kept) in self.changes.iter().zip(survival.names(&numbers)) {
            if kept {
                apply(&mut durable, change);
            }
        }
        Names { seen: durable.clone(), durable, changes: Vec::new(), dirs: self.dirs.clone() }
    }
}
