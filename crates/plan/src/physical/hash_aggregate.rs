//! Groups by hash table.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display, Item, Phrase, slots_of};
use crate::held::{HeldBytes, operator_fields};
use crate::show::show_groups;
use crate::{AggregateCall, AggregatePhase, Slot};
use std::fmt;
use types::Collation;

/// Groups by hash table. Without calls: DISTINCT. A group's row has its keys in their slots
/// again, and nothing else of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct HashAggregate<I> {
    /// Its rows.
    pub input: Box<I>,
    /// What rows of a group share.
    pub keys: Vec<(Slot, Collation)>,
    /// What is computed.
    pub calls: Vec<AggregateCall>,
}

operator_fields! { HashAggregate: input, keys, calls; }

impl<I: HeldBytes> Operator<I> for HashAggregate<I> {
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
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        let groups = !self.keys.is_empty() || self.calls.iter().any(|c| c.distinct);
        if groups { Memory::Input } else { Memory::None }
    }

    fn flow(&self) -> Flow {
        Flow::Blocks
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        let ordered = self.calls.iter().any(AggregateCall::relies_on_order);
        vec![if ordered { InputOrder::Own } else { InputOrder::Any }]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashAggregate")?;
        show_groups(f, &self.keys, &self.calls)
    }

    fn display(&self) -> Display<'_> {
        let partial = self.calls.iter().any(|c| c.phase == AggregatePhase::Partial);
        let logical = if partial { "Partial Aggregate" } else { "Aggregate" };
        Display {
            same_as: self.calls.iter().filter_map(AggregateCall::any_of).collect(),
            ..Display::new("Hash Match", logical, "Hash")
                .defines(self.calls.iter().map(|c| (c.output, Definition::Aggregate(c))))
                .item(Item::Columns("HashKeysBuild", slots_of(&self.keys)))
                .inputs()
                .clause("HASH:(", Phrase::Slots(slots_of(&self.keys)))
                .with_definitions()
        }
    }
}
