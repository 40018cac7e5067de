//! The secondary log: records that the undo of an open part needs, kept in memory, so that the log
//! before a checkpoint is not kept for them. Accelerated recovery alone has it.
//!
//! ```text
//!   part's records   u  v v v v v u   v v v v |  v v v
//!                    |            |      ^ mark |checkpoint begins
//!   kept             u            u      v v v
//!   behind the checkpoint's first record      [u u]   for recovery
//! ```
//!
//! Versions undo rows (`v`). Two kinds of records are undone from the log all the same: what has no
//! versions (`u`: definitions, allocations of what they make), and what lies behind a mark within
//! the mark's number (`numbers.rs`). Each checkpoint reads the log from the oldest record that an
//! open part needs up to its own begin, once for all parts, and copies these records. Those that a
//! recovery would undo it logs again, as KEPT_RECORD. Recovery reads them behind the begin of its
//! checkpoint (`database/src/kept_records.rs`).
//!
//! Cost: a pass over the log since the last checkpoint where a part is open that needs it, 128 MB
//! at most under the default rules; and the kept records again with each checkpoint.
//!
//! Invariants
//!  1. A part's log is given away up to where its records are kept, and no further
//!     (`Entry::undo_from`, `Entry::log_from`).
//!  2. What recovery reads of a part beside its undo is never before that place: its end and its
//!     prepare record stop the copy, a number that was aborted is in the aborted map before the
//!     copy is valid (`Entry::aborting`), and a part whose numbers a checkpoint cannot carry is
//!     not copied.
//!  3. A part with more than 16 MB keeps its log instead, from where its records end.
//!     So does one that is prepared. It does so to its end, and checkpoints read the log once for
//!     that end.
//!  4. Log for the records that each checkpoint logs again was reserved when they were logged.

use crate::entry::{KeptPart, PartCopy};
use crate::home::Home;
use base::Lsn;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{KeptRecords, Mutation, Mutations, kept_front};
use wal::{
    Group, GroupView, LogReader, LogReservation, RecordFlags, RecordView, TransactionChain,
    WalError, kinds,
};

/// Bytes of a record that is kept at most: with its place it fits a block.
const RECORD_BYTES_MAX: usize = 32 << 10;
/// Log that a record takes beside its own bytes when it is logged again.
const BESIDE_BYTES: usize = 32;

/// A copy as far as the log was read.
struct Copying {
    part: PartCopy,
    records: KeptRecords,
    number_at: Lsn,
    /// Its end is in the log that was read.
    has_ended: bool,
}

impl Copying {
    fn new(part: PartCopy) -> Copying {
        let before = part.before.as_ref();
        let records = before.map(|kept| (*kept.records).clone()).unwrap_or_default();
        let number_at = before.map_or(Lsn::ZERO, |kept| kept.number_at);
        Copying { part, records, number_at, has_ended: false }
    }

    /// At most so many bytes are kept.
    fn see(&mut self, record: &RecordView<'_>, bytes_max: usize) {
        let flags = record.flags();
        match record.kind() {
            kinds::PREPARE => self.part.stays = true,
            kinds::COMMIT | kinds::ABORT => self.has_ended = true,
            _ if self.part.stays => {}
            kinds::VERSION_NUMBER => self.number_at = record.lsn,
            _ if flags.has(RecordFlags::COMPENSATION) => self.records.cut(record.previous()),
            _ if flags.needs_log() || self.is_behind_mark(record) => {
                self.part.stays |= record.bytes.len() > RECORD_BYTES_MAX;
                self.records.keep(record);
                self.part.stays |= self.records.bytes() > bytes_max;
            }
            _ => {}
        }
    }

    /// Whether a rollback to a mark within the current number undoes it from the log.
    fn is_behind_mark(&self, record: &RecordView<'_>) -> bool {
        if !record.flags().has(RecordFlags::VERSIONED) || record.flags().has(RecordFlags::REDO_ONLY)
        {
            return false;
        }
        let within = self.part.marks.partition_point(|mark| *mark <= self.number_at);
        self.part.marks.get(within).is_some_and(|mark| *mark <= record.lsn)
    }

    /// What is kept of the part now that the log was read up to a place.
    fn kept(mut self, until: Lsn) -> KeptPart {
        let PartCopy { id, from, marks, stays, before, .. } = self.part;
        let oldest = marks.first().copied().unwrap_or(Lsn::MAX);
        let records = match before {
            Some(before) if stays => before.records,
            // Nothing before that place was needed.
            None if stays => Arc::new(KeptRecords::reaching(from)),
            _ => {
                self.records.retain(|record| record.flags().needs_log() || record.lsn >= oldest);
                self.records.reaches(until);
                Arc::new(self.records)
            }
        };
        KeptPart { id, records, number_at: self.number_at, read_until: until, stays }
    }

