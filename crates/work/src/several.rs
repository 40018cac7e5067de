//! The commit of a transaction that has written several durable databases: all or none of it is
//! there after a crash (two phases, presumed abort).
//!
//! | step | a crash right after it leaves |
//! |---|---|
//! | 1 log is reserved for what follows | nothing |
//! | 2 prepare records in all logs but the deciding one, on disk | no commit: nobody decided |
//! | 3 the commit record in the deciding log, on disk | a commit; the others ask |
//! | 4 the commit records in the others, which nobody waits for | a commit |
//! | 5 the steps that follow any durable commit | a commit |
//!
//! `decisions.rs` answers the databases that ask.
//! Two flushes follow each other, as many as two databases cost without it; the first of them are
//! one behind the other. Log: a prepare record of 30 bytes and a forget record of 12 more.
//! The commit is fully durable whatever the databases and the commit ask for, as in SQL Server.

use crate::commit::WorkError;
use crate::decisions::member;
use crate::unit::Work;
use base::Lsn;
use txn::{ChainName, DecisionPayload, EndPayload, Member, Mutation, PreparePayload};

/// Databases that can agree: their names fit a log block.
const MEMBERS_MAX: usize = 2_000;
/// Log for a prepare record.
const PREPARE_BYTES: usize = 64;

impl Work {
    /// Parts that have logged what a crash must leave.
    fn durable_parts(&self) -> impl Iterator<Item = usize> + '_ {
        let durable = self.parts.iter().enumerate();
        durable.filter(|(_, p)| p.has_logged() && p.home.survives()).map(|(i, _)| i)
    }

    /// Whether several databases have to agree on its commit.
    pub(crate) fn is_of_several(&self) -> bool {
        self.durable_parts().count() > 1
    }

    fn member(&self, part: usize) -> Member {
        let home = &self.parts[part].home;
        member(home.database, home.log())
    }

    /// Commits it in all of them, or, after an error, in none: it is open as before then.
    pub(crate) fn commit_several(&mut self) -> Result<(), WorkError> {
        let mut parts: Vec<usize> = self.durable_parts().collect();
        parts.sort_unstable_by_key(|&i| self.parts[i].home.database);
        let (&decider, others) = parts.split_first().expect("there are several");
        assert!(!others.is_empty(), "there are several");
        if others.len() > MEMBERS_MAX {
            return Err(WorkError::TooMany);
        }
        for &i in others {
            self.parts[i].reserve(PREPARE_BYTES).map_err(WorkError::Log)?;
        }
        let bytes = DecisionPayload::len(others.len());
        self.parts[decider].reserve(bytes).map_err(WorkError::Log)?;
        self.prepare(decider, others);
        self.decide(decider, others);
        let ended = self.tell_others(decider, others);
        for part in self.parts.iter_mut().filter(|p| p.has_logged() && !p.home.survives()) {
            part.append_commit(&ended.bytes());
        }
        let decided_by = self.parts[decider].home.database;
        self.committed();
        self.engine.decisions.forget_known(decided_by);
        Ok(())
    }

    fn chain_name(&self, part: usize) -> ChainName {
        let chain = &self.parts[part].chain;
        ChainName { id: chain.id, first: chain.first }
    }

    /// Step 2. All records first: the flushes that follow find others waiting.
    fn prepare(&mut self, decider: usize, others: &[usize]) {
        if self.engine.transactions.mutations.has(Mutation::Unprepared) {
            return;
        }
        let prepared =
            PreparePayload { decider: self.member(decider), chain: self.chain_name(decider) };
        let payload = prepared.bytes();
        let append = |&i: &usize| (i, self.parts[i].append_prepare(&payload));
        let waits: Vec<(usize, Lsn)> = others.iter().map(append).collect();
        waits.into_iter().for_each(|(i, lsn)| self.flush_part(i, lsn));
    }

    /// Step 3: noted before it is decided, so that no checkpoint passes it.
    fn decide(&mut self, decider: usize, others: &[usize]) {
        let members: Vec<Member> = others.iter().map(|&i| self.member(i)).collect();
        let (by, chain) = (self.member(decider), self.chain_name(decider));
        let log = self.parts[decider].home.log();
        self.engine.decisions.note(by, log, chain, &members);
        let ended = EndPayload { at: os::clock::now().0 };
        let payload = DecisionPayload { ended, first: chain.first, members }.bytes();
        let lsn = self.parts[decider].append_commit(&payload);
        self.flush_part(decider, lsn);
    }

    /// Step 4. Each log's writer brings it to disk soon; until then the decision is kept.
    fn tell_others(&mut self, decider: usize, others: &[usize]) -> EndPayload {
        let ended = EndPayload { at: os::clock::now().0 };
        let append = |&i: &usize| (i, self.parts[i].append_commit(&ended.bytes()));
        let told: Vec<(usize, Lsn)> = others.iter().map(append).collect();
        let (by, chain) = (self.member(decider), self.chain_name(decider));
        self.engine.decisions.told(by, chain, |other| {
            let (i, lsn) = told.iter().find(|(i, _)| self.member(*i) == other)?;
            Some((self.parts[*i].home.log().clone(), *lsn))
        });
        ended
    }
}
