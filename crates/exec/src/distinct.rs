//! The values that a DISTINCT aggregate has taken in, of all groups at hand.
//!
//! A value is known by its group's number and its sort key; a short pair of these is kept as a
//! number, a longer one as bytes. When the grant is exceeded no further value is admitted: those
//! in memory are still recognised, others go to files by their hash, which are gone through one
//! after the other when all rows have been seen.
//!
//! Invariant 1: a value is either in memory or in the file of its hash, so each is taken in once.

use crate::codec::{self, Decoder};
use crate::partitions::{Files, LEVEL_MAX};
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher as _;
use types::{Collation, Value, append_sort_key};

/// Values of a call.
pub(crate) struct DistinctSet {
    collation: Collation,
    /// Keys of at most eight bytes. No key begins another one, so zeros behind them are harmless.
    short: HashTable<u64>,
    long: HashTable<Long>,
    /// The bytes of longer keys.
    bytes: Vec<u8>,
    memory_bytes: usize,
    level: u32,
    files: Option<Box<Files>>,
    key: Vec<u8>,
}

/// A key of more than eight bytes.
#[derive(Clone, Copy)]
struct Long {
    hash: u64,
    at: usize,
    len: u32,
}

/// A file whose values are still to be gone through, and the level of its set.
struct Job(u32, Box<dyn SpillFile>);

fn hash_number(n: u64) -> u64 {
    FixedState::default().hash_one(n)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    FixedState::default().hash_one(bytes)
}

/// Memory of a table's growth beyond what it has; none while there is room.
fn growth_bytes<T>(table: &HashTable<T>) -> usize {
    if table.len() < table.capacity() {
        return 0;
    }
    // Twice as many places, an eighth of them left empty, each with a byte that controls it.
    (table.capacity().max(14) * 8 / 7) * (size_of::<T>() + 1)
}

impl DistinctSet {
    pub(crate) fn new(collation: Collation) -> DistinctSet {
        DistinctSet {
            collation,
            short: HashTable::new(),
            long: HashTable::new(),
            bytes: Vec::new(),
            memory_bytes: 0,
            level: 0,
            files: None,
            key: Vec::new(),
        }
    }

    /// Whether a value is to be taken in now: it has not been seen in its group, and there was
    /// memory to remember it. Others are remembered on disk.
    pub(crate) fn insert(
        &mut self,
        run: &mut Run<'_>,
        group: u32,
        value: &Value,
    ) -> SqlResult<bool> {
        self.key.clear();
        append_sort_key(&Value::Int(group as i32), self.collation, usize::MAX, &mut self.key);
        append_sort_key(value, self.collation, usize::MAX, &mut self.key);
        let (hash, new) = if self.key.len() <= size_of::<u64>() {
            self.insert_short(run)
        } else {
            self.insert_long(run)
        };
        if new.is_none() {
            self.put_aside(run, hash, group, value)?;
        }
        Ok(new == Some(true))
    }

    /// Memory for more; none once values have gone to files.
    fn grow(&mut self, run: &mut Run<'_>, bytes: usize) -> bool {
        if bytes == 0 {
            return self.files.is_none();
        }
        if self.files.is_some() || !run.take_memory(bytes, self.memory_bytes) {
            if self.files.is_some() || self.level < LEVEL_MAX {
                return false;
            }
            run.overdraw_memory(bytes);
        }
        self.memory_bytes += bytes;
        true
    }

    /// The hash, and whether the key is new; `None` when it is and there is no memory for it.
    fn insert_short(&mut self, run: &mut Run<'_>) -> (u64, Option<bool>) {
        let mut bytes = [0; 8];
        bytes[..self.key.len()].copy_from_slice(&self.key);
        let number = u64::from_le_bytes(bytes);
        let hash = hash_number(number);
        if self.short.find(hash, |&n| n == number).is_some() {
            return (hash, Some(false));
        }
        if !self.grow(run, growth_bytes(&self.short)) {
            return (hash, None);
        }
        self.short.insert_unique(hash, number, |&n| hash_number(n));
        (hash, Some(true))
    }