    /// The records that the checkpoint logs again. A part that has ended has none: it may be gone
    /// before the checkpoint says from where recovery reads, and recovery would take it for a
    /// loser.
    fn logged_again(&self) -> impl Iterator<Item = RecordView<'_>> {
        let before = self.part.before.as_ref().map(|kept| &*kept.records);
        let new = !self.part.stays && !self.part.waits;
        let records = if new { Some(&self.records) } else { before };
        let all = records.filter(|_| !self.has_ended).into_iter().flat_map(KeptRecords::iter);
        all.filter(|record| record.flags().needs_log())
    }
}

impl Home {
    /// A checkpoint begins there; what open parts need of the log before is kept in memory from now
    /// on, and behind the checkpoint's begin in the log. Without a place the checkpoint logs
    /// nothing.
    ///
    /// # Errors
    /// The log has no room for what the last checkpoint has kept, or cannot be read.
    pub fn keep_records_before(
        &self,
        begin: Option<Lsn>,
        mutations: &Mutations,
    ) -> Result<(), WalError> {
        let parts = self.parts_to_keep(begin.unwrap_or(Lsn::ZERO));
        let mut copies: Vec<Copying> = parts.into_iter().map(Copying::new).collect();
        let (loses, no_tails) =
            (mutations.has(Mutation::KeptLost), mutations.has(Mutation::TailUnkept));
        let Some(begin) = begin else {
            let needed = copies.iter().any(|copy| copy.logged_again().next().is_some());
            return if needed {
                Err(WalError::Full { because: self.log().reuse_wait() })
            } else {
                Ok(())
            };
        };
        if no_tails {
            copies.iter_mut().for_each(|copy| copy.part.marks.clear());
        }
        if let Err(e) = self.copy_records(&mut copies, begin) {
            // A part may have ended where the log cannot be read: what was logged again for it can
            // neither be left out now, nor logged once more. The others keep their log.
            copies.iter_mut().for_each(|copy| copy.part.waits = true);
            let kept = copies.iter().any(|copy| copy.logged_again().next().is_some());
            return if kept { Err(e) } else { Ok(()) };
        }
        if self.log_again(&copies, loses).is_err() {
            copies.iter_mut().for_each(|copy| copy.part.waits = true);
            self.log_again(&copies, loses)?;
        }
        os::sched::switch_point();
        for copy in copies.into_iter().filter(|copy| !copy.has_ended && !copy.part.waits) {
            let entry = Arc::clone(&copy.part.entry);
            entry.is_kept(copy.kept(begin));
        }
        Ok(())
    }

    /// Reads the log up to a place.
    fn copy_records(&self, copies: &mut [Copying], until: Lsn) -> Result<(), WalError> {
        let Some(from) = copies.iter().map(|copy| copy.part.from).min() else { return Ok(()) };
        let chain = |copy: &Copying| copy.part.id.0 as u32;
        let places: BTreeMap<u32, usize> =
            copies.iter().enumerate().map(|(n, copy)| (chain(copy), n)).collect();
        let mut reader = LogReader::new(self.log(), from);
        let mut is_read = from >= until;
        while !is_read
            && reader.next_block(|group: &GroupView<'_>| {
                is_read |= group.end() >= until;
                for record in group.records.iter().filter(|record| record.lsn < until) {
                    let copy = places.get(&record.transaction()).map(|n| &mut copies[*n]);
                    let copy = copy.filter(|copy| record.lsn >= copy.part.from);
                    copy.into_iter().for_each(|copy| copy.see(record, self.kept_bytes_max()));
                }
                Ok::<(), WalError>(())
            })?
        {}
        Ok(())
    }

    /// Logs what a recovery needs of the copies.
    fn log_again(&self, copies: &[Copying], loses: bool) -> Result<(), WalError> {
        let log = self.log();
        let all = |copy| Copying::logged_again(copy).count().saturating_sub(usize::from(loses));
        let records = || copies.iter().flat_map(|copy| copy.logged_again().take(all(copy)));
        let bytes: usize = records().map(|record| record.bytes.len() + BESIDE_BYTES).sum();
        if bytes == 0 {
            return Ok(());
        }
        let mut room = LogReservation::none(log);
        room.grow((bytes as u64).saturating_sub(self.promised_for_kept()))?;
        let (mut group, mut payload) = (Group::new(), Vec::new());
        for record in records() {
            payload.clear();
            payload.extend_from_slice(&kept_front(&record));
            payload.extend_from_slice(record.bytes);
            if group.push_plain(kinds::KEPT_RECORD, 0, &payload).is_err() {
                log.append(&mut group, &mut TransactionChain::default());
                group.clear();
                let pushed = group.push_plain(kinds::KEPT_RECORD, 0, &payload);
                assert!(pushed.is_ok(), "an empty group has room for it");
            }
        }
        log.append(&mut group, &mut TransactionChain::default());
        Ok(())
    }
}
