//! Transaction manager requests: begin, commit, roll back, save, with names and isolation.

use crate::error::{TdsError, TdsResult};
use crate::headers::Headers;
use crate::reader::{Reader, utf16};
use crate::writer::{WireWriter, truncated};

/// An isolation level as TDS numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Isolation {
    /// READ UNCOMMITTED
    ReadUncommitted = 1,
    /// READ COMMITTED
    ReadCommitted = 2,
    /// REPEATABLE READ
    RepeatableRead = 3,
    /// SERIALIZABLE
    Serializable = 4,
    /// SNAPSHOT
    Snapshot = 5,
}

/// A transaction to begin.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Begin {
    /// The isolation level, which stays the session's; `None` leaves it.
    pub isolation: Option<Isolation>,
    /// Its name, often empty.
    pub name: String,
}

/// A transaction manager request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionCommand {
    /// Begin one.
    Begin(Begin),
    /// Commit the current one and perhaps begin the next at once.
    Commit {
        /// Its name, which is ignored as in T-SQL.
        name: String,
        /// The next.
        then: Option<Begin>,
    },
    /// Roll back the current one, or to a savepoint, and perhaps begin the next at once.
    Rollback {
        /// The transaction's or a savepoint's name; empty for the whole transaction.
        name: String,
        /// The next.
        then: Option<Begin>,
    },
    /// Set a savepoint.
    Save {
        /// Its name.
        name: String,
    },
}

const GET_DTC_ADDRESS: u16 = 0;
const PROPAGATE: u16 = 1;
const BEGIN: u16 = 5;
const PROMOTE: u16 = 6;
const COMMIT: u16 = 7;
const ROLLBACK: u16 = 8;
const SAVE: u16 = 9;
/// Flag of commit and rollback: begin the next transaction.
const BEGIN_NEXT: u8 = 0x01;
/// The longest name, in bytes of UTF-16.
const NAME_BYTES_MAX: usize = 254;

impl TransactionCommand {
    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<TransactionCommand> {
        let at = r.offset();
        match r.u16()? {
            BEGIN => Ok(TransactionCommand::Begin(begin(r)?)),
            COMMIT => Ok(TransactionCommand::Commit { name: name(r)?, then: next(r)? }),
            ROLLBACK => Ok(TransactionCommand::Rollback { name: name(r)?, then: next(r)? }),
            SAVE => Ok(TransactionCommand::Save { name: name(r)? }),
            GET_DTC_ADDRESS | PROPAGATE | PROMOTE => {
                Err(TdsError::Unsupported { feature: "distributed transactions" })
            }
            _ => Err(TdsError::Malformed { field: "RequestType", offset: at }),
        }
    }

    /// Appends the payload of the request.
    pub fn encode(&self, headers: &Headers, out: &mut Vec<u8>) {
        headers.encode(out);
        match self {
            TransactionCommand::Begin(begin) => {
                out.put_u16(BEGIN);
                put_begin(begin, out);
            }
            TransactionCommand::Commit { name, then } => put_end(COMMIT, name, then, out),
            TransactionCommand::Rollback { name, then } => put_end(ROLLBACK, name, then, out),
            TransactionCommand::Save { name } => {
                out.put_u16(SAVE);
                put_name(name, out);
            }
        }
    }
}

/// Names are counted in bytes here, unlike everywhere else.
fn name(r: &mut Reader<'_>) -> TdsResult<String> {
    let at = r.offset();
    let bytes = r.b_varbyte()?;
    if bytes.len() % 2 != 0 {
        return Err(TdsError::Malformed { field: "XactName", offset: at });
    }
    Ok(utf16(bytes))
}

fn begin(r: &mut Reader<'_>) -> TdsResult<Begin> {
    let at = r.offset();
    let isolation = match r.u8()? {
        0 => None,
        1 => Some(Isolation::ReadUncommitted),
        2 => Some(Isolation::ReadCommitted),
        3 => Some(Isolation::RepeatableRead),
        4 => Some(Isolation::Serializable),
        5 => Some(Isolation::Snapshot),
        _ => return Err(TdsError::Malformed { field: "IsolationLevel", offset: at }),
    };
    Ok(Begin { isolation, name: name(r)? })
}

fn next(r: &mut Reader<'_>) -> TdsResult<Option<Begin>> {
    // Some drivers leave the flags out when there are none.
    if r.is_empty() || r.u8()? & BEGIN_NEXT == 0 {
        return Ok(None);
    }
    begin(r).map(Some)
}

fn put_name(name: &str, out: &mut Vec<u8>) {
    let name = truncated(name, NAME_BYTES_MAX / 2);
    let units = u8::try_from(name.encode_utf16().count() * 2).expect("truncated above");
    out.put_u8(units);
    out.put_utf16(name);
}

fn put_begin(begin: &Begin, out: &mut Vec<u8>) {
    out.put_u8(begin.isolation.map_or(0, |i| i as u8));
    put_name(&begin.name, out);
}

fn put_end(kind: u16, name: &str, then: &Option<Begin>, out: &mut Vec<u8>) {
    out.put_u16(kind);
    put_name(name, out);
    match then {
        None => out.put_u8(0),
        Some(begin) => {
            out.put_u8(BEGIN_NEXT);
            put_begin(begin, out);
        }
    }
}
