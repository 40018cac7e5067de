//! Where a unit of work puts versions: its page of each store.

use std::sync::Arc;
use version::{Place, TempdbStore, VersionError, VersionStore};

/// Where a unit of work puts versions: a place in each store that it has used. Mostly that is one.
#[derive(Default)]
pub(crate) struct Places(Vec<(Arc<dyn VersionStore>, Place)>);

impl Places {
    fn at(&self, store: &Arc<dyn VersionStore>) -> Option<usize> {
        self.0.iter().position(|(of, _)| is_same(of, store))
    }

    /// Its place in a store.
    pub(crate) fn of(&mut self, store: &Arc<dyn VersionStore>) -> &mut Place {
        let at = self.at(store).unwrap_or_else(|| {
            self.0.push((Arc::clone(store), Place::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    pub(crate) fn has_room(&self, store: &Arc<dyn VersionStore>, record_bytes: usize) -> bool {
        self.at(store).is_some_and(|at| self.0[at].1.has_room(record_bytes))
    }

    /// Makes room for a record.
    pub(crate) fn make_room(
        &mut self,
        store: &Arc<dyn VersionStore>,
        record_bytes: usize,
    ) -> Result<(), VersionError> {
        store.make_room(self.of(store), record_bytes)
    }

    /// Gives the pages to whoever wants them. A page that cannot be read now stays its own: nobody
    /// else fills it. The place in the shared store is kept for the next request; others are not,
    /// since their databases may go.
    pub(crate) fn leave(&mut self, shared: Option<&Arc<TempdbStore>>) {
        self.0.iter_mut().for_each(|(store, place)| {
            let _ = store.leave(place);
        });
        self.0.retain(|(store, _)| {
            shared.is_some_and(|shared| std::ptr::addr_eq(Arc::as_ptr(store), Arc::as_ptr(shared)))
        });
    }
}

/// Whether two handles are of one store. Tables of functions may differ for one type.
fn is_same(a: &Arc<dyn VersionStore>, b: &Arc<dyn VersionStore>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b))
}
