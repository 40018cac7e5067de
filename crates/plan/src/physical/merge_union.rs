//! Two ordered inputs read side by side into one order.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Definition, Display, Item};
use crate::held::{HeldBytes, operator_fields};
use crate::show::{list, slots};
use crate::{Slot, SortKey};
use std::fmt;

/// UNION, or UNION ALL, of two inputs that are in one order. Their rows come out in that order.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeUnion<I> {
    /// The side that comes first where both are equal.
    pub left: I,
    /// The other; it writes no slot that `left` writes.
    pub right: I,
    /// The slots of the left side that go into `columns`, in order.
    pub left_slots: Vec<Slot>,
    /// The same of the right side.
    pub right_slots: Vec<Slot>,
    /// Where they go.
    pub columns: Vec<Slot>,
    /// The order, told of `columns`.
    pub keys: Vec<SortKey>,
    /// Rows that are equal in all keys once.
    pub distinct: bool,
}

operator_fields! { MergeUnion: left, right, left_slots, right_slots, columns, keys; }

impl<I: HeldBytes> Operator<I> for MergeUnion<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.left, &self.right]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.left, &mut self.right]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.left_slots.iter().chain(&self.right_slots).copied().collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        Flow::ReadsAhead
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::Own, InputOrder::Own]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.distinct { "MergeUnion distinct " } else { "MergeUnion " })?;
        slots(f, &self.columns)?;
        f.write_str(" by ")?;
        list(f, &self.keys, |f, k| write!(f, "{k}"))
    }

    fn display(&self) -> Display<'_> {
        let keys_of = |side: &[Slot]| -> Vec<Slot> {
            let place = |k: &SortKey| self.columns.iter().position(|&c| c == k.slot);
            let places = self.keys.iter().filter_map(place);
            places.filter_map(|n| side.get(n).copied()).collect()
        };
        let sides = self.left_slots.iter().zip(&self.right_slots);
        let united = sides.map(|(&left, &right)| Definition::Columns(vec![left, right]));
        let logical = if self.distinct { "Union" } else { "Concatenation" };
        Display {
            named: Some(("Union", self.columns.clone())),
            ..Display::new("Merge Join", logical, "Merge")
                .item(Item::Flag("ManyToMany", false))
                .defines(self.columns.iter().copied().zip(united))
                .item(Item::Columns("InnerSideJoinColumns", keys_of(&self.right_slots)))
                .item(Item::Columns("OuterSideJoinColumns", keys_of(&self.left_slots)))
                .inputs()
        }
    }
}
