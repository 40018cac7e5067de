//! Distinct pairs as bytes, with the values that belong to them.
//!
//! When the grant is exceeded, no further pair is admitted to memory. Pairs in memory are still
//! recognized. Others go to files by their hash, which are processed one after the other when all
//! rows have been read.
//!
//! Invariant 1: a pair is either in memory or in the file of its hash, so each is counted once.

use crate::memory::{ByteBlocks, Decoder, Files, LEVEL_MAX, Places, codec};
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use foldhash::fast::FixedState;
use std::hash::BuildHasher as _;
use types::{Collation, Value, append_sort_key};

/// Pairs that were seen.
pub(super) struct LongPairs {
    collation: Collation,
    places: Places<Pair>,
    bytes: ByteBlocks,
    memory_bytes: usize,
    level: u32,
    files: Option<Box<Files>>,
    /// What is written to a file.
    row: Vec<u8>,
}

/// A pair by its hash and where its bytes are.
#[derive(Clone, Copy)]
struct Pair {
    hash: u64,
    at: u64,
    len: u32,
}

/// A file whose values are still to be gone through, and the level of its set.
struct Job(u32, Box<dyn SpillFile>);

/// A group's number and a value's key.
pub(super) fn write_pair(group: u32, value: &Value, collation: Collation, out: &mut Vec<u8>) {
    out.clear();
    append_sort_key(&Value::BigInt(group.into()), collation, usize::MAX, out);
    append_sort_key(value, collation, usize::MAX, out);
}

/// The group of a pair.
pub(super) fn group_of(pair: &[u8]) -> u32 {
    let bytes = usize::from(pair[0] - 0x80);
    pair[1..=bytes].iter().fold(0, |group, &b| (group << 8) | u32::from(b))
}

impl LongPairs {
    pub(super) fn new(collation: Collation) -> LongPairs {
        LongPairs {
            collation,
            places: Places::default(),
            bytes: ByteBlocks::default(),
            memory_bytes: 0,
            level: 0,
            files: None,
            row: Vec::new(),
        }
    }

    /// Whether a value is to be taken in now: its pair has not been seen, and there was memory to
    /// remember it. Others are remembered on disk.
    pub(super) fn insert(
        &mut self,
        run: &mut Run<'_>,
        group: u32,
        value: &Value,
        pair: &[u8],
    ) -> SqlResult<bool> {
        let hash = FixedState::default().hash_one(pair);
        let LongPairs { places, bytes, .. } = &*self;
        let same = |p: &Pair| p.hash == hash && bytes.from(p.at)[..p.len as usize] == *pair;
        if places.find(hash, same).is_some() {
            return Ok(false);
        }
        let growth = places.growth_bytes(hash) + bytes.growth_bytes(pair.len());
        if !self.grow(run, growth) {
            self.put_aside(run, hash, group, value)?;
            return Ok(false);
        }
        let place = Pair { hash, at: self.bytes.push(pair), len: pair.len() as u32 };
        self.places.insert_unique(hash, place, |p| p.hash);
        Ok(true)
    }

    /// Memory for more; none once values have gone to files.
    fn grow(&mut self, run: &mut Run<'_>, bytes: usize) -> bool {
        if self.files.is_some() {
            return false;
        }
        if bytes > 0 && !run.take_memory(bytes, self.memory_bytes) {
            if self.level < LEVEL_MAX {
                return false;
            }
            run.overdraw_memory(bytes);
        }
        self.memory_bytes += bytes;
        true
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
        self.row.clear();
        self.row.extend_from_slice(&group.to_le_bytes());
        codec::encode(value, &mut self.row);
        file.append(&self.row)
    }

    /// Hands the values that were put aside to `take`, each pair's once, and forgets everything.
    pub(super) fn settle(
        &mut self,
        run: &mut Run<'_>,
        spilled: &mut u64,
        mut take: impl FnMut(u32, &Value) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut jobs = Vec::new();
        self.collect_files(&mut jobs, spilled)?;
        let (mut bytes, mut pair) = (Vec::new(), Vec::new());
        while let Some(Job(level, mut file)) = jobs.pop() {
            self.forget_pairs(run);
            self.level = level;
            while file.read(&mut bytes)? {
                run.tick()?;
                let (group, rest) = bytes.split_first_chunk().expect("a group's number");
                let value = Decoder(rest).value()?;
                let group = u32::from_le_bytes(*group);
                write_pair(group, &value, self.collation, &mut pair);
                if self.insert(run, group, &value, &pair)? {
                    take(group, &value)?;
                }
            }
            self.collect_files(&mut jobs, spilled)?;
        }
        self.clear(run);
        Ok(())
    }

    fn collect_files(&mut self, jobs: &mut Vec<Job>, spilled: &mut u64) -> SqlResult<()> {
        let Some(files) = self.files.take() else { return Ok(()) };
        for mut file in files.into_iter().flatten() {
            *spilled += file.bytes();
            file.rewind()?;
            jobs.push(Job(self.level + 1, file));
        }
        Ok(())
    }

    /// Forgets the pairs in memory; the memory of few stays.
    fn forget_pairs(&mut self, run: &mut Run<'_>) {
        if self.places.is_large() || self.bytes.is_large() {
            run.give_memory(std::mem::take(&mut self.memory_bytes));
            (self.places, self.bytes) = (Places::default(), ByteBlocks::default());
        }
        self.places.clear();
        self.bytes.clear();
    }

    /// Forgets everything. A table that holds little for its size is given back: clearing it would
    /// cost each of many groups what the largest needed.
    pub(super) fn clear(&mut self, run: &mut Run<'_>) {
        if self.places.capacity() > 8 * self.places.len().max(8) {
            run.give_memory(self.memory_bytes);
            *self = LongPairs::new(self.collation);
        }
        self.forget_pairs(run);
        self.level = 0;
        self.files = None;
    }
}
