//! Merging: the least of the rows at the heads of several sorted sources.

use super::row::{Row, Shape};
use super::store::Store;
use access::SpillFile;
use base::SqlResult;

/// A sorted source of rows, with a current row.
pub(super) enum Source {
    /// A chunk of the store.
    Memory { from: usize, at: usize, end: usize },
    /// A run on disk.
    File { file: Box<dyn SpillFile>, head: Vec<u8> },
}

/// A heap of sources by their rows at hand; of equal rows the earlier source comes first.
#[derive(Default)]
pub(super) struct Merge {
    /// The prefix of a source's row, the source's number.
    heap: Vec<(u64, u32)>,
}

impl Source {
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Source::File { .. })
    }

    pub(super) fn row<'a>(&'a self, store: &'a Store) -> Row<'a> {
        match self {
            Source::Memory { at, .. } => store.row(*at),
            Source::File { head, .. } => Row(head),
        }
    }

    fn prefix(&self, store: &Store) -> u64 {
        match self {
            Source::Memory { at, .. } => store.prefix(*at),
            Source::File { head, .. } => Row(head).prefix(),
        }
    }

    /// Moves to the next row; false after the last.
    fn advance(&mut self) -> SqlResult<bool> {
        match self {
            Source::Memory { at, end, .. } => {
                *at += 1;
                Ok(at < end)
            }
            Source::File { file, head } => file.read(head),
        }
    }

    /// Moves to the first row; false when there is none.
    fn rewind(&mut self) -> SqlResult<bool> {
        match self {
            Source::Memory { from, at, end } => {
                *at = *from;
                Ok(at < end)
            }
            Source::File { file, head } => {
                file.rewind()?;
                file.read(head)
            }
        }
    }
}

/// What is merged: the sources, the rows in memory and how rows compare.
pub(super) struct Inputs<'a> {
    pub(super) sources: &'a mut [Source],
    pub(super) store: &'a Store,
    pub(super) shape: &'a Shape,
}

impl Inputs<'_> {
    fn is_before(&self, a: (u64, u32), b: (u64, u32)) -> bool {
        if a.0 != b.0 {
            return a.0 < b.0;
        }
        let row = |i: u32| self.sources[i as usize].row(self.store);
        self.shape.compare(row(a.1), row(b.1)).then_with(|| a.1.cmp(&b.1)).is_lt()
    }
}

impl Merge {
    /// Begins with the first row of each source.
    pub(super) fn start(&mut self, inputs: &mut Inputs<'_>) -> SqlResult<()> {
        self.heap.clear();
        for (i, source) in inputs.sources.iter_mut().enumerate() {
            if source.rewind()? {
                self.heap.push((source.prefix(inputs.store), i as u32));
            }
        }
        for i in (0..self.heap.len() / 2).rev() {
            self.sift(i, inputs);
        }
        Ok(())
    }

    /// The source that has the least row.
    #[inline]
    pub(super) fn least(&self) -> Option<usize> {
        self.heap.first().map(|e| e.1 as usize)
    }

    /// The places of the rows that come next, while they are in memory; leaves them behind.
    pub(super) fn take(
        &mut self,
        inputs: &mut Inputs<'_>,
        places: &mut Vec<u64>,
        rows: usize,
    ) -> SqlResult<()> {
        places.clear();
        while places.len() < rows
            && let Some(source) = self.least()
            && let Source::Memory { at, .. } = inputs.sources[source]
        {
            places.push(inputs.store.place(at));
            self.pop(inputs)?;
        }
        inputs.store.fetch(places);
        Ok(())
    }

    /// Leaves the least row behind.
    pub(super) fn pop(&mut self, inputs: &mut Inputs<'_>) -> SqlResult<()> {
        let Some(top) = self.heap.first_mut() else { return Ok(()) };
        let source = &mut inputs.sources[top.1 as usize];
        if source.advance()? {
            top.0 = source.prefix(inputs.store);
        } else {
            self.heap.swap_remove(0);
        }
        if self.heap.len() > 1 {
            self.sift(0, inputs);
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }

    fn sift(&mut self, mut at: usize, inputs: &Inputs<'_>) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && inputs.is_before(self.heap[child], self.heap[least]) {
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
}
