//! The client's side of a response: tokens out of bytes as they arrive.
//!
//! Invariants
//!  1. A token is returned only when all of it is there; nothing is consumed before.
//!  2. After [`ResponseReader::next_token`] said "not yet", it looks again only when the bytes
//!     that were missing may have come: a large value is not decoded once per packet.

use crate::error::{TdsError, TdsResult};
use crate::login7::Feature;
use crate::reader::Reader;
use crate::rowset::{Column, ReturnValue, decode_columns, decode_nbc_row, decode_row};
use crate::token::{
    DoneKind, DoneToken, EnvChange, LoginAck, Notice, body, decode_feature_ack, decode_order, kind,
};
use crate::typeinfo::TypeInfo;
use types::Value;

/// A token of a response.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// The login succeeded.
    LoginAck(LoginAck),
    /// Something about the session changed.
    EnvChange(EnvChange),
    /// A message of severity 10 or less.
    Info(Notice),
    /// An error.
    Error(Notice),
    /// Features that the server has.
    FeatureAck(Vec<Feature>),
    /// A result set begins.
    Columns(Vec<Column<'static>>),
    /// The columns by which it is sorted.
    Order(Vec<u16>),
    /// A row of it.
    Row(Vec<Value>),
    /// What a procedure returned.
    ReturnStatus(i32),
    /// An output parameter.
    ReturnValue(ReturnValue<'static>),
    /// A statement, a procedure or the response is complete.
    Done(DoneToken),
    /// A token that says nothing to us (TABNAME, COLINFO).
    Skipped(u8),
}

/// Reads the tokens of responses.
#[derive(Debug, Default)]
pub struct ResponseReader {
    buffer: Vec<u8>,
    at: usize,
    /// Bytes from `at` on without which the next token cannot be whole.
    needed: usize,
    columns: Vec<TypeInfo>,
}

impl ResponseReader {
    /// A reader at the start of a response.
    pub fn new() -> ResponseReader {
        ResponseReader::default()
    }

    /// The payload of the next packet of the response.
    pub fn feed(&mut self, payload: &[u8]) {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(payload);
    }

    /// Whether everything fed has been returned. After the last packet of a response, `false`
    /// with no further token means that the server's message was cut off.
    pub fn is_empty(&self) -> bool {
        self.at == self.buffer.len()
    }

    /// The next token, if all of it has arrived.
    ///
    /// # Errors
    /// What is wrong with the bytes; the rest of the response cannot be read then.
    pub fn next_token(&mut self) -> TdsResult<Option<Token>> {
        let rest = &self.buffer[self.at..];
        if rest.is_empty() || rest.len() < self.needed {
            return Ok(None);
        }
        let mut r = Reader::new(rest);
        match decode_token(&mut r, &mut self.columns) {
            Ok(token) => {
                self.at += r.offset();
                self.needed = 0;
                Ok(Some(token))
            }
            Err(TdsError::Truncated { offset, needed }) => {
                self.needed = offset.saturating_add(needed);
                debug_assert!(self.needed > rest.len(), "bytes that are there are not missing");
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }
}

fn decode_token(r: &mut Reader<'_>, columns: &mut Vec<TypeInfo>) -> TdsResult<Token> {
    Ok(match r.u8()? {
        kind::LOGINACK => Token::LoginAck(body(r, "LOGINACK", LoginAck::decode)?),
        kind::ENVCHANGE => Token::EnvChange(body(r, "ENVCHANGE", EnvChange::decode)?),
        kind::INFO => Token::Info(body(r, "INFO", Notice::decode)?),
        kind::ERROR => Token::Error(body(r, "ERROR", Notice::decode)?),
        kind::FEATUREEXTACK => Token::FeatureAck(decode_feature_ack(r)?),
        kind::COLMETADATA => match decode_columns(r)? {
            Some((names, infos)) => {
                *columns = infos;
                Token::Columns(names)
            }
            None => Token::Columns(Vec::new()),
        },
        kind::ORDER => Token::Order(body(r, "ORDER", decode_order)?),
        kind::ROW => Token::Row(decode_row(columns, r)?),
        kind::NBCROW => Token::Row(decode_nbc_row(columns, r)?),
        kind::RETURNSTATUS => Token::ReturnStatus(r.i32()?),
        kind::RETURNVALUE => Token::ReturnValue(ReturnValue::decode(r)?),
        kind::DONE => Token::Done(DoneToken::decode(DoneKind::Done, r)?),
        kind::DONEPROC => Token::Done(DoneToken::decode(DoneKind::Proc, r)?),
        kind::DONEINPROC => Token::Done(DoneToken::decode(DoneKind::InProc, r)?),
        skipped @ (kind::TABNAME | kind::COLINFO) => {
            body(r, "TABNAME", |_| Ok(()))?;
            Token::Skipped(skipped)
        }
        found => return Err(TdsError::Token { found }),
    })
}
