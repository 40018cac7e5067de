//! What a client can ask for after login, both ways: batch, RPC, transaction, attention.

use crate::error::{TdsError, TdsResult};
use crate::headers::Headers;
use crate::packet::{Message, PacketType};
use crate::reader::{Reader, utf16};
use crate::rpc::RpcBatch;
use crate::transaction::TransactionCommand;
use crate::writer::WireWriter;

/// A request as the server sees it.
#[derive(Debug)]
pub enum Request<'a> {
    /// A batch of T-SQL.
    Batch {
        /// Its headers.
        headers: Headers,
        /// Its text.
        text: String,
    },
    /// Procedure calls, decoded one by one as they are run.
    Rpc(RpcBatch<'a>),
    /// A transaction command.
    Transaction {
        /// Its headers.
        headers: Headers,
        /// What to do.
        command: TransactionCommand,
    },
    /// Cancel what is running; to be answered with DONE and the attention bit.
    Attention,
    /// Rows for a bulk load: the bytes of COLMETADATA, ROW and DONE tokens.
    BulkLoad(&'a [u8]),
}

/// The request in a message.
///
/// # Errors
/// What is wrong with the bytes; `PacketType` for a message that no logged-in client sends;
/// `Unsupported` for authentication steps that we do not have. Parameters of an RPC are decoded
/// later, by [`RpcBatch::next_call`].
pub fn decode_request(message: &Message) -> TdsResult<Request<'_>> {
    let mut r = Reader::new(&message.payload);
    match message.kind {
        PacketType::Batch => {
            let headers = Headers::decode(&mut r)?;
            if !r.left().is_multiple_of(2) {
                return Err(TdsError::Malformed { field: "SQLText", offset: r.offset() });
            }
            Ok(Request::Batch { headers, text: utf16(r.rest()) })
        }
        PacketType::Rpc => Ok(Request::Rpc(RpcBatch::decode(r)?)),
        PacketType::Transaction => {
            let headers = Headers::decode(&mut r)?;
            let command = TransactionCommand::decode(&mut r)?;
            Ok(Request::Transaction { headers, command })
        }
        PacketType::Attention => Ok(Request::Attention),
        PacketType::BulkLoad => Ok(Request::BulkLoad(&message.payload)),
        PacketType::FedAuth => Err(TdsError::Unsupported { feature: "federated authentication" }),
        PacketType::Sspi => Err(TdsError::Unsupported { feature: "integrated authentication" }),
        PacketType::Login | PacketType::Prelogin | PacketType::Response => {
            Err(TdsError::PacketType { found: message.kind as u8 })
        }
    }
}

/// Appends the payload of a batch.
pub fn encode_batch(headers: &Headers, text: &str, out: &mut Vec<u8>) {
    headers.encode(out);
    out.put_utf16(text);
}
