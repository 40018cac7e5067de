//! What sp_configure has configured: a file of the data folder, replaced as a whole like the list
//! of databases. One line each: the option's id, tab, its value.

use crate::list::replace;
use os::disk::{Disk, OpenMode};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Its name in the data folder.
pub(crate) const NAME: &str = "configuration.list";

/// Reads it; empty when nothing was configured yet.
pub(crate) fn read(disk: &dyn Disk, dir: &Path) -> io::Result<BTreeMap<i32, i32>> {
    let path = dir.join(NAME);
    if !disk.exists(&path) {
        return Ok(BTreeMap::new());
    }
    let file = disk.open(&path, OpenMode { create: false, direct: false })?;
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
    file.read_at(&mut bytes, 0)?;
    let wrong = || {
        let what = format!("{NAME} is damaged; without it options have their defaults");
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let pair = |line: &str| {
        let (id, value) = line.split_once('\t')?;
        Some((id.parse().ok()?, value.parse().ok()?))
    };
    text.lines().map(|line| pair(line).ok_or_else(wrong)).collect()
}

/// Replaces it, durably.
pub(crate) fn write(
    disk: &dyn Disk,
    dir: &Path,
    configured: &BTreeMap<i32, i32>,
) -> io::Result<()> {
    let text: String = configured.iter().map(|(id, value)| format!("{id}\t{value}\n")).collect();
    replace(disk, dir, NAME, &text)
}
