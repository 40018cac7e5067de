//! `sp_persistent_version_cleanup`: a sweep of a database's versions that somebody waits for.

use crate::instance::Instance;
use base::{DatabaseId, SqlResult};
use database::SweepRequest;
use lock::Duration;
use work::Work;

impl Instance {
    /// Sweeps the versions of a database.
    pub(crate) fn sweep_versions_of(
        &self,
        work: &Work,
        database: DatabaseId,
        asked: SweepRequest,
    ) -> SqlResult<()> {
        // It may be another than the session's own: nobody drops it meanwhile.
        let database = self.hold(work.owner(), work.timeout(), database, Duration::Short)?;
        let swept = database.sweep_versions(asked, work.owner().waiter());
        self.let_go(work.owner(), database.id());
        swept.map(drop)
    }
}
