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
use std::sync::Arc;

/// The level of a table whose scope ended in a transaction that was rolled back.
const NO_LEVEL: u32 = u32::MAX;

/// A temporary table and the nesting level that made it.
#[derive(Clone, Debug)]
struct TempTable {
    level: u32,
    table: Arc<Table>,
}

/// The temporary tables that a session sees.
#[derive(Clone, Debug, Default)]
pub struct TempTables {
    tables: Arc<Vec<TempTable>>,
    level: u32,
    version: u64,
    global: Vec<ObjectId>,
}

/// A state to return to.
#[derive(Clone, Debug, Default)]
pub(crate) struct TempSnapshot(Arc<Vec<TempTable>>);

impl TempTables {
    /// The tables of a name with `#`, in any case, the innermost first.
    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Arc<Table>> {
        let level = self.level;
        let seen = move |t: &&TempTable| t.level <= level && same(&t.table.name, name);
        self.tables.iter().rev().filter(seen).map(|t| &t.table)
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
        self.tables.iter().any(|t| t.level == self.level && same(&t.table.name, name))
    }

    /// Adds a table of the current scope, or replaces a definition of the same object.
    pub fn put(&mut self, table: Arc<Table>) {
        self.version += 1;
        let level = self.level;
        let tables = Arc::make_mut(&mut self.tables);
        match tables.iter_mut().find(|t| t.table.object_id == table.object_id) {
            Some(old) => old.table = table,
            None => tables.push(TempTable { level, table }),
        }
    }

    /// Takes a table away.
    pub fn remove(&mut self, table: ObjectId) {
        if let Some(at) = self.tables.iter().position(|t| t.table.object_id == table) {
            self.version += 1;
            Arc::make_mut(&mut self.tables).remove(at);
        }
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
        self.tables.iter().map(|t| &t.table)
    }

    /// Grows with every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn snapshot(&self) -> TempSnapshot {
        TempSnapshot(Arc::clone(&self.tables))
    }

    pub(crate) fn restore(&mut self, snapshot: &TempSnapshot) {
        if Arc::ptr_eq(&self.tables, &snapshot.0) {
            return;
        }
        self.version += 1;
        self.tables = Arc::clone(&snapshot.0);
        if self.tables.iter().any(|t| t.level > self.level) {
            let ended = Arc::make_mut(&mut self.tables).iter_mut();
            ended.filter(|t| t.level > self.level).for_each(|t| t.level = NO_LEVEL);
        }
    }

    pub(crate) fn enter(&mut self) {
        self.level += 1;
    }

    /// The scope ends; the tables it made are the answer.
    pub(crate) fn leave(&mut self) -> Vec<Arc<Table>> {
        let level = self.level;
        self.level = level.saturating_sub(1);
        if !self.tables.iter().any(|t| t.level >= level) {
            return Vec::new();
        }
        self.version += 1;
        let (gone, kept) = self.tables.iter().cloned().partition(|t: &TempTable| t.level >= level);
        self.tables = Arc::new(kept);
        gone.into_iter().map(|t| t.table).collect()
    }
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
