//! Window functions over partitions.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display, Phrase, slots_of};
use crate::held::{HeldBytes, operator_fields};
use crate::show::{list, window_calls};
use crate::{Slot, WindowCall};
use std::fmt;
use types::Collation;

/// Window functions; the input is ordered by partition, then order.
#[derive(Clone, Debug, PartialEq)]
pub struct Window<I> {
    /// Its rows.
    pub input: Box<I>,
    /// Where a partition begins.
    pub partition: Vec<(Slot, Collation)>,
    /// Which rows are peers.
    pub order: Vec<(Slot, Collation)>,
    /// What is computed.
    pub calls: Vec<WindowCall>,
    /// What a row keeps where the operator must see the rows after it first.
    pub carried: Vec<Slot>,
}

operator_fields! { Window: input, partition, order, calls, carried; }

impl<I: HeldBytes> Operator<I> for Window<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(self.calls.iter().map(|c| c.output).collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        let arguments = self.calls.iter().flat_map(|c| c.function.arguments());
        arguments.for_each(|x| visit(Expression::Value(x)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        let keys = self.partition.iter().chain(&self.order).map(|k| k.0);
        keys.chain(self.carried.iter().copied()).collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::Input
    }

    fn flow(&self) -> Flow {
        Flow::ReadsAhead
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::Own]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Window partition ")?;
        list(f, &self.partition, |f, (slot, _)| write!(f, "{slot}"))?;
        f.write_str(" order ")?;
        list(f, &self.order, |f, (slot, _)| write!(f, "{slot}"))?;
        window_calls(f, &self.calls)
    }

    fn display(&self) -> Display<'_> {
        let name = "Window Aggregate";
        let mut display = match self.only_ranks() {
            true => Display::new("Sequence Project", "Compute Scalar", "SequenceProject"),
            false => Display::new(name, name, "WindowAggregate"),
        };
        if !self.only_ranks() {
            for (word, keys) in [("PARTITION BY:(", &self.partition), ("ORDER BY:(", &self.order)] {
                if !keys.is_empty() {
                    display = display.after(" ").clause(word, Phrase::Slots(slots_of(keys)));
                }
            }
        }
        display
            .defines(self.calls.iter().map(|c| (c.output, Definition::Window(c))))
            .inputs()
            .with_definitions()
    }
}

impl<I> Window<I> {
    /// Whether it numbers rows by their order and does no more.
    pub fn only_ranks(&self) -> bool {
        self.calls.iter().all(|c| c.function.ranks())
    }
}
