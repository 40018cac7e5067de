//! Passes the rows of a bulk load from the packets of its message to the session.
//!
//! A short message is completely here; a long one comes through the link's inflow while its rows
//! are loaded. A row that is not complete yet is tried again when twice as many bytes are there. So
//! a long value is examined only a few times, and memory holds some packets, or one row.

use crate::account::Account;
use crate::inflow::Intake;
use crate::link::Link;
use base::{SqlError, SqlResult, messages};
use os::wait::{WaitKind, Waiter, Wake};
use session::BulkRows;
use tds::{BulkReader, BulkRow, TdsError, ValueFault};
use types::{SqlType, Value};

/// Where the bytes of a load come from.
pub(crate) struct Source<'a> {
    pub(crate) link: &'a Link,
    pub(crate) waiter: &'a Waiter,
    /// What is held is charged here.
    pub(crate) account: Account,
    /// The longest row.
    pub(crate) bytes_max: usize,
    /// What has come.
    pub(crate) bytes: Vec<u8>,
    /// That is all.
    pub(crate) whole: bool,
}

impl Source<'_> {
    /// Waits until twice as many bytes are there, or all.
    fn more(&mut self) -> SqlResult<()> {
        let wanted = (self.bytes.len() * 2).max(1);
        while !self.whole && self.bytes.len() < wanted {
            match self.link.inflow.take(&mut self.bytes) {
                Intake::Some => self.link.wire.wake(),
                Intake::End => self.whole = true,
                Intake::GivenUp => return Err(SqlError::new(messages::BULK_PREMATURE_END, &[])),
                Intake::Nothing => self.wait()?,
            }
            if self.bytes.len() > self.bytes_max {
                return Err(TdsError::MessageTooLong { limit: self.bytes_max }.into());
            }
            if !self.account.covers(self.bytes.capacity()) {
                return Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]));
            }
        }
        self.waiter.clear_signal();
        Ok(())
    }

    fn wait(&self) -> SqlResult<()> {
        match self.waiter.wait(WaitKind::AsyncNetworkIo, None) {
            Wake::Signalled | Wake::TimedOut => Ok(()),
            Wake::Cancelled(why) => Err(why.into()),
        }
    }
}

/// See the module.
pub(crate) struct Rows<'a> {
    source: Source<'a>,
    reader: BulkReader,
    /// Bytes of the source that are read already.
    at: usize,
    columns: Vec<SqlType>,
}

impl<'a> Rows<'a> {
    /// The rows of a message.
    ///
    /// # Errors
    /// It does not begin with columns that we have; it does not come.
    pub(crate) fn new(mut source: Source<'a>) -> SqlResult<Rows<'a>> {
        let (reader, at) = loop {
            match BulkReader::begin(&source.bytes) {
                Err(TdsError::Truncated { .. }) if !source.whole => source.more()?,
                begun => break begun.map_err(told)?,
            }
        };
        let columns = reader.columns().iter().map(|c| c.sql).collect();
        Ok(Rows { source, reader, at, columns })
    }
}

impl BulkRows for Rows<'_> {
    fn columns(&self) -> &[SqlType] {
        &self.columns
    }

    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        loop {
            let Source { bytes, whole, .. } = &self.source;
            let rest = bytes.get(self.at..).unwrap_or_default();
            match self.reader.next_row(rest, *whole, row).map_err(told)? {
                BulkRow::Row(length) => {
                    self.at += length;
                    return Ok(true);
                }
                BulkRow::End => return Ok(false),
                BulkRow::More => {
                    self.source.bytes.drain(..self.at);
                    self.at = 0;
                    self.source.more()?;
                }
            }
        }
    }
}

/// What a user of bulk loads is told: the framing of messages is whole, so the connection goes on.
fn told(e: TdsError) -> SqlError {
    match e {
        TdsError::Truncated { .. } => SqlError::new(messages::BULK_PREMATURE_END, &[]),
        TdsError::Parameter {
            ordinal,
            fault: ValueFault::Length(_) | ValueFault::Chunks(_),
            ..
        } => SqlError::new(messages::BULK_COLUMN_LENGTH, &[&ordinal]),
        TdsError::Parameter { ordinal, .. } => {
            SqlError::new(messages::BULK_COLUMN_TYPE, &[&ordinal])
        }
        other => other.into(),
    }
}
