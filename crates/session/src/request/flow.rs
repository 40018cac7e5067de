//! What the control of flow knows of the request that runs.

use base::{DatabaseId, ObjectId};

/// See the module.
#[derive(Default)]
pub(crate) struct Flow {
    /// TRY blocks around the program that runs, in its callers.
    pub(crate) tries: u32,
    /// The highest severity of an error of the program that runs.
    pub(crate) worst: u8,
    /// Nothing of the request comes behind what runs.
    pub(crate) last: bool,
    /// An INSERT EXEC executes.
    pub(crate) inserts: bool,
    /// The columns of a text are asked for: nothing of it runs, SET neither.
    pub(crate) describing: bool,
    /// Modules whose columns are being shown, each from within the one before.
    pub(crate) formatted: Vec<(DatabaseId, ObjectId)>,
}
