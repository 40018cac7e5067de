//! A commit that is owed: its record is in the log, and nobody has waited for the disk yet. When
//! the log is there, what stands behind that step of the commit (`commit.rs`) is done.

use crate::home::Home;
use base::Lsn;
use std::sync::Arc;

/// A commit whose record is in the log, and not yet known to be on disk.
pub struct OwedCommit {
    home: Arc<Home>,
    lsn: Lsn,
}

impl OwedCommit {
    /// Of a record in the log of a database.
    pub(crate) fn new(home: &Arc<Home>, lsn: Lsn) -> OwedCommit {
        OwedCommit { home: Arc::clone(home), lsn }
    }

    /// Leaves something to be done once it is, by this thread or another. The caller has the log
    /// flushed soon.
    pub fn when_durable(self, then: impl FnOnce() + Send + 'static) -> UnflushedLog {
        self.home.log().when_durable(self.lsn, then);
        UnflushedLog { home: self.home }
    }
}

/// A log that commits wait for.
#[must_use]
pub struct UnflushedLog {
    home: Arc<Home>,
}

impl UnflushedLog {
    /// Flushes it unless somebody is at it, and does what was left for what is durable. The caller
    /// holds nothing.
    pub fn flush(self) {
        self.home.log().flush_left();
    }

    /// Has somebody else do that, since the caller is going to wait or to compute for long.
    pub fn hand_over(&self) {
        self.home.log().have_left_flushed();
    }

    /// Whether two are of one log.
    pub fn is_same(&self, other: &UnflushedLog) -> bool {
        Arc::ptr_eq(&self.home, &other.home)
    }
}

/// What a unit of work owes: the part in whose log it ends, and where.
#[derive(Clone, Copy)]
pub(crate) struct Debt {
    pub(crate) part: usize,
    pub(crate) lsn: Lsn,
}
