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
    CheckpointEnd, Group, Kind, Log, LogReservation, RecordView, ReuseWait, TransactionChain, kinds,
};

/// Log that the records of a checkpoint take, each in a block of its own.
const RECORDS_BYTES: u64 = 1024;

/// The most that a checkpoint carries for its owner.
pub const CARRIED_BYTES_MAX: usize = 48 << 10;

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
/// is called once, between the checkpoint's two records (rule 6). It must know a transaction, with
/// a bound at or below its first record, from before that record is appended until its last record
/// is appended. `carried` is called after it. It returns what the owner must remember when the log
/// before the checkpoint is freed; the checkpoint's second record carries it behind `min_lsn`, as
/// far as there is room, and [`carried_of`] reads it. `clean` says that the database is being
/// closed with nothing to redo or undo.
///
/// The caller makes sure that a database takes one checkpoint at a time.
///
/// # Errors
/// The operating system's, of the write of the checkpoint pointer; the one before stays valid.
pub fn checkpoint(
    log: &Arc<Log>,
    pages: &Arc<Pages>,
    oldest_active: impl FnOnce() -> Lsn,
    carried: impl FnOnce() -> Vec<u8>,
    clean: bool,
) -> Result<CheckpointResult, RecoveryError> {
    let began = monotonic_ns();
    let mut room = LogReservation::none(log);
    // Even without room for its records a checkpoint must free the log. Then it begins at the last
    // record that there is (rule 9).
    let recorded = room.grow(RECORDS_BYTES).is_ok();
    let begin = match recorded {
        true => append(log, kinds::CHECKPOINT_BEGIN, &os::clock::now().0.to_le_bytes()),
        false => log.last_lsn(),
    };
    let flushed = pages.flush_dirty();
    let oldest_active = oldest_active();
    assert!(oldest_active > Lsn::ZERO, "a bound names a record, or none at all");
    // A bound may be older than the last checkpoint, when it was read before that checkpoint and
    // published after it. The record that it stands for is newer.
    let min_lsn = flushed.lsn.min(oldest_active).max(log.checkpoint().min_lsn).min(begin);
    let mut carried = carried();
    assert!(carried.len() <= CARRIED_BYTES_MAX, "what is carried fits a record");
    if !recorded || room.grow(carried.len() as u64).is_err() {
        carried.clear();
    }
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
    let scanned = log.truncate(min_lsn);
    let because = reuse_wait(begin, flushed.lsn, oldest_active);
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

/// What a checkpoint carries for its owner, from its second record.
pub fn carried_of<'a>(record: &RecordView<'a>) -> Option<&'a [u8]> {
    CheckpointEnd::of(record).map(|end| end.carried)
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
