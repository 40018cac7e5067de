//! The cache: entries in shards by their text, and who leaves when there is no room.
//!
//! Who leaves: of the entries that were never found again the oldest, as long as these take a
//! quarter of the shard; else the one not found for longest. So a flood of batches that run once
//! does not wash out what runs all the time, and what ran often long ago leaves too.

use crate::entry::{Entry, Key, NewEntry};
use crate::handle::{Fingerprint, PlanHandle, TextHandle};
use base::{DatabaseId, ObjectId};
use hashbrown::HashTable;
use os::memory::{Memory, Reservation};
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SHARDS: usize = 16;
/// Of a shard's bytes: what entries used once may always have.
const ONCE_SHARE: usize = 4;

/// How much is kept.
#[derive(Clone, Default)]
pub struct Options {
    /// Bytes of all entries; 0 for what is usual.
    pub bytes_max: usize,
    /// Whom the bytes are reserved with.
    pub memory: Option<Arc<Memory>>,
}

/// Bytes where nobody says how many.
const BYTES_USUAL: usize = 16 << 20;
/// Reservations are made in steps of so many bytes.
const RESERVED_STEP: usize = 64 << 10;

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Programs that were found.
    pub hits: u64,
    /// Programs that had to be made.
    pub misses: u64,
    /// Entries that left for others.
    pub evictions: u64,
    /// Programs that were compiled, and plans that were made in the place of one before.
    pub compiled: u64,
    /// Entries now.
    pub entries: u64,
    /// Bytes now.
    pub bytes: u64,
}

struct Shard<T> {
    entries: HashTable<Arc<Entry<T>>>,
    bytes: usize,
    reserved: Option<Reservation>,
    /// Counts finds: the age of entries.
    clock: u64,
}

/// Programs by key.
pub struct Cache<T> {
    shards: [Mutex<Shard<T>>; SHARDS],
    shard_bytes_max: usize,
    last_id: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
    compiled: AtomicU64,
}

impl<T> Cache<T> {
    /// An empty cache.
    pub fn new(options: &Options) -> Cache<T> {
        let reserve = |m: &Arc<Memory>| m.reserve(&m.clerk("CACHESTORE_SQLCP"), 0).ok();
        let shard = || {
            let reserved = options.memory.as_ref().and_then(reserve);
            Mutex::new(Shard { entries: HashTable::new(), bytes: 0, reserved, clock: 0 })
        };
        let bytes_max = if options.bytes_max == 0 { BYTES_USUAL } else { options.bytes_max };
        Cache {
            shards: std::array::from_fn(|_| shard()),
            shard_bytes_max: bytes_max / SHARDS,
            last_id: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
        }
    }

    /// Entries of one text are in one shard and one bucket, so that a handle finds them.
    fn shard(&self, text: Fingerprint) -> &Mutex<Shard<T>> {
        &self.shards[(text.bucket() >> 32) as usize % SHARDS]
    }

    /// The program of a key.
    pub fn find(&self, key: &Key<'_>) -> Option<Arc<Entry<T>>> {
        let text = Fingerprint::of(key.parameters, key.text);
        let mut shard = self.shard(text).lock();
        shard.clock += 1;
        let now = shard.clock;
        let Some(entry) = shard.entries.find(text.bucket(), |e| e.key() == *key) else {
            self.misses.fetch_add(1, Relaxed);
            return None;
        };
        entry.uses.fetch_add(1, Relaxed);
        entry.touched.store(now, Relaxed);
        self.hits.fetch_add(1, Relaxed);
        Some(Arc::clone(entry))
    }

    /// Keeps a program. When another session was quicker, its entry is the answer.
    pub fn insert(&self, key: &Key<'_>, new: NewEntry<T>) -> Arc<Entry<T>> {
        debug_assert_eq!(key.text, &*new.text, "the key is the program's");
        self.count_compiled();
        let text = Fingerprint::of(key.parameters, key.text);
        let mut left = Vec::new();
        let mut shard = self.shard(text).lock();
        if let Some(entry) = shard.entries.find(text.bucket(), |e| e.key() == *key) {
            return Arc::clone(entry);
        }
        let id = self.last_id.fetch_add(1, Relaxed) + 1;
        let entry = Arc::new(Entry::new(key, new, id, text));
        entry.touched.store(shard.clock, Relaxed);
        let rehash = |e: &Arc<Entry<T>>| e.fingerprint.bucket();
        shard.entries.insert_unique(text.bucket(), Arc::clone(&entry), rehash);
        self.charge_within(&mut shard, &entry, 0, &mut left);
        // What has left may be large: others do not wait until it is freed.
        drop(shard);
        entry
    }

    /// A program that is used once and not kept: WITH RECOMPILE.
    pub fn apart(&self, key: &Key<'_>, new: NewEntry<T>) -> Arc<Entry<T>> {
        self.count_compiled();
        let id = self.last_id.fetch_add(1, Relaxed) + 1;
        let entry = Entry::new(key, new, id, Fingerprint::of(key.parameters, key.text));
        entry.gone.store(true, Relaxed);
        Arc::new(entry)
    }

