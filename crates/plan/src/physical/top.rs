//! The first rows.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, operator_fields};
use crate::{Slot, SortKey, Top};
use std::borrow::Cow;
use std::fmt;

/// The first rows.
#[derive(Clone, Debug, PartialEq)]
pub struct TopRows<I> {
    /// Its rows.
    pub input: Box<I>,
    /// How many.
    pub top: Top,
}

operator_fields! { TopRows: input, top; }

impl<I: HeldBytes> Operator<I> for TopRows<I> {
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
        top_expressions(&self.top, visit);
    }

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        if self.top.is_one() { RowBound::InputFirst } else { RowBound::Input }
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        // A percentage is of all rows, so they are counted first.
        if self.top.percent { Flow::ReadsAhead } else { Flow::Streams }
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::Own]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Top {}", self.top)
    }

    fn display(&self) -> Display<'_> {
        let Top { count, percent, ties, offset } = &self.top;
        let mut display = Display::new("Top", "Top", "Top")
            .item(Item::Flag("IsPercent", *percent))
            .item(Item::Flag("WithTies", ties.is_some()));
        let slots = |keys: &[SortKey]| -> Vec<Slot> { keys.iter().map(|k| k.slot).collect() };
        if let Some(ties) = ties {
            display = display.item(Item::Columns("TieColumns", slots(ties)));
        }
        for (name, x) in [("OffsetExpression", offset), ("TopExpression", count)] {
            if let Some(x) = x {
                display = display.item(Item::Value(name, Cow::Borrowed(x)));
            }
        }
        let mut display = display.inputs();
        let words = ["OFFSET EXPRESSION:(", "TOP EXPRESSION:("];
        for (word, x) in words.into_iter().zip([offset, count]) {
            let Some(x) = x else { continue };
            display = display.after(", ").clause(word, Phrase::Value(Cow::Borrowed(x)));
        }
        if count.is_some() && *percent {
            display = display.text(" PERCENT");
        }
        match ties {
            Some(ties) => display.after(", ").clause("TIES:(", Phrase::Slots(slots(ties))),
            None => display,
        }
    }
}

/// Visits what says how many rows there are.
pub(super) fn top_expressions<'p>(top: &'p Top, visit: &mut dyn FnMut(Expression<'p>)) {
    top.count.iter().chain(&top.offset).for_each(|x| visit(Expression::Value(x)));
    top.ties.iter().flatten().for_each(|k| visit(Expression::Order(k.slot)));
}
