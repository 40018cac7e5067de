//! Rows kept outside the frame: in memory while the grant lasts, then in a spill file.
//!
//! `RowBuffer` keeps them in the order in which they came. Its first rows stay in memory, the rest
//! goes to one file. It is filled once, then read any number of times.

use super::blocks::Blocks;
use super::codec;
use super::codec::Decoder;
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use plan::Slot;
use types::Value;

/// Memory that a saved value takes.
pub(crate) fn value_bytes(value: &Value) -> usize {
    size_of::<Value>() + value.heap_bytes()
}

/// Memory that the values in slots would take when saved.
pub(crate) fn slots_bytes(run: &Run<'_>, slots: &[Slot]) -> usize {
    slots.iter().map(|&s| value_bytes(run.slot(s))).sum()
}

/// Writes the values in slots as one row of a file.
pub(crate) fn spill_slots(
    run: &Run<'_>,
    slots: &[Slot],
    bytes: &mut Vec<u8>,
    file: &mut dyn SpillFile,
) -> SqlResult<()> {
    bytes.clear();
    slots.iter().for_each(|&s| codec::encode(run.slot(s), bytes));
    file.append(bytes)
}

/// Reads one row of a file into slots; false after the last.
pub(crate) fn read_slots(
    run: &mut Run<'_>,
    slots: &[Slot],
    file: &mut dyn SpillFile,
) -> SqlResult<bool> {
    let Some(bytes) = file.next()? else { return Ok(false) };
    let mut decoder = Decoder(bytes);
    for &slot in slots {
        let value = decoder.value()?;
        run.set(slot, value);
    }
    Ok(true)
}

/// Rows in the order in which they came.
pub(crate) struct RowBuffer {
    slots: Vec<Slot>,
    /// Rows in memory.
    values: Blocks<Value>,
    total: u64,
    file: Option<Box<dyn SpillFile>>,
    bytes: Vec<u8>,
    memory_bytes: usize,
    /// The next row to read.
    at: usize,
}

impl RowBuffer {
    /// A buffer of rows that have these slots.
    pub(crate) fn new(slots: Vec<Slot>) -> RowBuffer {
        RowBuffer {
            values: Blocks::new(slots.len()),
            slots,
            total: 0,
            file: None,
            bytes: Vec::new(),
            memory_bytes: 0,
            at: 0,
        }
    }

    /// Saves the row in the frame. Counts spilled bytes for operator `id`.
    pub(crate) fn push(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.total += 1;
        if self.file.is_none() {
            let bytes = slots_bytes(run, &self.slots);
            if run.take_memory(bytes, self.memory_bytes) {
                self.memory_bytes += bytes;
                return self.values.push_with(|values| {
                    values.extend(self.slots.iter().map(|&s| run.slot(s).clone()));
                    Ok(())
                });
            }
            self.file = Some(run.spill.create()?);
        }
        let file = self.file.as_mut().expect("it was made above");
        spill_slots(run, &self.slots, &mut self.bytes, file.as_mut())
    }

    /// Rows saved.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes in the file.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, |f| f.bytes())
    }

    /// Ends filling; reading begins at the first row.
    pub(crate) fn rewind(&mut self) -> SqlResult<()> {
        self.at = 0;
        self.file.as_mut().map_or(Ok(()), |f| f.rewind())
    }

    /// Puts the next row back into the frame; false after the last.
    pub(crate) fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.at < self.values.len() {
            for (&slot, value) in self.slots.iter().zip(self.values.row(self.at)) {
                run.set(slot, value.clone());
            }
            self.at += 1;
            return Ok(true);
        }
        match &mut self.file {
            Some(file) => read_slots(run, &self.slots, file.as_mut()),
            None => Ok(false),
        }
    }

    /// Forgets all rows and gives their memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        self.drop_rows();
    }

    /// Forgets all rows; the grant is over.
    pub(crate) fn drop_rows(&mut self) {
        self.values.clear();
        self.file = None;
        (self.total, self.memory_bytes, self.at) = (0, 0, 0);
    }
}
