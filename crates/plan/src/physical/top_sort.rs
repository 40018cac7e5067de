//! The first rows in order, keeping no more than those.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use super::top::top_expressions;
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{Scalar, Slot, SortKey, Top};
use std::fmt;

/// The first `top` rows in order, keeping no more than those.
#[derive(Clone, Debug, PartialEq)]
pub struct TopSort<I> {
    /// Its rows.
    pub input: Box<I>,
    /// How many.
    pub top: Top,
    /// By what.
    pub keys: Vec<SortKey>,
    /// What each row keeps (keys included).
    pub carried: Vec<Slot>,
}

operator_fields! { TopSort: input, top, keys, carried; }

impl<I: HeldBytes> Operator<I> for TopSort<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.carried.clone())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        top_expressions(&self.top, visit);
    }

    fn slots_read(&self) -> Vec<Slot> {
        self.keys.iter().map(|k| k.slot).chain(self.carried.iter().copied()).collect()
    }

    fn row_bound(&self) -> RowBound {
        if self.top.is_one() { RowBound::Found } else { RowBound::Input }
    }

    fn memory(&self) -> Memory {
        Memory::Input
    }

    fn flow(&self) -> Flow {
        Flow::Blocks
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::Any]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopSort {} by ", self.top)?;
        list(f, &self.keys, |f, k| write!(f, "{k}"))
    }

    fn display(&self) -> Display<'_> {
        let count = self.top.count.as_ref();
        let rows = count.and_then(Scalar::as_constant).and_then(types::Value::as_i64).unwrap_or(0);
        let display = Display::new("Sort", "TopN Sort", "TopSort")
            .item(Item::Flag("Distinct", false))
            .item(Item::Number("Rows", rows))
            .item(Item::Flag("WithTies", self.top.ties.is_some()))
            .item(Item::Order(&self.keys))
            .inputs()
            .text("TOP ");
        let display = match count {
            Some(count) => display.phrase(Phrase::Bare(count)),
            None => display,
        };
        display.clause(", ORDER BY:(", Phrase::Order(&self.keys))
    }
}
