//! Rows of an anchor, and depth first those that follow from each.

use super::description::{
    Expression, Flow, InputOrder, Memory, Opening, Operator, RowBound, RowSlots,
};
use super::display::{Display, Item};
use crate::held::{HeldBytes, operator_fields};
use crate::show::recursion_line;
use crate::{Recursion, Slot};
use std::fmt;

operator_fields! { Recursion: name, anchor, anchor_slots, members, columns, work; }

impl<I: HeldBytes> Operator<I> for Recursion<I> {
    fn inputs(&self) -> Vec<&I> {
        self.inputs().map(|(input, _)| input).collect()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        Vec::new()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.inputs().flat_map(|(_, slots)| slots).copied().collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::Many
    }

    fn flow(&self) -> Flow {
        Flow::ReadsAhead
    }

    fn opening(&self, input: usize) -> Opening {
        if input == 0 { Opening::Once } else { Opening::PerRow }
    }

    fn runs_in_workers(&self) -> bool {
        false
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        recursion_line(f, self)
    }

    fn display(&self) -> Display<'_> {
        let named = self.columns.iter().chain(&self.work).copied().collect();
        Display {
            named: Some(("Recr", named)),
            ..Display::new("Index Spool", "Lazy Spool", "Spool")
                .item(Item::Word("Stack", "true"))
                .inputs()
                .text("WITH STACK")
        }
    }
}
