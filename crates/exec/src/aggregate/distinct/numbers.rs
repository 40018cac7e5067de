//! Distinct numbers: a small set, then partitions by hash that are processed one by one.
//!
//! A set that outgrows the processor's cache costs a cache miss for each number. So only the first
//! numbers are kept in a set, which catches repeats of frequent ones. The others are appended to
//! one of 64 partitions by their hash, and each partition becomes a small set when all numbers have
//! come. When partitions exceed the grant, their repeats are removed first; then they are written
//! to disk.
//!
//! Invariant 1: a number is in the set, or in the partition of its hash, in memory or on disk.

use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Numbers of the set: about 300 KB.
const SET_MAX: usize = 32 * 1024;
const PARTITIONS: usize = 64;
/// Bits of the hash that choose a partition.
const PARTITION_BITS: u32 = PARTITIONS.trailing_zeros();
/// From this level on numbers are kept in memory without a grant.
const LEVEL_MAX: u32 = 8;
/// Numbers that a partition first has room for.
const FIRST_NUMBERS: usize = 256;
/// A set of that size is made for a partition whatever the grant says: it is gone before the next.
const SETTLE_BYTES: usize = 1 << 20;
/// Numbers written at once.
const BLOCK_NUMBERS: usize = 4096;

/// Numbers that were seen.
pub(super) struct Numbers {
    set: HashTable<u64>,
    /// Empty until the set is full.
    partitions: Vec<Partition>,
    level: u32,
    memory_bytes: usize,
}

#[derive(Default)]
struct Partition {
    numbers: Vec<u64>,
    file: Option<Box<dyn SpillFile>>,
    /// Numbers in the file.
    written: usize,
}

/// Is called with each number that was not taken in before.
pub(super) type Taker<'a> = &'a mut dyn FnMut(u64) -> SqlResult<()>;

fn hash(number: u64) -> u64 {
    FixedState::default().hash_one(number)
}

/// Bytes of a table with room for so many numbers.
fn table_bytes(numbers: usize) -> usize {
    (numbers.max(3) * 8 / 7).next_power_of_two() * (size_of::<u64>() + 1)
}

/// Adds a number; false when it was there.
fn add(set: &mut HashTable<u64>, hashed: u64, number: u64) -> bool {
    if set.find(hashed, |&n| n == number).is_some() {
        return false;
    }
    set.insert_unique(hashed, number, |&n| hash(n));
    true
}

impl Numbers {
    pub(super) fn new(level: u32) -> Numbers {
        Numbers { set: HashTable::new(), partitions: Vec::new(), level, memory_bytes: 0 }
    }

    /// Whether a number is new as far as is known now; others are dealt with by `settle`.
    #[inline]
    pub(super) fn insert(&mut self, run: &mut Run<'_>, number: u64) -> SqlResult<bool> {
        let hashed = hash(number);
        if self.set.find(hashed, |&n| n == number).is_some() {
            return Ok(false);
        }
        if self.partitions.is_empty() && self.may_grow(run) {
            self.set.insert_unique(hashed, number, |&n| hash(n));
            return Ok(true);
        }
        self.push(run, hashed, number)?;
        Ok(false)
    }

    /// Whether the set takes another number; memory for it is had then.
    fn may_grow(&mut self, run: &mut Run<'_>) -> bool {
        let (len, room) = (self.set.len(), self.set.capacity());
        if len < room {
            return len < SET_MAX;
        }
        let bytes = table_bytes(len + 1) - if len == 0 { 0 } else { table_bytes(len) };
        let grows = len < SET_MAX && run.take_memory(bytes, self.memory_bytes);
        self.memory_bytes += if grows { bytes } else { 0 };
        grows
    }

    fn push(&mut self, run: &mut Run<'_>, hashed: u64, number: u64) -> SqlResult<()> {
        if self.partitions.is_empty() {
            self.partitions.resize_with(PARTITIONS, Partition::default);
        }
        let shift = 64 - PARTITION_BITS * (self.level.min(LEVEL_MAX) + 1);
        let at = (hashed >> shift) as usize & (PARTITIONS - 1);
        let numbers = &mut self.partitions[at].numbers;
        if numbers.len() == numbers.capacity() {
            self.make_room(run, at)?;
        }
        self.partitions[at].numbers.push(number);
        Ok(())
    }

