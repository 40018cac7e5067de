//! A set of values under a collation: IN over a subquery. It requests memory before it allocates
//! it.
//!
//! A value takes its own bytes and 40 to 50 bytes beside.

use super::blocks::Blocks;
use super::hash::hash_value;
use super::places::Places;
use crate::run::Run;
use types::{Collation, Value, compare};

/// Values that differ, in the order in which they came.
pub(crate) struct ValueSet {
    values: Blocks<Value>,
    places: Places<u32>,
    memory_bytes: usize,
}

/// What a set says of a key or value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sighting {
    /// The set had no equal: it was added.
    First,
    /// The set had it.
    Before,
    /// The set had no equal, and there is no memory to add it.
    Unknown,
}

impl Default for ValueSet {
    fn default() -> ValueSet {
        ValueSet { values: Blocks::new(1), places: Places::default(), memory_bytes: 0 }
    }
}

impl ValueSet {
    /// Adds a value, if there is memory for it.
    pub(crate) fn insert(
        &mut self,
        run: &mut Run<'_>,
        value: &Value,
        collation: Collation,
    ) -> Sighting {
        if self.contains(value, collation) {
            return Sighting::Before;
        }
        let hash = hash_value(value, collation);
        let growth = self.values.growth_bytes() + self.places.growth_bytes(hash);
        let growth = growth + value.heap_bytes();
        if growth > 0 && !run.take_memory(growth, self.memory_bytes) {
            return Sighting::Unknown;
        }
        self.memory_bytes += growth;
        let at = self.values.len() as u32;
        self.values.push(value.clone());
        let ValueSet { values, places, .. } = self;
        let again = |&i: &u32| hash_value(&values[i as usize], collation);
        places.insert_unique(hash, at, again);
        Sighting::First
    }

    pub(crate) fn contains(&self, value: &Value, collation: Collation) -> bool {
        let same = |&i: &u32| compare(&self.values[i as usize], value, collation).is_eq();
        self.places.find(hash_value(value, collation), same).is_some()
    }

    /// Gives the values out, and their memory back.
    pub(crate) fn take(&mut self, run: &mut Run<'_>) -> Blocks<Value> {
        run.give_memory(self.memory_bytes);
        std::mem::take(self).values
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.len() == 0
    }
}
