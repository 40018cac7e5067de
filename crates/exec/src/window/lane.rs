//! A lane: values in the order of a partition's rows, read again by position.
//!
//! The first values stay in memory while the grant lasts; the rest goes to a file for each reader.
//! A reader that moves forward reads its file once. One that turns back begins it again, so random
//! access (LAG with an offset that varies) is slow in a spilled partition.
//!
//! `Marks` is a lane of bits, which are always in memory: a megabyte for eight million rows.

use crate::memory::{Blocks, Decoder, codec, value_bytes};
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use types::Value;

/// Values by position.
pub(super) struct Lane {
    kept: Blocks<Value>,
    total: u64,
    memory_bytes: usize,
    readers: Vec<Reader>,
    bytes: Vec<u8>,
}

/// One reading of the values that are not in memory.
#[derive(Default)]
struct Reader {
    file: Option<Box<dyn SpillFile>>,
    /// Values that it has read.
    read: u64,
    /// The last of them.
    last: Option<Value>,
}

impl Lane {
    /// A lane for so many readers.
    pub(super) fn new(readers: usize) -> Lane {
        Lane {
            kept: Blocks::new(1),
            total: 0,
            memory_bytes: 0,
            readers: (0..readers).map(|_| Reader::default()).collect(),
            bytes: Vec::new(),
        }
    }

    /// How many values there are.
    pub(super) fn len(&self) -> u64 {
        self.total
    }

    /// Adds a value.
    pub(super) fn push(&mut self, run: &mut Run<'_>, value: Value) -> SqlResult<()> {
        self.total += 1;
        if self.readers.iter().all(|r| r.file.is_none()) {
            let bytes = value_bytes(&value);
            if run.take_memory(bytes, self.memory_bytes) {
                self.memory_bytes += bytes;
                self.kept.push(value);
                return Ok(());
            }
        }
        self.bytes.clear();
        codec::encode(&value, &mut self.bytes);
        for reader in &mut self.readers {
            let file = match &mut reader.file {
                Some(file) => file,
                None => reader.file.insert(run.spill.create()?),
            };
            file.append(&self.bytes)?;
        }
        Ok(())
    }

    /// Ends filling.
    pub(super) fn seal(&mut self) -> SqlResult<()> {
        self.readers.iter_mut().try_for_each(Reader::rewind)
    }

    /// The value at a position that is below `len`, for one of the readers.
    pub(super) fn get(&mut self, reader: usize, at: u64) -> SqlResult<Value> {
        debug_assert!(at < self.total, "a lane is asked for what it has");
        let kept = self.kept.len() as u64;
        if at < kept {
            return Ok(self.kept[at as usize].clone());
        }
        self.readers[reader].get(at - kept)
    }

    /// Bytes in files.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.readers.iter().filter_map(|r| r.file.as_ref()).map(|f| f.bytes()).sum()
    }

    /// Forgets all and gives memory back.
    pub(super) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        self.drop_values();
    }

    /// Forgets all; the grant is over.
    pub(super) fn drop_values(&mut self) {
        self.kept.clear();
        (self.total, self.memory_bytes) = (0, 0);
        self.readers.iter_mut().for_each(|r| *r = Reader::default());
    }
}

impl Reader {
    fn rewind(&mut self) -> SqlResult<()> {
        (self.read, self.last) = (0, None);
        self.file.as_mut().map_or(Ok(()), |f| f.rewind())
    }

    fn get(&mut self, at: u64) -> SqlResult<Value> {
        if self.read > at + 1 {
            self.rewind()?;
        }
        while self.read <= at {
            let Some(file) = &mut self.file else { return Ok(Value::Null) };
            let Some(bytes) = file.next()? else { return Ok(Value::Null) };
            self.last = Some(Decoder(bytes).value()?);
            self.read += 1;
        }
        Ok(self.last.clone().unwrap_or(Value::Null))
    }
}

/// A bit for each row.
#[derive(Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    total: u64,
}

impl Marks {
    /// Adds a bit.
    pub(super) fn push(&mut self, run: &mut Run<'_>, mark: bool) {
        if self.total.is_multiple_of(64) {
            run.overdraw_memory(size_of::<u64>());
            self.words.push(0);
        }
        if let Some(last) = self.words.last_mut() {
            *last |= u64::from(mark) << (self.total % 64);
        }
        self.total += 1;
    }

    /// The bit at a position; false beyond the last.
    pub(super) fn get(&self, at: u64) -> bool {
        let word = self.words.get((at / 64) as usize).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    /// Forgets all and gives memory back.
    pub(super) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.words.len() * size_of::<u64>());
        self.drop_bits();
    }

    /// Forgets all; the grant is over.
    pub(super) fn drop_bits(&mut self) {
        self.words.clear();
        self.words.shrink_to(64);
        self.total = 0;
    }
}
