//! Changes of indexes by themselves: wide plans.
//!
//! ```text
//! narrow   each row is changed in all its heaps and indexes before the next one
//! wide     all rows are changed in the heap or clustered index; what indexes need of them is kept,
//!          and each index is changed by itself, in the order of its key
//! ```
//!
//! A wide change touches each page of an index once, where a narrow one comes back to it for each
//! of its rows. It is a change as any other for whoever looks on: base rows are locked before
//! anything of their indexes is, and all of it is one statement.
//!
//! Where keys move, a row becomes two ([`crate::Split`]): its old entry is to go, its new one to
//! come. In the order of keys what goes comes first among equals, so that rows may exchange values
//! of a unique key.

use crate::{FollowUpId, OldRow, Slot, Target};

/// An index of a target, changed by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexChange<S> {
    /// The target with no other index than this.
    pub target: Target,
    /// What there is to do, in the order of the index's key.
    pub source: S,
    /// What is done with each row of it.
    pub work: EntryWork,
    /// Where the frame has the old entry; the same as `after` of a row that was split.
    pub before: OldRow,
    /// Where it has the new one.
    pub after: OldRow,
}

/// What becomes of an index's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryWork {
    /// Each row is an entry that comes.
    Insert,
    /// Each row is an entry that goes.
    Delete,
    /// Each row is an entry that keeps its key.
    Update,
    /// The slot says: 0 for an entry that goes, 1 for one that comes.
    Split(Slot),
}

/// Where a change puts the place of a base row that it has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its uniquifier, where the clustered index has one.
    pub uniquifier: Option<Slot>,
    /// Its RID, where the table is a heap.
    pub rid: Option<Slot>,
}

/// The indexes of a target that are changed by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WideChange {
    /// Where the place of each base row goes.
    pub place: Place,
    /// The changes of indexes, before anything else that follows the last row.
    pub changes: Vec<FollowUpId>,
}
