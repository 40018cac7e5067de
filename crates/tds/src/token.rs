//! Tokens of a response that are not rows: login, environment, messages, completion.
//!
//! Each has its bytes both ways. A server appends them to [`crate::PacketWriter::payload`].

use crate::error::{TdsError, TdsResult};
use crate::login7::{Feature, decode_features, encode_features};
use crate::reader::Reader;
use crate::typeinfo::WireCollation;
use crate::version::{PROGRAM_NAME, ProductVersion, TdsVersion};
use crate::writer::{WireWriter, truncated};
use base::SqlError;

/// Token bytes.
pub(crate) mod kind {
    pub(crate) const RETURNSTATUS: u8 = 0x79;
    pub(crate) const COLMETADATA: u8 = 0x81;
    pub(crate) const TABNAME: u8 = 0xA4;
    pub(crate) const COLINFO: u8 = 0xA5;
    pub(crate) const ORDER: u8 = 0xA9;
    pub(crate) const ERROR: u8 = 0xAA;
    pub(crate) const INFO: u8 = 0xAB;
    pub(crate) const RETURNVALUE: u8 = 0xAC;
    pub(crate) const LOGINACK: u8 = 0xAD;
    pub(crate) const FEATUREEXTACK: u8 = 0xAE;
    pub(crate) const ROW: u8 = 0xD1;
    pub(crate) const NBCROW: u8 = 0xD2;
    pub(crate) const ENVCHANGE: u8 = 0xE3;
    pub(crate) const DONE: u8 = 0xFD;
    pub(crate) const DONEPROC: u8 = 0xFE;
    pub(crate) const DONEINPROC: u8 = 0xFF;
}

/// LOGINACK: the login succeeded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoginAck {
    /// The version that is spoken from here on.
    pub tds_version: TdsVersion,
    /// The server's name; drivers compare it.
    pub program: String,
    /// The server's version; drivers parse it.
    pub version: ProductVersion,
}

impl LoginAck {
    /// What a server of ours says.
    pub fn new(tds_version: TdsVersion, version: ProductVersion) -> LoginAck {
        LoginAck { tds_version, program: PROGRAM_NAME.to_owned(), version }
    }

    /// Appends the token.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(kind::LOGINACK);
        let length = out.open_u16();
        // The interface: T-SQL.
        out.put_u8(1);
        // Big-endian, unlike in LOGIN7.
        out.put_u32_be(self.tds_version.0);
        out.put_b_varchar(&self.program);
        out.extend_from_slice(&[self.version.major, self.version.minor]);
        out.put_u16_be(self.version.build);
        out.close_u16(length);
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<LoginAck> {
        let _interface = r.u8()?;
        Ok(LoginAck {
            tds_version: TdsVersion(r.u32_be()?),
            program: r.b_varchar()?,
            version: ProductVersion {
                major: r.u8()?,
                minor: r.u8()?,
                build: r.u16_be()?,
                sub_build: 0,
            },
        })
    }
}

/// ENVCHANGE: something about the session has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnvChange {
    /// `USE`.
    Database {
        /// Its name now.
        new: String,
        /// Its name before.
        old: String,
    },
    /// `SET LANGUAGE`.
    Language {
        /// Its name now.
        new: String,
        /// Its name before.
        old: String,
    },
    /// The character set, which TDS 7 no longer has.
    Charset {
        /// Its name now.
        new: String,
        /// Its name before.
        old: String,
    },
    /// The packet size, at login.
    PacketSize {
        /// From the next packet on.
        new: u32,
        /// Before.
        old: u32,
    },
    /// The collation of the database.
    Collation {
        /// Now.
        new: WireCollation,
        /// Before; none at login.
        old: Option<WireCollation>,
    },
    /// A transaction began; requests carry its descriptor from now on.
    BeginTransaction(u64),
    /// It was committed.
    CommitTransaction(u64),
    /// It was rolled back.
    RollbackTransaction(u64),
    /// RESETCONNECTION was obeyed.
    ResetAck,
    /// One that we neither send nor understand.
    Other(u8),
}

mod env {
    pub(super) const DATABASE: u8 = 1;
    pub(super) const LANGUAGE: u8 = 2;
    pub(super) const CHARSET: u8 = 3;
    pub(super) const PACKET_SIZE: u8 = 4;
    pub(super) const COLLATION: u8 = 7;
    pub(super) const BEGIN: u8 = 8;
    pub(super) const COMMIT: u8 = 9;
    pub(super) const ROLLBACK: u8 = 10;
    pub(super) const RESET_ACK: u8 = 18;
}

