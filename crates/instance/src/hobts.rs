//! From ids in plans to heaps, indexes and views.

use crate::instance::Instance;
use crate::visit::Visit;
use access::{Hobt, Hobts, TableSource};
use base::{DatabaseId, HobtId, ObjectId, SqlError, SqlResult, messages};
use std::sync::Arc;
use types::Value;
use work::Work;

impl Hobts for Instance {
    fn hobt(&self, database: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        let found = self.database(database).and_then(|d| d.hobts().get(hobt));
        match found {
            Some(hobt) => Ok(hobt),
            None => Err(SqlError::new(messages::INVALID_OBJECT, &[&hobt])),
        }
    }

    fn epoch(&self) -> Option<u64> {
        Some(self.definitions.epoch())
    }

    fn system_view(
        &self,
        database: DatabaseId,
        object: ObjectId,
        arguments: &[Value],
        work: &Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        self.with_system(work, database, |system| sysviews::open(system, object, arguments))
    }
}

impl Instance {
    /// What views look at, for a unit of work in the context of a database.
    pub(crate) fn with_system<R>(
        &self,
        work: &Work,
        database: DatabaseId,
        looks: impl FnOnce(&sysviews::System<'_>) -> R,
    ) -> R {
        let system = sysviews::System {
            databases: &Visit::new(self, work.session()),
            sessions: &self.registry,
            configuration: &self.configuration,
            semaphores: &self.semaphores,
            workers: &self.query_workers,
            programs: &self.programs,
            memory: &self.memory,
            events: &self.events,
            server: self.server_name(),
            version: crate::facts::PRODUCT_VERSION,
            engine: self.engine(),
            current: database,
            waiter: work.owner().waiter(),
            transaction: work.transaction_id(),
        };
        looks(&system)
    }
}
