//! What a log contains of transactions over several databases (`work/src/several.rs`): those that
//! another database decides, and those that this one has decided.
//!
//! Invariants
//!  1. Nothing is written before all transactions in doubt are settled. A database that cannot find
//!     out how a transaction ended stays closed and unchanged (3431).
//!  2. A transaction that is settled as committed has its commit record on disk before the deciding
//!     log may be truncated.

use base::{DatabaseId, Lsn, SqlError, SqlResult, messages};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{ChainName, DecisionPayload, EndPayload, Member, PreparePayload};
use wal::{Group, Log, RecordView, TransactionChain, kinds};
use work::{Decisions, Outcome};

/// Prepared transactions without an end record in their log.
#[derive(Default)]
pub(crate) struct PreparedChains {
    /// Committed, by the deciding database.
    pub(crate) committed: Vec<TransactionChain>,
    /// Undecided: no open database knows their end.
    pub(crate) in_doubt: Vec<TransactionChain>,
}

impl PreparedChains {
    /// The committed ones.
    ///
    /// # Errors
    /// 3431 if one is undecided.
    pub(crate) fn known(self, id: DatabaseId, name: &str) -> SqlResult<Vec<TransactionChain>> {
        match self.in_doubt.is_empty() {
            true => Ok(self.committed),
            false => Err(SqlError::new(messages::UNRESOLVED_OUTCOMES, &[&name, &id])),
        }
    }
}

/// Collects prepared and decided transactions in the order of the log.
#[derive(Default)]
pub(crate) struct DecisionScan {
    /// The prepared transactions by number, each with the LSN of its prepare record.
    prepared: BTreeMap<u32, (Lsn, PreparePayload)>,
    decided: BTreeMap<ChainName, Vec<Member>>,
}

impl DecisionScan {
    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        let id = record.transaction();
        match record.kind() {
            kinds::PREPARE => {
                let prepared = PreparePayload::parse(record.payload());
                self.prepared.extend(prepared.map(|p| (id, (record.lsn, p))));
            }
            kinds::COMMIT => {
                self.prepared.remove(&id);
                if let Some(DecisionPayload { first, members, .. }) =
                    DecisionPayload::parse(record.payload())
                {
                    self.decided.insert(ChainName { id, first }, members);
                }
            }
            kinds::ABORT => drop(self.prepared.remove(&id)),
            kinds::FORGET => {
                let chain = ChainName::parse(record.payload());
                chain.and_then(|chain| self.decided.remove(&chain));
            }
            _ => {}
        }
    }

    /// Takes prepared transactions out of the losers, unless the deciding database says that they
    /// were rolled back.
    pub(crate) fn settle(
        &self,
        decisions: &Decisions,
        losers: &mut Vec<TransactionChain>,
    ) -> PreparedChains {
        let mut settled = PreparedChains::default();
        for chain in std::mem::take(losers) {
            // A transaction whose undo has begun was not committed.
            let asked = self.prepared.get(&chain.id).filter(|(lsn, _)| *lsn == chain.last);
            match asked.map(|(_, prepared)| decisions.outcome(prepared)) {
                None | Some(Outcome::RolledBack) => losers.push(chain),
                Some(Outcome::Committed) => settled.committed.push(chain),
                Some(Outcome::InDoubt) => settled.in_doubt.push(chain),
            }
        }
        settled
    }

    /// The decisions that other databases may ask for.
    pub(crate) fn decided(self) -> BTreeMap<ChainName, Vec<Member>> {
        self.decided
    }
}

/// Ends the transactions that were settled as committed, durably.
pub(crate) fn commit(log: &Arc<Log>, settled: Vec<TransactionChain>) {
    let ended = EndPayload { at: os::clock::now().0 }.bytes();
    let mut group = Group::new();
    let append = |mut chain: TransactionChain| {
        group.clear();
        let pushed = group.push_plain(kinds::COMMIT, chain.id, &ended);
        assert!(pushed.is_ok(), "an empty group has room for a commit");
        log.append(&mut group, &mut chain).last
    };
    if let Some(last) = settled.into_iter().map(append).last() {
        log.flush_to(last);
    }
}
