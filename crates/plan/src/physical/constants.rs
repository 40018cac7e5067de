//! Rows that stand in the plan.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, fields};
use crate::show::show_rows;
use crate::{Scalar, Slot};
use std::fmt;

/// Rows that stand in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Scalar>>,
    /// Where their values go.
    pub columns: Vec<Slot>,
}

fields! { Constants: rows, columns; }

impl<I> Operator<I> for Constants {
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
        self.rows.iter().flatten().for_each(|x| visit(Expression::Value(x)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        match self.rows.len() <= 1 {
            true => RowBound::One,
            false => RowBound::Many,
        }
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
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constants {} rows", self.rows.len())?;
        show_rows(f, &self.rows, &self.columns)
    }

    fn display(&self) -> Display<'_> {
        let mut display = Display::new("Constant Scan", "Constant Scan", "ConstantScan");
        display.named = Some(("Union", self.columns.clone()));
        if self.columns.is_empty() {
            return display;
        }
        let display = display.item(Item::Read(self.columns.clone())).item(Item::Rows(&self.rows));
        match self.rows.is_empty() {
            true => display,
            false => display.clause("VALUES:(", Phrase::Rows(&self.rows)),
        }
    }
}
