//! A count of the tree, as a proof tells it.

/// A count of the tree.
pub struct Count {
    /// What is counted.
    pub what: String,
    /// How many there are.
    pub figure: usize,
}

impl Count {
    pub(crate) fn of(what: impl Into<String>, figure: usize) -> Count {
        Count { what: what.into(), figure }
    }
}
