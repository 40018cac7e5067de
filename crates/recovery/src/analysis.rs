//! Analysis: finds the transactions in the log, and which of them have no end there (losers).
//!
//! Invariants
//!  1. A transaction that is open at the checkpoint has its first record at or after the
//!     checkpoint's `min_lsn`, so the pass sees its whole chain.
//!  2. A transaction's number may be reused after its end (numbers begin again at each start of the
//!     process). An end closes the chain; the next record with that number opens another.

use base::Lsn;
use std::collections::BTreeMap;
use wal::{RecordFlags, RecordView, TransactionChain, WalError, kinds};

/// Transactions met so far.
#[derive(Default)]
pub(crate) struct Analysis {
    open: BTreeMap<u32, TransactionChain>,
    pub(crate) committed: u64,
    pub(crate) aborted: u64,
}

impl Analysis {
    /// Takes the next record of the log into account.
    ///
    /// # Errors
    /// The record is not linked to its transaction's last: no log of ours says that.
    pub(crate) fn record(&mut self, r: &RecordView<'_>) -> Result<(), WalError> {
        let id = r.transaction();
        if id == 0 {
            return Ok(());
        }
        let chain = self.open.entry(id).or_default();
        debug_assert_eq!(chain.first == Lsn::ZERO, chain.records == 0, "a chain has records");
        let (previous, compensates) = (r.previous(), r.flags().has(RecordFlags::COMPENSATION));
        let mut linked = previous < r.lsn;
        if chain.first == Lsn::ZERO {
            (chain.id, chain.first) = (id, r.lsn);
        } else {
            assert!(chain.last < r.lsn, "the log is read in order");
            assert_eq!(chain.id, id, "a chain is one transaction's");
            linked &= compensates || previous == chain.last;
        }
        if !linked {
            return Err(WalError::NotALog("a record is not linked to its transaction's last"));
        }
        chain.undo_next = if compensates { previous } else { r.lsn };
        chain.last = r.lsn;
        chain.records += 1;
        chain.unversioned += u64::from(r.flags().needs_log());
        chain.bytes += r.bytes.len() as u64;
        let ended = match r.kind() {
            kinds::COMMIT => &mut self.committed,
            kinds::ABORT => &mut self.aborted,
            _ => return Ok(()),
        };
        *ended += 1;
        self.open.remove(&id);
        Ok(())
    }

    /// Transactions without end, oldest first.
    pub(crate) fn losers(self) -> Vec<TransactionChain> {
        let whole = |t: &TransactionChain| t.records > 0 && t.first <= t.last;
        assert!(self.open.values().all(whole), "who is open has logged something");
        let mut losers: Vec<TransactionChain> = self.open.into_values().collect();
        losers.sort_unstable_by_key(|t| t.first);
        losers
    }
}
