//! Definitions that are not committed yet: each session sees its own, nobody another's.

use base::{DatabaseId, SessionId};
use catalog::Delta;
use catalog::view::DatabaseView;
use os::sync::{Mutex, PaddedCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// A session's changes in order, and what it sees of each database with them.
#[derive(Default)]
struct Overlay {
    deltas: Vec<(DatabaseId, Delta)>,
    views: BTreeMap<DatabaseId, OverlayView>,
}

/// A database with a session's changes.
struct OverlayView {
    /// The published version that they were applied to.
    published: u64,
    /// So many of the session's changes are in it: further ones are added to it.
    applied: usize,
    view: Arc<DatabaseView>,
}

/// The overlays of all sessions.
#[derive(Default)]
pub(crate) struct Definitions {
    overlays: Mutex<BTreeMap<SessionId, Overlay>>,
    /// Read by every statement: apart from what changes.
    epoch: PaddedCell<AtomicU64>,
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

    /// Replaces the session's changes: the first of them, or all with more behind them.
    pub(crate) fn set(&self, session: SessionId, deltas: Vec<(DatabaseId, Delta)>) {
        let mut overlays = self.overlays.lock();
        let overlay = overlays.entry(session).or_default();
        if deltas.len() < overlay.deltas.len() {
            overlay.views.clear();
        }
        overlay.deltas = deltas;
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

    /// What a session sees of a database: `published`, or what `preview` makes of that and its
    /// changes. What a transaction sees after its thousandth change costs no more than after its
    /// first.
    pub(crate) fn view(
        &self,
        session: SessionId,
        database: DatabaseId,
        published: &Arc<DatabaseView>,
        preview: impl FnOnce(&DatabaseView, &[Delta]) -> Arc<DatabaseView>,
    ) -> Arc<DatabaseView> {
        let mut overlays = self.overlays.lock();
        let Some(overlay) = overlays.get_mut(&session) else { return Arc::clone(published) };
        let version = published.schema_version();
        let seen = overlay.views.get(&database).filter(|seen| seen.published == version);
        let (applied, before) = seen.map_or((0, published), |seen| (seen.applied, &seen.view));
        let more = overlay.deltas[applied..].iter().filter(|(d, _)| *d == database);
        let more: Vec<Delta> = more.map(|(_, delta)| delta.clone()).collect();
        if more.is_empty() {
            return Arc::clone(before);
        }
        let view = preview(before, &more);
        let seen = OverlayView {
            published: version,
            applied: overlay.deltas.len(),
            view: Arc::clone(&view),
        };
        overlay.views.insert(database, seen);
        view
    }
}
