//! An external sort of rows by the key of their target hobt.
//!
//! Rows are packed with their key columns first, so that a comparison reads only these:
//!
//! ```text
//! row    key field, key field, …, other field, …
//! field  length + 1 (4 bytes; 0 is NULL), bytes
//! ```
//!
//! Rows fill a buffer. A full buffer is sorted and written as a run. At the end the runs are merged
//! with a heap of their first rows. If there are too many runs, they are first merged into one. The
//! sorted rows of several workers are merged in the same way (`build/parallel.rs`).
//!
//! Invariants
//!  1. Rows with equal keys are in the order of their bytes. So the result does not depend on the
//!     order of the input.

use access::{Field, Spill, SpillFile};
use base::SqlResult;
use catalog::HobtSpec;
use exec::MadeRows;
use os::wait::Waiter;
use std::cmp::Ordering;
use types::{StorageOrder, compare_storage};

/// The size of the buffer is the memory grant, within these limits.
pub(crate) const BUFFER_BYTES_MAX: usize = 8 << 20;
pub(crate) const BUFFER_BYTES_MIN: usize = 256 << 10;
/// The number of runs that are merged into one.
const RUNS_MAX: usize = 96;
/// Rows between two checks whether the statement is cancelled.
pub(crate) const ROWS_PER_CHECK: u64 = 256;

struct KeyPart {
    compare: StorageOrder,
    descending: bool,
}

/// The order of packed rows.
pub(crate) struct RowOrder {
    parts: Vec<KeyPart>,
    /// Physical columns in packed order.
    packed: Vec<usize>,
}

impl RowOrder {
    /// The order of a hobt's records.
    pub(crate) fn of(spec: &HobtSpec) -> RowOrder {
        let part = |k: &catalog::view::KeyField| {
            let column = spec.columns[k.field];
            let compare = compare_storage(column.sql_type, column.collation);
            KeyPart { compare, descending: k.descending }
        };
        let mut packed: Vec<usize> = spec.key.iter().map(|k| k.field).collect();
        packed.extend((0..spec.columns.len()).filter(|n| !spec.key.iter().any(|k| k.field == *n)));
        assert_eq!(packed.len(), spec.columns.len(), "each column is packed once");
        RowOrder { parts: spec.key.iter().map(part).collect(), packed }
    }

    fn compare(&self, first: &[u8], second: &[u8]) -> Ordering {
        let (mut a, mut b) = (first, second);
        for part in &self.parts {
            let order = match (take_field(&mut a), take_field(&mut b)) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(x), Some(y)) => part.compare.of(x, y),
            };
            let order = if part.descending { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        // Invariant 1.
        first.cmp(second)
    }

    /// The bytes of a packed row.
    fn packed_len(row: &[Field<'_>]) -> usize {
        row.iter().map(|f| size_of::<u32>() + f.inline().map_or(0, <[u8]>::len)).sum()
    }

    fn pack(&self, row: &[Field<'_>], out: &mut Vec<u8>) {
        for &column in &self.packed {
            match row[column].inline() {
                None => out.extend_from_slice(&0_u32.to_le_bytes()),
                Some(bytes) => {
                    let length = u32::try_from(bytes.len()).expect("a field is below 2 GB");
                    out.extend_from_slice(&(length + 1).to_le_bytes());
                    out.extend_from_slice(bytes);
                }
            }
        }
    }

    /// The fields of a packed row in physical order.
    pub(crate) fn unpack<'a>(&self, packed: &'a [u8], row: &mut Vec<Field<'a>>) {
        row.clear();
        row.resize(self.packed.len(), Field::Null);
        let mut rest = packed;
        for &column in &self.packed {
            row[column] = take_field(&mut rest).map_or(Field::Null, Field::Inline);
        }
        assert!(rest.is_empty(), "a packed row ends with its last field");
    }
}

/// The next field. Only this file packs rows, so their lengths are right.
fn take_field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let Some(length) = length.checked_sub(1) else {
        *rest = after;
        return None;
    };
    let (field, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(field)
}

/// A sort: takes the rows, and returns them in order.
pub(crate) struct Sorter<'a> {
    pub(crate) order: RowOrder,
    spill: &'a dyn Spill,
    /// The statement's waiter, which knows whether it is cancelled.
    waiter: &'a Waiter,
    buffer: Vec<u8>,
    rows: Vec<(u32, u32)>,
    runs: Vec<Box<dyn SpillFile>>,
    pub(crate) buffer_max: usize,
}