    /// A program was compiled, or a statement of one that had a plan already.
    pub fn count_compiled(&self) {
        self.compiled.fetch_add(1, Relaxed);
    }

    /// An entry takes so many bytes more: one of its statements has its plan.
    pub fn charge(&self, entry: &Entry<T>, bytes: usize) {
        let mut left = Vec::new();
        let mut shard = self.shard(entry.fingerprint).lock();
        entry.bytes.fetch_add(bytes, Relaxed);
        if !entry.is_gone() {
            self.charge_within(&mut shard, entry, bytes, &mut left);
        }
        drop(shard);
    }

    /// Counts an entry's bytes, all of them or what came later, and makes room for them. One for
    /// which there is none is not kept.
    fn charge_within(
        &self,
        shard: &mut Shard<T>,
        entry: &Entry<T>,
        later: usize,
        left: &mut Vec<Arc<Entry<T>>>,
    ) {
        shard.bytes += if later > 0 { later } else { entry.bytes() };
        while shard.entries.len() > 1 && shard.bytes > self.shard_bytes_max {
            left.extend(self.evict_one(shard, entry.id));
        }
        // Memory that nobody has to give: others leave until the rest will do.
        while !shard.reserve() && shard.entries.len() > 1 {
            left.extend(self.evict_one(shard, entry.id));
        }
        let too_large = entry.bytes() > self.shard_bytes_max * SHARDS;
        if too_large || !shard.reserve() {
            let own = shard.entries.iter().find(|e| e.id == entry.id).map(Arc::clone);
            own.iter().for_each(|own| shard.remove(own));
            left.extend(own);
            shard.reserve();
        }
    }

    /// Shards are small (a few hundred entries): looking at all of them costs less than a list
    /// that every find would have to keep in order.
    fn evict_one(&self, shard: &mut Shard<T>, spared: u64) -> Option<Arc<Entry<T>>> {
        let once = |e: &Arc<Entry<T>>| e.uses() <= 1;
        let others = || shard.entries.iter().filter(|e| e.id != spared);
        let once_bytes: usize = others().filter(|e| once(e)).map(|e| e.bytes()).sum();
        let only_once = once_bytes * ONCE_SHARE > self.shard_bytes_max;
        let candidates = others().filter(|e| !only_once || once(e));
        let oldest = candidates.min_by_key(|e| (e.touched.load(Relaxed), e.id)).map(Arc::clone);
        let oldest = oldest?;
        shard.remove(&oldest);
        self.evictions.fetch_add(1, Relaxed);
        Some(oldest)
    }

    /// Throws out what a question says yes to; how many there were.
    pub fn remove_where(&self, mut gone: impl FnMut(&Entry<T>) -> bool) -> usize {
        let mut removed = 0;
        for shard in &self.shards {
            let mut shard = shard.lock();
            let leaving: Vec<_> = shard.entries.iter().filter(|e| gone(e)).cloned().collect();
            leaving.iter().for_each(|e| shard.remove(e));
            removed += leaving.len();
            shard.reserve();
        }
        removed
    }

    /// DBCC FREEPROCCACHE.
    pub fn clear(&self) {
        self.remove_where(|_| true);
    }

    /// A database is gone.
    pub fn clear_database(&self, database: DatabaseId) {
        self.remove_where(|e| e.database == database);
    }

    /// A procedure shall be compiled again.
    pub fn clear_object(&self, database: DatabaseId, object: ObjectId) {
        self.remove_where(|e| e.database == database && e.object == object);
    }

