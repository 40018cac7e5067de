//! Graveyards: where ghosts lie that left their pages while a snapshot needs them, and who has one
//! in a database. `grave_memory.rs` has what all of an instance may take.
//!
//! Invariants
//!  1. Whoever has graves is listed, and stays open for them, as long as the database is.

use crate::engine::Engine;
use os::sync::Mutex;
use std::sync::Arc;
use txn::Lifetime;

/// A heap or index that has graves.
pub trait Sexton: Send + Sync {
    /// Removes what nobody needs any more.
    fn sweep(&self, engine: &Engine);

    /// Tells of each ghost that lies here how long the rows were there that it leads to, and its
    /// bytes. A ghost may be told with several lifetimes, which have no moment in common.
    ///
    /// # Errors
    /// A page of the version store that cannot be read.
    fn tell(&self, engine: &Engine, each: &mut dyn FnMut(Lifetime, usize)) -> base::SqlResult<()>;

    /// Whether anything lies there.
    fn has_graves(&self) -> bool;

    /// What its graves are told from others' by.
    fn identity(&self) -> usize;
}

/// Who has graves in a database.
#[derive(Default)]
pub struct Graveyards(Mutex<Vec<Arc<dyn Sexton>>>);

impl Graveyards {
    /// Somebody has graves from now on.
    pub fn list(&self, sexton: Arc<dyn Sexton>) {
        self.0.lock().push(sexton);
    }

    /// Removes what nobody needs any more.
    pub fn sweep(&self, engine: &Engine) {
        for sexton in self.sextons() {
            sexton.sweep(engine);
        }
        // Who was emptied and gets graves again has listed himself twice, perhaps.
        self.0.lock().retain(|sexton| sexton.has_graves());
    }

    /// The database closes.
    pub fn close(&self) {
        self.0.lock().clear();
    }

    /// Who is listed, each once.
    pub fn sextons(&self) -> Vec<Arc<dyn Sexton>> {
        let mut all = self.0.lock().clone();
        all.sort_by_key(|s| s.identity());
        all.dedup_by_key(|s| s.identity());
        all
    }
}
