//! The values of an IN over a subquery that exceed the grant: on disk, in the order of their
//! hashes.
//!
//! All values go to partitions by hash. Each partition that fits in memory is sorted there and
//! appended to the set's file. A fence (sparse index entry) in memory has the hash of the first
//! value of each 2 KB. So a lookup costs a page of the file, and fences cost 16 bytes for 2 KB.
//!
//! ```text
//! record  hash (8), value (see codec.rs)
//! ```
//!
//! Invariants
//!  1. Hashes never decrease from one record of the file to the next.

use super::codec;
use super::codec::Decoder;
use super::hash::hash_value;
use super::partitions::{LEVEL_MAX, Partitions};
use super::rows::read_slots;
use crate::run::{Run, WITHIN};
use access::SpillFile;
use base::{SqlError, SqlResult, messages};
use plan::Slot;
use types::{Collation, Value, compare};

/// Bytes of the file between two fences.
const FENCED_BYTES: u64 = 2 << 10;

/// See the module.
pub(crate) struct SpilledSet {
    file: Box<dyn SpillFile>,
    /// Where a record begins, with its hash.
    fences: Vec<(u64, u64)>,
    collation: Collation,
}

/// A set that is being written.
pub(crate) struct SetWriter {
    /// Where values are in the frame.
    slot: Slot,
    collation: Collation,
    partitions: Partitions,
}

impl SetWriter {
    pub(crate) fn new(slot: Slot, collation: Collation) -> SetWriter {
        SetWriter { slot, collation, partitions: Partitions::new(0) }
    }

    /// Adds the value in the frame; it may have come before.
    pub(crate) fn push(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let hash = hash_value(run.slot(self.slot), self.collation);
        self.partitions.push(run, Some(hash), &[self.slot])
    }

    /// The set of all values.
    pub(crate) fn finish(self, run: &mut Run<'_>) -> SqlResult<SpilledSet> {
        let SetWriter { slot, collation, partitions } = self;
        let mut set = SpilledSet { file: run.spill.create()?, fences: Vec::new(), collation };
        let files = partitions.finish(run, WITHIN)?;
        // The last file is read next: partitions of lower hashes come first.
        let mut waiting: Vec<_> = files.into_iter().rev().flatten().map(|f| (0, f)).collect();
        while let Some((level, file)) = waiting.pop() {
            let mut part = Part::default();
            let deeper = part.read(run, file, slot, collation, level)?;
            if let Some(deeper) = deeper {
                let files = deeper.finish(run, WITHIN)?;
                waiting.extend(files.into_iter().rev().flatten().map(|f| (level + 1, f)));
            }
            part.write(run, &mut set)?;
            run.give_memory(part.memory_bytes);
        }
        run.counts.of(WITHIN).spilled(set.file.bytes());
        set.file.rewind()?;
        Ok(set)
    }
}

/// Values of a partition in memory.
#[derive(Default)]
struct Part {
    /// The hash of each value, where its bytes begin and how many they are.
    entries: Vec<(u64, u32, u32)>,
    bytes: Vec<u8>,
    memory_bytes: usize,
}

impl Part {
    /// Reads a file; where it does not fit, spreads all of it over partitions of the next level.
    fn read(
        &mut self,
        run: &mut Run<'_>,
        mut file: Box<dyn SpillFile>,
        slot: Slot,
        collation: Collation,
        level: u32,
    ) -> SqlResult<Option<Partitions>> {
        let mut deeper = None;
        let mut value = Vec::new();
        while read_slots(run, &[slot], file.as_mut())? {
            run.tick()?;
            let hash = hash_value(run.slot(slot), collation);
            value.clear();
            codec::encode(run.slot(slot), &mut value);
            if deeper.is_none() && !self.take_in(run, hash, &value, level >= LEVEL_MAX) {
                let mut partitions = Partitions::new(level + 1);
                self.spread(run, slot, &mut partitions)?;
                run.set(slot, Decoder(&value).value()?);
                deeper = Some(partitions);
            }
            if let Some(partitions) = &mut deeper {
                partitions.push(run, Some(hash), &[slot])?;
            }
        }
        Ok(deeper)
    }

    /// Adds a value, with room made for it where there is none; whether it is here. `must`: there
    /// is no other place for it.
    fn take_in(&mut self, run: &mut Run<'_>, hash: u64, value: &[u8], must: bool) -> bool {
        self.add(run, hash, value, false)
            || self.forget_twice() && self.add(run, hash, value, false)
            || must && self.add(run, hash, value, true)
    }

