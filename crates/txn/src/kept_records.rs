//! Records of a transaction that its undo needs, out of log that is not kept: its part of the
//! secondary log.
//!
//! ```text
//!   log        |--- others may have it ---|------- kept -------------->
//!              first record               until                    last
//!   in memory   r1   r2        r3
//! ```
//!
//! A checkpoint copies them, and writes those that recovery needs behind its first record, each as
//! the payload of a record of its own: the place where it was (8 bytes), and the record.
//!
//! Invariants
//!  1. All records before `until` that an undo of the transaction has to undo are here: those that
//!     nothing but the log undoes, and those behind a mark that versions do not undo.
//!  2. What was undone is not here: a compensation takes out what lies behind the record that it
//!     leads to.

use base::Lsn;
use std::collections::BTreeMap;
use wal::RecordView;

/// Records of one transaction, by their places in the log.
#[derive(Clone, Debug, Default)]
pub struct KeptRecords {
    records: BTreeMap<Lsn, Box<[u8]>>,
    until: Lsn,
    bytes: usize,
}

impl KeptRecords {
    /// None, where nothing before a place is needed.
    pub fn reaching(until: Lsn) -> KeptRecords {
        KeptRecords { until, ..KeptRecords::default() }
    }

    /// Adds a record.
    pub fn keep(&mut self, record: &RecordView<'_>) {
        self.bytes += record.bytes.len();
        if let Some(before) = self.records.insert(record.lsn, record.bytes.into()) {
            self.bytes -= before.len();
        }
    }

    /// Takes out those behind a record.
    pub fn cut(&mut self, behind: Lsn) {
        let mut cut = self.records.split_off(&behind);
        if let Some(record) = cut.remove(&behind) {
            self.records.insert(behind, record);
        }
        self.bytes -= cut.values().map(|bytes| bytes.len()).sum::<usize>();
    }

    /// Takes out what is no longer needed.
    pub fn retain(&mut self, mut needs: impl FnMut(&RecordView<'_>) -> bool) {
        self.records.retain(|lsn, bytes| {
            let stays = RecordView::parse(*lsn, bytes).is_some_and(|view| needs(&view));
            if !stays {
                self.bytes -= bytes.len();
            }
            stays
        });
    }

    /// All log before is here, as far as it is needed.
    pub fn reaches(&mut self, until: Lsn) {
        debug_assert!(until >= self.until, "a copy goes on");
        self.until = until;
    }

    /// The place up to which records are here; from there on the log has them.
    pub fn until(&self) -> Lsn {
        self.until
    }

    /// Bytes of the records.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The first and the last record's places.
    pub fn ends(&self) -> Option<(Lsn, Lsn)> {
        let (first, _) = self.records.first_key_value()?;
        let (last, _) = self.records.last_key_value()?;
        Some((*first, *last))
    }

    /// The newest at or before a place.
    pub fn newest_at(&self, lsn: Lsn) -> Option<RecordView<'_>> {
        let (lsn, bytes) = self.records.range(..=lsn).next_back()?;
        RecordView::parse(*lsn, bytes)
    }

    /// All, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = RecordView<'_>> {
        self.records.iter().filter_map(|(lsn, bytes)| RecordView::parse(*lsn, bytes))
    }
}

/// The payload of a record of the secondary log, but for the record itself.
pub fn kept_front(record: &RecordView<'_>) -> [u8; 8] {
    record.lsn.0.to_le_bytes()
}

/// The record that a record of the secondary log holds; `None` where it makes no sense.
pub fn kept_record<'a>(payload: &'a [u8]) -> Option<RecordView<'a>> {
    let (lsn, bytes) = payload.split_first_chunk()?;
    let view = RecordView::parse(Lsn(u64::from_le_bytes(*lsn)), bytes)?;
    (view.bytes.len() == bytes.len() && view.transaction() != 0).then_some(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(transaction: u32, payload: u8) -> Vec<u8> {
        let mut bytes = vec![0; 17];
        bytes[0] = 17;
        bytes[2] = 0x40;
        bytes[4..8].copy_from_slice(&transaction.to_le_bytes());
        bytes[16] = payload;
        bytes
    }

    fn kept(lsns: &[u64]) -> KeptRecords {
        let mut kept = KeptRecords::default();
        for lsn in lsns {
            let bytes = record(7, *lsn as u8);
            kept.keep(&RecordView::parse(Lsn(*lsn), &bytes).expect("a record"));
        }
        kept
    }

    /// A compensation leads to the record that is undone next: what is behind it is gone.
    #[test]
    fn what_was_undone_is_cut_off() {
        let mut all = kept(&[10, 20, 30]);
        all.cut(Lsn(20));
        assert_eq!((all.ends(), all.bytes()), (Some((Lsn(10), Lsn(20))), 34));
        all.cut(Lsn(19));
        assert_eq!(all.ends(), Some((Lsn(10), Lsn(10))));
        all.cut(Lsn(0));
        assert_eq!((all.is_empty(), all.bytes()), (true, 0));
    }

    /// A walk back meets the newest record at or before a place.
    #[test]
    fn a_walk_back_meets_each_record() {
        let all = kept(&[10, 20, 30]);
        let at = |lsn: u64| all.newest_at(Lsn(lsn)).map(|view| view.lsn.0);
        assert_eq!([at(9), at(10), at(29), at(99)], [None, Some(10), Some(20), Some(30)]);
    }

    /// What a checkpoint writes is read again; what was cut short is not.
    #[test]
    fn a_record_of_the_secondary_log_is_read_again() {
        let bytes = record(7, 1);
        let view = RecordView::parse(Lsn(99), &bytes).expect("a record");
        let payload = [&kept_front(&view)[..], view.bytes].concat();
        let read = kept_record(&payload).expect("it was written just now");
        assert_eq!((read.lsn, read.bytes), (view.lsn, view.bytes));
        for length in 0..payload.len() {
            assert!(kept_record(&payload[..length]).is_none());
        }
        assert!(kept_record(&[&payload[..], &[0]].concat()).is_none());
    }
}