impl<'a> Sorter<'a> {
    pub(crate) fn new(order: RowOrder, spill: &'a dyn Spill, waiter: &'a Waiter) -> Sorter<'a> {
        let (buffer, rows, runs) = (Vec::new(), Vec::new(), Vec::new());
        Sorter { order, spill, waiter, buffer, rows, runs, buffer_max: BUFFER_BYTES_MAX }
    }

    /// The memory of the buffer.
    pub(crate) fn held_bytes(&self) -> usize {
        self.buffer.capacity() + self.rows.capacity() * size_of::<(u32, u32)>()
    }

    /// Adds a row of all physical columns.
    pub(crate) fn push(&mut self, row: &[Field<'_>]) -> SqlResult<()> {
        let bytes = RowOrder::packed_len(row);
        let rows = (self.rows.len() + 1) * size_of::<(u32, u32)>();
        if !self.rows.is_empty() && self.buffer.len() + bytes + rows > self.buffer_max {
            self.write_run()?;
        }
        self.make_room(bytes);
        let start = self.buffer.len() as u32;
        self.order.pack(row, &mut self.buffer);
        let end = u32::try_from(self.buffer.len()).expect("a buffer is below 4 GB");
        debug_assert_eq!((end - start) as usize, bytes, "a row is as long as was reckoned");
        self.rows.push((start, end));
        Ok(())
    }

    /// Makes room for so many more bytes. The buffer doubles, but not beyond the grant. Only a
    /// single row that is longer than the grant takes more.
    fn make_room(&mut self, bytes: usize) {
        let (held, wanted) = (self.buffer.capacity(), self.buffer.len() + bytes);
        if wanted > held {
            let room = wanted.max((held * 2).min(self.buffer_max));
            self.buffer.reserve_exact(room - self.buffer.len());
        }
    }

    fn sort_buffer(&mut self) {
        let (order, buffer) = (&self.order, &self.buffer);
        let bytes = |r: (u32, u32)| &buffer[r.0 as usize..r.1 as usize];
        self.rows.sort_unstable_by(|&a, &b| order.compare(bytes(a), bytes(b)));
    }

    fn write_run(&mut self) -> SqlResult<()> {
        self.sort_buffer();
        let mut run = self.spill.create()?;
        for &(start, end) in &self.rows {
            run.append(&self.buffer[start as usize..end as usize])?;
        }
        self.rows.clear();
        self.buffer.clear();
        self.runs.push(run);
        if self.runs.len() == RUNS_MAX {
            let mut merged = self.spill.create()?;
            let runs = std::mem::take(&mut self.runs);
            let mut merge = Merge::of_files(&self.order, runs)?;
            let mut rows = 0_u64;
            while let Some(row) = merge.next(&self.order)? {
                merged.append(row)?;
                rows += 1;
                if rows.is_multiple_of(ROWS_PER_CHECK) {
                    self.waiter.check()?;
                }
            }
            self.runs.push(merged);
        }
        Ok(())
    }

    /// The rows in order.
    pub(crate) fn finish(mut self) -> SqlResult<SortedRows<'static>> {
        let rows = if self.runs.is_empty() {
            self.sort_buffer();
            Rows::Memory { buffer: self.buffer, rows: self.rows, at: 0 }
        } else {
            if !self.rows.is_empty() {
                self.write_run()?;
            }
            self.buffer = Vec::new();
            Rows::Runs(Merge::of_files(&self.order, self.runs)?)
        };
        Ok(SortedRows { order: self.order, rows })
    }
}

