//! What the logs of several databases say about the commit of one transaction (two-phase commit).
//!
//! Prepare (in each log but the deciding one): the deciding database 18, the transaction's chain
//! there 12. Commit (in the deciding log): wall time 8, as in any commit; its first record 8; each
//! other database 18. Forget (in the deciding log): the chain 12. A database is its number 2 and
//! its family 16; a chain is its transaction's low 32 bits 4 and its first record 8.

use crate::payload::EndPayload;
use base::{DatabaseId, Lsn};

/// A database as a log names it: numbers are given again, families are not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Member {
    /// Its number.
    pub database: DatabaseId,
    /// What ties its log to its data files.
    pub family: [u8; 16],
}

/// A transaction's chain in one log: numbers are given again, places in a log are not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChainName {
    /// The number of its records.
    pub id: u32,
    /// Its first record.
    pub first: Lsn,
}

const MEMBER_BYTES: usize = 18;
const CHAIN_BYTES: usize = 12;
const DECISION_FRONT_BYTES: usize = 16;

impl Member {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.database.0.to_le_bytes());
        out.extend_from_slice(&self.family);
    }

    fn parse(b: &[u8]) -> Option<Member> {
        let (number, family) = b.split_first_chunk()?;
        let family = *family.first_chunk()?;
        Some(Member { database: DatabaseId(u16::from_le_bytes(*number)), family })
    }
}

impl ChainName {
    /// The payload of a forget record.
    pub fn bytes(&self) -> [u8; CHAIN_BYTES] {
        let mut b = [0; CHAIN_BYTES];
        b[..4].copy_from_slice(&self.id.to_le_bytes());
        b[4..].copy_from_slice(&self.first.0.to_le_bytes());
        b
    }

    /// Reads that payload; `None` when it makes no sense.
    pub fn parse(b: &[u8]) -> Option<ChainName> {
        let (id, first) = b.split_first_chunk()?;
        let first = Lsn(u64::from_le_bytes(*first.first_chunk()?));
        Some(ChainName { id: u32::from_le_bytes(*id), first })
    }
}

/// A prepare record's payload: which log decides how the transaction ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PreparePayload {
    /// The database whose log decides.
    pub decider: Member,
    /// The transaction there.
    pub chain: ChainName,
}

impl PreparePayload {
    /// The payload.
    pub fn bytes(&self) -> Vec<u8> {
        let mut b = Vec::with_capacity(MEMBER_BYTES + CHAIN_BYTES);
        self.decider.write(&mut b);
        b.extend_from_slice(&self.chain.bytes());
        b
    }

    /// Reads a payload; `None` when it makes no sense.
    pub fn parse(b: &[u8]) -> Option<PreparePayload> {
        let (decider, chain) = b.split_at_checked(MEMBER_BYTES)?;
        Some(PreparePayload { decider: Member::parse(decider)?, chain: ChainName::parse(chain)? })
    }
}

/// The payload of a commit record that decides for other databases, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionPayload {
    /// When.
    pub ended: EndPayload,
    /// The transaction's first record in this log.
    pub first: Lsn,
    /// The other databases.
    pub members: Vec<Member>,
}

impl DecisionPayload {
    /// Its length with so many other databases.
    pub const fn len(members: usize) -> usize {
        DECISION_FRONT_BYTES + members * MEMBER_BYTES
    }

    /// The payload.
    pub fn bytes(&self) -> Vec<u8> {
        let mut b = Vec::with_capacity(DecisionPayload::len(self.members.len()));
        b.extend_from_slice(&self.ended.bytes());
        b.extend_from_slice(&self.first.0.to_le_bytes());
        self.members.iter().for_each(|member| member.write(&mut b));
        b
    }

    /// Reads the payload of a commit record; `None` for one that decides for its own log alone.
    pub fn parse(b: &[u8]) -> Option<DecisionPayload> {
        let members = b.get(DECISION_FRONT_BYTES..).filter(|members| !members.is_empty())?;
        let first = Lsn(u64::from_le_bytes(*b.get(8..)?.first_chunk()?));
        let members = members.chunks(MEMBER_BYTES).map(Member::parse).collect::<Option<_>>()?;
        Some(DecisionPayload { ended: EndPayload::parse(b)?, first, members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(n: u8) -> Member {
        Member { database: DatabaseId(u16::from(n)), family: [n; 16] }
    }

    #[test]
    fn payloads_are_read_as_they_were_written() {
        let chain = ChainName { id: 7, first: Lsn(99) };
        assert_eq!(ChainName::parse(&chain.bytes()), Some(chain));
        assert_eq!(ChainName::parse(&chain.bytes()[..11]), None);
        let prepared = PreparePayload { decider: member(5), chain };
        let bytes = prepared.bytes();
        assert_eq!(PreparePayload::parse(&bytes), Some(prepared));
        assert_eq!(PreparePayload::parse(&bytes[..29]), None);
        let members = vec![member(6), member(9)];
        let deciding = DecisionPayload { ended: EndPayload { at: 3 }, first: Lsn(99), members };
        let bytes = deciding.bytes();
        assert_eq!(bytes.len(), DecisionPayload::len(2));
        assert_eq!(DecisionPayload::parse(&bytes), Some(deciding));
        assert_eq!(EndPayload::parse(&bytes), Some(EndPayload { at: 3 }));
        // A commit of one database, and what was cut.
        assert_eq!(DecisionPayload::parse(&bytes[..8]), None);
        assert_eq!(DecisionPayload::parse(&bytes[..bytes.len() - 1]), None);
    }
}
