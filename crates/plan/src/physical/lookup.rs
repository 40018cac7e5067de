//! From an entry of an index, or from a place alone, to the row in the heap or clustered index.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::Display;
use super::stored::{Reading, ScanColumn, Source, StoredAccess, scan_columns};
use crate::held::{HeldBytes, operator_fields};
use crate::show::slots;
use crate::{LockHints, Predicate, Slot};
use std::fmt;
use types::SqlType;

/// From an index's row to the row itself.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLookup<I> {
    /// Rows of an index: an [`crate::Access`], which gives an entry again where it has changed
    /// before its row is found; or places alone, without any other column of the row.
    pub input: I,
    /// The heap or clustered index.
    pub source: Source,
    /// The locator's slots: the full key of the clustered index, or the RID alone.
    pub locator: Vec<Slot>,
    /// Their types.
    pub types: Vec<SqlType>,
    /// The locator is a RID.
    pub by_rid: bool,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// As [`crate::Access::rid`].
    pub rid: Option<Slot>,
    /// As [`crate::Access::hint`].
    pub hint: Option<Slot>,
    /// As [`crate::Access::location`].
    pub location: Option<Slot>,
    /// What must be true of the row.
    pub residual: Option<Predicate>,
    /// Locks.
    pub locks: LockHints,
}

operator_fields! { KeyLookup: input, source, locator, types, columns, residual; }

impl<I: HeldBytes> Operator<I> for KeyLookup<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(self.as_stored().written())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.residual.iter().for_each(|p| visit(Expression::Condition(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        self.locator.clone()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::InputFound
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
        vec![InputOrder::AsOutput]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lookup {}", self.source.table)?;
        scan_columns(f, &self.columns)?;
        f.write_str(" by ")?;
        slots(f, &self.locator)?;
        if let Some(p) = &self.residual {
            write!(f, " where {p}")?;
        }
        write!(f, "{}", self.locks)
    }

    fn display(&self) -> Display<'_> {
        // Showplan takes it apart: a loop join, and the search of the row on its inner side.
        Display::new("Nested Loops", "Inner Join", "NestedLoops").inputs()
    }
}

impl<I> KeyLookup<I> {
    fn as_stored(&self) -> StoredAccess<'_> {
        StoredAccess {
            source: &self.source,
            columns: &self.columns,
            rid: self.rid,
            hint: self.hint,
            location: self.location,
            locks: &self.locks,
            residual: self.residual.as_ref(),
            reading: Reading::Lookup,
        }
    }
}
