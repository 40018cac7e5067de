//! Definitions that are not committed yet: each session sees its own, nobody another's.

use base::{DatabaseId, SessionId};
use catalog::Delta;
use catalog::view::DatabaseView;
use os::sync::{Mutex, Padded};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// A session's changes in order, and what it sees of each database with them.
#[derive(Default)]
struct Overlay {
    deltas: Vec<(DatabaseId, Delta)>,
    views: BTreeMap<DatabaseId, (u64, Arc<DatabaseView>)>,
}

/// The overlays of all sessions.
#[derive(Default)]
pub(crate) struct Definitions {
    overlays: Mutex<BTreeMap<SessionId, Overlay>>,
    /// Read by every statement: apart from what changes.
    epoch: Padded<AtomicU64>,
    open: AtomicU64,
}

impl Definitions {
    /// Moves whenever what any session sees may have changed.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }

    /// What any session sees has changed.
    pub(crate) fn moved(&self) {
        self.epoch.fetch_add(1, AcqRel);
    }

    /// Whether a session has changes at all: one atomic load for most.
    pub(crate) fn any(&self) -> bool {
        self.open.load(Acquire) > 0
    }

    /// The session's changes.
    pub(crate) fn deltas(&self, session: SessionId) -> Vec<(DatabaseId, Delta)> {
        self.overlays.lock().get(&session).map(|o| o.deltas.clone()).unwrap_or_default()
    }

    /// Replaces the session's changes.
    pub(crate) fn set(&self, session: SessionId, deltas: Vec<(DatabaseId, Delta)>) {
        let mut overlays = self.overlays.lock();
        let overlay = overlays.entry(session).or_default();
        overlay.deltas = deltas;
        overlay.views.clear();
        if overlay.deltas.is_empty() {
            overlays.remove(&session);
        }
        self.open.store(overlays.len() as u64, Release);
        drop(overlays);
        self.moved();
    }

    /// How many changes the session has.
    pub(crate) fn mark(&self, session: SessionId) -> u64 {
        self.overlays.lock().get(&session).map_or(0, |o| o.deltas.len() as u64)
    }

    /// Takes changes back to a mark.
    pub(crate) fn undo(&self, session: SessionId, mark: u64) {
        let mut deltas = self.deltas(session);
        if (deltas.len() as u64) > mark {
            deltas.truncate(mark as usize);
            self.set(session, deltas);
        }
    }

    /// What a session sees of a database, made by `preview` when its published version is new.
    pub(crate) fn view(
        &self,
        session: SessionId,
        database: DatabaseId,
        published: u64,
        preview: impl FnOnce(&[Delta]) -> Arc<DatabaseView>,
    ) -> Option<Arc<DatabaseView>> {
        let mut overlays = self.overlays.lock();
        let overlay = overlays.get_mut(&session)?;
        if let Some((version, view)) = overlay.views.get(&database)
            && *version == published
        {
            return Some(Arc::clone(view));
        }
        let own = overlay.deltas.iter().filter(|(d, _)| *d == database);
        let own: Vec<Delta> = own.map(|(_, delta)| delta.clone()).collect();
        if own.is_empty() {
            return None;
        }
        let view = preview(&own);
        overlay.views.insert(database, (published, Arc::clone(&view)));
        Some(view)
    }
}
