//! What the files of the data folder say of databases: where the list is lost, which there are;
//! where it is not, which files no database of it has.

use crate::list_text::{DesiredState, Entries, Entry};
use crate::start::{SYSTEM, TEMPDB};
use base::DatabaseId;
use database::{Files, Identity, identity_of, name_of_stem};
use os::disk::Disk;
use std::path::{Path, PathBuf};

/// A data file of the folder.
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    stem: String,
}

/// The data files of the folder, but tempdb's.
pub(crate) fn data_files(disk: &dyn Disk, dir: &Path) -> Vec<FoundFile> {
    let all = disk.list(dir).unwrap_or_default();
    let data = |path: PathBuf| {
        let stem = path.file_name()?.to_str()?.strip_suffix(".mdf")?.to_owned();
        (stem != "tempdb").then_some(FoundFile { path, stem })
    };
    all.into_iter().filter_map(data).collect()
}

/// Those of them that no database of the list has.
pub(crate) fn unlisted(disk: &dyn Disk, dir: &Path, entries: &Entries) -> Vec<PathBuf> {
    let is_listed = |found: &FoundFile| entries.values().any(|entry| entry.stem == found.stem);
    let all = data_files(disk, dir).into_iter();
    all.filter(|found| !is_listed(found)).map(|found| found.path).collect()
}

/// A list of all that is there. A database has the number and name that its boot page says, where
/// that can be read and nobody else has them; else a free number, and the name of its file.
pub(crate) fn rebuilt(disk: &dyn Disk, dir: &Path) -> Entries {
    let mut entries = Entries::new();
    let mut later = Vec::new();
    for FoundFile { stem, .. } in data_files(disk, dir) {
        let said = identity_of(disk, &Files::named(dir, &stem));
        let named = name_of_stem(&stem);
        let name = said.as_ref().map_or(named, |said| said.name.clone());
        let entry = Entry { name, stem, standing: DesiredState::Online, read_only: false };
        match number(&entry.name, said.as_ref()) {
            Some(id) if !entries.contains_key(&id) => drop(entries.insert(id, entry)),
            _ => later.push(entry),
        }
    }
    for mut entry in later {
        if entries.values().any(|other| crate::instance::same_name(&other.name, &entry.name)) {
            entry.name = entry.stem.clone();
        }
        let free = (5..u16::MAX).map(DatabaseId).find(|id| !entries.contains_key(id));
        entries.insert(free.expect("a folder has fewer files"), entry);
    }
    entries
}

fn number(name: &str, said: Option<&Identity>) -> Option<DatabaseId> {
    let system = SYSTEM.iter().find(|(_, n)| crate::instance::same_name(n, name));
    let said = said.map(|said| said.id).filter(|id| id.0 > 4 && *id != TEMPDB);
    system.map(|(id, _)| *id).or(said)
}
