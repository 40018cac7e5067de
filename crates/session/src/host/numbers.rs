//! Numbers that a database generates: identity values, rowversions, values of sequences.

use base::{DatabaseId, SqlResult};
use catalog::view::{Sequence, Table};

/// Numbers that a database generates, each once.
pub trait Numbers: Send + Sync {
    /// IDENT_CURRENT: the last generated value, or the seed.
    fn identity_current(&self, database: DatabaseId, table: &Table) -> Option<i128>;

    /// The next rowversion of a database.
    ///
    /// # Errors
    /// Errors of reserving more of them.
    fn next_row_version(&self, database: DatabaseId) -> SqlResult<u64>;

    /// The last rowversion that a database has generated: `@@DBTS`.
    fn row_version(&self, database: DatabaseId) -> u64;

    /// The next value of a sequence.
    ///
    /// # Errors
    /// 11728; space, log.
    fn next_value(&self, database: DatabaseId, sequence: &Sequence) -> SqlResult<i128>;
}