/// Rows in order.
pub(crate) struct SortedRows<'m> {
    pub(crate) order: RowOrder,
    rows: Rows<'m>,
}

enum Rows<'m> {
    Memory { buffer: Vec<u8>, rows: Vec<(u32, u32)>, at: usize },
    Runs(Merge<Run>),
    Made(Merge<MadeRows<'m>>),
}

impl<'m> SortedRows<'m> {
    /// Merges the rows that several workers have sorted by the same order.
    pub(crate) fn of_workers(
        order: RowOrder,
        made: Vec<MadeRows<'m>>,
    ) -> SqlResult<SortedRows<'m>> {
        let rows = Rows::Made(Merge::new(&order, made)?);
        Ok(SortedRows { order, rows })
    }

    /// The next packed row; `None` after the last.
    pub(crate) fn next(&mut self) -> SqlResult<Option<(&RowOrder, &[u8])>> {
        let order = &self.order;
        let row = match &mut self.rows {
            Rows::Memory { buffer, rows, at } => {
                let Some(&(start, end)) = rows.get(*at) else { return Ok(None) };
                *at += 1;
                Some(&buffer[start as usize..end as usize])
            }
            Rows::Runs(merge) => merge.next(order)?,
            Rows::Made(merge) => merge.next(order)?,
        };
        Ok(row.map(|row| (order, row)))
    }
}

/// A source of sorted rows.
trait OrderedRows {
    /// Moves to the next row; false after the last.
    fn advance(&mut self) -> SqlResult<bool>;

    /// The current row.
    fn row(&self) -> &[u8];
}

/// A run in a file, and its current row.
struct Run(Box<dyn SpillFile>, Vec<u8>);

impl OrderedRows for Run {
    fn advance(&mut self) -> SqlResult<bool> {
        self.0.read(&mut self.1)
    }

    fn row(&self) -> &[u8] {
        &self.1
    }
}

impl OrderedRows for MadeRows<'_> {
    fn advance(&mut self) -> SqlResult<bool> {
        MadeRows::advance(self)
    }

    fn row(&self) -> &[u8] {
        MadeRows::row(self)
    }
}

/// A merge of runs: a heap of runs, ordered by their current rows, the least first.
struct Merge<R> {
    runs: Vec<R>,
    heap: Vec<usize>,
    begun: bool,
}

impl Merge<Run> {
    fn of_files(order: &RowOrder, files: Vec<Box<dyn SpillFile>>) -> SqlResult<Merge<Run>> {
        let mut runs = Vec::with_capacity(files.len());
        for mut file in files {
            file.rewind()?;
            runs.push(Run(file, Vec::new()));
        }
        Merge::new(order, runs)
    }
}

