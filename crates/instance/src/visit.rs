//! The open databases, as one view asks for them.
//!
//! Invariants
//!  1. A database whose pages a view reads is held in S until the view has answered, under an
//!     owner of its own: it may be another than the session's, and nobody drops it meanwhile.

use crate::closed::ClosedEntry;
use crate::host::is_locked;
use crate::instance::Instance;
use base::{DatabaseId, SessionId, SqlResult};
use catalog::view::DatabaseView;
use database::Database;
use lock::{Duration, Mode, Owner, OwnerId, OwnerKind, Resource};
use session::Definitions;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use sysviews::ClosedDatabase;

/// Owners of this kind have their session's number; those of visits come behind all sessions.
const FIRST_NUMBER: u64 = 1 << 32;

/// A view's visit to the databases.
pub(crate) struct Visit<'i> {
    instance: &'i Instance,
    /// Who asks.
    session: SessionId,
    /// Who holds, once something is held.
    owner: OnceLock<Arc<Owner>>,
}

impl<'i> Visit<'i> {
    pub(crate) fn new(instance: &'i Instance, session: SessionId) -> Visit<'i> {
        Visit { instance, session, owner: OnceLock::new() }
    }

    fn owner(&self) -> &Arc<Owner> {
        self.owner.get_or_init(|| {
            let number = FIRST_NUMBER + self.instance.visits.fetch_add(1, Relaxed);
            let id = OwnerId::new(OwnerKind::SharedTransactionWorkspace, number);
            Owner::new(id, self.session, Arc::default())
        })
    }
}

impl sysviews::Databases for Visit<'_> {
    fn all(&self) -> Vec<Arc<Database>> {
        self.instance.databases.read().values().map(|o| Arc::clone(&o.database)).collect()
    }

    fn closed(&self) -> Vec<ClosedDatabase> {
        let closed = self.instance.closed.read();
        let told = |(id, c): (&DatabaseId, &ClosedEntry)| ClosedDatabase {
            id: *id,
            name: c.name.clone(),
            state: c.state,
            read_only: c.read_only,
            files: c.files.clone(),
        };
        closed.iter().map(told).collect()
    }

    fn get(&self, id: DatabaseId) -> Option<Arc<Database>> {
        self.instance.database(id)
    }

    fn view(&self, id: DatabaseId) -> Option<Arc<DatabaseView>> {
        Definitions::view(self.instance, self.session, id)
    }

    fn hold(&self, id: DatabaseId) -> SqlResult<Option<Arc<Database>>> {
        let Some(found) = self.instance.database(id) else { return Ok(None) };
        if is_locked(id) {
            let (locks, resource) = (&self.instance.engine().locks, Resource::database(id));
            let held = locks.try_lock_now(self.owner(), resource, Mode::S, Duration::Long, None)?;
            // Whoever has X is dropping it.
            if held.is_none() {
                return Ok(None);
            }
        }
        Ok(self.instance.is_open(&found).then_some(found))
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.get() {
            self.instance.engine().locks.release_all(owner);
        }
    }
}
