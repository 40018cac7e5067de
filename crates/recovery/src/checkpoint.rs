//! A checkpoint: dirty pages are written to the data files, so that the next recovery is short and
//! the log can be reused.
//!
//! It is fuzzy: meanwhile other threads change pages and begin and end transactions. README.md says
//! why each step may only follow the one before (rules 5 to 8).

use crate::RecoveryError;
use base::Lsn;
use buffer::Pages;
use os::clock::monotonic_ns;
use std::sync::Arc;
use wal::{
    CheckpointEnd, Group, Kind, Log, LogReservation, RecordView, ReuseWait, TransactionChain,
    WalError, kinds,
};

/// Log that the records of a checkpoint take, each in a block of its own.
const RECORDS_BYTES: u64 = 1024;

/// The most that a checkpoint carries for its owner, a mark between its parts not counted.
pub const CARRIED_BYTES_MAX: usize = 48 << 10;

/// The oldest log that active transactions need, or `Lsn::MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogBounds {
    /// For a recovery: it reads the log from there on.
    pub recovery: Lsn,
    /// For an undo while the database is in use: the log from there on is not reused.
    pub undo: Lsn,
}

/// What a checkpoint's second record has for its owner.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CarriedNotes {
    /// What may not be lost: without room for it there is no checkpoint.
    pub kept: Vec<u8>,
    /// Hints, which the record leaves out where the log has no room.
    pub hints: Vec<u8>,
}

/// Between the hints and what is kept: no hint begins so.
const KEPT_MARK: [u8; 6] = [0xFF; 6];

/// What a checkpoint did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointResult {
    /// Its begin record.
    pub checkpoint: Lsn,
    /// From where the next recovery reads.
    pub min_lsn: Lsn,
    /// Pages written.
    pub pages: u64,
    /// Time of all steps.
    pub total_ns: u64,
}

/// Takes a checkpoint, and frees the log that is no longer needed.
///
/// `oldest_active` returns the first LSN of the oldest transaction without end, or `Lsn::MAX`. It
/// is called once, between the checkpoint's two records (rule 6), with the place of the first one.
/// There it may log what it takes out of the log before; with `None` there is no room for that. It
/// must know a transaction, with
/// a bound at or below the first record that recovery needs of it, from before that record is
/// appended until its last record is appended. `carried` is called after it. It returns what the
/// owner must remember when the log before the checkpoint is freed. The checkpoint's second record
/// has it behind `min_lsn`, and [`hints_of`] and [`kept_of`] read it. `promised` is log that the
/// owner has reserved for it and for the records. `clean` says that the database is being closed
/// with nothing to redo or undo.
///
/// The caller makes sure that a database takes one checkpoint at a time.
///
/// # Errors
/// The operating system's, of the write of the checkpoint pointer; a log without room for what may
/// not be lost; what `oldest_active` returns. The checkpoint before stays valid.
pub fn checkpoint(
    log: &Arc<Log>,
    pages: &Arc<Pages>,
    oldest_active: impl FnOnce(Option<Lsn>) -> Result<LogBounds, WalError>,
    (promised, carried): (u64, impl FnOnce() -> CarriedNotes),
    clean: bool,
) -> Result<CheckpointResult, RecoveryError> {
    let began = monotonic_ns();
    let mut room = LogReservation::none(log);
    // Even without room for its records a checkpoint must free the log. Then it begins at the last
    // record that there is (rule 9).
    let recorded = promised >= RECORDS_BYTES || room.grow(RECORDS_BYTES).is_ok();
    let begin = match recorded {
        true => append(log, kinds::CHECKPOINT_BEGIN, &os::clock::now().0.to_le_bytes()),
        false => log.last_lsn(),
    };
    let flushed = pages.flush_dirty();
    let bounds = oldest_active(recorded.then_some(begin))?;
    let LogBounds { recovery: oldest_active, undo } = bounds;
    assert!(oldest_active > Lsn::ZERO, "a bound names a record, or none at all");
    // A bound may be older than the last checkpoint, when it was read before that checkpoint and
    // published after it. The record that it stands for is newer.
    let min_lsn = flushed.lsn.min(oldest_active).max(log.checkpoint().min_lsn).min(begin);
    let notes = carried();
    let carried = carry(&mut room, (recorded, promised), notes, log.reuse_wait())?;
    let payload = CheckpointEnd::bytes(min_lsn, os::clock::now().0, &carried);
    let end = match recorded {
        true => append(log, CheckpointEnd::KIND, &payload),
        false => log.last_lsn(),
    };
    assert!(begin <= end, "END comes after BEGIN");
    log.flush_to(end);
    assert!(end < log.durable_lsn(), "rule 7: the pointer follows the log up to END");
    let clean = clean && min_lsn == begin;
    log.set_checkpoint(begin, min_lsn, clean)?;
    let pointer = log.checkpoint();
    assert_eq!((pointer.checkpoint, pointer.min_lsn), (begin, min_lsn), "one at a time");
    let scanned = log.truncate(min_lsn.min(undo));
    let because = reuse_wait(begin, flushed.lsn, oldest_active.min(undo));
    log.set_reuse_wait(if scanned { ReuseWait::LogScan } else { because });
    let total_ns = monotonic_ns().saturating_sub(began);
    Ok(CheckpointResult { checkpoint: begin, min_lsn, pages: flushed.pages, total_ns })
}

