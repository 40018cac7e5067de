//! The rows of a bulk load, from the bytes of its message to the session.

use base::{SqlError, SqlResult, messages};
use session::BulkRows;
use tds::{BulkReader, TdsError, ValueFault};
use types::{SqlType, Value};

/// See the module.
pub(crate) struct Rows<'a> {
    reader: BulkReader<'a>,
    columns: Vec<SqlType>,
}

impl<'a> Rows<'a> {
    /// The rows of a message.
    ///
    /// # Errors
    /// It does not begin with columns that we have.
    pub(crate) fn new(payload: &'a [u8]) -> SqlResult<Rows<'a>> {
        let reader = BulkReader::new(payload).map_err(told)?;
        let columns = reader.columns().iter().map(|c| c.sql).collect();
        Ok(Rows { reader, columns })
    }
}

impl BulkRows for Rows<'_> {
    fn columns(&self) -> &[SqlType] {
        &self.columns
    }

    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        self.reader.next_row(row).map_err(told)
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
