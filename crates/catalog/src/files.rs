//! What is set of files: logical names, how they grow and how far. Facts in `sysfacts`.
//!
//! | fact | of |
//! |---|---|
//! | `FILE_n` | file n of the database itself |
//! | `TEMPDB_FILE_n` | file n of tempdb; in master, as tempdb is made anew at each start |
//!
//! Its value is `most growth start name`: bytes, or `-` for none; growth ends in `%` where it is a
//! share of the size. One row, so that a crash leaves all of it or what was before. A file without
//! a fact is as the instance makes them.

use base::FileId;
use std::collections::BTreeMap;

const OWN: &str = "FILE_";
const TEMPDB: &str = "TEMPDB_FILE_";

/// FILEGROWTH
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileGrowth {
    /// By so many bytes; 0 does not grow.
    Bytes(u64),
    /// By a share of its size.
    Percent(u32),
}

/// What is set of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSetting {
    /// Its logical name.
    pub name: Box<str>,
    /// MAXSIZE; `None` is UNLIMITED.
    pub bytes_max: Option<u64>,
    /// FILEGROWTH
    pub growth: FileGrowth,
    /// The size that tempdb's file has at each start, where one was given.
    pub bytes_at_start: Option<u64>,
}

/// Whose files they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileOwner {
    /// The database whose system table it is.
    Itself,
    /// tempdb.
    Tempdb,
}

/// What is set of a database's files, and in master of tempdb's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings(BTreeMap<(FileOwner, u16), FileSetting>);

fn or_none(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "-".to_owned(), |n| n.to_string())
}

fn read_or_none(text: &str) -> Option<Option<u64>> {
    match text {
        "-" => Some(None),
        n => n.parse().ok().map(Some),
    }
}

impl FileSetting {
    /// Its name and value in `sysfacts`.
    pub(crate) fn fact(&self, owner: FileOwner, file: FileId) -> (String, String) {
        let prefix = match owner {
            FileOwner::Itself => OWN,
            FileOwner::Tempdb => TEMPDB,
        };
        let growth = match self.growth {
            FileGrowth::Bytes(n) => n.to_string(),
            FileGrowth::Percent(n) => format!("{n}%"),
        };
        let (most, start) = (or_none(self.bytes_max), or_none(self.bytes_at_start));
        (format!("{prefix}{}", file.0), format!("{most} {growth} {start} {}", self.name))
    }

    fn read(text: &str) -> Option<FileSetting> {
        let mut parts = text.splitn(4, ' ');
        let bytes_max = read_or_none(parts.next()?)?;
        let growth = parts.next()?;
        let growth = match growth.strip_suffix('%') {
            Some(percent) => FileGrowth::Percent(percent.parse().ok()?),
            None => FileGrowth::Bytes(growth.parse().ok()?),
        };
        let bytes_at_start = read_or_none(parts.next()?)?;
        Some(FileSetting { name: parts.next()?.into(), bytes_max, growth, bytes_at_start })
    }
}

impl FileSettings {
    /// Of a file, where anything was set.
    pub fn of(&self, owner: FileOwner, file: FileId) -> Option<&FileSetting> {
        self.0.get(&(owner, file.0))
    }

    /// Takes a fact that is one of a file; whether it is, `None` when it makes no sense.
    pub(crate) fn read_fact(&mut self, name: &str, value: &str) -> Option<bool> {
        let (owner, number) = match (name.strip_prefix(OWN), name.strip_prefix(TEMPDB)) {
            (Some(number), _) => (FileOwner::Itself, number),
            (_, Some(number)) => (FileOwner::Tempdb, number),
            (None, None) => return Some(false),
        };
        self.0.insert((owner, number.parse().ok()?), FileSetting::read(value)?);
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name may have anything in it, and all that is set comes back.
    #[test]
    fn what_is_set_is_read_as_it_was_written() {
        let mut read = FileSettings::default();
        let set = |name: &str, bytes_max, growth, bytes_at_start| FileSetting {
            name: name.into(),
            bytes_max,
            growth,
            bytes_at_start,
        };
        let all = [
            (FileOwner::Itself, 1, set("a b\n- 5% c ", Some(1 << 40), FileGrowth::Bytes(0), None)),
            (FileOwner::Itself, 2, set("", None, FileGrowth::Percent(10), None)),
            (FileOwner::Tempdb, 1, set("tempdev", None, FileGrowth::Bytes(65_536), Some(8 << 20))),
        ];
        for (owner, file, setting) in &all {
            let (name, value) = setting.fact(*owner, FileId(*file));
            assert_eq!(read.read_fact(&name, &value), Some(true), "{name} {value}");
        }
        for (owner, file, setting) in &all {
            assert_eq!(read.of(*owner, FileId(*file)), Some(setting));
        }
        assert_eq!(read.of(FileOwner::Tempdb, FileId(2)), None);
        assert_eq!(read.read_fact("RECOVERY", "FULL"), Some(false));
        for nonsense in ["", "1 2 3", "x 2 - n", "1 2x - n", "1 -1% - n"] {
            assert_eq!(read.read_fact("FILE_1", nonsense), None, "{nonsense}");
        }
    }
}
