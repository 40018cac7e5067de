//! Handles: how texts and plans are named outside, 44 bytes as SQL Server's are.
//!
//! ```text
//!          0      1   2         4             20            24 or 28
//! text     02|03  0   database  fingerprint   object        zeros
//! plan     06|05  0   database  fingerprint   entry         zeros
//! ```
//!
//! 02 and 06 are batches and prepared texts, 03 and 05 procedures. A text's handle is the same
//! in every process; a plan's lives as long as its entry. Numbers are little-endian.

use base::{DatabaseId, ObjectId};
use foldhash::quality::FixedState;
use std::hash::BuildHasher;

/// Bytes of a handle.
const BYTES: usize = 44;
/// Kind, database and fingerprint: all that tells a batch.
pub const HANDLE_HEAD_BYTES: usize = 20;
const TEXT_OF_BATCH: u8 = 2;
const TEXT_OF_MODULE: u8 = 3;
const PLAN_OF_MODULE: u8 = 5;
const PLAN_OF_BATCH: u8 = 6;

/// 128 bits of a text and its declared parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub(crate) u128);

impl Fingerprint {
    /// Of a text and the declaration of its parameters.
    pub fn of(parameters: &str, text: &str) -> Fingerprint {
        let half = |seed| FixedState::with_seed(seed).hash_one((parameters, text));
        Fingerprint(u128::from(half(1)) << 64 | u128::from(half(2)))
    }

    /// Half of it, where 64 bits are shown.
    pub fn half(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The bucket of tables and the choice of a shard.
    pub(crate) fn bucket(self) -> u64 {
        self.0 as u64
    }
}

/// What `sys.dm_exec_sql_text` is asked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextHandle {
    /// The text.
    pub fingerprint: Fingerprint,
    /// The module it is the text of; database and object are 0 for a batch.
    pub database: DatabaseId,
    /// See `database`.
    pub object: ObjectId,
}

impl TextHandle {
    /// Of a batch or prepared text.
    pub fn of_batch(parameters: &str, text: &str) -> TextHandle {
        let fingerprint = Fingerprint::of(parameters, text);
        TextHandle { fingerprint, database: DatabaseId(0), object: ObjectId(0) }
    }

    /// As varbinary.
    pub fn bytes(&self) -> Vec<u8> {
        let kind = if self.object.0 == 0 { TEXT_OF_BATCH } else { TEXT_OF_MODULE };
        let mut bytes = head(kind, self.database, self.fingerprint);
        bytes.extend(self.object.0.to_le_bytes());
        bytes.resize(BYTES, 0);
        bytes
    }

    /// From varbinary; `None` when it is none. Of a batch the first bytes are enough: more of them
    /// sysprocesses has no room for.
    pub fn read(bytes: &[u8]) -> Option<TextHandle> {
        let mut whole = bytes.to_vec();
        if bytes.len() == HANDLE_HEAD_BYTES {
            whole.resize(BYTES, 0);
        }
        TextHandle::read_whole(&whole)
    }

    fn read_whole(bytes: &[u8]) -> Option<TextHandle> {
        let (kind, database, fingerprint, rest) = split(bytes)?;
        let object = ObjectId(i32::from_le_bytes(*rest.first_chunk()?));
        let handle = TextHandle { fingerprint, database, object };
        let known = [TEXT_OF_BATCH, TEXT_OF_MODULE].contains(&kind);
        (known && handle.bytes() == bytes).then_some(handle)
    }
}

/// What `sys.dm_exec_query_plan` is asked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanHandle {
    pub(crate) module: bool,
    pub(crate) database: DatabaseId,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) entry: u64,
}

impl PlanHandle {
    /// As varbinary.
    pub fn bytes(&self) -> Vec<u8> {
        let kind = if self.module { PLAN_OF_MODULE } else { PLAN_OF_BATCH };
        let mut bytes = head(kind, self.database, self.fingerprint);
        bytes.extend(self.entry.to_le_bytes());
        bytes.resize(BYTES, 0);
        bytes
    }

    /// From varbinary; `None` when it is none.
    pub fn read(bytes: &[u8]) -> Option<PlanHandle> {
        let (kind, database, fingerprint, rest) = split(bytes)?;
        let entry = u64::from_le_bytes(*rest.first_chunk()?);
        let handle = PlanHandle { module: kind == PLAN_OF_MODULE, database, fingerprint, entry };
        let known = [PLAN_OF_BATCH, PLAN_OF_MODULE].contains(&kind);
        (known && handle.bytes() == bytes).then_some(handle)
    }
}

fn head(kind: u8, database: DatabaseId, fingerprint: Fingerprint) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend([kind, 0]);
    bytes.extend(database.0.to_le_bytes());
    bytes.extend(fingerprint.0.to_le_bytes());
    bytes
}

fn split(bytes: &[u8]) -> Option<(u8, DatabaseId, Fingerprint, &[u8])> {
    let (&[kind, _], rest) = bytes.split_first_chunk::<2>()?;
    let (database, rest) = rest.split_first_chunk::<2>()?;
    let (fingerprint, rest) = rest.split_first_chunk::<16>()?;
    let fingerprint = Fingerprint(u128::from_le_bytes(*fingerprint));
    Some((kind, DatabaseId(u16::from_le_bytes(*database)), fingerprint, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_read_as_they_were_written_and_nothing_else_is_one() {
        let text = TextHandle { object: ObjectId(7), ..TextHandle::of_batch("", "select 1") };
        assert_eq!(text.bytes().len(), BYTES);
        assert_eq!(TextHandle::read(&text.bytes()), Some(text));
        let plan = PlanHandle {
            module: true,
            database: DatabaseId(5),
            fingerprint: text.fingerprint,
            entry: 9,
        };
        assert_eq!(PlanHandle::read(&plan.bytes()), Some(plan));
        assert_eq!(PlanHandle::read(&text.bytes()), None, "a text is no plan");
        assert_eq!(TextHandle::read(&plan.bytes()), None, "a plan is no text");
        assert_eq!(TextHandle::read(&text.bytes()[..43]), None, "cut");
        assert_eq!(TextHandle::read(&[]), None);
        let mut other = text.bytes();
        other[43] = 1;
        assert_eq!(TextHandle::read(&other), None, "something behind its end");
    }

    #[test]
    fn parameters_belong_to_the_text() {
        assert_ne!(Fingerprint::of("@a int", "select 1"), Fingerprint::of("", "select 1"));
        assert_ne!(Fingerprint::of("ab", "c"), Fingerprint::of("a", "bc"));
    }
}
