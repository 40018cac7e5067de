//! The cache: entries in shards, the least recently found leaves first.

use crate::entry::{Entry, EntrySnapshot, Key};
use base::DatabaseId;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use os::sync::Mutex;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SHARDS: usize = 16;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of all entries.
    pub bytes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { bytes_max: 16 << 20 }
    }
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Programs that were found.
    pub hits: u64,
    /// Programs that had to be made.
    pub misses: u64,
    /// Entries that left for others.
    pub evictions: u64,
    /// Entries now.
    pub entries: u64,
    /// Bytes now.
    pub bytes: u64,
}

struct Shard<T> {
    entries: HashTable<Arc<Entry<T>>>,
    bytes: usize,
    /// Counts finds: the age of entries.
    clock: u64,
}

/// Programs by key.
pub struct Cache<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    hasher: FixedState,
    shard_bytes_max: usize,
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
}

impl<T> Cache<T> {
    /// An empty cache.
    pub fn new(options: Options) -> Cache<T> {
        let shard = || Mutex::new(Shard { entries: HashTable::new(), bytes: 0, clock: 0 });
        Cache {
            shards: std::array::from_fn(|_| shard()),
            hasher: FixedState::with_seed(os::entropy::random_u64()),
            shard_bytes_max: options.bytes_max / SHARDS,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard<T>> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// The program of a key.
    pub fn find(&self, key: &Key<'_>) -> Option<Arc<Entry<T>>> {
        let hash = self.hasher.hash_one(key);
        let mut shard = self.shard(hash).lock();
        shard.clock += 1;
        let now = shard.clock;
        let Some(entry) = shard.entries.find(hash, |e| e.key() == *key) else {
            self.misses.fetch_add(1, Relaxed);
            return None;
        };
        entry.uses.fetch_add(1, Relaxed);
        entry.touched.store(now, Relaxed);
        self.hits.fetch_add(1, Relaxed);
        Some(Arc::clone(entry))
    }

    /// Keeps a program that takes about so many bytes. When another session was quicker, its entry
    /// is the answer.
    pub fn insert(&self, key: &Key<'_>, value: T, bytes: usize) -> Arc<Entry<T>> {
        let hash = self.hasher.hash_one(key);
        let mut shard = self.shard(hash).lock();
        if let Some(entry) = shard.entries.find(hash, |e| e.key() == *key) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(Entry::new(key, value, bytes, shard.clock));
        while !shard.entries.is_empty() && shard.bytes + entry.bytes > self.shard_bytes_max {
            self.evict_oldest(&mut shard);
        }
        shard.bytes += entry.bytes;
        let rehash = |e: &Arc<Entry<T>>| self.hasher.hash_one(e.key());
        shard.entries.insert_unique(hash, Arc::clone(&entry), rehash);
        entry
    }

    /// Shards are small (a few hundred entries): looking at all of them costs less than a list
    /// that every find would have to keep in order.
    fn evict_oldest(&self, shard: &mut Shard<T>) {
        let oldest = shard.entries.iter().min_by_key(|e| e.touched.load(Relaxed)).map(Arc::clone);
        let Some(oldest) = oldest else { return };
        let hash = self.hasher.hash_one(oldest.key());
        if let Ok(found) = shard.entries.find_entry(hash, |e| Arc::ptr_eq(e, &oldest)) {
            found.remove();
            shard.bytes -= oldest.bytes;
            self.evictions.fetch_add(1, Relaxed);
        }
    }

    fn remove_where(&self, gone: impl Fn(&Entry<T>) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            let mut freed = 0;
            shard.entries.retain(|e| {
                let leaves = gone(e);
                if leaves {
                    freed += e.bytes;
                }
                !leaves
            });
            shard.bytes -= freed;
        }
    }

    /// DBCC FREEPROCCACHE.
    pub fn clear(&self) {
        self.remove_where(|_| true);
    }

    /// A database is gone or has been altered.
    pub fn clear_database(&self, database: DatabaseId) {
        self.remove_where(|e| e.database == database);
    }

    /// Gives memory back: the oldest entries leave until a part of the limit is left.
    pub fn trim(&self, percent: usize) {
        let keep = self.shard_bytes_max / 100 * percent.min(100);
        for shard in &self.shards {
            let mut shard = shard.lock();
            while shard.bytes > keep && !shard.entries.is_empty() {
                self.evict_oldest(&mut shard);
            }
        }
    }

    /// Every entry; each shard is consistent, the whole is not.
    pub fn snapshot(&self) -> Vec<EntrySnapshot> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let held: Vec<Arc<Entry<T>>> = shard.lock().entries.iter().map(Arc::clone).collect();
            all.extend(held.iter().map(|e| e.snapshot()));
        }
        all
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            evictions: self.evictions.load(Relaxed),
            ..Counters::default()
        };
        for shard in &self.shards {
            let shard = shard.lock();
            counters.entries += shard.entries.len() as u64;
            counters.bytes += shard.bytes as u64;
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use base::ObjectId;

    fn key(text: &str, options: u64) -> Key<'_> {
        let (database, object) = (DatabaseId(5), ObjectId(0));
        Key { kind: Kind::AdHoc, database, object, options, parameters: "", text }
    }

    #[test]
    fn a_program_is_found_by_all_of_its_key() {
        let cache = Cache::new(Options::default());
        cache.insert(&key("select 1", 1), "a", 10);
        assert_eq!(cache.find(&key("select 1", 1)).map(|e| e.value), Some("a"));
        assert!(cache.find(&key("select 1", 2)).is_none(), "other options");
        assert!(cache.find(&key("SELECT 1", 1)).is_none(), "other text");
        assert!(cache.find(&Key { database: DatabaseId(6), ..key("select 1", 1) }).is_none());
        assert_eq!(cache.insert(&key("select 1", 1), "b", 10).value, "a", "the first one stays");
        let counters = cache.counters();
        assert_eq!((counters.hits, counters.misses, counters.entries), (1, 3, 1));
        cache.clear_database(DatabaseId(5));
        assert_eq!((cache.counters().entries, cache.counters().bytes), (0, 0));
    }

    #[test]
    fn the_least_recently_found_leaves_and_the_limit_holds() {
        let cache = Cache::new(Options { bytes_max: 64 << 10 });
        for i in 0..2000 {
            let text = format!("select {i}");
            cache.insert(&key(&text, 0), i, 100);
            assert!(cache.find(&key("select 0", 0)).is_some(), "used all the time, after {i}");
        }
        let counters = cache.counters();
        assert!(counters.bytes <= 64 << 10, "{counters:?}");
        assert_eq!(counters.evictions + counters.entries, 2000);
        cache.trim(0);
        assert_eq!(cache.counters().bytes, 0);
    }
}
