//! What statements run on: units of work, rows, and memory.

use access::{Hobts, Spill};
use base::{DatabaseId, HobtId};
use exec::{GrantTerms, IdentitySource};
use std::sync::Arc;
use work::{Engine, Home};

/// What units of work, operators and plans use.
pub trait Storage: Send + Sync {
    /// What all units of work share.
    fn engine(&self) -> &Arc<Engine>;

    /// Heaps, indexes and system views by id.
    fn hobts(&self) -> &dyn Hobts;

    /// Spill files in tempdb.
    fn spill(&self) -> &dyn Spill;

    /// Identity values.
    fn identity(&self) -> &dyn IdentitySource;

    /// The terms of a memory grant for one statement's sorts and hashes.
    fn grant(&self) -> GrantTerms<'_>;

    /// A database as units of work see it.
    fn home(&self, database: DatabaseId) -> Option<Arc<Home>>;

    /// The size of a heap or index; `None` if it is gone or could not be read.
    fn hobt_size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size>;

    /// The memory that plans are chosen for.
    fn plan_memory(&self) -> optimize::Memory;
}
