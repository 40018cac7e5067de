//! Reads its whole input before it gives the first row.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::Display;
use crate::Slot;
use crate::held::{HeldBytes, operator_fields};
use std::fmt;

/// Reads its whole input before it gives the first row: a change never sees its own rows
/// (Halloween protection). As the inner side of a loop join it is filled once and read again.
#[derive(Clone, Debug, PartialEq)]
pub struct Spool<I> {
    /// Its rows.
    pub input: Box<I>,
    /// What each row keeps.
    pub carried: Vec<Slot>,
}

operator_fields! { Spool: input, carried; }

impl<I: HeldBytes> Operator<I> for Spool<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.carried.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.carried.clone()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Input
    }

    fn memory(&self) -> Memory {
        Memory::Input
    }

    fn flow(&self) -> Flow {
        Flow::Blocks
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spool")
    }

    fn display(&self) -> Display<'_> {
        Display::new("Table Spool", "Eager Spool", "Spool").inputs()
    }
}
