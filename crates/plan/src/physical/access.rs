//! Rows of a heap or an index: all of them, or ranges of its key.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use super::stored::{Bound, Reading, ScanColumn, Seek, Source, StoredAccess, scan_columns};
use crate::held::{HeldBytes, fields, nothing};
use crate::show::list;
use crate::{LockHints, Predicate, Slot};
use std::fmt;

/// A scan or a seek of one hobt.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Which.
    pub source: Source,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// Where the RID of a heap's row goes, as binary(8), when somebody asks.
    pub rid: Option<Slot>,
    /// Where `RowCursor::hint` goes, as a bigint (file << 48 | page << 16 | slot), NULL without.
    pub hint: Option<Slot>,
    /// Where the same goes as `%%physloc%%` has it, a binary(8) of page, file, slot.
    pub location: Option<Slot>,
    /// The ranges, one after the other; `None` scans everything.
    pub seek: Option<Seek>,
    /// From the end of the key order.
    pub backward: bool,
    /// Rows must come out in key order; otherwise a scan in order of allocation serves too.
    pub ordered: bool,
    /// What must be true of a row beyond the seek; a row for which it isn't gives its lock back.
    pub residual: Option<Predicate>,
    /// TABLESAMPLE
    pub sample: Option<PageSample>,
    /// Locks.
    pub locks: LockHints,
    /// Below an exchange: workers share the rows among them. Otherwise each reads all of them.
    pub divided: bool,
}

/// The part of a table's pages whose rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageSample {
    /// How many of them, from 0 to 1: a page is taken with that probability.
    pub fraction: f64,
    /// What decides about each page; drawn anew by each run where it is not given.
    pub seed: Option<i64>,
}

nothing!(PageSample);
fields! { Access: source, columns, seek, residual; }

impl<I> Operator<I> for Access {
    fn inputs(&self) -> Vec<&I> {
        Vec::new()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        Vec::new()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.as_stored().written())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        for range in self.seek.iter().flat_map(|s| &s.ranges) {
            let ends = range.lower.iter().chain(&range.upper).map(|b| &b.value);
            range.equal.iter().chain(ends).for_each(|x| visit(Expression::Value(x)));
        }
        self.residual.iter().for_each(|p| visit(Expression::Condition(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        match self.seek.as_ref().is_some_and(|s| s.unique) {
            true => RowBound::Found,
            false => RowBound::Many,
        }
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        Flow::Streams
    }

    fn stored(&self) -> Option<StoredAccess<'_>> {
        Some(self.as_stored())
    }

    fn locks_mut(&mut self) -> Option<&mut LockHints> {
        Some(&mut self.locks)
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.seek.is_some() { "Seek " } else { "Scan " })?;
        f.write_str(&self.source.table)?;
        if !self.source.index.is_empty() {
            write!(f, ".{}", self.source.index)?;
        }
        scan_columns(f, &self.columns)?;
        if let Some(rid) = self.rid {
            write!(f, " rid {rid}")?;
        }
        if let Some(seek) = &self.seek {
            show_seek(f, seek)?;
        }
        if let Some(p) = &self.residual {
            write!(f, " where {p}")?;
        }
        if self.ordered {
            f.write_str(" ordered")?;
        }
        if let Some(sample) = &self.sample {
            write!(f, " sample {}", sample.fraction)?;
        }
        if self.backward {
            f.write_str(" backward")?;
        }
        write!(f, "{}", self.locks)
    }

    fn display(&self) -> Display<'_> {
        let name = if self.seek.is_some() { "Seek" } else { "Scan" };
        let scan = self.as_stored();
        Display::new(name, name, "IndexScan").item(Item::Scan(scan)).phrase(Phrase::Scan(scan))
    }
}

impl Access {
    fn as_stored(&self) -> StoredAccess<'_> {
        let seek = self.seek.as_ref();
        StoredAccess {
            source: &self.source,
            columns: &self.columns,
            rid: self.rid,
            hint: self.hint,
            location: self.location,
            locks: &self.locks,
            residual: self.residual.as_ref(),
            reading: Reading::Scan { seek, ordered: self.ordered, backward: self.backward },
        }
    }
}

fn show_seek(f: &mut fmt::Formatter<'_>, seek: &Seek) -> fmt::Result {
    f.write_str(if seek.unique { " key" } else { " range" })?;
    for range in &seek.ranges {
        f.write_str(" [")?;
        list(f, &range.equal, |f, x| write!(f, "={x}"))?;
        if let Some(Bound { value, inclusive, .. }) = &range.lower {
            write!(f, "{}{value}", if *inclusive { " from " } else { " after " })?;
        }
        if let Some(Bound { value, inclusive, .. }) = &range.upper {
            write!(f, "{}{value}", if *inclusive { " to " } else { " before " })?;
        }
        f.write_str("]")?;
    }
    Ok(())
}
