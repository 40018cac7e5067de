//! What begin and end records of transactions say, for recovery and fn_dblog.
//!
//! Begin: transaction id 8, session 2, wall time 8, name as UTF-8. End: wall time 8.

use base::{SessionId, TransactionId};

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
    /// Fixed part; the name follows.
    pub fn front(&self) -> [u8; 18] {
        let mut b = [0; 18];
        b[..8].copy_from_slice(&self.id.0.to_le_bytes());
        b[8..10].copy_from_slice(&self.session.0.to_le_bytes());
        b[10..].copy_from_slice(&self.at.to_le_bytes());
        assert!(self.id.0 as u32 != 0, "0 logs for nobody");
        let same = Begin { name: "", ..self.clone() };
        debug_assert_eq!(Begin::parse(&b), Some(same), "what is written reads back");
        b
    }

    /// Reads a payload; `None` when it makes no sense.
    pub fn parse(b: &'a [u8]) -> Option<Begin<'a>> {
        let word = |at: usize| -> Option<[u8; 8]> { b.get(at..at + 8)?.try_into().ok() };
        Some(Begin {
            id: TransactionId(u64::from_le_bytes(word(0)?)),
            session: SessionId(i16::from_le_bytes([*b.get(8)?, *b.get(9)?])),
            at: i64::from_le_bytes(word(10)?),
            name: std::str::from_utf8(b.get(18..)?).ok()?,
        })
    }
}

/// An end record's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Wall time in nanoseconds since 1970.
    pub at: i64,
}

impl Ended {
    /// The payload.
    pub fn bytes(self) -> [u8; 8] {
        self.at.to_le_bytes()
    }
}
