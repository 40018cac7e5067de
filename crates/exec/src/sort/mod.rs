//! Sort: all rows in order, in memory or by merging sorted runs; or the least `n` of them.
//!
//! Rows become bytes that begin with their sort key (`row.rs`). They are gathered in chunks. Each
//! chunk is sorted as soon as it is full, so that no single sort is long and an attention is
//! noticed in time (`store.rs`). When the grant is exceeded, the chunks are merged into a run on
//! disk. The rest is merged while it is read (`merge.rs`). When only the first few rows are wanted,
//! rows beyond the worst of those kept so far are dropped as they come.
//!
//! Rows with equal keys keep the order in which they came.

mod merge;
mod row;
mod store;

use crate::expr::Expr;
use crate::operator::{Node, Operator, Top, row_count};
use crate::run::{Run, WITHIN};
use base::{SqlError, SqlResult, messages};
use merge::{Inputs, Merge, Source};
use plan::{Slot, SortKey};
use row::{Row, Shape};
use store::Store;

/// The most rows for which rows beyond are dropped early.
const LIMIT_ROWS_MAX: u64 = 8 * 1024;
/// Runs merged at once.
const MERGE_WAYS: usize = 64;
/// Fewer runs are merged at once when their current rows would take more than this together.
const HEADS_BYTES: usize = 16 << 20;
/// Rows in memory that are looked up together.
const READY_ROWS: usize = 64;
/// What the buffer of the current row may keep for the next run.
const KEPT_BYTES: usize = 4 * 1024;

