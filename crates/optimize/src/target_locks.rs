//! A row of a change's target stays locked from where it is found to where it is changed.
//!
//! A scan of the target locks each row for update, and gives the lock up when it goes on to the
//! next. So while a row waits in a spool, a sort or a hash table nobody would keep others from
//! changing it: what was computed from it would be written over theirs, and its entries would be
//! looked for where they are no more (8646). Where an operator on the way keeps rows back, or the
//! change itself gathers them, the scan keeps the locks of what qualifies, to the end of the
//! transaction.

use plan::{Flow, Physical, Strength};

/// Has the scans and lookups of a target keep their locks where rows are `kept_back` above them.
pub(crate) fn keep(tree: &mut Physical, kept_back: bool) {
    let rows_locked = tree.describe_mut().locks_mut();
    if let Some(locks) = rows_locked.filter(|locks| locks.strength != Strength::Shared) {
        locks.kept_back |= kept_back;
    }
    // A row may wait in it while later ones are read.
    let kept_back = kept_back || tree.describe().flow() != Flow::Streams;
    for input in tree.inputs_mut() {
        keep(input, kept_back);
    }
}