    /// Room in a partition: more memory, or less in it.
    fn make_room(&mut self, run: &mut Run<'_>, at: usize) -> SqlResult<()> {
        let more = self.partitions[at].numbers.capacity().max(FIRST_NUMBERS);
        let bytes = more * size_of::<u64>();
        if run.take_memory(bytes, self.memory_bytes) {
            self.memory_bytes += bytes;
            self.partitions[at].numbers.reserve_exact(more);
            return Ok(());
        }
        if self.level >= LEVEL_MAX {
            run.overdraw_memory(bytes);
            self.memory_bytes += bytes;
            self.partitions[at].numbers.reserve_exact(more);
            return Ok(());
        }
        let mut scratch = HashTable::new();
        for partition in &mut self.partitions {
            run.tick()?;
            partition.remove_repeats(&mut scratch);
            // What has few repeats fills up again at once.
            if partition.numbers.len() * 2 > partition.numbers.capacity() {
                partition.write(run)?;
            }
        }
        let partition = &mut self.partitions[at];
        if partition.numbers.capacity() == 0 {
            run.overdraw_memory(FIRST_NUMBERS * size_of::<u64>());
            self.memory_bytes += FIRST_NUMBERS * size_of::<u64>();
            partition.numbers.reserve_exact(FIRST_NUMBERS);
        }
        assert!(partition.numbers.len() < partition.numbers.capacity(), "there is room now");
        Ok(())
    }

    /// Hands each number that `insert` has not called new to `take`, once, and forgets all.
    pub(super) fn settle(
        &mut self,
        run: &mut Run<'_>,
        spilled: &mut u64,
        take: Taker<'_>,
    ) -> SqlResult<()> {
        if self.partitions.is_empty() {
            self.clear(run);
            return Ok(());
        }
        // Numbers of the set are in no partition.
        self.forget_set(run);
        for mut partition in std::mem::take(&mut self.partitions) {
            let held = partition.numbers.capacity() * size_of::<u64>();
            partition.settle(run, self.level, spilled, take)?;
            run.give_memory(held);
        }
        self.memory_bytes = 0;
        Ok(())
    }

    fn forget_set(&mut self, run: &mut Run<'_>) {
        if self.set.capacity() > 0 {
            let bytes = table_bytes(self.set.len()).min(self.memory_bytes);
            run.give_memory(bytes);
            self.memory_bytes -= bytes;
            self.set = HashTable::new();
        }
    }

    /// Forgets everything. A set that holds little for its size is given back: clearing it would
    /// cost each of many groups what the largest needed.
    pub(super) fn clear(&mut self, run: &mut Run<'_>) {
        if self.partitions.is_empty() && self.set.capacity() <= 8 * self.set.len().max(8) {
            self.set.clear();
            return;
        }
        run.give_memory(self.memory_bytes);
        *self = Numbers::new(self.level);
    }
}

impl Partition {
    fn remove_repeats(&mut self, scratch: &mut HashTable<u64>) {
        scratch.clear();
        self.numbers.retain(|&number| add(scratch, hash(number), number));
    }

    /// Writes the numbers in memory to the file.
    fn write(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.file.is_none() {
            self.file = Some(run.spill.create()?);
        }
        let file = self.file.as_mut().expect("it was made above");
        let mut bytes = Vec::with_capacity(BLOCK_NUMBERS * size_of::<u64>());
        for block in self.numbers.chunks(BLOCK_NUMBERS) {
            bytes.clear();
            block.iter().for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
            file.append(&bytes)?;
        }
        self.written += self.numbers.len();
        self.numbers.clear();
        Ok(())
    }

    /// Hands each number to `take` once: by a set where there is memory for one, by partitions
    /// of its own otherwise.
    fn settle(
        &mut self,
        run: &mut Run<'_>,
        level: u32,
        spilled: &mut u64,
        take: Taker<'_>,
    ) -> SqlResult<()> {
        let count = self.written + self.numbers.len();
        let bytes = table_bytes(count);
        let fits = run.take_memory(bytes, 0);
        if !fits && (bytes <= SETTLE_BYTES || level >= LEVEL_MAX) {
            run.overdraw_memory(bytes);
        }
        if fits || bytes <= SETTLE_BYTES || level >= LEVEL_MAX {
            let mut set = HashTable::with_capacity(count);
            self.each(run, spilled, &mut |_, number| match add(&mut set, hash(number), number) {
                true => take(number),
                false => Ok(()),
            })?;
            run.give_memory(bytes);
            return Ok(());
        }
        let mut below = Numbers::new(level + 1);
        self.each(run, spilled, &mut |run, number| match below.insert(run, number)? {
            true => take(number),
            false => Ok(()),
        })?;
        below.settle(run, spilled, take)?;
        run.give_memory(below.memory_bytes);
        Ok(())
    }

    fn each<'r>(
        &mut self,
        run: &mut Run<'r>,
        spilled: &mut u64,
        f: &mut dyn FnMut(&mut Run<'r>, u64) -> SqlResult<()>,
    ) -> SqlResult<()> {
        if let Some(mut file) = self.file.take() {
            *spilled += file.bytes();
            file.rewind()?;
            while let Some(bytes) = file.next()? {
                for number in bytes.as_chunks::<8>().0 {
                    run.tick()?;
                    f(run, u64::from_le_bytes(*number))?;
                }
            }
        }
        for &number in &self.numbers {
            run.tick()?;
            f(run, number)?;
        }
        Ok(())
    }
}