impl EnvChange {
    /// Appends the token.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(kind::ENVCHANGE);
        let length = out.open_u16();
        match self {
            EnvChange::Database { new, old } => texts(env::DATABASE, new, old, out),
            EnvChange::Language { new, old } => texts(env::LANGUAGE, new, old, out),
            EnvChange::Charset { new, old } => texts(env::CHARSET, new, old, out),
            EnvChange::PacketSize { new, old } => {
                texts(env::PACKET_SIZE, &new.to_string(), &old.to_string(), out);
            }
            EnvChange::Collation { new, old } => {
                let old = old.as_ref().map_or(&[][..], |c| &c.0);
                blobs(env::COLLATION, &new.0, old, out);
            }
            EnvChange::BeginTransaction(d) => blobs(env::BEGIN, &d.to_le_bytes(), &[], out),
            EnvChange::CommitTransaction(d) => blobs(env::COMMIT, &[], &d.to_le_bytes(), out),
            EnvChange::RollbackTransaction(d) => blobs(env::ROLLBACK, &[], &d.to_le_bytes(), out),
            EnvChange::ResetAck => blobs(env::RESET_ACK, &[], &[], out),
            EnvChange::Other(kind) => blobs(*kind, &[], &[], out),
        }
        out.close_u16(length);
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<EnvChange> {
        let malformed = || TdsError::Malformed { field: "ENVCHANGE", offset: 0 };
        Ok(match r.u8()? {
            env::DATABASE => EnvChange::Database { new: r.b_varchar()?, old: r.b_varchar()? },
            env::LANGUAGE => EnvChange::Language { new: r.b_varchar()?, old: r.b_varchar()? },
            env::CHARSET => EnvChange::Charset { new: r.b_varchar()?, old: r.b_varchar()? },
            env::PACKET_SIZE => {
                let mut number = || r.b_varchar()?.parse().map_err(|_| malformed());
                EnvChange::PacketSize { new: number()?, old: number()? }
            }
            env::COLLATION => {
                let new = collation(r.b_varbyte()?).ok_or_else(malformed)?;
                EnvChange::Collation { new, old: collation(r.b_varbyte()?) }
            }
            env::BEGIN => EnvChange::BeginTransaction(descriptor(r)?),
            env::COMMIT => {
                r.b_varbyte()?;
                EnvChange::CommitTransaction(descriptor(r)?)
            }
            env::ROLLBACK => {
                r.b_varbyte()?;
                EnvChange::RollbackTransaction(descriptor(r)?)
            }
            env::RESET_ACK => EnvChange::ResetAck,
            other => EnvChange::Other(other),
        })
    }
}

fn texts(kind: u8, new: &str, old: &str, out: &mut Vec<u8>) {
    out.put_u8(kind);
    out.put_b_varchar(new);
    out.put_b_varchar(old);
}

fn blobs(kind: u8, new: &[u8], old: &[u8], out: &mut Vec<u8>) {
    out.put_u8(kind);
    out.put_b_varbyte(new);
    out.put_b_varbyte(old);
}

fn collation(bytes: &[u8]) -> Option<WireCollation> {
    bytes.try_into().ok().map(WireCollation)
}

fn descriptor(r: &mut Reader<'_>) -> TdsResult<u64> {
    let bytes = r.b_varbyte()?.try_into();
    bytes.map(u64::from_le_bytes).map_err(|_| TdsError::Malformed { field: "ENVCHANGE", offset: 0 })
}

/// A token with a u16 length. When it has arrived and is too short for what it is to hold, more
/// bytes will not help: it is malformed.
pub(crate) fn body<'a, T>(
    r: &mut Reader<'a>,
    field: &'static str,
    decode: impl FnOnce(&mut Reader<'a>) -> TdsResult<T>,
) -> TdsResult<T> {
    let offset = r.offset();
    let n = usize::from(r.u16()?);
    decode(&mut Reader::new(r.take(n)?)).map_err(|e| match e {
        TdsError::Truncated { .. } => TdsError::Malformed { field, offset },
        other => other,
    })
}

/// ERROR or INFO: a message to the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// Its number.
    pub number: i32,
    /// Where in the server it was raised.
    pub state: u8,
    /// Its severity.
    pub class: u8,
    /// Its text.
    pub text: String,
    /// The server's name.
    pub server: String,
    /// The procedure, empty for a batch.
    pub procedure: String,
    /// The line of the batch or procedure.
    pub line: u32,
}

/// The most characters of a message's text: the token must stay below 64 KB.
const NOTICE_UNITS_MAX: usize = 30_000;

