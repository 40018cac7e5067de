//! Recursion: returns rows of the anchor, then for each row those that follow from it.
//!
//! Rows are returned when they are found, and pushed on a stack. The recursive members run for the
//! topmost row next. So a tree comes out depth first, the last child first, as with SQL Server's
//! stack spool. The top of the stack is in memory. When the grant refuses more, all that is in
//! memory goes to a file, the last row first: reading that file once from its beginning pops its
//! rows. So below there is a stack of files, each read at most once.
//!
//! Invariants
//!  1. Only this operator writes the work slots, and only while no member is open.
//!  2. A row's depth is its distance from the anchor; no row beyond the limit is returned.

use crate::memory::{Decoder, codec, value_bytes};
use crate::operator::{Node, Operator};
use crate::run::Run;
use access::SpillFile;
use base::{SqlError, SqlResult, messages};
use plan::Slot;
use types::Value;

/// An anchor and its members.
pub(crate) struct Recursion {
    id: usize,
    /// The anchor first.
    inputs: Vec<(Node, Vec<Slot>)>,
    columns: Vec<Slot>,
    work: Vec<Slot>,
    limit: Option<u32>,
    stack: Stack,
    /// The input that is open; 0 is the anchor.
    at: usize,
    /// The depth of the rows that it gives.
    depth: i64,
}

impl Recursion {
    pub(crate) fn new(
        id: usize,
        inputs: Vec<(Node, Vec<Slot>)>,
        columns: Vec<Slot>,
        work: Vec<Slot>,
        limit: Option<u32>,
    ) -> Recursion {
        Recursion { id, inputs, columns, work, limit, stack: Stack::default(), at: 0, depth: 0 }
    }

    /// The row of the open input becomes one of ours.
    fn take(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if let Some(limit) = self.limit.filter(|&n| self.depth > i64::from(n)) {
            return Err(SqlError::new(messages::MAX_RECURSION, &[&limit]));
        }
        let Some((_, slots)) = self.inputs.get(self.at) else { return Ok(()) };
        for (from, to) in slots.iter().zip(&self.columns) {
            let value = run.slot(*from).clone();
            run.set(*to, value);
        }
        self.stack.push(run, &self.columns, self.depth)?;
        run.counts.of(self.id).spilled(std::mem::take(&mut self.stack.newly_spilled));
        Ok(())
    }

    /// Opens the next input: the next member for the same row, or the first for another.
    fn advance(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.at += 1;
        if self.at == 1 || self.at >= self.inputs.len() {
            let Some(depth) = self.stack.pop(run, &self.work)? else { return Ok(false) };
            (self.at, self.depth) = (1, depth + 1);
        }
        let Some((member, _)) = self.inputs.get_mut(self.at) else { return Ok(false) };
        member.open(run)?;
        Ok(true)
    }
}

impl Operator for Recursion {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.stack.clear(run);
        (self.at, self.depth) = (0, 0);
        self.inputs.first_mut().map_or(Ok(()), |(anchor, _)| anchor.open(run))
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            run.tick()?;
            let Some((input, _)) = self.inputs.get_mut(self.at) else { return Ok(false) };
            if input.next(run)? {
                self.take(run)?;
                return Ok(true);
            }
            if !self.advance(run)? {
                return Ok(false);
            }
        }
    }

    fn close(&mut self) {
        self.stack = Stack::default();
        self.inputs.iter_mut().for_each(|(input, _)| input.close());
    }
}

/// Rows with their depths, last in first out.
#[derive(Default)]
struct Stack {
    /// Rows one after the other, each value by value, its depth last.
    values: Vec<Value>,
    memory_bytes: usize,
    /// The last one holds the rows right below those in memory.
    files: Vec<Box<dyn SpillFile>>,
    bytes: Vec<u8>,
    newly_spilled: u64,
}

impl Stack {
    fn push(&mut self, run: &mut Run<'_>, slots: &[Slot], depth: i64) -> SqlResult<()> {
        let values = slots.iter().map(|&s| value_bytes(run.slot(s))).sum::<usize>();
        let bytes = values + size_of::<Value>();
        if !run.take_memory(bytes, self.memory_bytes) {
            self.spill(run, slots.len() + 1)?;
            run.overdraw_memory(bytes);
        }
        self.memory_bytes += bytes;
        self.values.extend(slots.iter().map(|&s| run.slot(s).clone()));
        self.values.push(Value::BigInt(depth));
        Ok(())
    }

    /// All rows in memory go to a file, the last first.
    fn spill(&mut self, run: &mut Run<'_>, width: usize) -> SqlResult<()> {
        if self.values.is_empty() {
            return Ok(());
        }
        let mut file = run.spill.create()?;
        for row in self.values.chunks(width).rev() {
            run.tick()?;
            self.bytes.clear();
            row.iter().for_each(|v| codec::encode(v, &mut self.bytes));
            file.append(&self.bytes)?;
        }
        self.newly_spilled += file.bytes();
        file.rewind()?;
        self.files.push(file);
        self.values.clear();
        run.give_memory(std::mem::take(&mut self.memory_bytes));
        Ok(())
    }

    /// Puts the row that came last into slots and gives its depth; `None` when there is none.
    fn pop(&mut self, run: &mut Run<'_>, slots: &[Slot]) -> SqlResult<Option<i64>> {
        if let Some(depth) = self.values.pop() {
            let from = self.values.len().saturating_sub(slots.len());
            let mut bytes = size_of::<Value>();
            for (&slot, value) in slots.iter().zip(self.values.drain(from..)) {
                bytes += value_bytes(&value);
                run.set(slot, value);
            }
            run.give_memory(bytes);
            self.memory_bytes -= bytes;
            return Ok(depth.as_i64());
        }
        while let Some(file) = self.files.last_mut() {
            if let Some(row) = file.next()? {
                let mut decoder = Decoder(row);
                for &slot in slots {
                    let value = decoder.value()?;
                    run.set(slot, value);
                }
                return Ok(decoder.value()?.as_i64());
            }
            self.files.pop();
        }
        Ok(None)
    }

    fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = Stack::default();
    }
}
