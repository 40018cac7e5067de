//! The list of databases: a file of the data folder, replaced as a whole.
//!
//! A database exists exactly when its line stands here. One line each: number, tab, name (with
//! `\\`, `\n` and `\r` for what would end a line). The
//! new list is written beside the old one, synced, and given its name; a crash leaves one of them.

use base::DatabaseId;
use os::disk::{Disk, OpenHow};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Its name in the data folder.
pub(crate) const NAME: &str = "databases.list";

fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Reads the list; empty when there is none yet.
pub(crate) fn read(disk: &dyn Disk, dir: &Path) -> io::Result<BTreeMap<DatabaseId, String>> {
    if !disk.exists(&path(dir)) {
        return Ok(BTreeMap::new());
    }
    let file = disk.open(&path(dir), OpenHow { create: false, direct: false })?;
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
    file.read_at(&mut bytes, 0)?;
    let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let (number, name) = line.split_once('\t').ok_or(io::ErrorKind::InvalidData)?;
        let number = number.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        found.insert(DatabaseId(number), plain(name));
    }
    Ok(found)
}

/// Replaces the list, durably.
pub(crate) fn write(
    disk: &dyn Disk,
    dir: &Path,
    list: &BTreeMap<DatabaseId, String>,
) -> io::Result<()> {
    let text: String = list.iter().map(|(id, name)| format!("{id}\t{}\n", escaped(name))).collect();
    replace(disk, dir, NAME, &text)
}

/// Replaces a file of the data folder, durably: a crash leaves the old one or the new one.
pub(crate) fn replace(disk: &dyn Disk, dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let next = dir.join(format!("{name}.new"));
    if disk.exists(&next) {
        disk.remove(&next)?;
    }
    let file = disk.open(&next, OpenHow { create: true, direct: false })?;
    file.write_at(text.as_bytes(), 0)?;
    file.sync()?;
    disk.rename(&next, &dir.join(name))?;
    disk.sync_dir(dir)
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn plain(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                other => out.extend(other),
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_whatever_is_in_it() {
        for name in ["plain", "a\tb", "evil\n1\tmaster", "back\\nslash\\", "\r\n", ""] {
            let written = escaped(name);
            assert!(!written.contains(['\n', '\r']), "{written:?}");
            assert_eq!(plain(&written), name);
        }
    }
}
