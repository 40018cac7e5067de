//! The secondary log across restarts: records of active transactions that a checkpoint has logged
//! again, as the log before it may be gone (`work/src/secondary_log.rs`).
//!
//! Invariants
//!  1. What counts is what the last checkpoint logged, between its two records: an earlier one may
//!     have records that were undone since, and of transactions that have ended.
//!  2. A part that keeps its log has records in the log that nobody has copied. So the kept records
//!     are asked only for what is before the log that recovery reads.
//!  3. A compensation behind the checkpoint's begin takes out what it has undone, wherever the
//!     record stands that says so: what is logged again may be older than the compensation.

use base::Lsn;
use std::collections::{BTreeMap, BTreeSet};
use txn::{KeptRecords, kept_record};
use wal::{CheckpointPointer, RecordFlags, RecordView, TransactionChain, kinds};

/// Kept records of losers, by their numbers in the log.
pub(crate) type KeptOfLosers = BTreeMap<u32, KeptRecords>;

/// What the log tells of records that were kept.
pub(crate) struct KeptScan {
    records: KeptOfLosers,
    /// Where the undo of a transaction has come to behind the checkpoint's begin.
    undone_to: BTreeMap<u32, Lsn>,
    /// Where the last checkpoint began, and from where recovery reads.
    checkpoint: Lsn,
    min_lsn: Lsn,
    /// The transactions whose ends the scan has read since the last start of the log.
    ended: BTreeSet<u32>,
    /// The checkpoint's second record was read.
    is_whole: bool,
}

impl KeptScan {
    /// For a log with that last checkpoint.
    pub(crate) fn from(
        CheckpointPointer { checkpoint, min_lsn, .. }: CheckpointPointer,
    ) -> KeptScan {
        KeptScan {
            records: BTreeMap::new(),
            undone_to: BTreeMap::new(),
            checkpoint,
            min_lsn,
            ended: BTreeSet::new(),
            is_whole: false,
        }
    }

    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        let id = record.transaction();
        match record.kind() {
            // A start: numbers of transactions begin again.
            kinds::INCARNATION => self.ended.clear(),
            kinds::COMMIT | kinds::ABORT => {
                self.records.remove(&id);
                self.undone_to.remove(&id);
                if !self.is_whole {
                    self.ended.insert(id);
                }
            }
            kinds::KEPT_RECORD if record.lsn > self.checkpoint && !self.is_whole => {
                let kept = kept_record(record.payload());
                let counts = |kept: &RecordView<'_>| {
                    kept.lsn < self.checkpoint && !self.ended.contains(&kept.transaction())
                };
                if let Some(kept) = kept.filter(counts) {
                    self.records.entry(kept.transaction()).or_default().keep(&kept);
                }
            }
            kinds::CHECKPOINT_END | kinds::CHECKPOINT_END_UNTIMED => {
                self.is_whole |= record.lsn > self.checkpoint;
            }
            _ if record.flags().has(RecordFlags::COMPENSATION) && record.lsn > self.checkpoint => {
                let to = self.undone_to.entry(id).or_insert(Lsn::MAX);
                *to = record.previous().min(*to);
            }
            _ => {}
        }
    }

    /// The records, without those of transactions that another database has settled as committed.
    pub(crate) fn of_losers(mut self, settled: &[TransactionChain]) -> KeptOfLosers {
        for chain in settled {
            self.records.remove(&chain.id);
        }
        for (id, kept) in &mut self.records {
            if let Some(to) = self.undone_to.get(id) {
                kept.cut(*to);
            }
            kept.reaches(self.min_lsn);
        }
        self.records.retain(|_, kept| !kept.is_empty());
        self.records
    }
}

/// The chain of a loser that has logged nothing behind the checkpoint.
pub(crate) fn silent_chain(id: u32, kept: &KeptRecords) -> Option<TransactionChain> {
    let (first, last) = kept.ends()?;
    Some(TransactionChain { id, first, last, undo_next: last, ..TransactionChain::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use txn::kept_front;
    use wal::{CheckpointEnd, Kind};

    fn record((kind, flags): (Kind, u8), id: u32, previous: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[..2].copy_from_slice(&(16 + payload.len() as u16).to_le_bytes());
        (bytes[2], bytes[3]) = (kind.0, flags);
        bytes[4..8].copy_from_slice(&id.to_le_bytes());
        bytes[8..16].copy_from_slice(&previous.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    fn see(scan: &mut KeptScan, lsn: u64, bytes: &[u8]) {
        scan.see(&RecordView::parse(Lsn(lsn), bytes).expect("a record of this test makes sense"));
    }

    /// A record of a transaction, as a checkpoint logs it again.
    fn kept(id: u32, lsn: u64) -> Vec<u8> {
        let bytes = record((Kind(0x40), 0), id, lsn - 1, &[]);
        let view = RecordView::parse(Lsn(lsn), &bytes).expect("a record of this test makes sense");
        record((kinds::KEPT_RECORD, 0), 0, 0, &[&kept_front(&view)[..], &bytes].concat())
    }

    fn ends(scan: KeptScan, settled: u32) -> Vec<(u32, u64, u64)> {
        let settled = TransactionChain { id: settled, ..TransactionChain::default() };
        let found = scan.of_losers(&[settled]).into_iter();
        found.filter_map(|(id, kept)| kept.ends().map(|(a, b)| (id, a.0, b.0))).collect()
    }

    /// What the last checkpoint has logged again counts, but for transactions that have ended, that
    /// another database has settled, or that have undone it behind the checkpoint's begin.
    #[test]
    fn kept_records_are_those_of_the_last_checkpoint_that_are_still_to_be_undone() {
        let mut pointer = CheckpointPointer::default();
        (pointer.checkpoint, pointer.min_lsn) = (Lsn(50), Lsn(15));
        let mut scan = KeptScan::from(pointer);
        let end = record((CheckpointEnd::KIND, 0), 0, 0, &[0; 24]);
        see(&mut scan, 20, &kept(9, 5));
        see(&mut scan, 21, &end);
        see(&mut scan, 30, &record((kinds::ABORT, 0), 8, 0, &[0; 8]));
        see(&mut scan, 31, &record((kinds::COMMIT, 0), 5, 0, &[0; 8]));
        see(&mut scan, 32, &record((kinds::INCARNATION, 0), 0, 0, &[0; 16]));
        see(&mut scan, 45, &record((kinds::COMMIT, 0), 7, 0, &[0; 8]));
        // Before the copy that it takes something out of.
        see(&mut scan, 51, &record((kinds::UNDONE, RecordFlags::COMPENSATION), 1, 12, &[]));
        for (lsn, id) in [(60, 1), (61, 2), (62, 3), (63, 4), (64, 5), (65, 7)] {
            for (n, at) in [10, 12, 14].into_iter().enumerate() {
                see(&mut scan, 10 * lsn + n as u64, &kept(id, at));
            }
        }
        see(&mut scan, 700, &end);
        see(&mut scan, 701, &record((kinds::COMMIT, 0), 2, 0, &[0; 8]));
        see(&mut scan, 702, &record((kinds::UNDONE, RecordFlags::COMPENSATION), 3, 9, &[]));
        // By a checkpoint whose pointer was never written.
        see(&mut scan, 710, &kept(6, 30));
        assert_eq!(ends(scan, 4), [(1, 10, 12), (5, 10, 14)]);
    }
}