/// Appends an error or a message of a server: INFO up to severity 10, else ERROR. Severity 10
/// goes out as class 0, which is how clients know that nothing needs to be done about it.
pub fn encode_notice(e: &SqlError, server: &str, out: &mut Vec<u8>) {
    let token = if e.severity() <= 10 { kind::INFO } else { kind::ERROR };
    out.put_u8(token);
    let length = out.open_u16();
    out.put_i32(e.number());
    let class = if e.severity() == 10 { 0 } else { e.severity() };
    out.extend_from_slice(&[e.state(), class]);
    out.put_us_varchar(truncated(e.text(), NOTICE_UNITS_MAX));
    out.put_b_varchar(server);
    out.put_b_varchar(e.procedure().unwrap_or(""));
    out.put_u32(e.line());
    out.close_u16(length);
}

impl Notice {
    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<Notice> {
        Ok(Notice {
            number: r.i32()?,
            state: r.u8()?,
            class: r.u8()?,
            text: r.us_varchar()?,
            server: r.b_varchar()?,
            procedure: r.b_varchar()?,
            line: r.u32()?,
        })
    }
}

impl From<Notice> for SqlError {
    fn from(n: Notice) -> SqlError {
        let e = SqlError::raw(n.number, n.class, n.state, n.text).at_line(n.line);
        if n.procedure.is_empty() { e } else { e.in_procedure(&n.procedure) }
    }
}

/// Which of the three completion tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DoneKind {
    /// Of a statement of a batch.
    Done = kind::DONE,
    /// Of a procedure.
    Proc = kind::DONEPROC,
    /// Of a statement within a procedure.
    InProc = kind::DONEINPROC,
}

/// Status bits of a completion token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DoneStatus(pub u16);

impl DoneStatus {
    /// Nothing follows.
    pub const FINAL: DoneStatus = DoneStatus(0x00);
    /// More results follow.
    pub const MORE: DoneStatus = DoneStatus(0x01);
    /// The statement failed.
    pub const ERROR: DoneStatus = DoneStatus(0x02);
    /// A transaction is open.
    pub const IN_XACT: DoneStatus = DoneStatus(0x04);
    /// The count is valid.
    pub const COUNT: DoneStatus = DoneStatus(0x10);
    /// The answer to an attention.
    pub const ATTENTION: DoneStatus = DoneStatus(0x20);
    /// The request was not run to its end; its results are to be thrown away.
    pub const SERVER_ERROR: DoneStatus = DoneStatus(0x100);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: DoneStatus) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: DoneStatus) -> DoneStatus {
        DoneStatus(self.0 | other.0)
    }
}

/// What a statement was, for [`DoneToken::command`]: drivers tell result sets from update counts by
/// it.
pub mod command {
    /// Not told.
    pub const NONE: u16 = 0;
    /// OPEN of a cursor.
    pub const OPEN_CURSOR: u16 = 0x20;
    /// SET of an option to ON.
    pub const SET_ON: u16 = 0xB9;
    /// SET of an option to OFF.
    pub const SET_OFF: u16 = 0xBA;
    /// SHUTDOWN.
    pub const SHUTDOWN: u16 = 0xBF;
    /// SELECT.
    pub const SELECT: u16 = 0xC1;
    /// SELECT INTO.
    pub const SELECT_INTO: u16 = 0xC2;
    /// INSERT.
    pub const INSERT: u16 = 0xC3;
    /// DELETE.
    pub const DELETE: u16 = 0xC4;
    /// UPDATE.
    pub const UPDATE: u16 = 0xC5;
    /// ROLLBACK.
    pub const ROLLBACK: u16 = 0xD2;
    /// BEGIN TRANSACTION.
    pub const BEGIN: u16 = 0xD4;
    /// COMMIT.
    pub const COMMIT: u16 = 0xD5;
    /// EXECUTE.
    pub const EXECUTE: u16 = 0xE0;
    /// BULK INSERT.
    pub const BULK_INSERT: u16 = 0xF0;
    /// PRINT, and RAISERROR that is no error.
    pub const MESSAGE: u16 = 0xF7;
    /// SET of anything else.
    pub const SET: u16 = 0xF9;
    /// MERGE.
    pub const MERGE: u16 = 0x117;