    /// Every entry in the order they were made; each shard is consistent, the whole is not.
    pub fn entries(&self) -> Vec<Arc<Entry<T>>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().entries.iter().map(Arc::clone));
        }
        all.sort_unstable_by_key(|e| e.id);
        all
    }

    /// The entry of a plan handle.
    pub fn by_plan(&self, handle: &PlanHandle) -> Option<Arc<Entry<T>>> {
        let shard = self.shard(handle.fingerprint).lock();
        let bucket = handle.fingerprint.bucket();
        shard.entries.find(bucket, |e| e.plan_handle() == *handle).map(Arc::clone)
    }

    /// Any entry of a text handle.
    pub fn by_text(&self, handle: &TextHandle) -> Option<Arc<Entry<T>>> {
        let shard = self.shard(handle.fingerprint).lock();
        let bucket = handle.fingerprint.bucket();
        shard.entries.find(bucket, |e| e.text_handle() == *handle).map(Arc::clone)
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            evictions: self.evictions.load(Relaxed),
            compiled: self.compiled.load(Relaxed),
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

impl<T> Shard<T> {
    fn remove(&mut self, entry: &Arc<Entry<T>>) {
        let found = self.entries.find_entry(entry.fingerprint.bucket(), |e| Arc::ptr_eq(e, entry));
        let Ok(found) = found else { return };
        found.remove();
        entry.gone.store(true, Relaxed);
        self.bytes -= entry.bytes();
    }

    /// Fits the reservation to the bytes; false when there is no memory for them.
    fn reserve(&mut self) -> bool {
        let Some(reserved) = &mut self.reserved else { return true };
        let wanted = self.bytes.next_multiple_of(RESERVED_STEP);
        let held = reserved.bytes();
        match wanted.checked_sub(held) {
            Some(0) => true,
            Some(more) => reserved.grow(more).is_ok(),
            None => {
                reserved.shrink(held - wanted);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn key(text: &str, options: u64) -> Key<'_> {
        let (database, object) = (DatabaseId(5), ObjectId(0));
        Key { kind: Kind::AdHoc, database, object, options, parameters: "", text }
    }

    fn keep<T>(cache: &Cache<T>, key: &Key<'_>, value: T, bytes: usize) -> Arc<Entry<T>> {
        cache.insert(key, NewEntry { value, text: key.text.into(), bytes })
    }

    #[test]
    fn a_program_is_found_by_all_of_its_key() {
        let cache = Cache::new(&Options::default());
        keep(&cache, &key("select 1", 1), "a", 10);
        assert_eq!(cache.find(&key("select 1", 1)).map(|e| e.value), Some("a"));
        assert!(cache.find(&key("select 1", 2)).is_none(), "other options");
        assert!(cache.find(&key("SELECT 1", 1)).is_none(), "other text");
        assert!(cache.find(&Key { database: DatabaseId(6), ..key("select 1", 1) }).is_none());
        assert!(cache.find(&Key { parameters: "@a int", ..key("select 1", 1) }).is_none());
        assert_eq!(keep(&cache, &key("select 1", 1), "b", 10).value, "a", "the first one stays");
        let counters = cache.counters();
        assert_eq!((counters.hits, counters.misses, counters.entries), (1, 4, 1));
        cache.clear_database(DatabaseId(5));
        assert_eq!((cache.counters().entries, cache.counters().bytes), (0, 0));
    }

    #[test]
    fn what_is_used_again_outlives_a_flood_and_the_limit_holds() {
        let cache = Cache::new(&Options { bytes_max: 64 << 10, memory: None });
        keep(&cache, &key("often", 0), 0, 100);
        assert!(cache.find(&key("often", 0)).is_some(), "found again");
        for i in 1..2000 {
            keep(&cache, &key(&format!("select {i}"), 0), i, 100);
        }
        assert!(cache.find(&key("often", 0)).is_some(), "it was not washed out");
        let counters = cache.counters();
        assert!(counters.bytes <= 64 << 10, "{counters:?}");
        assert_eq!(counters.evictions + counters.entries, 2000);
    }

    #[test]
    fn handles_find_entries_until_these_are_thrown_out() {
        let cache = Cache::new(&Options::default());
        let (a, b) = (keep(&cache, &key("t", 1), 1, 10), keep(&cache, &key("t", 2), 2, 10));
        assert_eq!(a.text_handle(), b.text_handle(), "one text");
        assert_eq!(cache.by_plan(&b.plan_handle()).map(|e| e.value), Some(2));
        assert_eq!(cache.remove_where(|e| e.id() == a.id()), 1);
        assert!(a.is_gone() && !b.is_gone());
        assert!(cache.by_plan(&a.plan_handle()).is_none());
        assert_eq!(cache.by_text(&a.text_handle()).map(|e| e.value), Some(2));
        cache.clear();
        assert!(cache.by_text(&a.text_handle()).is_none());
    }

    #[test]
    fn plans_are_charged_as_they_come_and_memory_is_given_back() {
        let memory = Memory::new(1 << 20);
        let cache = Cache::new(&Options { bytes_max: 0, memory: Some(Arc::clone(&memory)) });
        let entry = keep(&cache, &key("t", 1), 1, 10);
        let before = cache.counters().bytes;
        cache.charge(&entry, 200 << 10);
        assert_eq!(cache.counters().bytes, before + (200 << 10));
        assert!(memory.reserved_bytes() >= 200 << 10);
        // What does not fit makes the others leave.
        let large = keep(&cache, &key("u", 1), 2, 10);
        cache.charge(&large, 2 << 20);
        assert!(large.is_gone(), "what has no memory at all is not kept");
        cache.clear();
        assert_eq!((cache.counters().bytes, memory.reserved_bytes()), (0, 0));
        cache.charge(&entry, 10);
        assert_eq!(cache.counters().bytes, 0, "what has left is charged no more");
    }

    /// A text of 60 MB would be all that is left in its shard, beyond the limit and for ever.
    #[test]
    fn a_program_larger_than_the_cache_runs_and_is_not_kept() {
        let cache = Cache::new(&Options { bytes_max: 64 << 10, memory: None });
        keep(&cache, &key("small", 0), 0, 100);
        let large = keep(&cache, &key("large", 0), 1, 128 << 10);
        assert!(large.is_gone() && large.value == 1);
        assert!(cache.find(&key("large", 0)).is_none());
        // One that is larger than its shard alone is kept.
        let one = keep(&cache, &key("one", 0), 2, 32 << 10);
        assert!(!one.is_gone() && cache.find(&key("one", 0)).is_some());
        assert!(cache.counters().bytes <= 64 << 10);
    }
}