    fn insert_long(&mut self, run: &mut Run<'_>) -> (u64, Option<bool>) {
        let hash = hash_bytes(&self.key);
        let DistinctSet { long, bytes, key, .. } = &*self;
        let same = |l: &Long| l.hash == hash && bytes[l.at..l.at + l.len as usize] == key[..];
        if long.find(hash, same).is_some() {
            return (hash, Some(false));
        }
        let room = bytes.capacity() - bytes.len();
        let more = if room < key.len() { bytes.capacity().max(key.len()).max(256) } else { 0 };
        let growth = growth_bytes(long) + more;
        if !self.grow(run, growth) {
            return (hash, None);
        }
        self.bytes.reserve_exact(if more > 0 { room + more } else { 0 });
        let place = Long { hash, at: self.bytes.len(), len: self.key.len() as u32 };
        self.bytes.extend_from_slice(&self.key);
        let entry = self.long.entry(hash, |_| false, |l| l.hash);
        if let Entry::Vacant(vacant) = entry {
            vacant.insert(place);
        }
        (hash, Some(true))
    }

    fn put_aside(
        &mut self,
        run: &mut Run<'_>,
        hash: u64,
        group: u32,
        value: &Value,
    ) -> SqlResult<()> {
        let files = self.files.get_or_insert_with(Box::default);
        let file = &mut files[((hash >> (60 - 4 * self.level.min(LEVEL_MAX))) & 15) as usize];
        if file.is_none() {
            *file = Some(run.spill.create()?);
        }
        let file = file.as_mut().expect("it was made above");
        self.key.clear();
        self.key.extend_from_slice(&group.to_le_bytes());
        codec::encode(value, &mut self.key);
        file.append(&self.key)
    }

    /// All rows have been seen: hands what was put aside to `take`, each value of a group once,
    /// and forgets everything. `spilled` counts the bytes of the files.
    pub(crate) fn settle(
        &mut self,
        run: &mut Run<'_>,
        spilled: &mut u64,
        mut take: impl FnMut(u32, &Value) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut jobs = Vec::new();
        self.collect_files(&mut jobs, spilled)?;
        let mut bytes = Vec::new();
        while let Some(Job(level, mut file)) = jobs.pop() {
            self.forget_keys();
            self.level = level;
            while file.read(&mut bytes)? {
                run.tick()?;
                let (group, rest) = bytes.split_first_chunk().expect("a group's number");
                let value = Decoder(rest).value()?;
                let group = u32::from_le_bytes(*group);
                if self.insert(run, group, &value)? {
                    take(group, &value)?;
                }
            }
            self.collect_files(&mut jobs, spilled)?;
        }
        self.clear(run);
        Ok(())
    }

    fn collect_files(&mut self, jobs: &mut Vec<Job>, spilled: &mut u64) -> SqlResult<()> {
        let level = self.level + 1;
        for mut file in self.files.take().into_iter().flat_map(|files| files.into_iter().flatten())
        {
            *spilled += file.bytes();
            file.rewind()?;
            jobs.push(Job(level, file));
        }
        Ok(())
    }

    /// Forgets the keys in memory, not the memory.
    fn forget_keys(&mut self) {
        self.short.clear();
        self.long.clear();
        self.bytes.clear();
    }

    /// Forgets everything. Clearing a large table that holds little would cost each group of
    /// many what the largest needed: such a table is given back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        let places = self.short.capacity() + self.long.capacity();
        if places > 64 && places > 8 * (self.short.len() + self.long.len()) {
            run.give_memory(self.memory_bytes);
            self.drop_keys();
        } else {
            self.forget_keys();
        }
        self.level = 0;
        self.files = None;
    }

    /// Forgets everything; the grant is over.
    pub(crate) fn drop_keys(&mut self) {
        *self = DistinctSet::new(self.collation);
    }
}
