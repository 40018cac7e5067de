//! Index spool: an input that is read once, and searched by a key afterwards.
//!
//! Rows come sorted by the key and are kept in that order: the first ones in memory, the rest in a
//! file, with a fence (sparse index entry) in memory for each few kilobytes of it. Before each row
//! stand the bytes by which its key sorts (`types::append_sort_key`), as many of them as tell it
//! from others, 128 at most. Where these do not decide, the predicate does, which tests each row
//! that is returned.
//!
//! Invariants
//!  1. The input does not depend on outer rows. It is read when the spool is first opened in a run.
//!  2. A row with a NULL in its key is not kept: none of the comparisons that are searched for is
//!     true for it.
//!  3. Rows of one key come in the order of the input.

use crate::expr::{Cond, Expr};
use crate::memory::{Decoder, codec};
use crate::operator::{Node, Operator};
use crate::run::{Run, WITHIN};
use crate::sort::Sort;
use access::SpillFile;
use base::{SqlError, SqlResult, messages};
use plan::{Slot, SortKey};
use types::{Collation, append_sort_key};

/// Bytes of a key that are kept.
const KEY_BYTES_MAX: usize = 128;
/// Bytes of the file between two fences.
const FENCED_BYTES: u64 = 2 << 10;
/// Bytes of rows that there is first room for.
const FIRST_BYTES: usize = 4096;
/// Rows that there is first room for.
const FIRST_ROWS: usize = 64;

/// See the module.
pub(crate) struct IndexSpool {
    pub(crate) id: usize,
    /// A sort by the key.
    pub(crate) input: Node,
    keys: Vec<SortKey>,
    carried: Vec<Slot>,
    /// What the first parts of the key equal.
    equal: Vec<Expr>,
    /// The ends of the next part.
    lower: Option<Expr>,
    upper: Option<Expr>,
    predicate: Cond,
    rows: Rows,
    filled: bool,
    /// The first key that is wanted, and the last, as far as their bytes go.
    first: Vec<u8>,
    last: Vec<u8>,
    bytes: Vec<u8>,
}

impl IndexSpool {
    /// Of a plan's node, whose input is sorted already.
    pub(crate) fn new(id: usize, input: Node, spool: &plan::IndexSpool) -> SqlResult<IndexSpool> {
        let sort = Sort::new(id, input, &spool.keys, &spool.carried, false);
        let input = Node { id: WITHIN, operator: Box::new(sort) };
        let end = |x: &Option<plan::Scalar>| x.as_ref().map(Expr::new).transpose();
        Ok(IndexSpool {
            id,
            input,
            keys: spool.keys.clone(),
            carried: spool.carried.clone(),
            equal: spool.equal.iter().map(Expr::new).collect::<SqlResult<_>>()?,
            lower: end(&spool.lower)?,
            upper: end(&spool.upper)?,
            predicate: Cond::new(&spool.predicate)?,
            rows: Rows::default(),
            filled: false,
            first: Vec::new(),
            last: Vec::new(),
            bytes: Vec::new(),
        })
    }

    fn fill(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows.clear(run);
        self.input.open(run)?;
        while self.input.next(run)? {
            run.tick()?;
            if self.encode(run) {
                self.rows.push(run, &self.bytes)?;
            }
        }
        self.input.release(run);
        self.rows.end(run, self.id)?;
        self.filled = true;
        Ok(())
    }

    /// The row at hand as bytes; false where its key has a NULL.
    fn encode(&mut self, run: &Run<'_>) -> bool {
        self.bytes.clear();
        self.bytes.push(0);
        if self.keys.iter().any(|key| run.slot(key.slot).is_null()) {
            return false;
        }
        for key in &self.keys {
            let whole = append_sort_key(
                run.slot(key.slot),
                key.collation,
                1 + KEY_BYTES_MAX,
                &mut self.bytes,
            );
            if !whole {
                break;
            }
        }
        self.bytes.truncate(1 + KEY_BYTES_MAX);
        self.bytes[0] = (self.bytes.len() - 1) as u8;
        self.carried.iter().for_each(|&slot| codec::encode(run.slot(slot), &mut self.bytes));
        true
    }

    /// Goes to the first row of what is sought; false where nothing can be.
    fn seek(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.first.clear();
        let mut open = true;
        for (x, key) in self.equal.iter().zip(&self.keys) {
            if !append(run, x, key.collation, &mut open, &mut self.first)? {
                return Ok(false);
            }
        }
        self.last.clear();
        self.last.extend_from_slice(&self.first);
        let collation = self.keys.get(self.equal.len()).map(|key| key.collation);
        let collation = collation.unwrap_or_default();
        for (x, bytes) in [(&self.lower, &mut self.first), (&self.upper, &mut self.last)] {
            let mut open = open;
            if let Some(x) = x
                && !append(run, x, collation, &mut open, bytes)?
            {
                return Ok(false);
            }
        }
        self.rows.seek(&self.first)?;
        Ok(true)
    }
}

/// Adds a bound's bytes to a key that is not cut yet; false for NULL.
fn append(
    run: &mut Run<'_>,
    x: &Expr,
    collation: Collation,
    open: &mut bool,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    let value = x.eval(run)?;
    if value.is_null() {
        return Ok(false);
    }
    if *open {
        *open = append_sort_key(&value, collation, KEY_BYTES_MAX, out);
        out.truncate(KEY_BYTES_MAX);
    }
    Ok(true)
}

