//! One input after the other.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display};
use crate::Slot;
use crate::held::{HeldBytes, operator_fields};
use crate::show::slots;
use std::fmt;

/// One input after the other, their slots copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Concatenation<I> {
    /// Each with the slots that go into `columns`, in order.
    pub inputs: Vec<(I, Vec<Slot>)>,
    /// Where they go.
    pub columns: Vec<Slot>,
}

operator_fields! { Concatenation: inputs, columns; }

impl<I: HeldBytes> Operator<I> for Concatenation<I> {
    fn inputs(&self) -> Vec<&I> {
        self.inputs.iter().map(|(input, _)| input).collect()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        self.inputs.iter_mut().map(|(input, _)| input).collect()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.inputs.iter().flat_map(|(_, slots)| slots).copied().collect()
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
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::AsOutput; self.inputs.len()]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Concatenation ")?;
        slots(f, &self.columns)
    }

    fn display(&self) -> Display<'_> {
        let from = |n: usize| -> Vec<Slot> {
            self.inputs.iter().filter_map(|(_, slots)| slots.get(n).copied()).collect()
        };
        let united = (0..).map(|n| Definition::Columns(from(n)));
        let first = self.inputs.iter().take(1).flat_map(|(_, slots)| slots).copied();
        Display {
            named: Some(("Union", self.columns.clone())),
            same_as: self.columns.iter().copied().zip(first).collect(),
            ..Display::new("Concatenation", "Concatenation", "Concat")
                .defines(self.columns.iter().copied().zip(united))
                .inputs()
        }
    }
}
