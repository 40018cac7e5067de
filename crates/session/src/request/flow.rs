//! What control flow knows of the request that runs.

use base::{DatabaseId, ObjectId};

/// The control flow of the running program and its callers.
#[derive(Default)]
pub(crate) struct Flow {
    /// The number of TRY blocks around the running program, in its callers.
    pub(crate) tries: u32,
    /// The highest severity of an error in the running program.
    pub(crate) worst: u8,
    /// Whether nothing of the request follows the running statement.
    pub(crate) last: bool,
    /// Whether an INSERT EXEC is executing.
    pub(crate) inserts: bool,
    /// Whether only the columns of a text are asked for: none of it runs, not even SET.
    pub(crate) describing: bool,
    /// Modules whose columns are being shown, each from within the one before.
    pub(crate) formatted: Vec<(DatabaseId, ObjectId)>,
}
