//! All rows in order.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{Slot, SortKey};
use std::fmt;

/// All rows in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort<I> {
    /// Its rows.
    pub input: Box<I>,
    /// By what.
    pub keys: Vec<SortKey>,
    /// What else each row keeps (keys included).
    pub carried: Vec<Slot>,
    /// Equal keys once.
    pub distinct: bool,
}

operator_fields! { Sort: input, keys, carried; }

impl<I: HeldBytes> Operator<I> for Sort<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.carried.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.keys.iter().map(|k| k.slot).chain(self.carried.iter().copied()).collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Input
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
        f.write_str(if self.distinct { "Sort distinct " } else { "Sort " })?;
        list(f, &self.keys, |f, k| write!(f, "{k}"))
    }

    fn display(&self) -> Display<'_> {
        let (logical, order) = match self.distinct {
            true => ("Distinct Sort", "DISTINCT ORDER BY:("),
            false => ("Sort", "ORDER BY:("),
        };
        Display::new("Sort", logical, "Sort")
            .item(Item::Flag("Distinct", self.distinct))
            .item(Item::Order(&self.keys))
            .inputs()
            .clause(order, Phrase::Order(&self.keys))
    }
}