    /// Definitions by their first words, as far as a client is known to look at them.
    const DEFINITIONS: &[(&str, u16)] = &[
        ("DROP SCHEMA", 0xB0),
        ("CREATE FUNCTION", 0xB2),
        ("DROP FUNCTION", 0xB3),
        ("CREATE TABLE", 0xC6),
        ("DROP TABLE", 0xC7),
        ("CREATE INDEX", 0xC8),
        ("DROP INDEX", 0xC9),
        ("CREATE DATABASE", 0xCB),
        ("DROP DATABASE", 0xCC),
        ("CREATE VIEW", 0xCF),
        ("DROP VIEW", 0xD0),
        ("ALTER DATABASE", 0xD7),
        ("ALTER TABLE", 0xD8),
        ("CREATE TRIGGER", 0xDD),
        ("CREATE PROCEDURE", 0xDE),
        ("DROP PROCEDURE", 0xDF),
        ("DROP TRIGGER", 0xE1),
        ("DBCC", 0xE6),
        ("DROP RULE", 0xED),
        ("DROP DEFAULT", 0xEE),
        ("DROP STATISTICS", 0x100),
        ("DROP TYPE", 0x110),
        ("CREATE TYPE", 0x111),
        ("CREATE PARTITION FUNCTION", 0x129),
        ("DROP PARTITION FUNCTION", 0x12A),
        ("CREATE PARTITION SCHEME", 0x12B),
        ("DROP PARTITION SCHEME", 0x12C),
        ("DROP USER", 0x13D),
        ("DROP ROLE", 0x141),
        ("DROP LOGIN", 0x147),
        ("CREATE SYNONYM", 0x148),
        ("DROP SYNONYM", 0x149),
        ("CREATE SCHEMA", 0x14A),
        ("ALTER SCHEMA", 0x14B),
        ("ALTER PARTITION FUNCTION", 0x14F),
        ("ALTER INDEX", 0x151),
    ];

    /// What a definition is, by its first words: [`NONE`] where no client is known to look.
    pub fn of_definition(words: &str) -> u16 {
        DEFINITIONS.iter().find(|d| d.0 == words).map_or(NONE, |d| d.1)
    }
}

/// A completion token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoneToken {
    /// Which of the three.
    pub kind: DoneKind,
    /// Its status bits.
    pub status: DoneStatus,
    /// What the statement was, see [`command`].
    pub command: u16,
    /// Rows, when the status says COUNT.
    pub count: u64,
}

impl DoneToken {
    /// One without a count.
    pub fn new(kind: DoneKind, status: DoneStatus) -> DoneToken {
        DoneToken { kind, status, command: command::NONE, count: 0 }
    }

    /// One with the rows of a statement.
    pub fn with_count(kind: DoneKind, status: DoneStatus, command: u16, count: u64) -> DoneToken {
        DoneToken { kind, status: status.and(DoneStatus::COUNT), command, count }
    }

    /// Appends the token.
    pub fn encode(&self, out: &mut Vec<u8>) {
        debug_assert!(self.count == 0 || self.status.has(DoneStatus::COUNT), "a count that shows");
        out.put_u8(self.kind as u8);
        out.put_u16(self.status.0);
        out.put_u16(self.command);
        out.put_u64(self.count);
    }

    pub(crate) fn decode(kind: DoneKind, r: &mut Reader<'_>) -> TdsResult<DoneToken> {
        let (status, command) = (DoneStatus(r.u16()?), r.u16()?);
        Ok(DoneToken { kind, status, command, count: r.u64()? })
    }
}

/// Appends RETURNSTATUS: what a procedure returned.
pub fn encode_return_status(status: i32, out: &mut Vec<u8>) {
    out.put_u8(kind::RETURNSTATUS);
    out.put_i32(status);
}

/// Appends ORDER: the columns (1-based) by which the rows are sorted.
pub fn encode_order(columns: &[u16], out: &mut Vec<u8>) {
    out.put_u8(kind::ORDER);
    let length = out.open_u16();
    for column in columns.iter().take(4096) {
        out.put_u16(*column);
    }
    out.close_u16(length);
}

/// Appends FEATUREEXTACK: which of the features that a client offered we have.
pub fn encode_feature_ack(features: &[Feature], out: &mut Vec<u8>) {
    out.put_u8(kind::FEATUREEXTACK);
    encode_features(features, out);
}

pub(crate) fn decode_feature_ack(r: &mut Reader<'_>) -> TdsResult<Vec<Feature>> {
    decode_features(r)
}

pub(crate) fn decode_order(r: &mut Reader<'_>) -> TdsResult<Vec<u16>> {
    let mut columns = Vec::with_capacity(r.left() / 2);
    while !r.is_empty() {
        columns.push(r.u16()?);
    }
    Ok(columns)
}

/// Appends FEATUREEXTACK for what a login offered, if there is anything to acknowledge: of all
/// features we have UTF-8 alone, and clients take silence about the others as "no".
pub fn acknowledge_features(offered: &[Feature], version: TdsVersion, out: &mut Vec<u8>) {
    use crate::login7::feature::UTF8_SUPPORT;
    if version.has_feature_extensions() && offered.iter().any(|f| f.id == UTF8_SUPPORT) {
        encode_feature_ack(&[Feature { id: UTF8_SUPPORT, data: vec![1] }], out);
    }
}
