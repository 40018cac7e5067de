//! A pool of the tables behind table variables, so that they can be used again.
//!
//! To make and drop a table in tempdb costs more than most function calls, trigger firings or
//! procedure runs do with it. So these return their tables emptied, and the next user takes them,
//! until the calling statement or the request ends:
//!
//! ```text
//!   made ──▶ in use ──── its user ends: emptied ────▶ free ──▶ in use by the next
//!              │                                       ▲
//!              └── a function returns it to a reader ──┘       all dropped: `take_unused`
//! ```
//!
//! Invariants
//!  1. A table has one user. Nested users have one table for each level.
//!  2. A free table is as new: it is empty, and its identity is at its seed. If a table has grown
//!     beyond a page, its user drops it.
//!  3. A table is made and emptied while no transaction has begun to write such tables, so no
//!     rollback undoes that.
//!  4. Every table that was made for the pool is registered here until it is dropped, even if its
//!     user panics.

use crate::program::steps::Program;
use crate::tables::private::PrivateTable;
use catalog::view::Table;
use plan::PhysicalPlan;
use plancache::Entry;
use std::sync::Arc;
use work::Work;

/// The most tables that are kept free.
const FREE_MAX: usize = 64;

/// The declaration that a table was made for. The number of its variable is stored beside it.
#[derive(Clone)]
pub(crate) enum TableDeclaration {
    /// A table variable of a program.
    Program(Arc<Entry<Program>>),
    /// Rows that a plan captures for triggers.
    Plan(Arc<PhysicalPlan>),
}

impl TableDeclaration {
    fn is(&self, other: &TableDeclaration) -> bool {
        match (self, other) {
            (TableDeclaration::Program(a), TableDeclaration::Program(b)) => Arc::ptr_eq(a, b),
            (TableDeclaration::Plan(a), TableDeclaration::Plan(b)) => Arc::ptr_eq(a, b),
            (TableDeclaration::Program(_), TableDeclaration::Plan(_))
            | (TableDeclaration::Plan(_), TableDeclaration::Program(_)) => false,
        }
    }
}

/// The user of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    Nobody,
    Somebody,
    /// The statement that reads the table which a function returned.
    Reader,
}

/// A table of a pool.
struct PooledTable {
    declared: TableDeclaration,
    number: u16,
    made: Arc<PrivateTable>,
    user: User,
}

/// The tables of one pool.
#[derive(Default)]
pub(crate) struct TablePool(Vec<PooledTable>);

impl TablePool {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a free table for a table variable.
    pub(crate) fn take(
        &mut self,
        declared: &TableDeclaration,
        number: u16,
    ) -> Option<Arc<PrivateTable>> {
        let is_it = |p: &&mut PooledTable| {
            p.user == User::Nobody && p.number == number && p.declared.is(declared)
        };
        let pooled = self.0.iter_mut().rfind(is_it)?;
        pooled.user = User::Somebody;
        Some(Arc::clone(&pooled.made))
    }

    /// Registers a table that somebody has made and uses.
    pub(crate) fn enter(
        &mut self,
        declared: TableDeclaration,
        number: u16,
        made: &Arc<PrivateTable>,
    ) {
        self.0.push(PooledTable { declared, number, made: Arc::clone(made), user: User::Somebody });
    }

    /// Whether the pool contains a table.
    pub(crate) fn has(&self, made: &Arc<PrivateTable>) -> bool {
        self.0.iter().any(|p| Arc::ptr_eq(&p.made, made))
    }

    /// Whether the pool has room for another free table.
    pub(crate) fn has_room(&self) -> bool {
        self.0.iter().filter(|p| p.user == User::Nobody).count() < FREE_MAX
    }

    fn set_user(&mut self, made: &Arc<PrivateTable>, user: User) {
        let pooled = self.0.iter_mut().rfind(|p| Arc::ptr_eq(&p.made, made));
        pooled.expect("invariant 4: it stands here until it is dropped").user = user;
    }

    /// A table is empty again, and free.
    pub(crate) fn free(&mut self, made: &Arc<PrivateTable>) {
        self.set_user(made, User::Nobody);
    }

    /// A function has returned a table: its reader is the user from now on.
    pub(crate) fn hand_over(&mut self, made: &Arc<PrivateTable>) {
        self.set_user(made, User::Reader);
    }

    /// A table that a function returned and that no reader uses any more.
    pub(crate) fn read_to_end(&self) -> Option<Arc<PrivateTable>> {
        let left = |p: &&PooledTable| p.user == User::Reader && Arc::strong_count(&p.made) == 1;
        self.0.iter().find(left).map(|p| Arc::clone(&p.made))
    }

    /// Removes a table that is dropped.
    pub(crate) fn remove(&mut self, made: &Arc<PrivateTable>) {
        self.0.retain(|p| !Arc::ptr_eq(&p.made, made));
    }

    /// Removes the tables that nobody uses, or all tables. The caller drops them.
    pub(crate) fn take_unused(&mut self, all: bool) -> Vec<Arc<Table>> {
        let unused = |p: &mut PooledTable| all || Arc::strong_count(&p.made) == 1;
        self.0.extract_if(.., unused).map(|p| Arc::clone(&p.made.table)).collect()
    }
}

/// The tables behind a session's table variables, except those of functions.
#[derive(Default)]
pub(crate) struct VariableTables {
    /// The unit of work that writes them; made when it is first needed.
    pub(crate) work: Option<Box<Work>>,
    /// The tables of the request's procedures and triggers.
    pub(crate) pool: TablePool,
}
