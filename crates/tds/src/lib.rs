//! TDS, the wire protocol of SQL Server: bytes to messages and messages to bytes, both ways.
//!
//! There are no sockets, no clocks and no locks in here. A server feeds what it read to a
//! [`PacketAssembler`], decodes the [`Message`] ([`Prelogin::decode`], [`Login7::decode`],
//! [`decode_request`]), and appends its answer token by token to a [`PacketWriter`]. A client
//! does the reverse with [`frame`] and a [`ResponseReader`].
//!
//! Decoding is total: whatever the bytes, the answer is a message or a [`TdsError`] with the
//! facts, never a panic; no memory is taken on the word of a length field. TDS 7.2 to 7.4 and
//! 8.0; what differs between them stands in [`TdsVersion`].
//!
//! The byte tables are in `docs/formats/tds.md`.

#![forbid(unsafe_code)]

mod bulk;
mod decode;
mod encode;
mod error;
mod headers;
mod login7;
mod origin;
mod packet;
mod prelogin;
mod reader;
mod request;
mod response;
mod rowset;
mod rpc;
mod table_value;
mod token;
mod transaction;
mod typeinfo;
mod variant;
mod version;
mod writer;

pub use bulk::{BulkReader, BulkRow};
pub use encode::encode_value;
pub use error::{PARAMETERS_MAX, TdsError, TdsResult, ValueFault};
pub use headers::Headers;
pub use login7::{Feature, LOGIN_BYTES_MAX, Login7, feature, login_flags, obfuscate, reveal};
pub use origin::{Origin, encode_origins, origin_status};
pub use packet::{
    HEADER_BYTES, Message, PACKET_SIZE_DEFAULT, PACKET_SIZE_MAX, PACKET_SIZE_MIN, PacketAssembler,
    PacketHeader, PacketStatus, PacketType, PacketWriter, frame,
};
pub use prelogin::{Encryption, Prelogin, Protection, TraceId};
pub use request::{Request, decode_request, encode_batch};
pub use response::{ResponseReader, Token};
pub use rowset::{Column, ColumnFlags, ReturnValue, RowEncoder, encode_columns, encode_no_columns};
pub use rpc::{ProcId, Procedure, RpcBatch, RpcCall, RpcOptions, RpcParameter, encode_rpc};
pub use table_value::TableParameter;
pub use token::{
    DoneKind, DoneStatus, DoneToken, EnvChange, LoginAck, Notice, acknowledge_features, command,
    encode_feature_ack, encode_notice, encode_order, encode_return_status,
};
pub use transaction::{Begin, Isolation, TransactionCommand};
pub use typeinfo::{TypeInfo, WireCollation, encode_type, type_for_client};
pub use version::{PROGRAM_NAME, ProductVersion, TdsVersion};
