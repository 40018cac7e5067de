//! Rows that a function of FROM makes of its arguments.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, fields};
use crate::show::function_line;
use crate::{FunctionRows, Slot};
use std::fmt;

fields! { FunctionRows: arguments, columns; }

impl<I> Operator<I> for FunctionRows {
    fn inputs(&self) -> Vec<&I> {
        Vec::new()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        Vec::new()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.arguments.iter().for_each(|x| visit(Expression::Value(x)));
    }

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
        function_line(f, self)
    }

    fn display(&self) -> Display<'_> {
        let name = "Table-valued function";
        let function = self.function.name();
        Display {
            named: Some((function, self.columns.clone())),
            ..Display::new(name, name, "TableValuedFunction")
                .item(Item::Read(self.columns.clone()))
                .item(Item::Object(None, function))
                .item(Item::Parameters(&self.arguments))
                .clause("OBJECT:(", Phrase::Object(None, function))
        }
    }
}