/// Sorts its input.
pub(crate) struct Sort {
    id: usize,
    input: Node,
    distinct: bool,
    /// Count and offset of the TOP above.
    limit: Option<(Expr, Option<Expr>)>,
    /// Rows wanted, when few.
    wanted: Option<usize>,
    shape: Shape,
    store: Store,
    /// Where the wanted rows are copied to.
    spare: Store,
    memory_bytes: usize,
    sources: Vec<Source>,
    merge: Merge,
    /// Rows in memory that come next, and how many of them were given.
    ready: Vec<u64>,
    given: usize,
    filled: bool,
    /// The row before, for DISTINCT.
    last: Vec<u8>,
    bytes: Vec<u8>,
    longest: usize,
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
            wanted: None,
            shape: Shape::new(keys, carried),
            store: Store::default(),
            spare: Store::default(),
            memory_bytes: 0,
            sources: Vec::new(),
            merge: Merge::default(),
            ready: Vec::new(),
            given: 0,
            filled: false,
            last: Vec::new(),
            bytes: Vec::new(),
            longest: 0,
        }
    }

    /// Below a TOP: only the rows that it can give are kept.
    ///
    /// # Errors
    /// 191.
    pub(crate) fn below_top(
        id: usize,
        input: Node,
        top: &plan::Top,
        keys: &[SortKey],
        carried: &[Slot],
    ) -> SqlResult<Top> {
        let mut sort = Sort::new(id, input, keys, carried, false);
        if let (Some(count), false, None) = (&top.count, top.percent, &top.ties) {
            let offset = top.offset.as_ref().map(Expr::new).transpose()?;
            sort.limit = Some((Expr::new(count)?, offset));
        }
        let input = Node { id: WITHIN, operator: Box::new(sort) };
        Top::new(id, input, top, carried.to_vec())
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
            self.shape.encode(run, &mut self.bytes);
            self.longest = self.longest.max(self.bytes.len());
            if self.bytes.len() >= ROW_BYTES_MAX {
                return Err(too_long());
            }
            if Row(&self.bytes).is_cut() {
                // Rows that are dropped early are sorted in one step: that would take too long for
                // long keys.
                self.wanted = self.wanted.filter(|&n| n == 0);
            }
            let prefix = Row(&self.bytes).prefix();
            if self.is_beyond(prefix) {
                continue;
            }
            self.make_room(run)?;
            self.store.push(prefix, &self.bytes);
            match self.wanted {
                Some(n) if self.store.len() >= 2 * n + 64 => self.keep_wanted(n, run),
                Some(_) => {}
                None => self.store.end_chunk(&self.shape),
            }
        }
        self.finish(run)
    }

    /// Reserves memory for the current row; without memory, the rows in memory go to disk.
    fn make_room(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let mut bytes = self.store.missing_bytes(self.bytes.len());
        if bytes == 0 {
            return Ok(());
        }
        if !run.take_memory(bytes, self.memory_bytes) {
            self.spill(run)?;
            bytes = self.store.missing_bytes(self.bytes.len());
            if bytes > 0 {
                // Blocks for shorter rows cannot hold this one.
                self.store = Store::default();
                self.charge(run);
                bytes = self.store.missing_bytes(self.bytes.len());
            }
            if bytes > 0 && !run.take_memory(bytes, self.memory_bytes) {
                run.overdraw_memory(bytes);
            }
        }
        self.memory_bytes += bytes;
        Ok(())
    }

    /// Whether enough rows come before the current one. The wanted ones come first after each
    /// `keep_wanted`.
    fn is_beyond(&self, prefix: u64) -> bool {
        let Some(n) = self.wanted else { return false };
        let sorted = self.store.chunk_ends().last().copied().unwrap_or(0);
        if n == 0 || sorted < n {
            return n == 0;
        }
        let worst = self.store.prefix(n - 1);
        prefix > worst
            || prefix == worst
                && self.shape.compare(Row(&self.bytes), self.store.row(n - 1)).is_ge()
    }

    /// Keeps only the wanted rows. Without memory for their copy, they are sorted like all.
    fn keep_wanted(&mut self, n: usize, run: &mut Run<'_>) {
        let bytes = self.store.bytes_of_first(n).saturating_sub(self.spare.memory_bytes());
        if bytes > 0 && !run.take_memory(bytes, self.memory_bytes) {
            self.wanted = None;
            return;
        }
        self.memory_bytes += bytes;
        self.store.keep_first(n, &self.shape, &mut self.spare);
        self.charge(run);
    }

    /// Charges the present memory of both stores.
    fn charge(&mut self, run: &mut Run<'_>) {
        let bytes = self.store.memory_bytes() + self.spare.memory_bytes();
        if bytes > self.memory_bytes {
            run.overdraw_memory(bytes - self.memory_bytes);
        } else {
            run.give_memory(self.memory_bytes - bytes);
        }
        self.memory_bytes = bytes;
    }

    /// The sorted chunks in memory as sources.
    fn close_store(&mut self) {
        self.store.close_chunk(&self.shape);
        let mut from = 0;
        for &end in self.store.chunk_ends() {
            self.sources.push(Source::Memory { from, at: from, end });
            from = end;
        }
    }

    /// Writes the rows in memory as a run; their memory is used again.
    fn spill(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let first = self.sources.len();
        self.close_store();
        if first < self.sources.len() {
            self.merge_into_run(first, self.sources.len(), run)?;
        }
        self.store.clear();
        Ok(())
    }

    /// Replaces some sources by one file of their rows.
    fn merge_into_run(&mut self, from: usize, to: usize, run: &mut Run<'_>) -> SqlResult<()> {
        let mut file = run.spill.create()?;
        let Sort { sources, store, shape, merge, distinct, last, ready, .. } = self;
        let mut inputs = Inputs { sources: &mut sources[from..to], store, shape };
        last.clear();
        merge.start(&mut inputs)?;
        let mut write = |row: Row<'_>, run: &mut Run<'_>| {
            run.tick_by(row.weight())?;
            match !*distinct || !is_repeated(shape, last, row) {
                true => file.append(row.0),
                false => Ok(()),
            }
        };
        loop {
            merge.take(&mut inputs, ready, READY_ROWS)?;
            for &place in &*ready {
                write(store.row_at(place), run)?;
            }
            let Some(source) = merge.least() else { break };
            if let Source::File { head, .. } = &inputs.sources[source] {
                write(Row(head), run)?;
                merge.pop(&mut inputs)?;
            }
        }
        ready.clear();
        run.counts.of(self.id).spilled(file.bytes());
        file.rewind()?;
        self.sources.drain(from + 1..to);
        self.sources[from] = Source::File { file, head: Vec::new() };
        Ok(())
    }

    /// Ends filling: rows in memory stay there, and few enough files remain.
    fn finish(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        debug_assert!(self.sources.iter().all(Source::is_file), "rows in memory are not closed");
        let mut at = 0;
        let ways = (HEADS_BYTES / self.longest.max(1)).clamp(2, MERGE_WAYS);
        while self.sources.len() > ways {
            // Neighbours are merged, so equal keys keep their order; no more of them than needed.
            let excess = self.sources.len() - ways + 1;
            let end = (at + excess.min(ways)).min(self.sources.len());
            if end - at > 1 {
                self.merge_into_run(at, end, run)?;
            }
            at = if at + 2 < self.sources.len() { at + 1 } else { 0 };
        }
        self.close_store();
        self.filled = true;
        self.begin_reading()
    }

    fn begin_reading(&mut self) -> SqlResult<()> {
        self.last.clear();
        self.ready.clear();
        self.given = 0;
        let Sort { sources, store, shape, merge, .. } = self;
        merge.start(&mut Inputs { sources, store, shape })
    }

    /// The source of the next row if that is not in memory; prepares rows in memory.
    fn advance(&mut self) -> SqlResult<Option<usize>> {
        let Sort { sources, store, shape, merge, ready, given, .. } = self;
        if *given == ready.len() {
            merge.take(&mut Inputs { sources, store, shape }, ready, READY_ROWS)?;
            *given = 0;
        }
        Ok(if ready.is_empty() { merge.least() } else { None })
    }

    /// Moves past the row that `advance` announced.
    fn pass(&mut self, source: Option<usize>) -> SqlResult<()> {
        let Sort { sources, store, shape, merge, given, .. } = self;
        if source.is_some() {
            return merge.pop(&mut Inputs { sources, store, shape });
        }
        *given += 1;
        Ok(())
    }

    fn reset(&mut self) {
        self.sources.clear();
        self.merge.clear();
        self.ready.clear();
        self.given = 0;
        self.store.clear();
        self.filled = false;
        self.last.clear();
        self.longest = 0;
    }
}

