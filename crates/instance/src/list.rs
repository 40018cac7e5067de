//! The list of databases: two files of the data folder, each replaced as a whole.
//!
//! A database exists exactly when the list names it. A change is written to `databases.list` and
//! then to `databases.list.copy`: the new text beside the old one, synced, and given its name. A
//! crash leaves each of them whole; of two, the one with the higher generation is the list.
//!
//! Invariants
//!  1. A list that is absent or damaged is not an empty one: its copy is taken, else it is made
//!     anew of the files that are there (`list_found.rs`).
//!  2. A database is listed as being made before its first file is, and as being dropped before
//!     its first file goes. So what a crash leaves of either is known to be nobody's, and the next
//!     start removes it; other files are never removed.
//!  3. As long as the folder is locked nobody else changes the list: what is in memory is it.
//!  4. Nothing is written when another folder has taken the place of the one that is locked. As
//!     files are made and removed behind a change of the list, none is in that one either.

use crate::list_text::{Entries, ListFile, parse, print};
use base::{DatabaseId, SqlError, SqlResult, messages};
use os::disk::{Disk, OpenMode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Their names in the data folder: the list, and its copy.
const NAMES: [&str; 2] = ["databases.list", "databases.list.copy"];

/// The list, in memory as in its files.
pub(crate) struct List {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    /// The folder itself, whatever is at its path later.
    folder: Option<[u64; 2]>,
    generation: u64,
    entries: Entries,
}

/// What the files of the list are worth.
pub(crate) struct Read {
    /// The list, where one of them is whole.
    pub(crate) list: Option<List>,
    /// What is wrong, a line each; nothing where the folder is new.
    pub(crate) troubles: Vec<String>,
    /// Both are to be written.
    pub(crate) stale: bool,
}

impl List {
    /// Reads both files.
    pub(crate) fn read(disk: &Arc<dyn Disk>, dir: &Path) -> Read {
        let files = NAMES.map(|name| read_file(&**disk, &dir.join(name)));
        let mut troubles = Vec::new();
        let mut generations = Vec::new();
        let mut newest: Option<ListFile> = None;
        let first_start = files.iter().all(|f| matches!(f, Ok(None)));
        let first_version = matches!(&files[0], Ok(Some(l)) if l.generation == 0);
        for (name, file) in NAMES.iter().zip(files) {
            match file {
                Ok(Some(listed)) => {
                    generations.push(listed.generation);
                    if newest.as_ref().is_none_or(|n| n.generation < listed.generation) {
                        newest = Some(listed);
                    }
                }
                Ok(None) if first_start || first_version => {}
                Ok(None) => troubles.push(format!("The file {name} is missing.")),
                Err(why) => troubles.push(format!("The file {name} is damaged: {why}.")),
            }
        }
        let stale = generations.len() < NAMES.len() || generations[0] != generations[1];
        let list = newest.map(|ListFile { generation, entries }| {
            let list = List::of(disk, dir, entries);
            List { generation, ..list }
        });
        Read { list, troubles, stale }
    }

    /// A list where there is none yet; nothing is written.
    pub(crate) fn of(disk: &Arc<dyn Disk>, dir: &Path, entries: Entries) -> List {
        let folder = disk.folder_number(dir).ok();
        List { disk: Arc::clone(disk), dir: dir.to_owned(), folder, generation: 0, entries }
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Changes the list, durably; where that fails it is as before.
    ///
    /// # Errors
    /// 5149
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Entries)) -> SqlResult<()> {
        let mut next = self.entries.clone();
        change(&mut next);
        match self.write(&next) {
            Ok(()) => {
                self.entries = next;
                Ok(())
            }
            Err(e) => {
                // One of the files may have the new list already.
                let before = self.entries.clone();
                let _ = self.write(&before);
                Err(self.not_written(&e))
            }
        }
    }

    /// Whether it may be changed: asked before a database is closed to be opened otherwise.
    ///
    /// # Errors
    /// 5149
    pub(crate) fn must_be_at_its_place(&self) -> SqlResult<()> {
        self.is_at_its_place().map_err(|e| self.not_written(&e))
    }

    fn not_written(&self, e: &io::Error) -> SqlError {
        let path = self.dir.join(NAMES[0]);
        SqlError::new(messages::EXPAND_FILE_FAILED, &[e, &path.display()])
    }

    /// Takes an entry out whose files are gone. Where that cannot be written, the files have it as
    /// one that is being made or dropped until the next change, and nobody misses it.
    pub(crate) fn forget(&mut self, id: DatabaseId) {
        self.entries.remove(&id);
        let entries = self.entries.clone();
        // The next change, or the next start, writes it.
        let _ = self.write(&entries);
    }

    /// Invariant 4.
    fn is_at_its_place(&self) -> io::Result<()> {
        match self.folder {
            Some(ours) if self.disk.folder_number(&self.dir)? != ours => {
                Err(io::Error::other("the data folder was moved, and another is at its place"))
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, entries: &Entries) -> io::Result<()> {
        self.is_at_its_place()?;
        self.generation += 1;
        let listed = ListFile { generation: self.generation, entries: entries.clone() };
        let text = print(&listed);
        NAMES.iter().try_for_each(|name| replace(&*self.disk, &self.dir, name, &text))
    }
}

fn read_file(disk: &dyn Disk, path: &Path) -> Result<Option<ListFile>, String> {
    if !disk.exists(path) {
        return Ok(None);
    }
    let read = || {
        let file = disk.open(path, OpenMode { create: false, direct: false })?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|e: io::Error| e.to_string())?;
    parse(&bytes).map(Some)
}

/// Replaces a file of the data folder, durably: a crash leaves the old one or the new one.
pub(crate) fn replace(disk: &dyn Disk, dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let next = dir.join(format!("{name}.new"));
    if disk.exists(&next) {
        disk.remove(&next)?;
    }
    let file = disk.open(&next, OpenMode { create: true, direct: false })?;
    file.write_at(text.as_bytes(), 0)?;
    file.sync()?;
    disk.rename(&next, &dir.join(name))?;
    disk.sync_dir(dir)
}
