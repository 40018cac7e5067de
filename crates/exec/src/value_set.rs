//! A set of values under a collation: IN over a subquery. It knows what memory it takes.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher as _, Hasher as _};
use types::{Collation, Value, compare, hash};

/// Values that differ, in the order in which they came.
#[derive(Default)]
pub(crate) struct ValueSet {
    values: Vec<Value>,
    places: HashTable<u32>,
    /// What the values have on the heap.
    heap_bytes: usize,
}

/// The hash of one value.
pub(crate) fn hash_value(value: &Value, collation: Collation) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hash(value, collation, &mut hasher);
    hasher.finish()
}

impl ValueSet {
    /// Adds a value; false when it was there.
    pub(crate) fn insert(&mut self, value: &Value, collation: Collation) -> bool {
        let ValueSet { values, places, heap_bytes } = self;
        let same = |&i: &u32| compare(&values[i as usize], value, collation).is_eq();
        let again = |&i: &u32| hash_value(&values[i as usize], collation);
        match places.entry(hash_value(value, collation), same, again) {
            hashbrown::hash_table::Entry::Occupied(_) => false,
            hashbrown::hash_table::Entry::Vacant(place) => {
                place.insert(values.len() as u32);
                values.push(value.clone());
                *heap_bytes += value.heap_bytes();
                true
            }
        }
    }

    pub(crate) fn contains(&self, value: &Value, collation: Collation) -> bool {
        let same = |&i: &u32| compare(&self.values[i as usize], value, collation).is_eq();
        self.places.find(hash_value(value, collation), same).is_some()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let values = self.values.capacity() * size_of::<Value>();
        values + self.places.allocation_size() + self.heap_bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
