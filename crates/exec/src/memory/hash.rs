//! Hashes of values under their collations, and the memory that hash tables take.
//!
//! Rows, join filters, partitions and sets have the same hash for the same values, in each thread.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher as _, Hasher as _};
use types::{Collation, Value, hash};

/// The hash of one value.
pub(crate) fn hash_value(value: &Value, collation: Collation) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hash(value, collation, &mut hasher);
    hasher.finish()
}

/// The hash of some values; `None` when one is NULL and NULL matches nothing.
#[inline]
pub(crate) fn hash_row<'a>(
    values: impl Iterator<Item = (&'a Value, Collation)>,
    null_matches: bool,
) -> Option<u64> {
    let mut hasher = FixedState::default().build_hasher();
    for (value, collation) in values {
        if value.is_null() && !null_matches {
            return None;
        }
        hash(value, collation, &mut hasher);
    }
    Some(hasher.finish())
}

/// Memory of a table's growth beyond what it has; none while there is room.
pub(super) fn growth_bytes<T>(table: &HashTable<T>) -> usize {
    if table.len() < table.capacity() {
        return 0;
    }
    // Twice as many places, an eighth of them left empty, each with a byte that controls it.
    (table.capacity().max(14) * 8 / 7) * (size_of::<T>() + 1)
}
