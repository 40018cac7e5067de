//! The temporary tables of a session: names that begin with `#`, seen innermost scope first.
//!
//! Invariants
//!  1. A snapshot brings back exactly the names that were there: rollback restores it. Those of
//!     scopes that have ended meanwhile are seen no more, and go with the next scope that ends.
//!  2. A table made in a procedure, a trigger or executed text is gone when that ends. Until then
//!     it hides one of the same name that a caller has.
//!  3. A global one (`##t`) is an ordinary table of tempdb, found there; here is only noted which
//!     of them the session has made. Those that are gone by its end are passed over.

use base::ObjectId;
use catalog::view::Table;
use rpds::{RedBlackTreeMapSync as Map, RedBlackTreeSetSync as Set};
use std::ops::Bound;
use std::sync::Arc;

/// The level of a table whose scope ended in a transaction that was rolled back.
const NO_LEVEL: u32 = u32::MAX;

/// A name without case, the nesting level that made the table, and which it is.
type Key = (Box<str>, u32, ObjectId);

/// Tables by name and level. A copy shares them, so that neither a point to go back to nor a
/// change costs more where there are many.
#[derive(Clone, Debug)]
struct Tables {
    by_name: Map<Key, Arc<Table>>,
    by_id: Map<ObjectId, (Box<str>, u32)>,
    by_level: Set<(u32, ObjectId)>,
    /// Of the last change: two with one stamp are the same.
    stamp: u64,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            by_name: Map::new_sync(),
            by_id: Map::new_sync(),
            by_level: Set::new_sync(),
            stamp: 0,
        }
    }
}

impl Tables {
    fn insert(&mut self, level: u32, table: Arc<Table>) {
        let (name, id) = (folded(&table.name), table.object_id);
        self.by_id.insert_mut(id, (name.clone(), level));
        self.by_level.insert_mut((level, id));
        self.by_name.insert_mut((name, level, id), table);
    }

    /// Takes a table away; the level that it had.
    fn remove(&mut self, id: ObjectId) -> Option<(u32, Arc<Table>)> {
        let (name, level) = self.by_id.get(&id).cloned()?;
        self.by_id.remove_mut(&id);
        self.by_level.remove_mut(&(level, id));
        let key = (name, level, id);
        let table = self.by_name.get(&key).cloned()?;
        self.by_name.remove_mut(&key);
        Some((level, table))
    }

    /// The tables of a level and those above it.
    fn of_level(&self, level: u32) -> Vec<ObjectId> {
        let from = (level, ObjectId(i32::MIN));
        self.by_level.range((Bound::Included(from), Bound::Unbounded)).map(|(_, id)| *id).collect()
    }
}

/// The temporary tables that a session sees.
#[derive(Clone, Debug, Default)]
pub struct TempTables {
    tables: Tables,
    level: u32,
    version: u64,
    global: Vec<ObjectId>,
}

/// A state to return to.
#[derive(Clone, Debug, Default)]
pub(crate) struct TempSnapshot(Tables);

impl TempTables {
    /// The tables of a name with `#`, in any case, the innermost first.
    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Arc<Table>> + use<'a> {
        self.named_within(name, 0, self.level).rev()
    }

    fn named_within<'a>(
        &'a self,
        name: &str,
        from: u32,
        to: u32,
    ) -> impl DoubleEndedIterator<Item = &'a Arc<Table>> + use<'a> {
        let name = folded(name);
        let first = (name.clone(), from, ObjectId(i32::MIN));
        let last = (name, to, ObjectId(i32::MAX));
        let range = (Bound::Included(first), Bound::Included(last));
        self.tables.by_name.range(range).map(|(_, table)| table)
    }

    /// The table of a name with `#`, in any case; the innermost one.
    pub fn find(&self, name: &str) -> Option<&Arc<Table>> {
        self.named(name).next()
    }

    /// The table that the innermost one of a name hides.
    pub(crate) fn hidden(&self, name: &str) -> Option<&Arc<Table>> {
        self.named(name).nth(1)
    }

    /// Whether the current scope has one of that name already (2714).
    pub fn exists_here(&self, name: &str) -> bool {
        self.named_within(name, self.level, self.level).next().is_some()
    }

    /// Adds a table of the current scope, or replaces a definition of the same object.
    pub fn put(&mut self, table: Arc<Table>) {
        let level = self.tables.remove(table.object_id).map_or(self.level, |(level, _)| level);
        self.tables.insert(level, table);
        self.changed();
    }

    /// Takes a table away.
    pub fn remove(&mut self, table: ObjectId) {
        if self.tables.remove(table).is_some() {
            self.changed();
        }
    }

    fn changed(&mut self) {
        self.version += 1;
        self.tables.stamp = self.version;
    }

    /// The session has made a global temporary table.
    pub fn made_global(&mut self, table: ObjectId) {
        self.global.push(table);
    }

    /// The global temporary tables that the session has made.
    pub(crate) fn global(&self) -> &[ObjectId] {
        &self.global
    }

    /// All of its own.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.by_name.values()
    }

    /// Grows with every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn snapshot(&self) -> TempSnapshot {
        TempSnapshot(self.tables.clone())
    }

    pub(crate) fn restore(&mut self, snapshot: &TempSnapshot) {
        if self.tables.stamp == snapshot.0.stamp {
            return;
        }
        self.tables = snapshot.0.clone();
        for ended in self.tables.of_level(self.level + 1) {
            if let Some((_, table)) = self.tables.remove(ended) {
                self.tables.insert(NO_LEVEL, table);
            }
        }
        self.changed();
    }

    pub(crate) fn enter(&mut self) {
        self.level += 1;
    }

    /// The scope ends; the tables it made are the answer.
    pub(crate) fn leave(&mut self) -> Vec<Arc<Table>> {
        let level = self.level;
        self.level = level.saturating_sub(1);
        let ended = self.tables.of_level(level);
        if ended.is_empty() {
            return Vec::new();
        }
        let gone = ended.into_iter().filter_map(|id| Some(self.tables.remove(id)?.1)).collect();
        self.changed();
        gone
    }
}

fn folded(name: &str) -> Box<str> {
    name.to_lowercase().into()
}
