//! Tables of table variables that are used one after the other.
//!
//! To make a table in tempdb and to drop it costs more than what most calls of a function, firings
//! of a trigger or runs of a procedure do with it. So they give their tables back, emptied, and the
//! next one takes them, until the statement that called, or the request, ends:
//!
//! ```text
//!   made ──▶ in use ──── its user ends: emptied ────▶ free ──▶ in use by the next
//!              │                                       ▲
//!              └── a function returns it to a reader ──┘       all dropped: `take_unused`
//! ```
//!
//! Invariants
//!  1. A table has one user. Users within each other have as many tables as are open at a time.
//!  2. A free table is as it was made: empty, its identity at its seed. One that has grown beyond a
//!     page is dropped by its user.
//!  3. A table is made and emptied while no transaction has begun to write tables like it, so none
//!     takes that back.
//!  4. Every table that was made for it stands here until it is dropped, also when its user
//!     panics.

use crate::program::steps::Program;
use crate::tables::private::PrivateTable;
use catalog::view::Table;
use plan::PhysicalPlan;
use plancache::Entry;
use std::sync::Arc;
use work::Work;

/// How many tables are kept free.
const FREE_MAX: usize = 64;

/// The declaration that a table was made for; the number of the variable stands beside it.
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
    /// The statement that reads what a function returned.
    Reader,
}

/// A table of a pool.
struct PooledTable {
    declared: TableDeclaration,
    number: u16,
    made: Arc<PrivateTable>,
    user: User,
}

/// See the module.
#[derive(Default)]
pub(crate) struct TablePool(Vec<PooledTable>);

impl TablePool {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A free table of a table variable.
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

    /// A table that somebody has made, and uses.
    pub(crate) fn enter(
        &mut self,
        declared: TableDeclaration,
        number: u16,
        made: &Arc<PrivateTable>,
    ) {
        self.0.push(PooledTable { declared, number, made: Arc::clone(made), user: User::Somebody });
    }

    /// Whether a table stands here.
    pub(crate) fn has(&self, made: &Arc<PrivateTable>) -> bool {
        self.0.iter().any(|p| Arc::ptr_eq(&p.made, made))
    }

    /// Whether another table may be free.
    pub(crate) fn has_room(&self) -> bool {
        self.0.iter().filter(|p| p.user == User::Nobody).count() < FREE_MAX
    }

    fn set_user(&mut self, made: &Arc<PrivateTable>, user: User) {
        let pooled = self.0.iter_mut().rfind(|p| Arc::ptr_eq(&p.made, made));
        pooled.expect("invariant 4: it stands here until it is dropped").user = user;
    }

    /// A table is empty again.
    pub(crate) fn free(&mut self, made: &Arc<PrivateTable>) {
        self.set_user(made, User::Nobody);
    }

    /// A function has returned a table: whoever reads it has it from now on.
    pub(crate) fn hand_over(&mut self, made: &Arc<PrivateTable>) {
        self.set_user(made, User::Reader);
    }

    /// A table that a function returned and nobody reads any more.
    pub(crate) fn read_to_end(&self) -> Option<Arc<PrivateTable>> {
        let left = |p: &&PooledTable| p.user == User::Reader && Arc::strong_count(&p.made) == 1;
        self.0.iter().find(left).map(|p| Arc::clone(&p.made))
    }

    /// A table is dropped.
    pub(crate) fn remove(&mut self, made: &Arc<PrivateTable>) {
        self.0.retain(|p| !Arc::ptr_eq(&p.made, made));
    }

    /// Strikes off what nobody uses, to be dropped; or all.
    pub(crate) fn take_unused(&mut self, all: bool) -> Vec<Arc<Table>> {
        let unused = |p: &mut PooledTable| all || Arc::strong_count(&p.made) == 1;
        self.0.extract_if(.., unused).map(|p| Arc::clone(&p.made.table)).collect()
    }
}

/// The tables of table variables of a session, but for those of functions.
#[derive(Default)]
pub(crate) struct VariableTables {
    /// Writes them; made when it is first wanted.
    pub(crate) work: Option<Box<Work>>,
    /// Tables of the request's procedures and triggers.
    pub(crate) pool: TablePool,
}
