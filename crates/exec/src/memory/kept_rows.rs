//! Rows that outlive their statement: in memory while they are few (fewer when memory is not
//! ample), then in a spill file, read by number. Cursors and INSERT EXEC keep their rows so.
//!
//! Reading the row after the last one read costs one step. Reading an earlier row costs the way
//! from the first spilled row.

use super::codec;
use super::codec::Decoder;
use access::{Spill, SpillFile};
use base::{SqlError, SqlResult, messages};
use os::values::{self, Charge};
use types::Value;

/// Bytes that stay in memory.
const MEMORY_BYTES: usize = 64 * 1024;
/// The same where memory is not ample.
const MEMORY_BYTES_LEAST: usize = 2 * 1024;

/// See the module.
#[derive(Default)]
pub struct KeptRows {
    memory: Vec<Box<[u8]>>,
    memory_bytes: usize,
    /// For what is in memory.
    charge: Charge,
    file: Option<Box<dyn SpillFile>>,
    spilled: u64,
    /// The spilled row that the file gives next; none while it is written.
    next: Option<u64>,
    bytes: Vec<u8>,
}

impl KeptRows {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.memory.len() as u64 + self.spilled
    }

    /// Adds a row.
    ///
    /// # Errors
    /// No space in tempdb.
    pub fn push(&mut self, spill: &dyn Spill, values: &[Value]) -> SqlResult<()> {
        assert!(self.next.is_none(), "rows are read when all are there");
        self.bytes.clear();
        values.iter().for_each(|v| codec::encode(v, &mut self.bytes));
        let bytes = self.memory_bytes + self.bytes.len() + size_of::<Box<[u8]>>();
        if self.file.is_none() && bytes <= MEMORY_BYTES && self.may_have(bytes) {
            self.memory_bytes = bytes;
            self.memory.push(self.bytes.as_slice().into());
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(spill.create()?),
        };
        file.append(&self.bytes)?;
        self.spilled += 1;
        Ok(())
    }

    fn may_have(&mut self, bytes: usize) -> bool {
        bytes <= MEMORY_BYTES_LEAST || values::is_ample() && self.charge.cover(bytes).is_ok()
    }

    /// The values of a row, by its number from 0; false behind the last.
    ///
    /// # Errors
    /// The disk's.
    pub fn read(&mut self, row: u64, columns: usize, out: &mut Vec<Value>) -> SqlResult<bool> {
        out.clear();
        if row >= self.count() {
            return Ok(false);
        }
        let in_memory = usize::try_from(row).ok().and_then(|n| self.memory.get(n));
        match in_memory {
            Some(bytes) => decode(bytes, columns, out)?,
            None => {
                self.seek(row - self.memory.len() as u64)?;
                decode(&self.bytes, columns, out)?;
            }
        }
        Ok(true)
    }

    /// Brings a spilled row into `bytes`.
    fn seek(&mut self, row: u64) -> SqlResult<()> {
        let lost = || SqlError::new(messages::INTERNAL, &[&"a kept row is lost"]);
        let file = self.file.as_mut().ok_or_else(lost)?;
        let mut next = match self.next {
            Some(next) if next <= row => next,
            _ => {
                file.rewind()?;
                0
            }
        };
        self.next = None;
        loop {
            if !file.read(&mut self.bytes)? {
                return Err(lost());
            }
            next += 1;
            if next > row {
                break;
            }
        }
        self.next = Some(next);
        Ok(())
    }
}

fn decode(bytes: &[u8], columns: usize, out: &mut Vec<Value>) -> SqlResult<()> {
    let mut decoder = Decoder(bytes);
    for _ in 0..columns {
        out.push(decoder.value()?);
    }
    Ok(())
}
