//! Sort: all rows in order, in memory or by merging sorted runs; the least `n` of them.
//!
//! Rows are gathered in chunks, each sorted as soon as it is full, so that no single sort is long
//! and an attention is seen in time. When the grant is exceeded the chunks are merged into a run
//! on disk. What is left is merged while it is read. Where only the first few rows are wanted,
//! rows beyond the worst of those seen so far are dropped as they come.
//!
//! Equal keys keep the order in which their rows came.

use crate::codec::{self, Decoder};
use crate::expr::Expr;
use crate::operator::{Node, Operator};
use crate::rows::slots_bytes;
use crate::run::Run;
use crate::top::row_count;
use access::SpillFile;
use base::SqlResult;
use plan::{Slot, SortKey};
use std::cmp::Ordering;
use types::{Collation, Value, compare};

/// Rows of a chunk.
const CHUNK_ROWS: usize = 32 * 1024;
/// The most rows for which rows beyond are dropped early.
const LIMIT_ROWS_MAX: u64 = 8 * 1024;
/// Runs merged at once.
const MERGE_WAYS: usize = 64;

/// Sorts its input.
pub(crate) struct Sort {
    id: usize,
    input: Node,
    distinct: bool,
    /// Count and offset of the TOP above.
    limit: Option<(Expr, Option<Expr>)>,
    store: Store,
    /// Where the chunk begins that is not full yet.
    chunk: usize,
    /// Rows wanted, when few.
    wanted: Option<usize>,
    memory_bytes: usize,
    sources: Vec<Source>,
    heap: Vec<usize>,
    filled: bool,
    /// Keys of the row before, for DISTINCT.
    last: Option<Vec<Value>>,
}

/// Rows in memory and how they order.
struct Store {
    slots: Vec<Slot>,
    keys: Vec<Key>,
    values: Vec<Value>,
    /// Rows, in order within each chunk.
    order: Vec<u32>,
}

/// A sort key by its place among the saved slots.
struct Key {
    column: usize,
    collation: Collation,
    descending: bool,
}

/// Rows in order, one of which is at hand.
enum Source {
    Memory { from: usize, at: usize, end: usize },
    File { file: Box<dyn SpillFile>, head: Vec<Value> },
}

impl Store {
    fn new(keys: &[SortKey], carried: &[Slot]) -> Store {
        let mut slots = carried.to_vec();
        let mut place = |slot: Slot| {
            slots.iter().position(|&s| s == slot).unwrap_or_else(|| {
                slots.push(slot);
                slots.len() - 1
            })
        };
        let keys = keys.iter().map(|k| Key {
            column: place(k.slot),
            collation: k.collation,
            descending: k.descending,
        });
        let keys = keys.collect();
        Store { slots, keys, values: Vec::new(), order: Vec::new() }
    }

    fn row(&self, row: u32) -> &[Value] {
        let width = self.slots.len();
        &self.values[row as usize * width..(row as usize + 1) * width]
    }

