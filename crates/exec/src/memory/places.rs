//! `Places`: a hash table that never grows as a whole.
//!
//! A table of millions of places that doubles takes hundreds of milliseconds for one insert, in
//! which nobody looks for an attention. So a table that is no longer small is 64 tables, each with
//! the places of some hashes, and each doubles alone.

use super::hash::growth_bytes;
use hashbrown::HashTable;

/// Places of the one table that there is first.
const ONE_MAX: usize = 16 * 1024;
/// Tables that follow it.
const TABLES: usize = 64;
/// Where the bits of a hash stand that choose the table: `hashbrown` reads the lowest ones, as many
/// as it has places, and the uppermost seven.
const SHIFT: u32 = 40;

/// See the module.
pub(crate) struct Places<T> {
    /// One, or 64.
    tables: Vec<HashTable<T>>,
}

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        Places { tables: vec![HashTable::new()] }
    }
}

impl<T> Places<T> {
    fn table(&self, hash: u64) -> usize {
        (hash >> SHIFT) as usize & (self.tables.len() - 1)
    }

    /// The place with this hash that is the same.
    #[inline]
    pub(crate) fn find(&self, hash: u64, same: impl FnMut(&T) -> bool) -> Option<&T> {
        self.tables[self.table(hash)].find(hash, same)
    }

    /// Adds a place that is not there. Of every 16,384 or more one costs some milliseconds.
    #[inline]
    pub(crate) fn insert_unique(&mut self, hash: u64, place: T, hash_of: impl Fn(&T) -> u64) {
        if self.tables.len() == 1 && self.tables[0].len() == ONE_MAX {
            self.divide(&hash_of);
        }
        let table = self.table(hash);
        self.tables[table].insert_unique(hash, place, hash_of);
    }

    #[cold]
    fn divide(&mut self, hash_of: &impl Fn(&T) -> u64) {
        let one = std::mem::take(&mut self.tables[0]);
        // Nearly twice the mean, so that none of them grows at once: seven eighths of 512.
        let each = ONE_MAX / TABLES * 7 / 4;
        self.tables.clear();
        self.tables.resize_with(TABLES, || HashTable::with_capacity(each));
        for place in one {
            let hash = hash_of(&place);
            let table = self.table(hash);
            self.tables[table].insert_unique(hash, place, hash_of);
        }
    }

    /// Memory that an insert of this hash needs beyond what there is.
    pub(crate) fn growth_bytes(&self, hash: u64) -> usize {
        match self.tables.as_slice() {
            [one] if one.len() == ONE_MAX => one.capacity() * 8 / 7 * (size_of::<T>() + 1),
            tables => growth_bytes(&tables[self.table(hash)]),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.tables.iter().map(HashTable::len).sum()
    }

    /// How many there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.tables.iter().map(HashTable::capacity).sum()
    }

    /// Whether `clear` gives memory up.
    pub(crate) fn is_large(&self) -> bool {
        self.tables.len() > 1
    }

    /// Forgets all places; the memory of few stays.
    pub(crate) fn clear(&mut self) {
        if self.is_large() {
            *self = Places::default();
        }
        self.tables[0].clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldhash::fast::FixedState;
    use std::hash::BuildHasher as _;

    fn hash(number: &u32) -> u64 {
        FixedState::default().hash_one(number)
    }

    #[test]
    fn each_place_is_found_in_its_table() {
        let mut places = Places::default();
        let mut told = 0;
        for number in 0..300_000_u32 {
            assert_eq!(places.find(hash(&number), |&n| n == number), None);
            told += places.growth_bytes(hash(&number));
            places.insert_unique(hash(&number), number, hash);
        }
        assert_eq!(places.len(), 300_000);
        let found = |n: &u32| places.find(hash(n), |m| m == n) == Some(n);
        assert!((0..300_000).all(|n| found(&n)) && !found(&300_000));
        let each = places.tables.iter().map(HashTable::len);
        assert!(each.clone().max() < Some(2 * 300_000 / TABLES) && each.min() > Some(2_000));
        let held = places.capacity() * 8 / 7 * 5;
        assert!(told >= held / 2 && told <= held * 2, "{told} bytes for {held}");
        places.clear();
        assert_eq!(places.len(), 0);
    }
}