/// What keeps the log before a checkpoint's begin from being reused.
fn reuse_wait(begin: Lsn, home: Lsn, oldest_active: Lsn) -> ReuseWait {
    match home.min(oldest_active) {
        lsn if lsn >= begin => ReuseWait::Nothing,
        lsn if lsn == oldest_active => ReuseWait::ActiveTransaction,
        _ => ReuseWait::OldestPage,
    }
}

/// What the second record says for the owner, as far as there is room.
fn carry(
    room: &mut LogReservation,
    (recorded, promised): (bool, u64),
    CarriedNotes { kept, mut hints }: CarriedNotes,
    because: ReuseWait,
) -> Result<Vec<u8>, RecoveryError> {
    assert!(hints.len() + kept.len() <= CARRIED_BYTES_MAX, "what is carried fits a record");
    debug_assert_eq!(hints.len() % KEPT_MARK.len(), 0, "hints are as long as the mark");
    if !kept.is_empty() {
        if !recorded {
            // Without the second record the pointer would move past what is kept.
            return Err(WalError::Full { because }.into());
        }
        let need = RECORDS_BYTES + (KEPT_MARK.len() + kept.len()) as u64;
        room.grow(need.saturating_sub(promised))?;
    }
    if !recorded || room.grow(hints.len() as u64).is_err() {
        hints.clear();
    }
    if !kept.is_empty() {
        hints.extend_from_slice(&KEPT_MARK);
        hints.extend_from_slice(&kept);
    }
    Ok(hints)
}

/// The two parts of what a checkpoint's second record has for its owner.
fn parts_of<'a>(record: &RecordView<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let carried = CheckpointEnd::of(record)?.carried;
    let mut units = carried.as_chunks().0.iter();
    Some(match units.position(|unit| *unit == KEPT_MARK) {
        Some(n) => (&carried[..n * KEPT_MARK.len()], &carried[(n + 1) * KEPT_MARK.len()..]),
        None => (carried, &[]),
    })
}

/// The hints of a checkpoint's second record; `None` of other records.
pub fn hints_of<'a>(record: &RecordView<'a>) -> Option<&'a [u8]> {
    parts_of(record).map(|parts| parts.0)
}

/// What a checkpoint's second record keeps; `None` of other records.
pub fn kept_of<'a>(record: &RecordView<'a>) -> Option<&'a [u8]> {
    parts_of(record).map(|parts| parts.1)
}

fn append(log: &Log, kind: Kind, payload: &[u8]) -> Lsn {
    let mut group = Group::new();
    let pushed = group.push_plain(kind, 0, payload);
    assert!(pushed.is_ok(), "an empty group has room for a checkpoint's record");
    log.append(&mut group, &mut TransactionChain::default()).last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The older of a transaction and a page that is not home has the word; what is newer than the
    /// checkpoint keeps nothing.
    #[test]
    fn what_keeps_the_log_is_named() {
        let wait = |home, active| reuse_wait(Lsn(50), Lsn(home), active);
        assert_eq!(wait(60, Lsn::MAX), ReuseWait::Nothing);
        assert_eq!(wait(50, Lsn(50)), ReuseWait::Nothing);
        assert_eq!(wait(60, Lsn(55)), ReuseWait::Nothing);
        assert_eq!(wait(60, Lsn(40)), ReuseWait::ActiveTransaction);
        assert_eq!(wait(45, Lsn(40)), ReuseWait::ActiveTransaction);
        assert_eq!(wait(40, Lsn(45)), ReuseWait::OldestPage);
        assert_eq!(wait(40, Lsn::MAX), ReuseWait::OldestPage);
    }
}