    fn compare(&self, a: &[Value], b: &[Value]) -> Ordering {
        for k in &self.keys {
            let order = compare(&a[k.column], &b[k.column], k.collation);
            if order.is_ne() {
                return if k.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// How the row in the frame orders to a saved one.
    fn compare_frame(&self, run: &Run<'_>, row: &[Value]) -> Ordering {
        for k in &self.keys {
            let order = compare(run.slot(self.slots[k.column]), &row[k.column], k.collation);
            if order.is_ne() {
                return if k.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    fn sort(&mut self, from: usize) {
        let mut order = std::mem::take(&mut self.order);
        order[from..].sort_unstable_by(|&a, &b| {
            self.compare(self.row(a), self.row(b)).then_with(|| a.cmp(&b))
        });
        self.order = order;
    }

    /// Keeps the first rows of a sorted store.
    fn truncate(&mut self, rows: usize) {
        let width = self.slots.len();
        let mut kept = Vec::with_capacity(rows * width * 2);
        for &row in self.order.iter().take(rows) {
            let from = row as usize * width;
            let values = self.values[from..from + width].iter_mut();
            kept.extend(values.map(|v| std::mem::replace(v, Value::Null)));
        }
        self.values = kept;
        self.order.clear();
        self.order.extend(0..rows as u32);
    }

    fn bytes(&self) -> usize {
        self.values.iter().map(crate::rows::value_bytes).sum()
    }

    fn clear(&mut self) {
        self.values.clear();
        self.order.clear();
    }
}

impl Source {
    fn head<'a>(&'a self, store: &'a Store) -> &'a [Value] {
        match self {
            Source::Memory { at, .. } => store.row(store.order[*at]),
            Source::File { head, .. } => head,
        }
    }

    /// Moves to the next row; false after the last.
    fn advance(&mut self, width: usize) -> SqlResult<bool> {
        match self {
            Source::Memory { at, end, .. } => {
                *at += 1;
                Ok(at < end)
            }
            Source::File { file, head } => {
                head.clear();
                let Some(bytes) = file.next()? else { return Ok(false) };
                let mut decoder = Decoder(bytes);
                for _ in 0..width {
                    head.push(decoder.value()?);
                }
                Ok(true)
            }
        }
    }

    /// Stands on the first row; false when there is none.
    fn rewind(&mut self, width: usize) -> SqlResult<bool> {
        match self {
            Source::Memory { from, at, end } => {
                *at = *from;
                Ok(at < end)
            }
            Source::File { file, .. } => {
                file.rewind()?;
                self.advance(width)
            }
        }
    }
}

impl Sort {
    pub(crate) fn new(
        id: usize,
        input: Node,
        keys: &[SortKey],
        carried: &[Slot],
        distinct: bool,
    ) -> Sort {
        Sort {
            id,
            input,
            distinct,
            limit: None,
            store: Store::new(keys, carried),
            chunk: 0,
            wanted: None,
            memory_bytes: 0,
            sources: Vec::new(),
            heap: Vec::new(),
            filled: false,
            last: None,
        }
    }

    /// The same of which only the first rows are read.
    #[must_use]
    pub(crate) fn limited(mut self, count: Expr, offset: Option<Expr>) -> Sort {
        self.limit = Some((count, offset));
        self
    }

    fn evaluate_limit(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.wanted = None;
        if let Some((count, offset)) = &self.limit {
            let count = row_count(count, run)?;
            let offset = offset.as_ref().map_or(Ok(0), |x| row_count(x, run))?;
            let rows = count.saturating_add(offset);
            self.wanted = (rows <= LIMIT_ROWS_MAX).then_some(rows as usize);
        }
        Ok(())
    }

    fn fill(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        while self.input.next(run)? {
            run.tick()?;
            if self.is_beyond(run) {
                continue;
            }
            let bytes = slots_bytes(run, &self.store.slots) + size_of::<u32>();
            if !run.take_memory(bytes, self.memory_bytes) {
                self.spill(run)?;
                if !run.take_memory(bytes, 0) {
                    run.overdraw_memory(bytes);
                }
            }
            self.memory_bytes += bytes;
            self.store.order.push(self.store.order.len() as u32);
            let Store { slots, values, .. } = &mut self.store;
            values.extend(slots.iter().map(|&s| run.slot(s).clone()));
            self.end_chunk(run);
        }
        self.finish(run)
    }

    /// Whether enough rows are before the one in the frame. The wanted ones stand first after each
    /// `end_chunk`.
    fn is_beyond(&self, run: &Run<'_>) -> bool {
        match self.wanted {
            Some(0) => true,
            Some(n) if self.chunk >= n => {
                let worst = self.store.row(self.store.order[n - 1]);
                self.store.compare_frame(run, worst).is_ge()
            }
            _ => false,
        }
    }

    fn end_chunk(&mut self, run: &mut Run<'_>) {
        let rows = self.store.order.len();
        match self.wanted {
            Some(n) if rows >= 2 * n + 64 => {
                self.store.sort(0);
                self.store.truncate(n);
                self.chunk = n;
                let bytes = self.store.bytes();
                run.give_memory(self.memory_bytes.saturating_sub(bytes));
                self.memory_bytes = self.memory_bytes.min(bytes);
            }
            None if rows - self.chunk >= CHUNK_ROWS => {
                self.store.sort(self.chunk);
                self.push_memory_source(rows);
            }
            _ => {}
        }
    }

    fn push_memory_source(&mut self, end: usize) {
        if end > self.chunk {
            self.sources.push(Source::Memory { from: self.chunk, at: self.chunk, end });
            self.chunk = end;
        }
    }

    /// The rest of the rows in memory as a source.
    fn close_chunk(&mut self) {
        if self.wanted.is_some() {
            self.chunk = 0;
        }
        self.store.sort(self.chunk);
        self.push_memory_source(self.store.order.len());
    }

    /// Writes the rows in memory as a run.
    fn spill(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.close_chunk();
        let files = |s: &Source| matches!(s, Source::File { .. });
        let first = self.sources.iter().position(|s| !files(s)).unwrap_or(self.sources.len());
        if first < self.sources.len() {
            self.merge_into_run(first, self.sources.len(), run)?;
        }
        self.store.clear();
        self.chunk = 0;
        run.give_memory(std::mem::take(&mut self.memory_bytes));
        Ok(())
    }

    /// Replaces some sources by one file of their rows.
    fn merge_into_run(&mut self, from: usize, to: usize, run: &mut Run<'_>) -> SqlResult<()> {
        let mut file = run.spill.create()?;
        self.start_merge(from, to)?;
        let mut row = Vec::new();
        while let Some(&source) = self.heap.first() {
            run.tick()?;
            row.clear();
            let head = self.sources[source].head(&self.store);
            head.iter().for_each(|v| codec::encode(v, &mut row));
            file.append(&row)?;
            self.pop()?;
        }
        run.counts[self.id].spilled_bytes += file.bytes();
        file.rewind()?;
        self.sources.drain(from + 1..to);
        self.sources[from] = Source::File { file, head: Vec::new() };
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let spilled = self.sources.iter().any(|s| matches!(s, Source::File { .. }));
        if spilled {
            self.spill(run)?
        } else {
            self.close_chunk()
        }
        let mut at = 0;
        while spilled && self.sources.len() > MERGE_WAYS {
            // Neighbours are merged, so equal keys keep their order.
            // No more of them than must be, so that few rows are written once more.
            let excess = self.sources.len() - MERGE_WAYS + 1;
            let end = (at + excess.min(MERGE_WAYS)).min(self.sources.len());
            self.merge_into_run(at, end, run)?;
            at = if at + 2 < self.sources.len() { at + 1 } else { 0 };
        }
        self.filled = true;
        self.begin_reading()
    }

    fn begin_reading(&mut self) -> SqlResult<()> {
        self.last = None;
        self.start_merge(0, self.sources.len())
    }

    fn start_merge(&mut self, from: usize, to: usize) -> SqlResult<()> {
        self.heap.clear();
        let width = self.store.slots.len();
        for i in from..to {
            if self.sources[i].rewind(width)? {
                self.heap.push(i);
            }
        }
        for i in (0..self.heap.len() / 2).rev() {
            self.sift(i);
        }
        Ok(())
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.sources[a].head(&self.store), self.sources[b].head(&self.store));
        self.store.compare(x, y).then_with(|| a.cmp(&b)).is_lt()
    }

    fn sift(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.is_before(self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    /// Leaves the least row behind.
    fn pop(&mut self) -> SqlResult<()> {
        let Some(&source) = self.heap.first() else { return Ok(()) };
        let width = self.store.slots.len();
        if !self.sources[source].advance(width)? {
            self.heap.swap_remove(0);
        }
        if self.heap.len() > 1 {
            self.sift(0);
        }
        Ok(())
    }

    /// Whether the least row equals the one before it; remembers it otherwise.
    fn is_repeated(&mut self) -> bool {
        let Some(&source) = self.heap.first() else { return false };
        let head = self.sources[source].head(&self.store);
        if let Some(last) = &self.last
            && self.store.compare(last, head).is_eq()
        {
            return true;
        }
        self.last = Some(head.to_vec());
        false
    }

    fn reset(&mut self) {
        self.store.clear();
        self.sources.clear();
        self.heap.clear();
        self.chunk = 0;
        self.filled = false;
        self.last = None;
    }
}

impl Operator for Sort {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        run.give_memory(std::mem::take(&mut self.memory_bytes));
        self.reset();
        self.evaluate_limit(run)?;
        self.input.open(run)?;
        self.fill(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.distinct && self.is_repeated() {
            run.tick()?;
            self.pop()?;
        }
        let Some(&source) = self.heap.first() else { return Ok(false) };
        let head = self.sources[source].head(&self.store);
        for (&slot, value) in self.store.slots.iter().zip(head) {
            run.set(slot, value.clone());
        }
        self.pop()?;
        Ok(true)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.filled { self.begin_reading() } else { self.open(run) }
    }

    fn close(&mut self) {
        self.reset();
        self.store.values.shrink_to(256);
        self.store.order.shrink_to(256);
        self.memory_bytes = 0;
        self.input.close();
    }

    fn known_rows(&self) -> Option<u64> {
        let all_in_memory = |s: &Source| matches!(s, Source::Memory { .. });
        let known = !self.distinct && self.sources.iter().all(all_in_memory);
        known.then_some(self.store.order.len() as u64)
    }
}
