//! From ids in a plan to what they name.

use crate::{BulkLoad, TableSink, TableSource};
use base::{DatabaseId, HobtId, ObjectId, SqlResult};
use std::sync::Arc;
use types::Value;
use work::Work;

/// A heap or an index: read, written, loaded.
pub trait Hobt: TableSource + TableSink + BulkLoad {}

impl<T: TableSource + TableSink + BulkLoad> Hobt for T {}

/// Finds what a plan names by id. Implemented above, given to `exec` with each request.
pub trait Hobts: Send + Sync {
    /// The hobt of that number.
    ///
    /// # Errors
    /// When it is gone (a stale plan) or its database is not open.
    fn hobt(&self, database: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>>;

    /// What moves before a number may name another hobt; `None` where nobody may rely on that.
    /// While it stands, whoever holds its schema lock need not ask for a hobt again.
    fn epoch(&self) -> Option<u64> {
        None
    }

    /// A system view or table-valued system function with its arguments, as the session of `work`
    /// sees it. Some read many pages to have their rows, and look whether they are to end.
    ///
    /// # Errors
    /// Arguments that the function refuses; a cancellation.
    fn system_view(
        &self,
        database: DatabaseId,
        object: ObjectId,
        arguments: &[Value],
        work: &Work,
    ) -> SqlResult<Arc<dyn TableSource>>;
}
