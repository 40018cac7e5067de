//! An announced INSERT BULK: the next request brings its rows.

use crate::program::steps::Program;
use crate::session::state::IdentityInsert;
use plancache::Entry;
use std::sync::Arc;
use types::Collation;

/// What an INSERT BULK has announced.
pub(crate) struct Bulk {
    pub(super) program: Arc<Entry<Program>>,
    pub(super) columns: usize,
    /// The order in which rows must come; empty if there is none to check.
    pub(super) order: Vec<OrderColumn>,
    /// Whether no two rows may have the same key.
    pub(super) unique: bool,
    /// The table, if its identity column is listed.
    pub(super) identity: Option<IdentityInsert>,
}

/// A column of the order in which rows come.
#[derive(Clone, Copy)]
pub(crate) struct OrderColumn {
    /// Its position among the columns that are sent.
    pub(super) at: usize,
    pub(super) descending: bool,
    pub(super) collation: Collation,
}