impl<R: OrderedRows> Merge<R> {
    fn new(order: &RowOrder, runs: Vec<R>) -> SqlResult<Merge<R>> {
        let mut merge = Merge { runs, heap: Vec::new(), begun: false };
        for (at, run) in merge.runs.iter_mut().enumerate() {
            if run.advance()? {
                merge.heap.push(at);
            }
        }
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift(order, at);
        }
        Ok(merge)
    }

    fn sift(&mut self, order: &RowOrder, mut at: usize) {
        let row = |n: usize| self.runs[n].row();
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len()
                    && order.compare(row(self.heap[child]), row(self.heap[least])).is_lt()
                {
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

    fn next(&mut self, order: &RowOrder) -> SqlResult<Option<&[u8]>> {
        if std::mem::replace(&mut self.begun, true)
            && let Some(&top) = self.heap.first()
        {
            if !self.runs[top].advance()? {
                self.heap.swap_remove(0);
            }
            self.sift(order, 0);
        }
        Ok(self.heap.first().map(|&top| self.runs[top].row()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{DatabaseId, HobtId, IndexId, ObjectId};
    use catalog::HobtColumn;
    use catalog::view::{IndexKind, KeyField};
    use types::{Collation, SqlType};

    struct Memory;
    #[derive(Default)]
    struct MemoryFile(Vec<Vec<u8>>, usize);

    impl Spill for Memory {
        fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
            Ok(Box::new(MemoryFile::default()))
        }
    }

    impl SpillFile for MemoryFile {
        fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
            self.0.push(bytes.to_vec());
            Ok(())
        }

        fn rewind(&mut self) -> SqlResult<()> {
            self.1 = 0;
            Ok(())
        }

        fn next(&mut self) -> SqlResult<Option<&[u8]>> {
            self.1 += 1;
            Ok(self.0.get(self.1 - 1).map(Vec::as_slice))
        }

        fn bytes(&self) -> u64 {
            self.0.iter().map(|r| r.len() as u64).sum()
        }

        fn position(&self) -> u64 {
            self.0.len() as u64
        }

        fn seek(&mut self, position: u64) -> SqlResult<()> {
            self.1 = position as usize;
            Ok(())
        }
    }

    fn spec() -> HobtSpec {
        let column =
            |sql_type| HobtColumn { sql_type, nullable: true, collation: Collation::default() };
        let part = |field, descending| KeyField { field, descending };
        HobtSpec {
            database: DatabaseId(5),
            object_id: ObjectId(1),
            index_id: IndexId(2),
            hobt: HobtId(300),
            kind: IndexKind::Nonclustered,
            columns: vec![column(SqlType::varchar(9)), column(SqlType::Int), column(SqlType::Int)],
            key: vec![part(2, true), part(1, false)],
            added: Vec::new(),
            declared_key: 2,
            unique: false,
            fill_factor: 0,
            padded: false,
        }
    }

    /// The order is that of the key, NULL least, whether rows stay in memory, make some runs, or
    /// so many that runs are merged between; every row comes back whole.
    #[test]
    fn rows_come_back_in_key_order_however_often_they_spill() {
        for buffer_max in [1 << 20, 4000, 60] {
            let waiter = Waiter::new();
            let mut sorter = Sorter::new(RowOrder::of(&spec()), &Memory, &waiter);
            sorter.buffer_max = buffer_max;
            let mut wanted = Vec::new();
            for n in 0_i64..1000 {
                let first = ((n * 7919) % 13) as i32;
                let second = ((n * 104_729) % 1009) as i32;
                let name = format!("r{n}");
                let (a, b) = (first.to_le_bytes(), second.to_le_bytes());
                let a = if first == 0 { Field::Null } else { Field::Inline(&a) };
                sorter.push(&[Field::Inline(name.as_bytes()), Field::Inline(&b), a]).expect("fits");
                wanted.push((-first, second, name));
            }
            wanted.sort();
            let mut sorted = sorter.finish().expect("merges");
            let mut found = Vec::new();
            while let Some((order, packed)) = sorted.next().expect("reads") {
                let mut row = Vec::new();
                order.unpack(packed, &mut row);
                let int = |f: Field<'_>| {
                    f.inline().map_or(0, |b| i32::from_le_bytes(b.try_into().expect("4 bytes")))
                };
                let name = String::from_utf8(row[0].inline().expect("not NULL").to_vec());
                found.push((-int(row[2]), int(row[1]), name.expect("ASCII")));
            }
            assert_eq!(found, wanted, "buffer of {buffer_max}");
        }
    }

    /// A merge between ends when the statement is cancelled: it may be long.
    #[test]
    fn a_merge_of_runs_ends_when_it_is_cancelled() {
        let waiter = Waiter::new();
        waiter.cancel(os::wait::CancelReason::Attention);
        let mut sorter = Sorter::new(RowOrder::of(&spec()), &Memory, &waiter);
        sorter.buffer_max = 60;
        let pushed = (0_i32..1000).try_for_each(|n| {
            let n = n.to_le_bytes();
            sorter.push(&[Field::Inline(b"row"), Field::Inline(&n), Field::Inline(&n)])
        });
        let number = base::messages::ATTENTION.number;
        assert_eq!(pushed.map_err(|e| e.number()), Err(number));
    }
}
