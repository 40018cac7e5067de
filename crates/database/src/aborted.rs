//! Accelerated recovery across restarts: what checkpoints carry of transactions whose rows versions
//! undo, and how recovery finds these transactions again.
//!
//! ```text
//!   log       ABORT with a number     the transaction enters the aborted map
//!             PART_ABORTED            a part of one enters it, under its own number
//!             REVERTED                it leaves: no page has a record by it
//!   checkpoint's second record        all that are in the map, and the active transactions whose
//!                                     first records recovery may not find in the log
//! ```
//!
//! Each of these is one byte, 0 of the map, 2 of a part in the map and 1 of an active one, and then
//! what an abort record says of it (`txn/src/payload.rs`). A transaction is there with each of its
//! numbers.
//!
//! Invariants
//!  1. A checkpoint carries each transaction of the map, or the log from its abort record on is
//!     kept. The room that carrying takes was reserved when the transaction was aborted.
//!  2. A checkpoint carries each active transaction whose records do not bound it: as many as may
//!     be (`work::RELYING_PARTS_MAX`) have room.
//!  3. A transaction is active until it is in the map or its end is in the log. A checkpoint reads
//!     first how much log active ones need, then who is active, then the map. So it finds each of
//!     them in one of the three. It may find one as active that has ended meanwhile: then the log
//!     that recovery reads has the end (`work/src/entry.rs`, 4).
//!  4. REVERTED follows all records that revert the transaction's rows, and the transaction has
//!     left the map by then. So a checkpoint behind REVERTED does not carry it.

use base::{Lsn, Xsn};
use std::collections::{BTreeMap, BTreeSet};
use txn::{AbortedTransaction, EndPayload, Mutation, Mutations, NumberPayload};
use wal::{RecordView, TransactionChain, kinds};
use work::{Home, OPEN_UNITS_MAX, RELYING_PARTS_MAX};

const OF_MAP: u8 = 0;
const ACTIVE: u8 = 1;
const PART_OF_MAP: u8 = 2;

/// Bytes of a checkpoint record that are the map's, at most. The rest is for active transactions
/// and for noted pages.
const MAP_BYTES_MAX: usize = 12 << 10;
const ACTIVE_BYTES_MAX: usize =
    RELYING_PARTS_MAX * (1 + AbortedTransaction::bytes_of(OPEN_UNITS_MAX));
const _: () = assert!(MAP_BYTES_MAX + ACTIVE_BYTES_MAX < recovery::CARRIED_BYTES_MAX);

/// What a checkpoint carries.
#[derive(Default)]
pub(crate) struct CarriedTransactions {
    /// The transactions, one behind the other.
    pub(crate) bytes: Vec<u8>,
    /// From there on the log has the abort records of those that had no room.
    pub(crate) rest_from: Option<Lsn>,
}

impl CarriedTransactions {
    /// Those of a database as they are. How much log active ones need was read before.
    pub(crate) fn of(home: &Home, mutations: &Mutations) -> CarriedTransactions {
        let mut carried = CarriedTransactions::default();
        let (no_active, no_map) =
            (mutations.has(Mutation::ActiveUncarried), mutations.has(Mutation::MapUncarried));
        // A part that ends meanwhile may be listed beside the one that takes its room. It began
        // later than all that are carried for their log.
        let active = if no_active { Vec::new() } else { home.open_versions() };
        for active in active.iter().take(RELYING_PARTS_MAX) {
            carried.bytes.push(ACTIVE);
            active.spell_with(OPEN_UNITS_MAX, &mut carried.bytes);
        }
        let room = carried.bytes.len() + MAP_BYTES_MAX;
        for aborted in home.aborted().list().into_iter().filter(|_| !no_map) {
            if carried.bytes.len() + 1 + AbortedTransaction::BYTES_MAX <= room {
                carried.bytes.push(if aborted.nested { PART_OF_MAP } else { OF_MAP });
                aborted.spell(&mut carried.bytes);
            } else {
                let from = carried.rest_from.map_or(aborted.end, |lsn| lsn.min(aborted.end));
                carried.rest_from = Some(from);
            }
        }
        carried
    }
}

