//! What the first pass over gathered rows records for the second: one note a row, in their order.
//!
//! A note takes a byte. Notes are in memory while the grant lasts; beyond that each full block is
//! written to a file.

use crate::run::{Run, WITHIN};
use access::SpillFile;
use base::{SqlError, SqlResult, messages};

/// Bytes that there is first room for.
const FIRST_BYTES: usize = 4096;

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Note {
    /// Nothing was done to it.
    Untouched = 0,
    /// It was gone before anything could be done to it.
    Vanished = 1,
    /// Its old keys were taken away.
    Taken = 2,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Notes {
    block: Vec<u8>,
    memory_bytes: usize,
    file: Option<Box<dyn SpillFile>>,
    /// The next byte of the block to read.
    at: usize,
}

impl Notes {
    /// Adds the note of the next row.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, note: Note) -> SqlResult<()> {
        if self.block.len() == self.block.capacity() {
            self.make_room(run)?;
        }
        self.block.push(note as u8);
        Ok(())
    }

    fn make_room(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let more = self.block.capacity().max(FIRST_BYTES);
        if self.file.is_none() && run.take_memory(more, self.memory_bytes) {
            self.memory_bytes += more;
            self.block.reserve_exact(more);
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(run.spill.create()?),
        };
        file.append(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Ends writing; the first note is read next.
    pub(crate) fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if let Some(file) = &mut self.file {
            file.append(&self.block)?;
            run.counts.of(WITHIN).spilled(file.bytes());
            file.rewind()?;
            self.block.clear();
        }
        self.at = 0;
        Ok(())
    }

    /// The note of the next row.
    pub(crate) fn next(&mut self) -> SqlResult<Note> {
        if let Some(file) = &mut self.file
            && self.at >= self.block.len()
        {
            file.read(&mut self.block)?;
            self.at = 0;
        }
        let note = self.block.get(self.at).map(|kind| match kind {
            0 => Note::Untouched,
            1 => Note::Vanished,
            _ => Note::Taken,
        });
        self.at += 1;
        note.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&"a row's note is lost"]))
    }

    /// Forgets everything and gives its memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = Notes::default();
    }
}
