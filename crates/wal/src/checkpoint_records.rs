//! What the two records of a checkpoint say, for recovery and fn_dblog.
//!
//! | off | len | BEGIN |
//! |---|---|---|
//! | 0 | 8 | when: wall time, nanoseconds since 1970 |
//!
//! | off | len | END |
//! |---|---|---|
//! | 0 | 8 | from which LSN a recovery reads |
//! | 8 | 8 | when |
//! | 16 | | what the checkpoint carries for its owner |
//!
//! Logs of before have a BEGIN that is empty, and an END of another kind, without the time.

use crate::record::{Kind, RecordView, kinds};
use base::Lsn;

const TIME_AT: usize = 8;
const CARRIED_AT: usize = 16;
const _: () = assert!(TIME_AT == size_of::<Lsn>() && CARRIED_AT == TIME_AT + size_of::<i64>());

/// When a checkpoint began, in wall nanoseconds; `None` of other records, and where it is not said.
pub fn checkpoint_began(record: &RecordView<'_>) -> Option<i64> {
    let begins = record.kind() == kinds::CHECKPOINT_BEGIN;
    let at = begins.then(|| record.payload().first_chunk()).flatten()?;
    Some(i64::from_le_bytes(*at))
}

/// The record that ends a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointEnd<'a> {
    /// From where a recovery reads that begins with this checkpoint.
    pub min_lsn: Lsn,
    /// When, in wall nanoseconds; `None` where an earlier version wrote it.
    pub at: Option<i64>,
    /// What its owner had it carry.
    pub carried: &'a [u8],
}

impl<'a> CheckpointEnd<'a> {
    /// The kind of the records that are written.
    pub const KIND: Kind = kinds::CHECKPOINT_END;

    /// Its payload.
    pub fn bytes(min_lsn: Lsn, at: i64, carried: &[u8]) -> Vec<u8> {
        let mut payload = Vec::with_capacity(CARRIED_AT + carried.len());
        payload.extend_from_slice(&min_lsn.0.to_le_bytes());
        payload.extend_from_slice(&at.to_le_bytes());
        debug_assert_eq!(payload.len(), CARRIED_AT, "the table above");
        payload.extend_from_slice(carried);
        payload
    }

    /// Reads a record; `None` of other records, and where it makes no sense.
    pub fn of(record: &RecordView<'a>) -> Option<CheckpointEnd<'a>> {
        let (first, rest) = record.payload().split_first_chunk()?;
        let min_lsn = Lsn(u64::from_le_bytes(*first));
        match record.kind() {
            kinds::CHECKPOINT_END => {
                let (at, carried) = rest.split_first_chunk()?;
                Some(CheckpointEnd { min_lsn, at: Some(i64::from_le_bytes(*at)), carried })
            }
            kinds::CHECKPOINT_END_UNTIMED => {
                Some(CheckpointEnd { min_lsn, at: None, carried: rest })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: Kind, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[0] = 16 + payload.len() as u8;
        bytes[2] = kind.0;
        bytes.extend_from_slice(payload);
        bytes
    }

    fn read(bytes: &[u8]) -> RecordView<'_> {
        RecordView::parse(Lsn(1), bytes).expect("a record of this test makes sense")
    }

    /// The bytes are those of the table.
    #[test]
    fn the_format_is_as_the_table_says() {
        let payload = CheckpointEnd::bytes(Lsn(0x0102_0304), 0x0506, b"kept");
        assert_eq!(
            payload,
            [&[4, 3, 2, 1, 0, 0, 0, 0, 6, 5, 0, 0, 0, 0, 0, 0][..], b"kept"].concat()
        );
        let bytes = record(CheckpointEnd::KIND, &payload);
        let end = CheckpointEnd { min_lsn: Lsn(0x0102_0304), at: Some(0x0506), carried: b"kept" };
        assert_eq!(CheckpointEnd::of(&read(&bytes)), Some(end));
        assert_eq!(
            (kinds::CHECKPOINT_END_UNTIMED, kinds::CHECKPOINT_END),
            (Kind(0x0A), Kind(0x0B))
        );
    }

    /// What an earlier version wrote is read: without a time, with what it carries.
    #[test]
    fn records_of_before_have_no_time() {
        let bytes = record(Kind(0x0A), &[7, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6]);
        let end = CheckpointEnd { min_lsn: Lsn(7), at: None, carried: &[1, 2, 3, 4, 5, 6] };
        assert_eq!(CheckpointEnd::of(&read(&bytes)), Some(end));
        assert_eq!(checkpoint_began(&read(&record(kinds::CHECKPOINT_BEGIN, &[]))), None);
        assert_eq!(
            checkpoint_began(&read(&record(kinds::CHECKPOINT_BEGIN, &[9; 8]))).map(|t| t & 0xFF),
            Some(9)
        );
        assert_eq!(CheckpointEnd::of(&read(&record(kinds::COMMIT, &[0; 20]))), None);
    }
}
