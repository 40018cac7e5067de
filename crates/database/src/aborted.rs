//! The aborted map across restarts: what checkpoints carry of it, and how recovery makes it anew.
//!
//! ```text
//!   log       ABORT with a number     the transaction enters the map
//!             REVERTED                it leaves: no page has a record by it
//!   checkpoint's second record        all that are in the map, as far as there is room
//! ```
//!
//! Invariants
//!  1. A checkpoint carries each transaction of the map, or the log from its abort record on is
//!     kept. The room that carrying takes was reserved when the transaction was aborted.
//!  2. A transaction that is about to enter the map is an active one until it has. A checkpoint
//!     reads the list of active ones first, so it finds the transaction there or in the map.
//!  3. REVERTED follows all records that revert its rows, and the transaction has left the map by
//!     then. So a checkpoint behind REVERTED does not carry it.

use base::{Lsn, Xsn};
use std::collections::BTreeMap;
use txn::{AbortedTransaction, EndPayload, NumberPayload};
use wal::{RecordView, kinds};
use work::Home;

/// Bytes of a checkpoint record that are the map's, at most; the rest is for noted pages.
const CARRIED_BYTES_MAX: usize = recovery::CARRIED_BYTES_MAX - (8 << 10);

/// What a checkpoint carries of the map.
#[derive(Default)]
pub(crate) struct CarriedMap {
    /// The transactions, one behind the other.
    pub(crate) bytes: Vec<u8>,
    /// From there on the log has the abort records of those that had no room.
    pub(crate) rest_from: Option<Lsn>,
}

impl CarriedMap {
    /// Of the map as it is. The list of active transactions was read before.
    pub(crate) fn of(home: &Home) -> CarriedMap {
        let mut carried = CarriedMap::default();
        for aborted in home.aborted().list() {
            if carried.bytes.len() + AbortedTransaction::BYTES_MAX <= CARRIED_BYTES_MAX {
                aborted.spell(&mut carried.bytes);
            } else {
                let from = carried.rest_from.map_or(aborted.end, |lsn| lsn.min(aborted.end));
                carried.rest_from = Some(from);
            }
        }
        carried
    }
}

/// The map as the log tells it.
#[derive(Default)]
pub(crate) struct AbortedScan(BTreeMap<Xsn, AbortedTransaction>);

impl AbortedScan {
    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        match record.kind() {
            kinds::ABORT => {
                let front = EndPayload { at: 0 }.bytes().len();
                let stays = record.payload().get(front..).filter(|b| !b.is_empty());
                self.enter(stays.unwrap_or_default(), record.lsn);
            }
            kinds::REVERTED => {
                if let Some(NumberPayload(xsn)) = NumberPayload::parse(record.payload()) {
                    self.0.remove(&xsn);
                }
            }
            _ => self.enter(recovery::kept_of(record).unwrap_or_default(), record.lsn),
        }
    }

    fn enter(&mut self, mut bytes: &[u8], end: Lsn) {
        while let Some((aborted, rest)) = AbortedTransaction::parse(bytes, end) {
            self.0.entry(aborted.xsn).or_insert(aborted);
            bytes = rest;
        }
    }

    /// Fills the map of a database that nobody uses yet.
    pub(crate) fn hand_to(self, home: &Home) {
        for aborted in self.0.into_values() {
            // Without room a checkpoint keeps the log instead, or is not taken.
            home.enter_aborted_again(aborted);
        }
    }
}