/// What the log tells of these transactions.
pub(crate) struct AbortedScan {
    map: BTreeMap<Xsn, AbortedTransaction>,
    /// Active transactions that the last checkpoint carried, and that have not ended since: each
    /// with its numbers.
    active: BTreeMap<u32, Vec<AbortedTransaction>>,
    /// Numbers of parts that were aborted. A checkpoint may carry one as active that is aborted
    /// before its second record.
    parts: BTreeSet<Xsn>,
    /// Where the last checkpoint began.
    checkpoint: Lsn,
    /// The transactions whose ends the scan has read since the last start of the log; `None`
    /// behind the checkpoint's second record.
    ended: Option<BTreeSet<u32>>,
}

impl AbortedScan {
    /// For a log whose last checkpoint began there.
    pub(crate) fn from(checkpoint: Lsn) -> AbortedScan {
        let (map, active, parts) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        AbortedScan { map, active, parts, checkpoint, ended: Some(BTreeSet::new()) }
    }

    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        match record.kind() {
            // A start: numbers of transactions begin again.
            kinds::INCARNATION => self.ended.iter_mut().for_each(BTreeSet::clear),
            kinds::COMMIT => self.end(record),
            kinds::ABORT => {
                self.end(record);
                if let Some(aborted) = stays(record) {
                    self.map.insert(aborted.xsn, aborted);
                }
            }
            kinds::PART_ABORTED => {
                if let Some(aborted) = stays(record) {
                    let active = self.active.get_mut(&record.transaction());
                    active.into_iter().for_each(|all| all.retain(|a| a.xsn != aborted.xsn));
                    self.parts.insert(aborted.xsn);
                    self.map.insert(aborted.xsn, AbortedTransaction { nested: true, ..aborted });
                }
            }
            kinds::REVERTED => {
                if let Some(NumberPayload(xsn)) = NumberPayload::parse(record.payload()) {
                    self.map.remove(&xsn);
                }
            }
            _ => {
                if let Some(kept) = recovery::kept_of(record) {
                    self.carried(kept, record.lsn);
                }
            }
        }
    }

    fn end(&mut self, record: &RecordView<'_>) {
        let id = record.transaction();
        self.active.remove(&id);
        if let Some(ended) = &mut self.ended {
            ended.insert(id);
        }
    }

    /// The second record of a checkpoint. Active transactions are those of the last one alone: an
    /// earlier one may carry some that have ended in the log before.
    fn carried(&mut self, mut bytes: &[u8], lsn: Lsn) {
        let ended = if lsn > self.checkpoint { self.ended.take() } else { None };
        while let Some((kind, rest)) = bytes.split_first()
            && let Some((transaction, rest)) = AbortedTransaction::parse(rest, lsn)
        {
            bytes = rest;
            match (*kind, &ended) {
                (OF_MAP | PART_OF_MAP, _) => {
                    let nested = *kind == PART_OF_MAP;
                    let aborted = AbortedTransaction { nested, ..transaction };
                    self.map.entry(aborted.xsn).or_insert(aborted);
                }
                (_, Some(ended)) => {
                    let id = transaction.id.0 as u32;
                    if !ended.contains(&id) && !self.parts.contains(&transaction.xsn) {
                        self.active.entry(id).or_default().push(transaction);
                    }
                }
                (_, None) => {}
            }
        }
    }

    /// Fills the map of a database that nobody uses yet. Returns the active transactions: losers,
    /// but for those that another database has settled as committed.
    pub(crate) fn hand_to(
        mut self,
        home: &Home,
        settled: &[TransactionChain],
        mutations: &Mutations,
    ) -> BTreeMap<u32, Vec<AbortedTransaction>> {
        if mutations.has(Mutation::MapUnread) {
            self.map.clear();
        }
        #[cfg(feature = "mutations")]
        if mutations.has(Mutation::AbortedPassed) {
            home.aborted().pass_over();
        }
        for all in self.active.values_mut() {
            all.retain(|active| !self.map.contains_key(&active.xsn));
        }
        for aborted in self.map.into_values() {
            home.enter_aborted_again(aborted);
        }
        for chain in settled {
            self.active.remove(&chain.id);
        }
        self.active
    }
}

