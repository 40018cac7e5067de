//! Owed commits (asynchronous acknowledgement): when a commit is the last thing that a request
//! does, its thread does not wait for the disk.
//!
//! If a request does nothing after the statement, or the COMMIT, that ends its transaction, the
//! request runs to its end once the commit's record is in the log, and returns
//! [`RequestEnd::Owes`]. The server holds the answer back. When the log is on disk, the server has
//! [`Connection::settle`] called, and then sends the answer. No thread sleeps meanwhile: the thread
//! that has written the log settles all commits that this write covered.
//!
//! ```text
//! last statement ─ commit record ─ tokens of the answer ─ run_last returns     (one thread)
//!                        └────── WRITELOG ───────┐
//!                                        settle: stamp, locks, counts, end     (any thread)
//! ```
//!
//! Invariants
//!  1. From the commit record to `settle` nothing of the session runs. Whatever would run settles
//!     first, and waits for that.
//!  2. Nothing that reveals the commit is sent before it is settled ([`ResultSink::hold`]).
//!  3. Until it is settled, other sessions see that the request runs, holds its locks and waits
//!     under WRITELOG. The elapsed times of the statement and its programs include the wait.
//!  4. A statement that reports its own time, or whose last run is kept, waits itself.
//!
//! [`RequestEnd::Owes`]: crate::RequestEnd::Owes
//! [`Connection::settle`]: crate::Connection::settle
//! [`ResultSink::hold`]: crate::ResultSink::hold

use crate::answer::output::Output;
use crate::program::steps::{PlaceId, Program};
use crate::request::pending_end::{EndedRun, ParkedRequest, PendingEnd};
use crate::session::Session;
use crate::session::settings::Switches;
use os::clock::monotonic_ns;
use os::wait::{DetachedWait, WaitKind};
use plancache::{Entry, Run};
use std::sync::Arc;
use work::{CommitMode, OwedCommit, WorkError};

impl Session {
    /// Whether a commit now would be the last thing that the request does.
    fn may_owe(&self) -> bool {
        let settings = &self.state.settings;
        self.flow.last
            && !self.open.definitions
            && !settings.statistics_time
            && !settings.shows_what_ran()
            && !settings.is_on(Switches::CURSOR_CLOSE_ON_COMMIT)
    }

    /// Commits the session's work. Returns true if the end of the commit is owed.
    pub(crate) fn commit_or_owe(&mut self, mode: CommitMode) -> Result<bool, WorkError> {
        if !self.may_owe() {
            return self.work.commit(mode).map(|()| false);
        }
        let owes = self.work.commit_or_owe(mode)?;
        if owes {
            let user = self.state.transaction.count > 0;
            self.owing = Some(Box::new(PendingEnd { user, ..PendingEnd::default() }));
        }
        Ok(owes)
    }

    /// Invariant 2: called before anything is sent that may reveal a commit.
    #[inline]
    pub(crate) fn hold_if_owing(&self, out: &mut Output<'_>) {
        if self.owing.is_some() {
            out.hold();
        }
    }

    /// Invariant 1.
    #[inline]
    pub(crate) fn settle_commit(&mut self) {
        if self.owing.is_some() {
            self.settle_owing();
        }
    }

    #[cold]
    fn settle_owing(&mut self) {
        let Some(owing) = self.owing.take() else { return };
        let flushed_ns = self.work.settle_owed().expect("what a session owes its work owes");
        if let Some(parked) = owing.parked {
            parked.wait.end(self.work.owner().waiter(), flushed_ns);
        }
        self.state.entry.versions_no_rows();
        if owing.user {
            self.note_transaction();
        }
        let now = monotonic_ns();
        for EndedRun { program, place, began_at, began_ns, mut run } in owing.counted {
            run.elapsed_ns = now.saturating_sub(began_ns);
            match place {
                Some(place) => program.value.places[place].cell.count(began_at, &run),
                None => program.statistics.add(began_at, &run),
            }
        }
    }

    /// Counts a run that began at `began_at`: now, or when the owed commit is settled.
    pub(crate) fn count(
        &mut self,
        program: &Arc<Entry<Program>>,
        place: Option<PlaceId>,
        (began_at, began_ns): (i64, u64),
        run: &Run,
    ) {
        match (&mut self.owing, place) {
            (Some(owing), _) => {
                let program = Arc::clone(program);
                owing.counted.push(EndedRun { program, place, began_at, began_ns, run: *run });
            }
            (None, Some(place)) => program.value.places[place].cell.count(began_at, run),
            (None, None) => program.statistics.add(began_at, run),
        }
    }

    /// The thread leaves the request, which began at `began_ns`. Returns what the request waits
    /// for, if it owes a commit.
    pub(crate) fn park(&mut self, began_ns: u64) -> Option<OwedCommit> {
        let owing = self.owing.as_mut()?;
        let wait = DetachedWait::begin(WaitKind::WriteLog, self.work.owner().waiter());
        owing.parked = Some(ParkedRequest { wait, began_ns });
        let owed = self.work.owed();
        assert!(owed.is_some(), "what a session owes its work owes");
        owed
    }

    /// Ends a request whose owed commit is durable.
    pub(crate) fn settle_request(&mut self) {
        let now = monotonic_ns();
        let parked = self.owing.as_ref().and_then(|owing| owing.parked.as_ref());
        let began_ns = parked.expect("a request is settled that was left").began_ns;
        let _serving = os::wait::serve(Some(Arc::clone(self.state.entry.waits())));
        self.settle_commit();
        // Nothing here waits.
        self.request_ended(began_ns, monotonic_ns().saturating_sub(now));
    }
}
