//! `CleanerTimes`: when the cleaner of versions went over a database last, why it left pages of the
//! version store as they are, and what ended it, for the views and the error log.
//!
//! Invariant: the end of a pass that goes on is not known: a pass that begins clears the end of the
//! one before.

use base::SqlError;
use os::clock::now;
use os::sync::Mutex;

/// What a pass of the cleaner goes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CleanerPass {
    /// Rows, for records by aborted transactions.
    Aborted,
    /// The version store.
    OffRow,
}

/// When a pass began and ended, in wall nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassTimes {
    /// The begin of the last pass.
    pub began: Option<i64>,
    /// Its end; `None` while it goes on.
    pub ended: Option<i64>,
}

/// Pages of the version store that the cleaner passed over, since somebody needs a version there.
/// Each counts once: for the transaction that its oldest such version waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassedPages {
    /// An active transaction superseded it.
    pub for_active: u64,
    /// The oldest aborted transaction superseded it, and its rows are not reverted.
    pub for_oldest_aborted: u64,
    /// Another aborted transaction did.
    pub for_other_aborted: u64,
    /// A snapshot may read it.
    pub for_snapshots: u64,
}

/// When the cleaner went over a database last.
#[derive(Default)]
pub struct CleanerTimes {
    passes: [Mutex<PassTimes>; 2],
    passed: Mutex<PassedPages>,
    fault: Mutex<Option<SqlError>>,
}

impl CleanerTimes {
    /// Notes the times of a pass, also of one that fails. One of a kind goes on at a time.
    pub fn during<R>(&self, pass: CleanerPass, run: impl FnOnce() -> R) -> R {
        let times = &self.passes[pass as usize];
        *times.lock() = PassTimes { began: Some(now().0), ended: None };
        let done = run();
        times.lock().ended = Some(now().0);
        done
    }

    /// The times of the last pass.
    pub fn of(&self, pass: CleanerPass) -> PassTimes {
        *self.passes[pass as usize].lock()
    }

    /// Notes what has ended the last sweep; none where it came to its end.
    pub fn note_fault(&self, fault: Option<SqlError>) {
        *self.fault.lock() = fault;
    }

    /// What has ended the last sweep: a damaged page, a full log, no room.
    pub fn fault(&self) -> Option<SqlError> {
        self.fault.lock().clone()
    }

    /// Notes what a pass over the store has passed over, when it has come to the end.
    pub fn note_passed(&self, pages: PassedPages) {
        *self.passed.lock() = pages;
    }

    /// What the last pass that came to the end of the store has passed over.
    pub fn passed(&self) -> PassedPages {
        *self.passed.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While a pass goes on it has no end, whatever came before; another pass has its own times.
    #[test]
    fn a_pass_that_goes_on_has_no_end() {
        let times = CleanerTimes::default();
        assert_eq!(times.of(CleanerPass::Aborted), PassTimes::default());
        times.during(CleanerPass::Aborted, || {});
        let first = times.of(CleanerPass::Aborted);
        assert!(first.began.is_some() && first.began <= first.ended);
        assert_eq!(times.of(CleanerPass::OffRow), PassTimes::default());
        times.during(CleanerPass::Aborted, || {
            let second = times.of(CleanerPass::Aborted);
            assert!(second.began >= first.ended && second.ended.is_none());
        });
        assert!(times.of(CleanerPass::Aborted).ended.is_some());
    }
}
