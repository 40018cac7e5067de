//! What can be wrong with bytes from the wire, and what the user is told of it.
//!
//! Every decoder of this crate is total: whatever the bytes, it returns a message or one of
//! these. A variant names what was found; the offset is within the message's payload.

use base::{SqlError, messages};
use std::fmt;

/// Why bytes are not a TDS message. After any of them but [`TdsError::Unsupported`] and the
/// `Parameter…` ones the stream cannot be trusted and the connection is to be closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TdsError {
    /// The message ends inside a field. For a stream that is still arriving: wait for more.
    Truncated {
        /// Where the field begins.
        offset: usize,
        /// How many bytes it needs from there.
        needed: usize,
    },
    /// A packet header's length is below 8.
    PacketLength {
        /// The length it states.
        length: u16,
    },
    /// A packet of a type that no client sends, or one in the middle of a message of another.
    PacketType {
        /// The type byte.
        found: u8,
    },
    /// A message grew beyond what the receiver allows.
    MessageTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A field holds what the protocol does not allow.
    Malformed {
        /// Which field.
        field: &'static str,
        /// Where it begins.
        offset: usize,
    },
    /// The PRELOGIN option table is wrong.
    Prelogin {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The LOGIN7 record is wrong.
    Login {
        /// Which field.
        field: &'static str,
    },
    /// A client older than TDS 7.2, or of a version nobody knows.
    Version {
        /// The version it asked for.
        asked: u32,
    },
    /// An RPC names no procedure: unknown number, name empty or too long.
    RpcName,
    /// More parameters than 2,100.
    TooManyParameters,
    /// Something is wrong with one parameter of an RPC.
    Parameter {
        /// 1-based position; for a column of a row, its position.
        ordinal: usize,
        /// Its name, empty when it has none.
        name: String,
        /// What is wrong.
        fault: ValueFault,
    },
    /// A type or value outside an RPC (a column, a return value) is wrong.
    Value {
        /// What is wrong.
        fault: ValueFault,
    },
    /// A feature of the protocol that this server does not have.
    Unsupported {
        /// Its name as a user knows it.
        feature: &'static str,
    },
    /// There is no memory for what a message holds.
    OutOfMemory,
    /// A token that this decoder does not know, in a server's response.
    Token {
        /// The token byte.
        found: u8,
    },
}

/// What is wrong with a typed value or its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFault {
    /// A type byte that names no type.
    UnknownType(u8),
    /// The length of the type or of the value is not one the type has.
    Length(u8),
    /// Precision or scale out of range.
    PrecisionScale(u8),
    /// The chunks of a large value do not add up.
    Chunks(u8),
    /// A type that exists and that this server does not have.
    UnsupportedType(u8, &'static str),
    /// The bytes of the value name no instance of the type (a date of month 13, NaN …).
    Instance(&'static str),
    /// The parameter's name is longer than an identifier or not text.
    Name,
    /// Status bits that nobody has defined.
    StatusFlags,
}

/// The result of decoding.
pub type TdsResult<T> = Result<T, TdsError>;

impl TdsError {
    /// Whether more bytes could make it good.
    pub fn is_truncated(&self) -> bool {
        matches!(self, TdsError::Truncated { .. })
    }

    /// Whether the connection has to be closed after telling the client.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self,
            TdsError::Unsupported { .. }
                | TdsError::Parameter { .. }
                | TdsError::Value { .. }
                | TdsError::RpcName
                | TdsError::TooManyParameters
                | TdsError::OutOfMemory
        )
    }
}

