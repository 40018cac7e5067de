//! The temporary tables of a session: their names begin with `#`, and the innermost scope is
//! searched first.
//!
//! Invariants
//!  1. A snapshot restores exactly the names that existed: a rollback uses it. Tables of scopes
//!     that have ended meanwhile are not visible, and are dropped with the next scope that ends.
//!  2. A table that was made in a procedure, a trigger or executed text is dropped when that ends.
//!     Until then it hides a table of the same name that a caller has.
//!  3. A global temporary table (`##t`) is an ordinary table of tempdb and is found there. The
//!     session only records which of them it has made. Those that are gone when the session ends
//!     are skipped.

use base::ObjectId;
use catalog::view::Table;
use rpds::{RedBlackTreeMapSync as Map, RedBlackTreeSetSync as Set};
use std::ops::Bound;
use std::sync::Arc;

/// The level of a table whose scope ended in a transaction that was rolled back.
const NO_LEVEL: u32 = u32::MAX;

/// A name in lower case, the nesting level that made the table, and the table's id.
type Key = (Box<str>, u32, ObjectId);

/// Tables by name and level. Copies share them, so that neither a snapshot nor a change costs more
/// when there are many.
#[derive(Clone, Debug)]
struct Tables {
    by_name: Map<Key, Arc<Table>>,
    by_id: Map<ObjectId, (Box<str>, u32)>,
    by_level: Set<(u32, ObjectId)>,
    /// The stamp of the last change: two states with the same stamp are equal.
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

    /// Removes a table. Returns the level that it had.
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

/// A state that can be restored.
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

    /// Whether the current scope already has a table of that name (2714).
    pub fn exists_here(&self, name: &str) -> bool {
        self.named_within(name, self.level, self.level).next().is_some()
    }

    /// Adds a table of the current scope, or replaces the definition of the same object.
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

    /// Records that the session has made a global temporary table.
    pub fn made_global(&mut self, table: ObjectId) {
        self.global.push(table);
    }

    /// The global temporary tables that the session has made.
    pub(crate) fn global(&self) -> &[ObjectId] {
        &self.global
    }

    /// All tables of the session.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.by_name.values()
    }

    /// A number that grows with every change.
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

    /// The scope ends. Returns the tables that it made.
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
