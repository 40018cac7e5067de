//! Groups of neighbours: the input is ordered by the keys.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display, Item, Phrase, slots_of};
use crate::held::{HeldBytes, operator_fields};
use crate::show::show_groups;
use crate::{AggregateCall, Slot};
use std::fmt;
use types::Collation;

/// Groups of neighbours: the input is ordered by the keys. Without keys: one row always. A
/// group's row has its keys in their slots again.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamAggregate<I> {
    /// Its rows.
    pub input: Box<I>,
    /// What rows of a group share.
    pub keys: Vec<(Slot, Collation)>,
    /// What is computed.
    pub calls: Vec<AggregateCall>,
}

operator_fields! { StreamAggregate: input, keys, calls; }

impl<I: HeldBytes> Operator<I> for StreamAggregate<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        let keys = self.keys.iter().map(|k| k.0);
        RowSlots::Own(keys.chain(self.calls.iter().map(|c| c.output)).collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        let arguments = self.calls.iter().flat_map(|c| c.argument.iter().chain(&c.separator));
        arguments.for_each(|x| visit(Expression::Value(x)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        slots_of(&self.keys)
    }

    fn row_bound(&self) -> RowBound {
        if self.keys.is_empty() { RowBound::One } else { RowBound::Many }
    }

    fn memory(&self) -> Memory {
        let distinct = self.calls.iter().any(|c| c.distinct);
        if distinct { Memory::Input } else { Memory::None }
    }

    fn flow(&self) -> Flow {
        if self.keys.is_empty() { Flow::Blocks } else { Flow::ReadsAhead }
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        let ordered = self.calls.iter().any(AggregateCall::relies_on_order);
        let any = self.keys.is_empty() && !ordered;
        vec![if any { InputOrder::Any } else { InputOrder::Own }]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamAggregate")?;
        show_groups(f, &self.keys, &self.calls)
    }

    fn display(&self) -> Display<'_> {
        let mut display = Display::new("Stream Aggregate", "Aggregate", "StreamAggregate")
            .defines(self.calls.iter().map(|c| (c.output, Definition::Aggregate(c))));
        if !self.keys.is_empty() {
            display = display
                .item(Item::Columns("GroupBy", slots_of(&self.keys)))
                .clause("GROUP BY:(", Phrase::Slots(slots_of(&self.keys)));
        }
        Display {
            same_as: self.calls.iter().filter_map(AggregateCall::any_of).collect(),
            ..display.inputs().with_definitions()
        }
    }
}
