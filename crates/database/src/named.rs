//! Names of databases and of their files.
//!
//! A database may have any name, but no file name leads out of its folder, and no two databases
//! share a file. A character that is neither a letter nor a digit nor harmless is written as `%`
//! and the number of each byte. A name that is too long for a file is cut, followed by `~` and a
//! checksum of the whole name.

use base::DatabaseId;
use base::limits::PAGE_BYTES;
use os::disk::{Disk, OpenMode};
use os::vm::AlignedBuffer;
use page::{PageBytes, PageKind, PageView, verify};
use std::path::{Path, PathBuf};

/// The most bytes of a stem. A file name has at most 255 bytes; the longest suffix is that of a
/// log.
const STEM_BYTES_MAX: usize = 220;
const LONG_STEM_BYTES: usize = 200;
/// The part of a page that is written as a whole or not at all.
const SECTOR: usize = 512;

/// The files of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// `NAME.mdf`
    pub data: PathBuf,
    /// `NAME_log.ldf`
    pub log: PathBuf,
}

impl Files {
    /// The files of a new database in a folder.
    pub fn of(dir: &Path, name: &str) -> Files {
        Files::named(dir, &stem(name))
    }

    /// The files with a stem.
    pub fn named(dir: &Path, stem: &str) -> Files {
        Files { data: dir.join(format!("{stem}.mdf")), log: dir.join(format!("{stem}_log.ldf")) }
    }
}

fn is_plain(at: usize, c: char) -> bool {
    c.is_alphanumeric() || "_-$#@() ".contains(c) || (c == '.' && at > 0)
}

/// The stem of a new database's files.
pub fn stem(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.chars().enumerate() {
        match is_plain(at, c) {
            true => out.push(c),
            false => {
                let mut bytes = [0; 4];
                let bytes = c.encode_utf8(&mut bytes).bytes();
                out.extend(bytes.map(|b| format!("%{b:02X}")));
            }
        }
    }
    if out.len() > STEM_BYTES_MAX {
        out.truncate(out.floor_char_boundary(LONG_STEM_BYTES));
        out.push_str(&format!("~{:08X}", crc32c::crc32c(name.as_bytes())));
    }
    out
}

/// The stem in folders whose list of databases has version 1.
pub fn first_stem(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.chars().enumerate() {
        match is_plain(at, c) {
            true => out.push(c),
            false => out.push_str(&format!("%{:02X}", u32::from(c))),
        }
    }
    out
}

/// The name of the database with these files, as far as they show it.
pub fn name_of_stem(stem: &str) -> String {
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.as_bytes();
    while let [first, after @ ..] = rest {
        let number = (*first == b'%').then(|| after.get(..2)).flatten();
        let number = number.and_then(|n| std::str::from_utf8(n).ok());
        match number.and_then(|n| u8::from_str_radix(n, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| stem.to_owned())
}

/// The number and name of a database, from its boot page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number when it was made.
    pub id: DatabaseId,
    /// Its name.
    pub name: String,
}

/// The identity of a data file's database, before it is opened; `None` if it cannot be read, or if
/// an earlier version of this program made it.
pub fn identity_of(disk: &dyn Disk, files: &Files) -> Option<Identity> {
    let file = disk.open(&files.data, OpenMode { create: false, direct: true }).ok()?;
    let mut buffer = AlignedBuffer::new(PAGE_BYTES);
    let boot = space::boot_page();
    let at = u64::from(boot.page) * PAGE_BYTES as u64;
    file.read_at(&mut buffer, at).ok()?;
    let page: &PageBytes = buffer[..PAGE_BYTES].try_into().ok()?;
    verify(page, boot).then(|| crate::boot::identity(PageView(page)))?
}

/// Whether a path is free, or the file there begins like a data file of this program, or is empty:
/// files of tempdb, which a start removes.
pub fn is_left_of_us(disk: &dyn Disk, path: &Path) -> bool {
    let how = OpenMode { create: false, direct: true };
    let Ok(file) = disk.open(path, how) else { return !disk.exists(path) };
    let mut first = AlignedBuffer::new(PAGE_BYTES);
    if file.read_at(&mut first, 0).is_err() {
        return file.len().is_ok_and(|bytes| bytes == 0);
    }
    let page: &PageBytes = first[..PAGE_BYTES].try_into().expect("the buffer is a page");
    let not_begun = page[..SECTOR].iter().all(|byte| *byte == 0);
    not_begun || PageView(page).kind() == Some(PageKind::FileHeader)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [(&str, &str); 7] = [
        ("Sales 2026", "Sales 2026"),
        ("my.db", "my.db"),
        ("../../etc/x", "%2E.%2F..%2Fetc%2Fx"),
        ("/etc/x", "%2Fetc%2Fx"),
        ("a\\b\0c\nd%2F~", "a%5Cb%00c%0Ad%252F%7E"),
        ("Größe", "Größe"),
        ("\u{1F600}", "%F0%9F%98%80"),
    ];

    #[test]
    fn no_name_leads_out_of_its_folder() {
        let dir = Path::new("/data");
        for (name, stem) in NAMES {
            assert_eq!(Files::of(dir, name).data, dir.join(format!("{stem}.mdf")));
            assert_eq!(Files::of(dir, name).log.parent(), Some(dir));
            assert_eq!(name_of_stem(stem), name);
        }
    }

    /// The longest names, of the longest characters, and names that differ only in their last
    /// character, all have different files. A character is not taken for two.
    #[test]
    fn every_name_has_files_of_its_own() {
        let long = |last: &str| "\u{1F600}".repeat(63) + last;
        let wide = |last: &str| "Ж".repeat(127) + last;
        let names = [
            long("x"),
            long("y"),
            wide("x"),
            wide("y"),
            "\u{1F}600".into(),
            "\u{1F600}".into(),
            "a%".into(),
            "a%25".into(),
            "a".into(),
            "a.".into(),
            "a ".into(),
            "a_log".into(),
        ];
        let stems: std::collections::BTreeSet<String> = names.iter().map(|n| stem(n)).collect();
        assert_eq!(stems.len(), names.len());
        assert!(stems.iter().all(|stem| stem.len() + "_log.ldf".len() <= 255));
    }
}