impl fmt::Display for TdsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TdsError::Truncated { offset, needed } => {
                write!(f, "message ends inside a field of {needed} bytes at offset {offset}")
            }
            TdsError::PacketLength { length } => write!(f, "packet states a length of {length}"),
            TdsError::PacketType { found } => write!(f, "unexpected packet type 0x{found:02X}"),
            TdsError::MessageTooLong { limit } => write!(f, "message exceeds {limit} bytes"),
            TdsError::Malformed { field, offset } => {
                write!(f, "field {field} at offset {offset} is malformed")
            }
            TdsError::Prelogin { what } => write!(f, "prelogin: {what}"),
            TdsError::Login { field } => write!(f, "login: field {field} is malformed"),
            TdsError::Version { asked } => write!(f, "TDS version 0x{asked:08X} is not supported"),
            TdsError::RpcName => f.write_str("RPC names no procedure"),
            TdsError::TooManyParameters => f.write_str("RPC has too many parameters"),
            TdsError::Parameter { ordinal, name, fault } => {
                write!(f, "parameter {ordinal} (\"{name}\"): {fault:?}")
            }
            TdsError::Value { fault } => write!(f, "value: {fault:?}"),
            TdsError::Unsupported { feature } => write!(f, "{feature} is not supported"),
            TdsError::OutOfMemory => f.write_str("there is no memory for a message"),
            TdsError::Token { found } => write!(f, "unknown token 0x{found:02X}"),
        }
    }
}

impl std::error::Error for TdsError {}

/// What a packet of [MC-SMP] begins with.
const SMP: u8 = 0x53;
const MARS: &str = "multiple active result sets (MARS)";

/// The parameters an RPC may have.
pub const PARAMETERS_MAX: usize = 2100;

impl From<TdsError> for SqlError {
    fn from(e: TdsError) -> Self {
        match e {
            TdsError::Truncated { .. }
            | TdsError::PacketLength { .. }
            | TdsError::Malformed { .. }
            | TdsError::Token { .. } => SqlError::new(messages::TDS_STREAM, &[]),
            // A packet of the Session Multiplex Protocol, which carries several sessions.
            TdsError::PacketType { found: SMP } => {
                SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&MARS])
            }
            TdsError::PacketType { .. } => SqlError::new(messages::TDS_STREAM, &[]),
            TdsError::MessageTooLong { limit } => {
                SqlError::new(messages::TDS_MESSAGE_TOO_LONG, &[&limit])
            }
            TdsError::Prelogin { .. } => SqlError::new(messages::TDS_PRELOGIN, &[]),
            TdsError::Login { .. } => SqlError::new(messages::TDS_LOGIN, &[]),
            TdsError::Version { asked } => {
                SqlError::new(messages::TDS_VERSION, &[&format_args!("{asked:08x}")])
            }
            TdsError::RpcName => SqlError::new(messages::TDS_RPC_NAME, &[]),
            TdsError::TooManyParameters => {
                SqlError::new(messages::TDS_TOO_MANY_PARAMETERS, &[&PARAMETERS_MAX])
            }
            TdsError::Parameter { ordinal, name, fault } => fault.at(ordinal, &name),
            TdsError::Value { fault } => fault.at(0, ""),
            TdsError::OutOfMemory => SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]),
            TdsError::Unsupported { feature } => {
                SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature])
            }
        }
    }
}

impl ValueFault {
    fn at(self, ordinal: usize, name: &str) -> SqlError {
        let typed = |m, t: u8| SqlError::new(m, &[&ordinal, &name, &format_args!("{t:02X}")]);
        match self {
            ValueFault::UnknownType(t) => typed(messages::TDS_TYPE_UNKNOWN, t),
            ValueFault::Length(t) => typed(messages::TDS_TYPE_LENGTH, t),
            ValueFault::PrecisionScale(t) => typed(messages::TDS_TYPE_PRECISION, t),
            ValueFault::Chunks(t) => typed(messages::TDS_CHUNKS, t),
            ValueFault::UnsupportedType(_, what) => {
                SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what])
            }
            ValueFault::Instance(what) => {
                SqlError::new(messages::TDS_INSTANCE, &[&ordinal, &name, &what])
            }
            ValueFault::Name => SqlError::new(messages::TDS_PARAMETER_NAME, &[&ordinal]),
            ValueFault::StatusFlags => SqlError::new(messages::TDS_PARAMETER_FLAGS, &[&ordinal]),
        }
    }
}
