//! The background work of a database: checkpoints, the log writer, options, closing.

use crate::aborted::CarriedTransactions;
use crate::clean;
use crate::database::Database;
use crate::open::durability;
use crate::pace::Pace;
use base::{Lsn, SqlResult};
use catalog::{Changes, DatabaseOption};
use os::clock::monotonic_ns;
use os::task::JoinHandle;
use os::wait::{CancelReason, WaitKind, Wake};
use recovery::{CarriedNotes, CheckpointResult, LogBounds};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::Mutation;
use wal::WalError;
use work::{CommitMode, Work};

/// The longest time until a delayed commit is on disk.
const DELAYED_COMMIT_NS: u64 = 100_000_000;
/// The longest time for cleaning ghosts when a database is closed.
const CLOSING_NS: u64 = 1_000_000_000;
const CLEAN_PAGES: usize = 32;
/// The interval of the checkpointer.
const LOOK_NS: u64 = 50_000_000;

impl Database {
    /// Takes a checkpoint. `clean`: the database is being closed.
    ///
    /// # Errors
    /// The disk's; 3908 or 3906 if it is open for reading only.
    pub fn checkpoint(&self, clean: bool) -> SqlResult<CheckpointResult> {
        if let Some(seal) = self.sealed {
            return Err(WalError::Sealed(seal).into_sql(&self.home.name()));
        }
        let _one = self.checkpointing.lock();
        let home = Arc::clone(&self.home);
        let engine = &self.env.engine;
        let unkept = engine.transactions.mutations.has(Mutation::DecisionUnkept);
        if !unkept {
            engine.decisions.settle(self.id);
        }
        let kept = || if unkept { Lsn::MAX } else { engine.decisions.oldest(self.id) };
        let map = RefCell::new(CarriedTransactions::default());
        let promised = home.promised_for_aborted();
        let done = recovery::checkpoint(
            &self.log,
            &self.pages,
            |begin| {
                home.keep_records_before(begin, &engine.transactions.mutations)?;
                // In this order: a decision is recorded, and an aborted transaction enters the map,
                // before the transaction leaves.
                let (active, undo) = (home.oldest_for_recovery(), home.bound_for_undo());
                let decisions = kept();
                let carried =
                    map.replace(CarriedTransactions::of(&home, &engine.transactions.mutations));
                debug_assert!(carried.bytes.is_empty(), "the map is read once");
                let rest = map.borrow().rest_from.unwrap_or(Lsn::MAX);
                let recovery = active.min(decisions).min(rest);
                Ok(LogBounds { recovery, undo: undo.min(decisions) })
            },
            (promised, || {
                let kept = map.take().bytes;
                let room = recovery::CARRIED_BYTES_MAX - kept.len();
                CarriedNotes { hints: clean::carried(&home, room), kept }
            }),
            clean,
        );
        home.give_back_promised();
        done.map_err(|e| e.into_sql(&self.home.name()))
    }

    /// Starts the log writer and the checkpointer. They end when the database is closed. A database
    /// that is open for reading only has none.
    pub fn start_workers(self: &Arc<Self>) -> Vec<JoinHandle<()>> {
        if self.sealed.is_some() {
            return Vec::new();
        }
        let name = self.home.name();
        let mut tasks = Vec::new();
        let database = Arc::clone(self);
        tasks.push(os::task::spawn(&format!("log writer {name}"), move || {
            while database.stopping.check().is_ok() {
                database.log.writer_turn(monotonic_ns() + DELAYED_COMMIT_NS);
            }
        }));
        self.log.relief().served_by(&self.stopping);
        if self.home.is_accelerated() || !self.home.aborted().is_empty() {
            self.start_cleaner();
        }
        let database = Arc::clone(self);
        tasks.push(os::task::spawn_background(&format!("checkpoint {name}"), move || {
            database.checkpoint_when_due();
        }));
        tasks
    }

