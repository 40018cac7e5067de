//! Statistics, and counts of the changes that make them stale.

use crate::tables::temp::TempTables;
use base::{DatabaseId, ObjectId, SessionId};
use catalog::Modifications;
use ddl::WantedStatistics;
use os::wait::Waiter;
use std::sync::Arc;

/// Statistics of tables.
pub trait Statistics: Send + Sync {
    /// The rules of a database for its statistics; `None` if it is not open.
    fn statistics_terms(&self, database: DatabaseId) -> Option<StatisticsTerms>;

    /// Makes statistics in a transaction of its own that never waits for a lock. Returns whether
    /// there are new ones. Errors are ignored.
    fn gather_statistics(&self, call: GatherCall<'_>) -> bool;

    /// Statistics of some columns of a table are stale: has them updated in the background.
    fn update_statistics_later(&self, database: DatabaseId, table: ObjectId, columns: &[i32]);

    /// A statement has changed rows of a table: the columns with these ids, or it has inserted or
    /// deleted rows.
    fn rows_changed(
        &self,
        database: DatabaseId,
        table: ObjectId,
        columns: Option<&[i32]>,
        rows: u64,
    );
}

/// AUTO_CREATE_STATISTICS and the related options, and the counters that decide when statistics are
/// stale.
pub struct StatisticsTerms {
    /// AUTO_CREATE_STATISTICS
    pub create: bool,
    /// AUTO_UPDATE_STATISTICS
    pub update: bool,
    /// AUTO_UPDATE_STATISTICS_ASYNC
    pub asynchronous: bool,
    /// Counts of changed rows.
    pub modifications: Arc<Modifications>,
}

/// A call of [`Statistics::gather_statistics`].
pub struct GatherCall<'a> {
    /// The session.
    pub session: SessionId,
    /// The waiter of its request, through which it is cancelled.
    pub waiter: Arc<Waiter>,
    /// The table's database.
    pub database: DatabaseId,
    /// The temporary tables that the session sees.
    pub temp: &'a mut TempTables,
    /// The statistics to make.
    pub wanted: &'a WantedStatistics,
}
