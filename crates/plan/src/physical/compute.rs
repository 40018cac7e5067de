//! Further columns, computed from left to right.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display};
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{Scalar, Slot};
use std::fmt;

/// Further columns, computed from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Compute<I> {
    /// Its rows.
    pub input: Box<I>,
    /// What is computed into which slot.
    pub columns: Vec<(Slot, Scalar)>,
}

operator_fields! { Compute: input, columns; }

impl<I: HeldBytes> Operator<I> for Compute<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(self.columns.iter().map(|c| c.0).collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.columns.iter().for_each(|(_, x)| visit(Expression::Value(x)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Input
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        Flow::Streams
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::AsOutput]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compute ")?;
        list(f, &self.columns, |f, (slot, x)| write!(f, "{slot} = {x}"))
    }

    fn display(&self) -> Display<'_> {
        Display::new("Compute Scalar", "Compute Scalar", "ComputeScalar")
            .defines(self.columns.iter().map(|(slot, x)| (*slot, Definition::Value(x))))
            .inputs()
            .with_definitions()
    }
}