/// A row has its length before it, in four bytes.
const ROW_BYTES_MAX: usize = u32::MAX as usize - 8;

fn too_long() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a row to be sorted is longer than 4 GB"])
}

/// Whether a row equals the one before it; remembers it otherwise.
fn is_repeated(shape: &Shape, last: &mut Vec<u8>, row: Row<'_>) -> bool {
    if !last.is_empty() && shape.compare(Row(last), row).is_eq() {
        return true;
    }
    last.clear();
    last.extend_from_slice(row.0);
    false
}

impl Operator for Sort {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.reset();
        self.charge(run);
        self.evaluate_limit(run)?;
        self.input.open(run)?;
        self.fill(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            let source = self.advance()?;
            let row = match (source, self.ready.get(self.given)) {
                (Some(source), _) => self.sources[source].row(&self.store),
                (None, Some(&place)) => self.store.row_at(place),
                (None, None) => return Ok(false),
            };
            run.tick_by(row.weight())?;
            let repeated = self.distinct && is_repeated(&self.shape, &mut self.last, row);
            if !repeated {
                self.shape.load(run, row)?;
            }
            self.pass(source)?;
            if !repeated {
                return Ok(true);
            }
        }
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.filled { self.begin_reading() } else { self.open(run) }
    }

    fn release(&mut self, run: &mut Run<'_>) {
        self.reset();
        self.store.close();
        self.spare.close();
        self.charge(run);
    }

    fn close(&mut self) {
        self.reset();
        self.store.close();
        self.spare.close();
        self.bytes.shrink_to(KEPT_BYTES);
        self.last.shrink_to(KEPT_BYTES);
        self.memory_bytes = 0;
        self.input.close();
    }

    fn known_rows(&self) -> Option<u64> {
        let known = !self.distinct && !self.sources.iter().any(Source::is_file);
        known.then_some(self.store.len() as u64)
    }
}
