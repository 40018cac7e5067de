//! For each row of the outer side, those of the inner, opened anew: it may read outer slots.

use super::description::{
    Expression, Flow, InputOrder, Memory, Opening, Operator, RowBound, RowSlots,
};
use super::display::{Display, Item, Phrase, join_name};
use crate::held::{HeldBytes, operator_fields};
use crate::{JoinKind, Predicate, Slot};
use std::fmt;

/// A loop join.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedLoops<I> {
    /// Inner, Left, Semi or Anti.
    pub kind: JoinKind,
    /// Rows to join.
    pub outer: I,
    /// Opened again for each of them.
    pub inner: I,
    /// What must be true of a pair.
    pub predicate: Option<Predicate>,
    /// Slots of the inner side: NULL where a left join finds no partner.
    pub inner_slots: Vec<Slot>,
    /// The inner side reads slots of the outer and is opened for each of its rows. Without, a spool
    /// in it is filled once for as long as the join itself is open.
    pub correlated: bool,
}

operator_fields! { NestedLoops: outer, inner, predicate, inner_slots; }

impl<I: HeldBytes> Operator<I> for NestedLoops<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.outer, &self.inner]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.outer, &mut self.inner]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(self.inner_slots.clone())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.predicate.iter().for_each(|p| visit(Expression::Condition(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        self.inner_slots.clone()
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

    fn opening(&self, input: usize) -> Opening {
        match (input, self.correlated) {
            (0, _) => Opening::Once,
            (_, false) => Opening::Again,
            (_, true) => Opening::PerRow,
        }
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::AsOutput]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NestedLoops {:?}", self.kind)?;
        if self.correlated {
            f.write_str(" correlated")?;
        }
        match &self.predicate {
            Some(p) => write!(f, " on {p}"),
            None => Ok(()),
        }
    }

    fn display(&self) -> Display<'_> {
        let predicate = self.predicate.as_ref();
        let display = Display::new("Nested Loops", join_name(self.kind), "NestedLoops")
            .item(Item::Word("Optimized", "false"))
            .condition("Predicate", predicate);
        let display = match self.correlated {
            true => {
                let after = if predicate.is_some() { ", " } else { "" };
                display.item(Item::OuterReferences).phrase(Phrase::OuterReferences(after))
            }
            false => display,
        };
        Display {
            lacks_predicate: self.kind == JoinKind::Inner && predicate.is_none(),
            ..display.inputs().tested("WHERE:(", predicate)
        }
    }
}
