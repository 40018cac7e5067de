//! INSERT BULK: rows of one table in messages of many.

use crate::figure::Outcome;
use crate::wire::Session;
use tds::{
    Column, ColumnFlags, DoneKind, DoneStatus, DoneToken, RowEncoder, TdsVersion, encode_columns,
};
use types::{SqlType, Value};

/// A table that is being filled.
pub(crate) struct BulkLoad<'s> {
    session: &'s mut Session,
    statement: String,
    columns: Vec<Column<'s>>,
    encoder: RowEncoder,
    payload: Vec<u8>,
    rows: usize,
    rows_max: usize,
}

impl<'s> BulkLoad<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        table: &str,
        columns: &'s [(&'static str, SqlType)],
        rows_max: usize,
    ) -> BulkLoad<'s> {
        let declared: Vec<String> =
            columns.iter().map(|(name, ty)| format!("{name} {ty}")).collect();
        let statement = format!("INSERT BULK {table} ({}) WITH (TABLOCK)", declared.join(", "));
        let of =
            |&(name, ty): &(&'static str, SqlType)| Column::new(name, ty, ColumnFlags::NULLABLE);
        let columns: Vec<Column<'_>> = columns.iter().map(of).collect();
        let encoder = RowEncoder::new(&columns, TdsVersion::V7_4);
        BulkLoad { session, statement, columns, encoder, payload: Vec::new(), rows: 0, rows_max }
    }

    /// Adds a row; sends those that there are when they are enough.
    pub(crate) fn push(&mut self, row: &[Value]) -> Outcome<()> {
        if self.rows == 0 {
            encode_columns(&self.columns, TdsVersion::V7_4, &mut self.payload);
        }
        self.encoder.encode(row, &mut self.payload).map_err(|e| e.to_string())?;
        self.rows += 1;
        if self.rows == self.rows_max { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Outcome<()> {
        DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut self.payload);
        let payload = std::mem::take(&mut self.payload);
        let loaded = self.session.bulk(&self.statement, payload);
        let loaded = loaded.map_err(|e| format!("{}: {e}", self.statement))?;
        if loaded != self.rows as u64 {
            return Err(format!("{}: {loaded} rows of {}", self.statement, self.rows));
        }
        self.rows = 0;
        Ok(())
    }

    /// Sends what is left.
    pub(crate) fn finish(mut self) -> Outcome<()> {
        if self.rows == 0 { Ok(()) } else { self.send() }
    }
}
