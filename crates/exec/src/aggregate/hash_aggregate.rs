//! Hash aggregate: groups rows by a hash table; without aggregate calls it is DISTINCT.
//!
//! When the grant is exceeded, no further group is admitted. Rows of groups in memory are still
//! aggregated. Others go to partitions on disk, which are grouped one after the other when the
//! groups in memory have been returned. Rows of a group keep their order, so ANY takes the first
//! row's value.

use super::{CallMemory, Calls};
use crate::memory::{Blocks, LEVEL_MAX, Partitions, Places, hash_row, read_slots, value_bytes};
use crate::operator::{Node, Operator};
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use builtins::State;
use plan::Slot;
use types::{Collation, Value, compare};

/// Groups its input.
pub(crate) struct HashAggregate {
    id: usize,
    input: Node,
    keys: Vec<(Slot, Collation)>,
    calls: Calls,
    kept: CallMemory,
    /// What a spilled row keeps.
    row_slots: Vec<Slot>,
    groups: Groups,
    memory_bytes: usize,
    /// Files still to be grouped, with the level of their partition.
    waiting: Vec<(u32, Box<dyn SpillFile>)>,
    /// The next group to give out.
    at: usize,
}

/// A row of each for every group.
struct Groups {
    places: Places<u32>,
    hashes: Blocks<u64>,
    keys: Blocks<Value>,
    states: Blocks<State>,
    /// Some key or state owns memory.
    owning: bool,
}

impl Groups {
    fn new(keys: usize, calls: usize) -> Groups {
        Groups {
            places: Places::default(),
            hashes: Blocks::new(1),
            keys: Blocks::new(keys),
            states: Blocks::new(calls),
            owning: false,
        }
    }

    /// Frees the memory; that of millions of numbers at once.
    fn give_back(&mut self) {
        if !self.owning {
            self.keys.forget();
            self.states.forget();
        }
        *self = Groups::new(self.keys.width(), self.states.width());
    }
}

impl HashAggregate {
    pub(crate) fn new(id: usize, input: Node, keys: Vec<(Slot, Collation)>, calls: Calls) -> Self {
        let mut row_slots: Vec<Slot> =
            keys.iter().map(|k| k.0).chain(calls.reads.iter().copied()).collect();
        row_slots.sort_unstable();
        row_slots.dedup();
        HashAggregate {
            id,
            input,
            groups: Groups::new(keys.len(), calls.count()),
            keys,
            kept: calls.kept(),
            row_slots,
            calls,
            memory_bytes: 0,
            waiting: Vec::new(),
            at: 0,
        }
    }

    /// Groups the input, or a file of a partition.
    fn fill(
        &mut self,
        run: &mut Run<'_>,
        mut file: Option<Box<dyn SpillFile>>,
        level: u32,
    ) -> SqlResult<()> {
        self.forget(run);
        let mut overflow: Option<Partitions> = None;
        loop {
            let more = match &mut file {
                None => self.input.next(run)?,
                Some(f) => read_slots(run, &self.row_slots, f.as_mut())?,
            };
            if !more {
                break;
            }
            run.tick()?;
            let hash = self.hash(run);
            let group = match self.find(run, hash) {
                Some(group) => group,
                None if self.admit(run, overflow.is_some(), level) => self.add(run, hash)?,
                None => {
                    let partitions = overflow.get_or_insert_with(|| Partitions::new(level));
                    partitions.push(run, Some(hash), &self.row_slots)?;
                    continue;
                }
            };
            let states = self.groups.states.row_mut(group);
            self.calls.step(run, &mut self.kept, group as u32, states)?;
        }
        let mut spilled = 0;
        self.calls.settle(run, &mut self.kept, &mut self.groups.states, &mut spilled)?;
        run.counts.of(self.id).spilled(spilled);
        if let Some(partitions) = overflow {
            let files = partitions.finish(run, self.id)?;
            self.waiting.extend(files.into_iter().flatten().map(|f| (level + 1, f)));
        }
        Ok(())
    }

    fn hash(&self, run: &Run<'_>) -> u64 {
        let values = self.keys.iter().map(|&(slot, collation)| (run.slot(slot), collation));
        hash_row(values, true).unwrap_or(0)
    }

    fn find(&self, run: &Run<'_>, hash: u64) -> Option<usize> {
        let is_key = |(&(slot, collation), value): (&(Slot, Collation), &Value)| {
            compare(run.slot(slot), value, collation).is_eq()
        };
        let same = |&group: &u32| {
            let key = self.groups.keys.row(group as usize);
            self.groups.hashes[group as usize] == hash && self.keys.iter().zip(key).all(is_key)
        };
        self.groups.places.find(hash, same).map(|&group| group as usize)
    }

    /// Whether there is memory for another group. Once one was refused all others are, since their
    /// rows may be on disk already.
    fn admit(&mut self, run: &mut Run<'_>, full: bool, level: u32) -> bool {
        let keys: usize = self.keys.iter().map(|k| value_bytes(run.slot(k.0))).sum();
        let states = self.calls.count() * size_of::<State>() + self.calls.first_bytes(run);
        let bytes = keys + states + 16;
        if full || !run.take_memory(bytes, self.memory_bytes) {
            if full || level < LEVEL_MAX {
                return false;
            }
            run.overdraw_memory(bytes);
        }
        self.memory_bytes += bytes;
        true
    }

    fn add(&mut self, run: &mut Run<'_>, hash: u64) -> SqlResult<usize> {
        let group = self.groups.hashes.len();
        let Groups { places, hashes, keys, states, owning } = &mut self.groups;
        states.push_with(|states| self.calls.start(run, states))?;
        keys.push_with(|values| {
            values.extend(self.keys.iter().map(|k| run.slot(k.0).clone()));
            SqlResult::Ok(())
        })?;
        hashes.push(hash);
        *owning = *owning
            || keys.row(group).iter().any(may_own)
            || !states.row(group).iter().all(State::owns_nothing);
        places.insert_unique(hash, group as u32, |&g| hashes[g as usize]);
        Ok(group)
    }

    fn forget(&mut self, run: &mut Run<'_>) {
        run.give_memory(std::mem::take(&mut self.memory_bytes));
        self.kept.clear(run);
        self.clear();
    }

    fn clear(&mut self) {
        self.groups.places.clear();
        self.groups.hashes.clear();
        self.groups.keys.clear();
        self.groups.states.clear();
        self.at = 0;
    }
}

/// Whether a value may own memory.
fn may_own(value: &Value) -> bool {
    use Value::{Binary, Char, NChar, Variant, Xml};
    matches!(value, Char(_) | NChar(_) | Binary(_) | Variant(_) | Xml(_))
}

impl Operator for HashAggregate {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.waiting.clear();
        self.input.open(run)?;
        self.fill(run, None, 0)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.at == self.groups.hashes.len() {
            let Some((level, file)) = self.waiting.pop() else { return Ok(false) };
            self.fill(run, Some(file), level)?;
        }
        for ((slot, _), value) in self.keys.iter().zip(self.groups.keys.row(self.at)) {
            run.set(*slot, value.clone());
        }
        self.calls.finish(run, &mut self.kept, self.groups.states.row(self.at))?;
        self.at += 1;
        Ok(true)
    }

    fn close(&mut self) {
        self.groups.give_back();
        self.kept.drop_all();
        self.waiting.clear();
        self.at = 0;
        self.memory_bytes = 0;
        self.input.close();
    }
}