    fn checkpoint_when_due(&self) {
        let mut pace = Pace::new(&self.log);
        loop {
            let wake =
                self.stopping.wait(WaitKind::CheckpointQueue, Some(monotonic_ns() + LOOK_NS));
            if let Wake::Cancelled(_) = wake {
                return;
            }
            let asked = self.log.relief().is_asked();
            let recovered = self.recovered.swap(false, Relaxed);
            let target = (self.options.read().target_recovery_seconds, self.home.is_accelerated());
            if asked || recovered || pace.is_due(&self.log, target) {
                // What is not written now is written the next time. It needs log, so it is skipped
                // when the log is full: it would wait for this checkpoint.
                if !asked {
                    let _ = self.save_modifications();
                }
                // A checkpoint that fails is tried again; the previous one remains valid.
                let taken = pace.run(&self.log, || self.checkpoint(false).is_ok());
                if recovered && !taken {
                    self.recovered.store(true, Relaxed);
                }
            }
            if asked {
                self.log.relief().done();
            }
            self.free_left();
        }
    }

    /// Sets an option within a transaction. It takes effect for all sessions at once.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn set_option(&self, work: &mut Work, option: DatabaseOption) -> SqlResult<()> {
        Changes::new(&*self.hobts).put_option(work, option)?;
        self.options.write().set(option);
        let options = self.options.read().clone();
        self.home.set_delayed_durability(durability(options.delayed_durability));
        self.env.engine.note_rule(options.ghost_cleanup_rule);
        self.home.set_ghost_rule(options.ghost_cleanup_rule);
        Ok(())
    }

    /// Writes the counts of changed rows.
    fn save_modifications(&self) -> SqlResult<()> {
        if !self.survives {
            return Ok(());
        }
        let name = self.home.name();
        let mut work = self.system_work();
        work.begin(false, "Modifications");
        let view = self.view();
        let lives = |table| view.table(table).is_some();
        let put =
            Changes::new(&*self.hobts).put_modifications(&mut work, &self.modifications, lives);
        if let Err(e) = put {
            self.modifications.not_saved();
            work.roll_back().map_err(|e| e.into_sql(&name))?;
            return Err(e);
        }
        work.commit(CommitMode::Delayed).map_err(|e| e.into_sql(&name))
    }

    /// The last checkpoint record has room for a limited number of pages.
    fn clean_before_closing(&self) {
        let mut last = None;
        let until = monotonic_ns() + CLOSING_NS;
        while monotonic_ns() < until {
            match self.clean_ghosts(last, CLEAN_PAGES) {
                Ok(progress) if progress.last.is_some() => last = progress.last,
                // Ghosts do not prevent closing.
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Closes the database. All pages are written, so that the next start has nothing to recover,
    /// unless losers remain. No session uses the database any more.
    ///
    /// # Errors
    /// The disk's; the next start then recovers.
    pub fn close(&self, workers: Vec<JoinHandle<()>>) -> SqlResult<()> {
        self.stopping.cancel(CancelReason::Shutdown);
        self.log.wake_writer();
        self.join_cleaner();
        for task in workers {
            // A worker that panicked has reported it; closing goes on.
            let _ = task.join();
        }
        if self.sealed.is_some() {
            self.pages.close();
            self.env.engine.decisions.leave(self.id);
            return Ok(());
        }
        // Stopped: the next start undoes the rest.
        self.undo_put_off();
        self.end_freeing();
        self.clean_before_closing();
        let closed = if self.survives {
            // Values that could not be returned leave a gap. That does not prevent closing.
            let settled = self.identities.settle(self);
            let saved = self.save_modifications();
            self.log.flush_all();
            self.checkpoint(true).map(|_| ()).and(settled).and(saved)
        } else {
            Ok(())
        };
        self.pages.close();
        let decisions = &self.env.engine.decisions;
        decisions.leave(self.id);
        if closed.is_ok() {
            // Its own commit records are on disk.
            self.no_more_asked();
        }
        closed
    }

    /// Other databases may forget the decisions that they keep for this one: it knows how its
    /// transactions ended, or is gone for good.
    pub fn no_more_asked(&self) {
        let (database, family) = (self.id, self.log.family());
        self.env.engine.decisions.release(|m| m.database == database && m.family == family);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !os::sched::crashed() {
            // A database that is never closed leaves its losers to the next start, too.
            self.stopping.cancel(CancelReason::Shutdown);
            self.undo_put_off();
        }
        // A graveyard's owner and its database refer to each other.
        self.home.graveyards().close();
    }
}
