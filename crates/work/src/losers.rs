//! Losers: transactions that recovery found without an end, taken over by a unit of work that
//! undoes them while others work in their database (SQL Server's fast recovery).
//!
//! ```text
//!   redo ── take over: X on the tables, log for the undo, a bound ── the database is opened
//!                                                   └─ roll back, beside everybody ── locks go
//! ```
//!
//! The locks that losers held are not in the log. X on each table that one of them has changed
//! stands for them: coarser than the keys that SQL Server locks again, and it asks for no memory
//! nor for a look at each record. Losers that share a table are undone by one unit of work, since
//! both would have it.
//!
//! Invariants
//!  1. A unit of work of losers holds everything before anybody else comes: it never waits for a
//!     lock, so it is in no deadlock, and it is rolling back, so it would be nobody's victim.
//!  2. Its log is reserved before, too: who works beside it is refused (9002), it is not.
//!  3. A loser is known to its database with its first record as the bound: checkpoints keep its
//!     log, and a crash finds it again, its compensations with it.
//!  4. Records carry the number that the loser had; locks and views have one that was drawn at this
//!     start: another database's log may name the same.
//!  5. It holds S on the database like any session, so that nobody drops it, or changes how rows
//!     are versioned, before the undo has ended.

use crate::engine::Engine;
use crate::home::Home;
use crate::loser::Loser;
use crate::part::Part;
use crate::unit::Work;
use base::{ObjectId, SessionId};
use lock::{Duration, LockError, Mode, Resource};
use os::wait::Waiter;
use std::sync::Arc;
use wal::WalError;

/// The session that holds the locks of losers: one of the system's.
pub const RECOVERY_SESSION: SessionId = SessionId(20);

/// Why losers could not be taken over: they are undone before anybody comes.
#[derive(Debug)]
pub enum TakeoverError {
    /// No log is left for their undo.
    Log(WalError),
    /// No memory for the locks.
    Lock(LockError),
    /// Somebody holds what they held.
    Held,
}

impl From<LockError> for TakeoverError {
    fn from(e: LockError) -> Self {
        TakeoverError::Lock(e)
    }
}

impl Work {
    /// A unit of work that has taken over losers of a database, oldest first, with X on the tables
    /// that they have changed. Nobody else works there yet.
    ///
    /// # Errors
    /// [`TakeoverError`]; then nothing is held.
    pub fn of_losers(
        engine: &Arc<Engine>,
        home: &Arc<Home>,
        losers: &[Loser],
        tables: impl Iterator<Item = ObjectId>,
    ) -> Result<Work, TakeoverError> {
        let oldest = losers.first().expect("somebody is taken over");
        debug_assert!(losers.is_sorted_by_key(|l| l.chain.first), "oldest first");
        let mut work = Work::new(engine, RECOVERY_SESSION, Arc::new(Waiter::new()));
        work.begin_loser(&oldest.name, oldest.began_at);
        match work.take_over(home, losers, tables) {
            Ok(()) => Ok(work),
            Err(e) => {
                work.ended();
                Err(e)
            }
        }
    }

    fn take_over(
        &mut self,
        home: &Arc<Home>,
        losers: &[Loser],
        tables: impl Iterator<Item = ObjectId>,
    ) -> Result<(), TakeoverError> {
        self.hold(Resource::database(home.database), Mode::S)?;
        for table in tables {
            self.hold(Resource::object(home.database, table), Mode::X)?;
        }
        let id = self.transaction_id().expect("it has begun");
        for loser in losers {
            let part = Part::of_loser(home, &self.owner, id, loser).map_err(TakeoverError::Log)?;
            self.parts.push(part);
        }
        self.owner.set_rolling_back(true);
        self.touches(home.database);
        self.tell(txn::OpenEntry::rolls_back);
        Ok(())
    }

    fn hold(&self, resource: Resource, mode: Mode) -> Result<(), TakeoverError> {
        let locks = &self.engine.locks;
        let got = locks.try_lock_now(&self.owner, resource, mode, Duration::Long, None)?;
        got.map(drop).ok_or(TakeoverError::Held)
    }
}
