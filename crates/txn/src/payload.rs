//! What begin and end records of transactions say, for recovery and fn_dblog.
//!
//! Begin: transaction id 8, session 2, wall time 8, name. End: wall time 8. A name is UTF-8, and
//! one of [`KNOWN`] a single byte below 32, its number there. Version number: sequence number 8.
//!
//! The abort record of a transaction whose records stay on pages (`aborted_map.rs`) goes on behind
//! the wall time. The record of a part that is aborted alone has the same behind a wall time, and
//! the checkpoint carries it for each that is in the map:
//!
//! | off | len | field |
//! |---|---|---|
//! | 0 | 8 | sequence number in the tags of its records |
//! | 8 | 8 | transaction id |
//! | 16 | 8 | wall time of its begin |
//! | 24 | 8 | LSN of its first record |
//! | 32 | 2 | count of the allocation units that follow; 65535: too many, all units may have some |
//! | 34 | 4 n | allocation units |

use crate::aborted_map::AbortedTransaction;
use base::{AllocUnitId, Lsn, SessionId, TransactionId, Xsn};
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

/// The payload of a record that says a transaction's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberPayload(pub Xsn);

impl NumberPayload {
    /// The payload.
    pub fn bytes(self) -> [u8; 8] {
        self.0.0.to_le_bytes()
    }

    /// Reads a payload; `None` when it makes no sense.
    pub fn parse(b: &[u8]) -> Option<NumberPayload> {
        let xsn = Xsn(u64::from_le_bytes(b.try_into().ok()?));
        (xsn != Xsn::NONE && xsn <= Xsn::MAX).then_some(NumberPayload(xsn))
    }
}

/// Units that an abort record names at most.
const UNITS_MAX: usize = 256;
const ALL_UNITS: u16 = u16::MAX;
const ABORTED_FRONT_BYTES: usize = 34;

impl AbortedTransaction {
    /// The longest that [`AbortedTransaction::spell`] appends.
    pub const BYTES_MAX: usize = Self::bytes_of(UNITS_MAX);

    /// How long it is with so many units.
    pub const fn bytes_of(units: usize) -> usize {
        ABORTED_FRONT_BYTES + 4 * units
    }

    /// Appends what the table above says.
    pub fn spell(&self, out: &mut Vec<u8>) {
        self.spell_with(UNITS_MAX, out);
    }

    /// The same with at most so many units named.
    pub fn spell_with(&self, units_max: usize, out: &mut Vec<u8>) {
        assert!(units_max <= UNITS_MAX, "more than an abort record names");
        out.extend_from_slice(&self.xsn.0.to_le_bytes());
        out.extend_from_slice(&self.id.0.to_le_bytes());
        out.extend_from_slice(&self.began_at.to_le_bytes());
        out.extend_from_slice(&self.begin.0.to_le_bytes());
        let units = if self.units.len() > units_max { &[][..] } else { &self.units };
        let count = if units.is_empty() { ALL_UNITS } else { units.len() as u16 };
        out.extend_from_slice(&count.to_le_bytes());
        units.iter().for_each(|unit| out.extend_from_slice(&unit.0.to_le_bytes()));
    }

    /// Reads one of those, and what is behind it; `None` when it makes no sense. `end` is the LSN
    /// of the record that has it.
    pub fn parse(b: &[u8], end: Lsn) -> Option<(AbortedTransaction, &[u8])> {
        let (front, mut rest) = b.split_at_checked(ABORTED_FRONT_BYTES)?;
        let word = |at: usize| front[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let NumberPayload(xsn) = NumberPayload::parse(&front[..8])?;
        let count = u16::from_le_bytes([front[32], front[33]]);
        let mut units = Vec::new();
        if count != ALL_UNITS {
            let (bytes, behind) = rest.split_at_checked(4 * usize::from(count))?;
            let unit = |b: &[u8; 4]| AllocUnitId(u32::from_le_bytes(*b));
            units.extend(bytes.as_chunks().0.iter().map(unit));
            rest = behind;
        }
        let id = TransactionId(word(8)?);
        let (began_at, begin) = (word(16)?.cast_signed(), Lsn(word(24)?));
        let read = AbortedTransaction { xsn, id, began_at, begin, end, nested: false, units };
        (begin <= end && id.0 as u32 != 0).then_some((read, rest))
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

    /// What an abort record says of a transaction whose records stay is read as it was written;
    /// more units than there is room for are all units; what makes no sense is refused.
    #[test]
    fn an_aborted_transaction_reads_as_it_was_spelled() {
        let aborted = |units: u32| AbortedTransaction {
            xsn: Xsn(0x0605_0403_0201),
            id: TransactionId(0x0A_0000_0009),
            began_at: -5,
            begin: Lsn(70),
            end: Lsn(90),
            nested: false,
            units: (1..=units).map(AllocUnitId).collect(),
        };
        for (units, read) in [(0, 0), (1, 1), (256, 256), (257, 0)] {
            let mut bytes = Vec::new();
            aborted(units).spell(&mut bytes);
            assert_eq!(bytes.len(), ABORTED_FRONT_BYTES + 4 * read as usize);
            bytes.push(7);
            let parsed = AbortedTransaction::parse(&bytes, Lsn(90));
            assert_eq!(parsed, Some((aborted(read), &[7][..])));
            for cut in 0..bytes.len() - 1 {
                assert_eq!(AbortedTransaction::parse(&bytes[..cut], Lsn(90)), None, "{cut}");
            }
            assert_eq!(
                AbortedTransaction::parse(&bytes, Lsn(69)),
                None,
                "it begins behind its end"
            );
        }
        assert_eq!(
            NumberPayload::parse(&NumberPayload(Xsn(9)).bytes()),
            Some(NumberPayload(Xsn(9)))
        );
        assert_eq!(NumberPayload::parse(&[0; 8]), None);
        assert_eq!(NumberPayload::parse(&[0xFF; 8]), None);
        assert_eq!(NumberPayload::parse(&[1; 7]), None);
    }
}