impl Operator for IndexSpool {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if !self.filled {
            self.fill(run)?;
        }
        if !self.seek(run)? {
            self.rows.at = Position::End;
        }
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            let Some(row) = self.rows.next()? else { return Ok(false) };
            let (key, values) = split(row)?;
            if is_below(key, &self.first) {
                continue;
            }
            let known = key.len().min(self.last.len());
            if key[..known] > self.last[..known] {
                self.rows.at = Position::End;
                return Ok(false);
            }
            let mut decoder = Decoder(values);
            for &slot in &self.carried {
                let value = decoder.value()?;
                run.set(slot, value);
            }
            run.tick()?;
            if self.predicate.holds(run)? {
                return Ok(true);
            }
        }
    }

    fn close(&mut self) {
        self.filled = false;
        self.rows = Rows::default();
        self.input.close();
    }
}

/// The bytes of a row's key, and its values.
fn split(row: &[u8]) -> SqlResult<(&[u8], &[u8])> {
    let damaged = || SqlError::new(messages::INTERNAL, &[&"a row of an index spool is damaged"]);
    let (&len, rest) = row.split_first().ok_or_else(damaged)?;
    rest.split_at_checked(usize::from(len)).ok_or_else(damaged)
}

/// The row that is read next.
#[derive(Default)]
enum Position {
    /// In memory, by its number.
    Memory(usize),
    /// The file's next.
    File,
    #[default]
    End,
}

/// Rows in the order of their keys.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    /// Where rows in memory end.
    ends: Vec<usize>,
    memory_bytes: usize,
    file: Option<Box<dyn SpillFile>>,
    /// Keys of some rows of the file, with their positions.
    fences: Vec<(Box<[u8]>, u64)>,
    at: Position,
}

impl Rows {
    fn push(&mut self, run: &mut Run<'_>, row: &[u8]) -> SqlResult<()> {
        if self.file.is_none() {
            if self.make_room(run, row.len()) {
                self.bytes.extend_from_slice(row);
                self.ends.push(self.bytes.len());
                return Ok(());
            }
            self.file = Some(run.spill.create()?);
        }
        let file = self.file.as_mut().expect("it was made above");
        let position = file.position();
        if self.fences.last().is_none_or(|f| position - f.1 >= FENCED_BYTES) {
            let (key, _) = split(row)?;
            run.overdraw_memory(size_of::<(Box<[u8]>, u64)>() + key.len());
            self.memory_bytes += size_of::<(Box<[u8]>, u64)>() + key.len();
            self.fences.push((key.into(), position));
        }
        file.append(row)
    }

    /// Room for another row in memory.
    fn make_room(&mut self, run: &mut Run<'_>, row: usize) -> bool {
        let room = self.bytes.capacity() - self.bytes.len();
        let more = if room < row { self.bytes.capacity().max(row).max(FIRST_BYTES) } else { 0 };
        let full = self.ends.len() == self.ends.capacity();
        let ends = if full { self.ends.capacity().max(FIRST_ROWS) } else { 0 };
        let growth = more + ends * size_of::<usize>();
        if growth > 0 && !run.take_memory(growth, self.memory_bytes) {
            return false;
        }
        self.memory_bytes += growth;
        if more > 0 {
            self.bytes.reserve_exact(room + more);
        }
        self.ends.reserve_exact(ends);
        true
    }

    /// Ends filling.
    fn end(&mut self, run: &mut Run<'_>, id: usize) -> SqlResult<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        run.counts.of(id).spilled(file.bytes());
        file.rewind()
    }

    fn row(&self, n: usize) -> &[u8] {
        let from = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.bytes[from..self.ends[n]]
    }

    /// Goes to the first row whose key is not below, or to one a little before it.
    fn seek(&mut self, key: &[u8]) -> SqlResult<()> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_below(split(self.row(middle))?.0, key) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        if low < self.ends.len() {
            self.at = Position::Memory(low);
            return Ok(());
        }
        let Some(file) = &mut self.file else {
            self.at = Position::End;
            return Ok(());
        };
        // Rows of this key may begin before the first fence that has it.
        let fence = self.fences.partition_point(|f| is_below(&f.0, key)).saturating_sub(1);
        file.seek(self.fences.get(fence).map_or(0, |f| f.1))?;
        self.at = Position::File;
        Ok(())
    }

    /// The next row; none behind the last.
    fn next(&mut self) -> SqlResult<Option<&[u8]>> {
        if let Position::Memory(n) = self.at {
            if n < self.ends.len() {
                self.at = Position::Memory(n + 1);
                return Ok(Some(self.row(n)));
            }
            self.at = Position::End;
            if let Some(file) = &mut self.file {
                file.seek(0)?;
                self.at = Position::File;
            }
        }
        match (&self.at, &mut self.file) {
            (Position::File, Some(file)) => file.next(),
            _ => Ok(None),
        }
    }

    fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = Rows::default();
    }
}

/// Whether a row's key is before a bound, which may be the beginning of keys.
fn is_below(key: &[u8], bound: &[u8]) -> bool {
    key < bound
}
