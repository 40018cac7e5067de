//! Which UPDATE gathers all its rows before it changes the first.
//!
//! Where several rows move within a unique key all old keys go before the new ones come: rows that
//! exchange values would meet each other else. `exec` gathers them; `optimize` sees to it that they
//! stay locked meanwhile, as with any operator that keeps rows back. So it is said here, once.

use crate::{IndexTarget, Physical, Target, Uniqueness, Update};

impl Target {
    /// Whether an UPDATE must take all old keys away before it gives new ones.
    pub fn moves_unique_keys(&self) -> bool {
        let moves =
            |i: &IndexTarget| i.affected && i.key_changes && i.unique != Uniqueness::No && !i.wide;
        self.indexes.iter().any(moves)
    }
}

impl Update<Physical> {
    /// Whether it reads all its rows before it changes one.
    pub fn gathers(&self) -> bool {
        self.target.moves_unique_keys() && !self.source.gives_one_row()
    }
}
