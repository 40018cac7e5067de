//! The text of the list of databases.
//!
//! ```text
//!   ghostlight databases 2
//!   generation 7
//!   5    online    rw    Sales 2026    Sales 2026
//!   end 3FA9C1D0
//! ```
//!
//! Behind the two lines of the head stands a line for each database, parted by tabs: its number,
//! what it is to be, whether it may be written, the stem of its files' names, its name. Names are
//! written with `\\`, `\n`, `\r` and `\t` for what would end a field. The last line has the CRC-32C
//! of all that stands before it. Version 1 had neither head nor end: a number, a tab and a name a
//! line; a database's files were named by its name.

use base::DatabaseId;
use std::collections::BTreeMap;

const HEAD: &str = "ghostlight databases ";
const VERSION: u32 = 2;

/// What a database is to be when the next start finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DesiredState {
    /// Its files are being made: nobody has been told of it.
    Making,
    /// Its files are being removed: nobody is told of it any more.
    Dropping,
    /// Open.
    Online,
    /// Closed, as somebody wished.
    Offline,
    /// Open as it is, without recovery, to be read.
    Emergency,
}

const STANDINGS: [(DesiredState, &str); 5] = [
    (DesiredState::Making, "making"),
    (DesiredState::Dropping, "dropping"),
    (DesiredState::Online, "online"),
    (DesiredState::Offline, "offline"),
    (DesiredState::Emergency, "emergency"),
];

impl DesiredState {
    fn word(self) -> &'static str {
        let of = |(standing, _): &&(DesiredState, &str)| *standing == self;
        STANDINGS.iter().find(of).expect("each has its word").1
    }

    fn by_word(word: &str) -> Option<DesiredState> {
        STANDINGS.iter().find(|(_, w)| *w == word).map(|(standing, _)| *standing)
    }
}

/// A database of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// What its files' names begin with.
    pub(crate) stem: String,
    pub(crate) standing: DesiredState,
    /// Nothing is written to its files, not even by recovery where that has nothing to do.
    pub(crate) read_only: bool,
}

impl Entry {
    pub(crate) fn new(name: &str, standing: DesiredState) -> Entry {
        Entry { name: name.to_owned(), stem: database::stem(name), standing, read_only: false }
    }
}

/// The databases by number.
pub(crate) type Entries = BTreeMap<DatabaseId, Entry>;

/// A list as a file has it.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct ListFile {
    /// Which of several is the newest.
    pub(crate) generation: u64,
    pub(crate) entries: Entries,
}

pub(crate) fn print(listed: &ListFile) -> String {
    let mut text = format!("{HEAD}{VERSION}\ngeneration {}\n", listed.generation);
    for (id, entry) in &listed.entries {
        let Entry { name, stem, standing, read_only } = entry;
        let access = if *read_only { "ro" } else { "rw" };
        let (word, stem, name) = (standing.word(), escaped(stem), escaped(name));
        text.push_str(&format!("{id}\t{word}\t{access}\t{stem}\t{name}\n"));
    }
    let sum = crc32c::crc32c(text.as_bytes());
    text.push_str(&format!("end {sum:08X}\n"));
    text
}

/// What a text says, or what is wrong with it.
pub(crate) fn parse(bytes: &[u8]) -> Result<ListFile, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    match text.strip_prefix(HEAD) {
        Some(_) => parse_whole(text),
        None => parse_first_version(text),
    }
}

fn parse_whole(text: &str) -> Result<ListFile, String> {
    let end = text.rfind("end ").ok_or("its end is missing")?;
    let (before, sum) = text.split_at(end);
    if sum != format!("end {:08X}\n", crc32c::crc32c(before.as_bytes())) {
        return Err("its checksum is wrong".to_owned());
    }
    let mut lines = before.lines();
    let version = lines.next().and_then(|line| line.strip_prefix(HEAD));
    if version != Some(&*VERSION.to_string()) {
        return Err("it is of a version that this program does not read".to_owned());
    }
    let generation = lines.next().and_then(|line| line.strip_prefix("generation "));
    let generation = generation.and_then(|n| n.parse().ok()).ok_or("it has no generation")?;
    let entries: Option<Entries> = lines.map(entry).collect();
    Ok(ListFile { generation, entries: entries.ok_or("a line of it is not understood")? })
}

fn entry(line: &str) -> Option<(DatabaseId, Entry)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [id, standing, access, stem, name] = fields[..] else { return None };
    let entry = Entry {
        name: plain(name),
        stem: plain(stem),
        standing: DesiredState::by_word(standing)?,
        read_only: access == "ro",
    };
    Some((DatabaseId(id.parse().ok()?), entry))
}

/// The list of before: it had no checksum, but it always named master, model and msdb.
fn parse_first_version(text: &str) -> Result<ListFile, String> {
    let mut entries = Entries::new();
    for line in text.lines() {
        let parted = line.split_once('\t');
        let parted = parted.and_then(|(id, name)| Some((id.parse().ok()?, plain(name))));
        let (id, name) = parted.ok_or("a line of it is not understood")?;
        let stem = database::first_stem(&name);
        let entry = Entry { name, stem, standing: DesiredState::Online, read_only: false };
        entries.insert(DatabaseId(id), entry);
    }
    match [1, 3, 4].iter().all(|id| entries.contains_key(&DatabaseId(*id))) {
        true => Ok(ListFile { generation: 0, entries }),
        false => Err("it does not name the system's databases".to_owned()),
    }
}

fn escaped(name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    name.replace('\t', "\\t")
}

fn plain(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
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

    const NAMES: [&str; 7] =
        ["plain", "a\tb", "evil\n1\tmaster", "back\\nslash\\", "\r\n", "", "end "];

    fn listed() -> ListFile {
        let all = NAMES.iter().zip(STANDINGS.iter().cycle());
        let entries = all.enumerate().map(|(n, (name, (standing, _)))| {
            let entry = Entry { read_only: n % 2 == 1, ..Entry::new(name, *standing) };
            (DatabaseId(n as u16 + 5), entry)
        });
        ListFile { generation: 7, entries: entries.collect() }
    }

    #[test]
    fn a_list_is_read_as_it_was_written_whatever_names_are_in_it() {
        assert_eq!(parse(print(&listed()).as_bytes()), Ok(listed()));
    }

    /// No flipped bit and no cut gives another list, also none of the version before.
    #[test]
    fn what_is_damaged_is_no_list() {
        let whole = print(&listed()).into_bytes();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                assert!(parse(&bytes).is_err(), "bit {bit} of byte {at}");
            }
            assert!(parse(&whole[..at]).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn the_first_version_is_read() {
        let old = "1\tmaster\n3\tmodel\n4\tmsdb\n5\tSales 2026\n6\ta\\nb/c\n";
        let listed = parse(old.as_bytes()).unwrap();
        assert_eq!(listed.generation, 0);
        let of = |id| listed.entries[&DatabaseId(id)].clone();
        assert_eq!((&*of(5).name, &*of(5).stem), ("Sales 2026", "Sales 2026"));
        assert_eq!((&*of(6).name, &*of(6).stem), ("a\nb/c", "a%0Ab%2Fc"));
        for wrong in ["", "\n", "1\tmaster\n", "1\tmaster\n3\tmodel\n4\tms", "master"] {
            let cut = parse(wrong.as_bytes());
            assert!(cut.is_err() || wrong.ends_with("ms"), "{wrong:?}");
        }
    }
}
