//! Log that a store's changes may take, reserved before any latch.
//!
//! A writer changes the store under the latch of a row's page. There it may not wait for log, and
//! nothing may be refused. So a place has reserved log when its owner made room ([`PlaceBudget`]).
//! Changes of chains take their log from a reserve that the store keeps ([`ChainBudget`]).
//!
//! Invariant: what was spent stays reserved until the next refill. So a reservation is never below
//! what may be logged yet, and others are refused a little earlier at most.

use base::limits::{LOG_BLOCK_BYTES_MAX, RECORD_BYTES_MAX};
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use wal::{Group, Log, LogReservation, WalError};

/// A record's header with its page part.
const RECORD_FRONT_BYTES: u64 = 28;
/// What a place reserves at a time: some thirty versions of short rows.
const AHEAD_BYTES: u64 = 8192;
/// What is kept for chains: some 500 changes of a tag or of a superseder.
const CHAIN_BYTES: i64 = 32 << 10;

const _: () = assert!(RECORD_BYTES_MAX + 100 < LOG_BLOCK_BYTES_MAX);

/// Log of an operation with so many bytes of payload.
pub(crate) fn logged_bytes(payload: usize) -> u64 {
    RECORD_FRONT_BYTES + payload as u64
}

/// Log that a place may write. A place of a store without a log has none and needs none.
#[derive(Default)]
pub(crate) struct PlaceBudget {
    held: Option<LogReservation>,
    spent: u64,
    /// Where its log records are put together.
    pub(crate) group: Group,
}

impl PlaceBudget {
    /// Whether an operation with so many bytes of payload can be logged.
    pub(crate) fn covers(&self, payload: usize) -> bool {
        let left = self.held.as_ref().map(|held| held.bytes() - self.spent);
        left.is_none_or(|left| logged_bytes(payload) <= left)
    }

    /// Reserves log for such an operation. It may wait for a checkpoint.
    ///
    /// # Errors
    /// A full log.
    pub(crate) fn refill(&mut self, log: &Arc<Log>, payload: usize) -> Result<(), WalError> {
        let held = self.held.get_or_insert_with(|| LogReservation::none(log));
        held.shrink(std::mem::take(&mut self.spent));
        let wanted = AHEAD_BYTES.max(logged_bytes(payload)).saturating_sub(held.bytes());
        held.patiently(None, |own| own.grow(wanted))
    }

    /// So many bytes were logged.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.spent += bytes as u64;
        debug_assert!(
            self.held.as_ref().is_some_and(|held| self.spent <= held.bytes()),
            "log was reserved"
        );
    }

    /// Gives back what is left.
    pub(crate) fn give_back(&mut self) {
        (self.held, self.spent) = (None, 0);
    }
}

/// Log for changes of chains: versions that are freed, and tags and superseders that are written
/// over. Whoever makes them holds the row's latch.
#[derive(Default)]
pub(crate) struct ChainBudget {
    held: Mutex<Option<LogReservation>>,
    /// What is held and not spent; below zero where more was spent.
    left: AtomicI64,
}

impl ChainBudget {
    /// Takes log for a change that may be left out. False when the log has no room.
    pub(crate) fn take(&self, log: &Arc<Log>, bytes: u64) -> bool {
        // The lower half is for changes that must be made, and for those who look here together.
        let has_room = self.refill(log).is_ok();
        if has_room {
            self.left.fetch_sub(bytes as i64, Relaxed);
        }
        has_room
    }

    /// Takes log for a change that must be made. Where the log is full, it comes from the reserve.
    /// Behind that is the log's margin. No writer gets there: it needs room for its own version
    /// first, which is refused while less than half of the reserve is left.
    pub(crate) fn take_kept(&self, log: &Arc<Log>, bytes: u64) {
        self.left.fetch_sub(bytes as i64, Relaxed);
        let _ = self.refill(log);
    }

    /// Reserves anew what was spent, if that is half of it.
    ///
    /// # Errors
    /// A full log.
    pub(crate) fn refill(&self, log: &Arc<Log>) -> Result<(), WalError> {
        if self.left.load(Relaxed) >= CHAIN_BYTES / 2 {
            return Ok(());
        }
        let mut held = self.held.lock();
        let held = held.get_or_insert_with(|| LogReservation::none(log));
        let left = self.left.load(Relaxed);
        if left >= CHAIN_BYTES / 2 {
            return Ok(());
        }
        let spent = held.bytes() - left.max(0) as u64;
        held.shrink(spent);
        held.grow(CHAIN_BYTES as u64 - held.bytes())?;
        // Others may have spent meanwhile, out of what is held now.
        self.left.fetch_add(CHAIN_BYTES - left, Relaxed);
        Ok(())
    }
}
