//! Rows for which a predicate is true.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item};
use crate::held::{HeldBytes, operator_fields};
use crate::{Predicate, Slot};
use std::fmt;

/// Rows for which a predicate is true.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter<I> {
    /// Its rows.
    pub input: Box<I>,
    /// What must be true.
    pub predicate: Predicate,
}

operator_fields! { Filter: input, predicate; }

impl<I: HeldBytes> Operator<I> for Filter<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(Vec::new())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        visit(Expression::Condition(&self.predicate));
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
        write!(f, "Filter {}", self.predicate)
    }

    fn display(&self) -> Display<'_> {
        let predicate = Some(&self.predicate);
        Display::new("Filter", "Filter", "Filter")
            .item(Item::Flag("StartupExpression", false))
            .inputs()
            .condition("Predicate", predicate)
            .tested("WHERE:(", predicate)
    }
}
