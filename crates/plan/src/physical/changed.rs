//! The rows that a target of the plan has changed, for what follows from them.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::Display;
use crate::held::{HeldBytes, fields};
use crate::show::slots;
use crate::{ChangedId, Slot};
use std::fmt;

/// The rows that a target of the plan has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRows {
    /// Which target's.
    pub id: ChangedId,
    /// What was kept of them, in the slots where it was.
    pub columns: Vec<Slot>,
}

fields! { ChangedRows: columns; }

impl<I> Operator<I> for ChangedRows {
    fn inputs(&self) -> Vec<&I> {
        Vec::new()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        Vec::new()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        Flow::Streams
    }

    fn runs_in_workers(&self) -> bool {
        false
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changed ")?;
        slots(f, &self.columns)
    }

    fn display(&self) -> Display<'_> {
        Display::new("Table Spool", "Eager Spool", "Spool").inputs()
    }
}
