//! What begin and end records of transactions say, for recovery and fn_dblog.
//!
//! Begin: transaction id 8, session 2, wall time 8, name. End: wall time 8. A name is UTF-8, and
//! one of [`KNOWN`] a single byte below 32, its number there.

use base::{SessionId, TransactionId};
use std::sync::Arc;

/// Names of most transactions. Their numbers are on-disk format: append only, 32 at most.
const KNOWN: [&str; 12] = [
    "",
    "user_transaction",
    "implicit_transaction",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "SELECT INTO",
    "TRUNCATE TABLE",
    "CREATE TABLE",
    "CREATE INDEX",
    "ALTER TABLE",
];

const FRONT_BYTES: usize = 18;
/// The longest payload of a begin record: a name has 32 characters at most.
pub const BEGIN_BYTES_MAX: usize = FRONT_BYTES + 128;

/// What a transaction is called: by who began it, or after its one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionName {
    /// A statement's, or the engine's.
    Of(&'static str),
    /// A user's.
    Given(Arc<str>),
}

impl Default for TransactionName {
    fn default() -> Self {
        TransactionName::Of("")
    }
}

impl TransactionName {
    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            TransactionName::Of(name) => name,
            TransactionName::Given(name) => name,
        }
    }
}

/// A begin record's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin<'a> {
    /// The whole id; records carry its low 32 bits.
    pub id: TransactionId,
    /// Who.
    pub session: SessionId,
    /// Wall time in nanoseconds since 1970.
    pub at: i64,
    /// user_transaction, or the name given.
    pub name: &'a str,
}

impl<'a> Begin<'a> {
    /// Spells the payload; of a longer name than that what has room.
    pub fn spell<'b>(&self, out: &'b mut [u8; BEGIN_BYTES_MAX]) -> &'b [u8] {
        out[..FRONT_BYTES].copy_from_slice(&self.front());
        let end = match KNOWN.iter().position(|known| *known == self.name) {
            Some(known) => {
                out[FRONT_BYTES] = known as u8;
                FRONT_BYTES + 1
            }
            None => {
                let n = self.name.floor_char_boundary(BEGIN_BYTES_MAX - FRONT_BYTES);
                out[FRONT_BYTES..FRONT_BYTES + n].copy_from_slice(&self.name.as_bytes()[..n]);
                FRONT_BYTES + n
            }
        };
        debug_assert_eq!(Begin::parse(&out[..end]).map(|b| b.id), Some(self.id), "it reads back");
        &out[..end]
    }

    fn front(&self) -> [u8; FRONT_BYTES] {
        let mut b = [0; FRONT_BYTES];
        b[..8].copy_from_slice(&self.id.0.to_le_bytes());
        b[8..10].copy_from_slice(&self.session.0.to_le_bytes());
        b[10..].copy_from_slice(&self.at.to_le_bytes());
        assert!(self.id.0 as u32 != 0, "0 logs for nobody");
        b
    }

    /// Reads a payload; `None` when it makes no sense.
    pub fn parse(b: &'a [u8]) -> Option<Begin<'a>> {
        let word = |at: usize| -> Option<[u8; 8]> { b.get(at..at + 8)?.try_into().ok() };
        Some(Begin {
            id: TransactionId(u64::from_le_bytes(word(0)?)),
            session: SessionId(i16::from_le_bytes([*b.get(8)?, *b.get(9)?])),
            at: i64::from_le_bytes(word(10)?),
            name: match b.get(FRONT_BYTES..)? {
                [known] if *known < 32 => KNOWN.get(usize::from(*known))?,
                name => std::str::from_utf8(name).ok()?,
            },
        })
    }
}

/// An end record's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndPayload {
    /// Wall time in nanoseconds since 1970.
    pub at: i64,
}

impl EndPayload {
    /// The payload.
    pub fn bytes(self) -> [u8; 8] {
        self.at.to_le_bytes()
    }

    /// Reads a payload; `None` when it makes no sense.
    pub fn parse(b: &[u8]) -> Option<EndPayload> {
        Some(EndPayload { at: i64::from_le_bytes(*b.first_chunk()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_spelled_and_short_where_they_are_known() {
        let (id, session, at) = (TransactionId(7), SessionId(51), 99);
        let mut out = [0; BEGIN_BYTES_MAX];
        for (name, bytes) in [("INSERT", 19), ("", 19), ("t\u{e4}glich", 18 + 8)] {
            let begin = Begin { id, session, at, name };
            let spelled = begin.spell(&mut out);
            assert_eq!((spelled.len(), Begin::parse(spelled)), (bytes, Some(begin)));
        }
        let long = "\u{20ac}".repeat(60);
        let spelled = Begin { id, session, at, name: &long }.spell(&mut out);
        assert_eq!(Begin::parse(spelled).map(|b| b.name.chars().count()), Some(42));
        assert_eq!(Begin::parse(&[0; 17]), None);
    }
}
