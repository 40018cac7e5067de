//! Statistics, and the changes that make them stale.

use crate::tables::temp::TempTables;
use base::{DatabaseId, ObjectId, SessionId};
use catalog::Modifications;
use ddl::WantedStatistics;
use os::wait::Waiter;
use std::sync::Arc;

/// Statistics of tables.
pub trait Statistics: Send + Sync {
    /// How a database wants its statistics; `None` when it is not open.
    fn statistics_terms(&self, database: DatabaseId) -> Option<StatisticsTerms>;

    /// Makes statistics in a transaction of its own, which waits for nobody; whether there are new
    /// ones. What goes wrong is nobody's trouble.
    fn gather_statistics(&self, call: GatherCall<'_>) -> bool;

    /// Statistics of some columns of a table are stale: they are made anew in the background.
    fn update_statistics_later(&self, database: DatabaseId, table: ObjectId, columns: &[i32]);

    /// A statement has changed rows of a table: in columns, by their ids, or rows came or went.
    fn rows_changed(
        &self,
        database: DatabaseId,
        table: ObjectId,
        columns: Option<&[i32]>,
        rows: u64,
    );
}

/// AUTO_CREATE_STATISTICS and its like, and what they are judged by.
pub struct StatisticsTerms {
    /// AUTO_CREATE_STATISTICS
    pub create: bool,
    /// AUTO_UPDATE_STATISTICS
    pub update: bool,
    /// AUTO_UPDATE_STATISTICS_ASYNC
    pub asynchronous: bool,
    /// Rows that were changed.
    pub modifications: Arc<Modifications>,
}

/// A call of [`Statistics::gather_statistics`].
pub struct GatherCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Where its request waits, and is cancelled.
    pub waiter: Arc<Waiter>,
    /// The table's database.
    pub database: DatabaseId,
    /// The temporary tables that the session sees.
    pub temp: &'a mut TempTables,
    /// What is wanted.
    pub wanted: &'a WantedStatistics,
}
