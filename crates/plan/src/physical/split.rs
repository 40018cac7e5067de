//! Two rows of each: an index's old entry and its new one.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item};
use crate::Slot;
use crate::held::{HeldBytes, nothing, operator_fields};
use crate::show::list;
use std::fmt;

/// Makes two rows of each: the old entry of an index, and the new one. A row whose entries are the
/// same to the byte gives none.
#[derive(Clone, Debug, PartialEq)]
pub struct Split<I> {
    /// Rows with old and new values.
    pub input: I,
    /// 0 for the old entry, 1 for the new one.
    pub action: Slot,
    /// What entries consist of.
    pub columns: Vec<SplitColumn>,
}

/// A value of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitColumn {
    /// Where the old one is, if anybody asked for it: it is needed of keys alone.
    pub old: Option<Slot>,
    /// Where the new one is.
    pub new: Slot,
    /// Where either goes.
    pub to: Slot,
}

nothing!(SplitColumn);
operator_fields! { Split: input, columns; }

impl<I: HeldBytes> Operator<I> for Split<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.iter().map(|c| c.to).chain([self.action]).collect())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        self.columns.iter().flat_map(|c| c.old.into_iter().chain([c.new])).collect()
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
        false
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Split {} ", self.action)?;
        list(f, &self.columns, |f, c| match c.old {
            Some(old) => write!(f, "{} = {old}, {}", c.to, c.new),
            None => write!(f, "{} = {}", c.to, c.new),
        })
    }

    fn display(&self) -> Display<'_> {
        Display::new("Split", "Split", "Split").item(Item::Action(self.action)).inputs()
    }
}