/// What an abort record says of a transaction, or of a part of one, whose records stay on pages.
fn stays(record: &RecordView<'_>) -> Option<AbortedTransaction> {
    let front = EndPayload { at: 0 }.bytes().len();
    let stays = record.payload().get(front..).unwrap_or_default();
    AbortedTransaction::parse(stays, record.lsn).map(|(aborted, _)| aborted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TransactionId;
    use wal::{CheckpointEnd, Kind};

    fn transaction(id: u64, begin: u64) -> AbortedTransaction {
        let (xsn, id, begin) = (Xsn(100 + id), TransactionId(id), Lsn(begin));
        let (end, units) = (begin, Vec::new());
        AbortedTransaction { xsn, id, began_at: 3, begin, end, nested: false, units }
    }

    fn record(kind: Kind, id: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[..2].copy_from_slice(&(16 + payload.len() as u16).to_le_bytes());
        bytes[2] = kind.0;
        bytes[4..8].copy_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    fn see(scan: &mut AbortedScan, lsn: u64, (kind, id, payload): (Kind, u32, &[u8])) {
        let bytes = record(kind, id, payload);
        scan.see(&RecordView::parse(Lsn(lsn), &bytes).expect("a record of this test makes sense"));
    }

    fn end_of_checkpoint(active: &[AbortedTransaction], map: &[AbortedTransaction]) -> Vec<u8> {
        let mut carried = vec![0xFF; 6];
        for (kind, transactions) in [(ACTIVE, active), (OF_MAP, map)] {
            for transaction in transactions {
                carried.push(kind);
                transaction.spell(&mut carried);
            }
        }
        CheckpointEnd::bytes(Lsn(1), 0, &carried)
    }

    fn abort_of(transaction: &AbortedTransaction) -> Vec<u8> {
        let mut payload = EndPayload { at: 0 }.bytes().to_vec();
        transaction.spell(&mut payload);
        payload
    }

    fn found(scan: &AbortedScan) -> (Vec<u64>, Vec<u32>) {
        let map = scan.map.values().map(|a| a.id.0).collect();
        (map, scan.active.keys().copied().collect())
    }

    /// The last checkpoint says who was active; who has ended in the log before or behind that is
    /// not. Earlier checkpoints say nothing of active ones, nor do ends before a start.
    #[test]
    fn active_transactions_are_those_of_the_last_checkpoint_without_end() {
        let mut scan = AbortedScan::from(Lsn(50));
        let early = end_of_checkpoint(&[transaction(8, 5)], &[]);
        see(&mut scan, 20, (CheckpointEnd::KIND, 0, &early));
        assert_eq!(found(&scan), (vec![], vec![]));
        see(&mut scan, 30, (kinds::COMMIT, 4, &[0; 8]));
        see(&mut scan, 35, (kinds::INCARNATION, 0, &[0; 16]));
        see(&mut scan, 45, (kinds::COMMIT, 1, &[0; 8]));
        let carried: Vec<_> = (1..=4).map(|id| transaction(id, 10 + id)).collect();
        let last = end_of_checkpoint(&carried, &[]);
        see(&mut scan, 60, (CheckpointEnd::KIND, 0, &last));
        assert_eq!(found(&scan), (vec![], vec![2, 3, 4]));
        see(&mut scan, 65, (kinds::COMMIT, 2, &[0; 8]));
        see(&mut scan, 66, (kinds::ABORT, 3, &[0; 8]));
        assert_eq!(found(&scan), (vec![], vec![4]));
        // One whose pointer was never written.
        let later = end_of_checkpoint(&[transaction(9, 61)], &[]);
        see(&mut scan, 70, (CheckpointEnd::KIND, 0, &later));
        assert_eq!(found(&scan), (vec![], vec![4]));
    }

    /// A transaction is in the map from its abort record, or the checkpoint that carries it, until
    /// its rows are reverted. An abort that was undone from the log enters nothing.
    #[test]
    fn the_map_is_what_aborts_and_checkpoints_say_and_is_not_reverted() {
        let mut scan = AbortedScan::from(Lsn(50));
        see(&mut scan, 10, (kinds::ABORT, 1, &abort_of(&transaction(1, 5))));
        see(&mut scan, 11, (kinds::ABORT, 2, &[0; 8]));
        let carried = end_of_checkpoint(&[], &[transaction(1, 5), transaction(7, 2)]);
        see(&mut scan, 60, (CheckpointEnd::KIND, 0, &carried));
        assert_eq!(found(&scan), (vec![1, 7], vec![]));
        assert_eq!(scan.map[&Xsn(101)].end, Lsn(10), "where its abort record is");
        see(&mut scan, 61, (kinds::REVERTED, 0, &NumberPayload(Xsn(101)).bytes()));
        see(&mut scan, 62, (kinds::ABORT, 9, &abort_of(&transaction(9, 30))));
        assert_eq!(found(&scan), (vec![7, 9], vec![]));
    }
}
