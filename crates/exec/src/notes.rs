//! What the first pass over gathered rows leaves for the second: a note a row, in their order.
//!
//! A note takes a byte, and up to 28 more where the row has got another place. They stand in
//! memory while the grant lasts; beyond that a block is written whenever it is full.

use crate::build::WITHIN;
use crate::codec::{self, Decoder};
use crate::run::Run;
use crate::target::Locator;
use access::SpillFile;
use base::{SqlError, SqlResult, messages};

/// Bytes that there is first room for.
const FIRST_BYTES: usize = 4096;

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Note {
    /// Nothing was done to it.
    Untouched,
    /// It was gone before anything could be done to it.
    Vanished,
    /// Its old keys were taken away; it stands where it stood.
    Stayed,
    /// Its old keys were taken away, and it has got another place.
    Moved(Locator),
}

/// See the module.
#[derive(Default)]
pub(crate) struct Notes {
    block: Vec<u8>,
    memory_bytes: usize,
    file: Option<Box<dyn SpillFile>>,
    note: Vec<u8>,
    /// The next byte of the block to read.
    at: usize,
}

impl Notes {
    /// Adds the note of the next row.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, note: &Note) -> SqlResult<()> {
        self.note.clear();
        match note {
            Note::Untouched => self.note.push(0),
            Note::Vanished => self.note.push(1),
            Note::Stayed => self.note.push(2),
            Note::Moved(locator) => {
                self.note.push(3);
                locator.values().iter().for_each(|v| codec::encode(v, &mut self.note));
            }
        }
        let room = self.block.capacity() - self.block.len();
        if room < self.note.len() {
            self.make_room(run, room)?;
        }
        self.block.extend_from_slice(&self.note);
        Ok(())
    }

    fn make_room(&mut self, run: &mut Run<'_>, room: usize) -> SqlResult<()> {
        let more = self.block.capacity().max(FIRST_BYTES);
        if self.file.is_none() && run.take_memory(more, self.memory_bytes) {
            self.memory_bytes += more;
            self.block.reserve_exact(room + more);
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
        let (kind, mut rest) = match self.block.get(self.at..).and_then(<[u8]>::split_first) {
            Some((kind, rest)) => (*kind, Decoder(rest)),
            None => return Err(SqlError::new(messages::INTERNAL, &[&"a row's note is lost"])),
        };
        let note = match kind {
            0 => Note::Untouched,
            1 => Note::Vanished,
            2 => Note::Stayed,
            _ => Note::Moved(Locator::from_values([rest.value()?, rest.value()?])),
        };
        self.at = self.block.len() - rest.0.len();
        Ok(note)
    }

    /// Forgets everything and gives its memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = Notes::default();
    }
}
