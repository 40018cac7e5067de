//! A table reference of a statement.

use catalog::view::Object;
use plan::Slot;
use std::collections::BTreeMap;

/// A table reference with the columns that were mentioned so far.
pub(crate) struct ReferenceState {
    pub(crate) reference: Object,
    /// How many modules were being expanded.
    pub(crate) depth: usize,
    pub(crate) used: BTreeMap<usize, Slot>,
    /// Where the place of its row goes.
    pub(crate) location: Option<Slot>,
    /// Where what tells its row apart goes, besides keys.
    pub(crate) place: Option<Slot>,
}
