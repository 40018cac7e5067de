//! What a log says of transactions over several databases (`work/src/several.rs`): those that
//! another database decides, and those that this one has decided.
//!
//! Invariants
//!  1. Nothing is written before all that is in doubt is settled: a database that cannot know how a
//!     transaction ended stays closed as it was found (3431).
//!  2. What is settled as committed has its commit record on disk before the deciding log may go.

use base::{DatabaseId, Lsn, SqlError, SqlResult, messages};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{ChainName, DecisionPayload, EndPayload, Member, PreparePayload};
use wal::{Group, Log, RecordView, TransactionChain, kinds};
use work::{Decisions, Outcome};

/// Transactions that are prepared and have no end in their log.
#[derive(Default)]
pub(crate) struct PreparedChains {
    /// Decided: they are committed.
    pub(crate) committed: Vec<TransactionChain>,
    /// Nobody here knows.
    pub(crate) in_doubt: Vec<TransactionChain>,
}

impl PreparedChains {
    /// Those that are committed.
    ///
    /// # Errors
    /// 3431: of one nobody knows.
    pub(crate) fn known(self, id: DatabaseId, name: &str) -> SqlResult<Vec<TransactionChain>> {
        match self.in_doubt.is_empty() {
            true => Ok(self.committed),
            false => Err(SqlError::new(messages::UNRESOLVED_OUTCOMES, &[&name, &id])),
        }
    }
}

/// What is met in a log, in its order.
#[derive(Default)]
pub(crate) struct DecisionScan {
    /// Those that are prepared, by number, with the place of that record.
    prepared: BTreeMap<u32, (Lsn, PreparePayload)>,
    decided: BTreeMap<ChainName, Vec<Member>>,
}

impl DecisionScan {
    /// Takes a record of the log into account.
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
    /// are rolled back.
    pub(crate) fn settle(
        &self,
        decisions: &Decisions,
        losers: &mut Vec<TransactionChain>,
    ) -> PreparedChains {
        let mut settled = PreparedChains::default();
        for chain in std::mem::take(losers) {
            // One whose undo has begun is known to be no commit.
            let asked = self.prepared.get(&chain.id).filter(|(lsn, _)| *lsn == chain.last);
            match asked.map(|(_, prepared)| decisions.outcome(prepared)) {
                None | Some(Outcome::RolledBack) => losers.push(chain),
                Some(Outcome::Committed) => settled.committed.push(chain),
                Some(Outcome::InDoubt) => settled.in_doubt.push(chain),
            }
        }
        settled
    }

    /// What others may ask for.
    pub(crate) fn decided(self) -> BTreeMap<ChainName, Vec<Member>> {
        self.decided
    }
}

/// Ends those that were settled as committed, durably.
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
