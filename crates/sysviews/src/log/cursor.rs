//! A walk over the log's records from one LSN to another, for the streams of this folder.
//!
//! Invariants
//!  1. The log between the two stays readable until the walk is dropped, because the walk holds it.
//!  2. The end is read when the walk begins, so a walk that logs something itself comes to an end.

use base::{Lsn, SqlError, SqlResult, messages};
use database::Database;
use os::wait::Waiter;
use std::sync::Arc;
use wal::{BlockFacts, BlockScan, Log, LogHold, RecordFlags, RecordView, WalError, kinds};

/// The log that a transaction reserves for undoing a change, beside the change's length
/// (`work/src/part.rs`).
pub(crate) const UNDO_EXTRA_BYTES: u32 = 64;

/// The first and the last LSN of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) from: Option<Lsn>,
    pub(crate) to: Option<Lsn>,
}

/// A walk. Its position is a record, or before the first one.
pub(crate) struct Walk {
    database: Arc<Database>,
    hold: LogHold,
    scan: BlockScan<Arc<Log>>,
    last: Lsn,
    /// The current record of the block, from 1.
    at: usize,
    /// The end of its group, and whether a transaction reserves log for undoing it.
    group: (usize, bool),
}

impl Walk {
    /// # Errors
    /// 9005 for a record that is not there, or when the end is before the beginning.
    pub(crate) fn new(database: &Arc<Database>, span: Span) -> SqlResult<Walk> {
        let invalid = || SqlError::new(messages::LSN_ARGUMENT, &[]);
        if span.from.zip(span.to).is_some_and(|(from, to)| to < from) {
            return Err(invalid());
        }
        let log = database.log();
        let last = span.to.unwrap_or(Lsn::MAX).min(log.last_lsn());
        let hold = log.hold(span.from).map_err(|_| invalid())?;
        let scan = BlockScan::new(Arc::clone(log), hold.from());
        Ok(Walk { database: Arc::clone(database), hold, scan, last, at: 0, group: (0, false) })
    }

    /// Returns to the beginning; the end stays the same.
    pub(crate) fn rewind(&mut self) -> SqlResult<()> {
        let span = Span { from: Some(self.hold.from()), to: Some(self.last) };
        *self = Walk::new(&self.database, span)?;
        Ok(())
    }

    /// Moves to the next block; false after the last.
    ///
    /// # Errors
    /// A block that is missing, the waiter's cancellation.
    pub(crate) fn next_block(&mut self, waiter: &Waiter) -> SqlResult<bool> {
        waiter.check()?;
        (self.at, self.group) = (0, (0, false));
        let found = self.scan.next_block().map_err(|e| told(&self.database, e))?;
        Ok(found && self.scan.block().lsn <= self.last)
    }

    /// Moves to the next record; false after the last.
    ///
    /// # Errors
    /// As of [`Walk::next_block`].
    pub(crate) fn next_record(&mut self, waiter: &Waiter) -> SqlResult<bool> {
        loop {
            while self.at < self.scan.len() {
                self.at += 1;
                let lsn = self.record().lsn;
                if lsn > self.last {
                    return Ok(false);
                }
                if self.at > self.group.0 {
                    self.look_at_group();
                }
                if lsn >= self.hold.from() {
                    return Ok(true);
                }
            }
            if !self.next_block(waiter)? {
                return Ok(false);
            }
        }
    }

    fn look_at_group(&mut self) {
        let (mut end, mut kept) = (self.at, false);
        loop {
            let record = self.scan.record(end - 1);
            let undone = !record.flags().has(RecordFlags::COMPENSATION);
            let ends = matches!(record.kind(), kinds::COMMIT | kinds::ABORT);
            kept |= record.transaction() != 0 && undone && !ends;
            if !record.flags().has(RecordFlags::MORE) {
                break;
            }
            end += 1;
        }
        self.group = (end, kept);
    }

    /// The current record.
    pub(crate) fn record(&self) -> RecordView<'_> {
        self.scan.record(self.at - 1)
    }

    /// The current block.
    pub(crate) fn block(&self) -> BlockFacts {
        self.scan.block()
    }

    /// The log that the transaction had reserved for undo when this record was written.
    pub(crate) fn reserved(&self) -> u32 {
        let (end, kept) = self.group;
        let extra = if self.at == end { UNDO_EXTRA_BYTES } else { 0 };
        if kept { self.record().bytes.len() as u32 + extra } else { 0 }
    }
}

fn told(database: &Database, e: WalError) -> SqlError {
    e.into_sql(&database.home().name())
}