    fn add(&mut self, run: &mut Run<'_>, hash: u64, value: &[u8], must: bool) -> bool {
        let entries = if self.entries.len() == self.entries.capacity() {
            self.entries.capacity().max(64)
        } else {
            0
        };
        let room = self.bytes.capacity() - self.bytes.len();
        let more = if room < value.len() { self.bytes.capacity().max(value.len()) } else { 0 };
        let growth = entries * size_of::<(u64, u32, u32)>() + more;
        let full = self.bytes.len() + value.len() > u32::MAX as usize;
        if full || (growth > 0 && !run.take_memory(growth, self.memory_bytes)) {
            if full || !must {
                return false;
            }
            run.overdraw_memory(growth);
        }
        self.memory_bytes += growth;
        self.entries.reserve_exact(entries);
        if more > 0 {
            self.bytes.reserve_exact(room + more);
        }
        self.entries.push((hash, self.bytes.len() as u32, value.len() as u32));
        self.bytes.extend_from_slice(value);
        true
    }

    /// Keeps each spelling once, where that makes half of the room free: many rows of one value
    /// fit into no partition otherwise.
    fn forget_twice(&mut self) -> bool {
        let before = self.entries.len();
        self.order();
        if self.entries.len() > before / 2 {
            return false;
        }
        self.entries.sort_unstable_by_key(|e| e.1);
        let mut end = 0;
        for (_, at, len) in &mut self.entries {
            let from = *at as usize;
            self.bytes.copy_within(from..from + *len as usize, end);
            *at = end as u32;
            end += *len as usize;
        }
        self.bytes.truncate(end);
        true
    }

    /// Puts the values in their order, each spelling once.
    fn order(&mut self) {
        let bytes = &self.bytes;
        let value = |&(_, at, len): &(u64, u32, u32)| bytes_at(bytes, at, len);
        self.entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| value(a).cmp(value(b))));
        self.entries.dedup_by(|a, b| a.0 == b.0 && value(a) == value(b));
    }

    /// Gives what is here to partitions.
    fn spread(&mut self, run: &mut Run<'_>, slot: Slot, to: &mut Partitions) -> SqlResult<()> {
        for &(hash, at, len) in &self.entries {
            run.tick()?;
            run.set(slot, Decoder(bytes_at(&self.bytes, at, len)).value()?);
            to.push(run, Some(hash), &[slot])?;
        }
        run.give_memory(self.memory_bytes);
        *self = Part::default();
        Ok(())
    }

    /// Appends the values in their order, each spelling once.
    fn write(&mut self, run: &mut Run<'_>, set: &mut SpilledSet) -> SqlResult<()> {
        self.order();
        let bytes = &self.bytes;
        let value = |&(_, at, len): &(u64, u32, u32)| bytes_at(bytes, at, len);
        let mut record = Vec::new();
        for entry in &self.entries {
            run.tick()?;
            let position = set.file.position();
            if set.fences.last().is_none_or(|f| position - f.1 >= FENCED_BYTES) {
                run.overdraw_memory(size_of::<(u64, u64)>());
                set.fences.push((entry.0, position));
            }
            record.clear();
            record.extend_from_slice(&entry.0.to_le_bytes());
            record.extend_from_slice(value(entry));
            set.file.append(&record)?;
        }
        Ok(())
    }
}

fn bytes_at(bytes: &[u8], at: u32, len: u32) -> &[u8] {
    bytes.get(at as usize..(at + len) as usize).unwrap_or_default()
}

impl SpilledSet {
    pub(crate) fn contains(&mut self, value: &Value) -> SqlResult<bool> {
        let hash = hash_value(value, self.collation);
        // Records of this hash may begin before the first fence that has it.
        let fence = self.fences.partition_point(|f| f.0 < hash).saturating_sub(1);
        let Some(&(_, position)) = self.fences.get(fence) else { return Ok(false) };
        self.file.seek(position)?;
        while let Some(record) = self.file.next()? {
            let lost = || SqlError::new(messages::INTERNAL, &[&"a spilled value is damaged"]);
            let (own, bytes) = record.split_first_chunk().ok_or_else(lost)?;
            let own = u64::from_le_bytes(*own);
            if own > hash {
                return Ok(false);
            }
            if own == hash && compare(&Decoder(bytes).value()?, value, self.collation).is_eq() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
