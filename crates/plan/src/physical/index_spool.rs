//! Rows of an input that is read once, found by a key whenever the spool is opened.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{Predicate, Scalar, Slot, SortKey};
use std::fmt;

/// An eager index spool. Its input reads nothing from outside; `open` seeks in what was kept of it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpool<I> {
    /// Its rows.
    pub input: I,
    /// The key: as many columns as `equal` has, and one more where there are ends.
    pub keys: Vec<SortKey>,
    /// What each row keeps (keys included).
    pub carried: Vec<Slot>,
    /// What the first columns of the key equal.
    pub equal: Vec<Scalar>,
    /// Where the next one begins; no row that is wanted is below.
    pub lower: Option<Scalar>,
    /// Where it ends; no row that is wanted is above.
    pub upper: Option<Scalar>,
    /// What must be true of a row: all that was sought, and more.
    pub predicate: Predicate,
}

operator_fields! { IndexSpool: input, keys, carried, equal, lower, upper, predicate; }

impl<I: HeldBytes> Operator<I> for IndexSpool<I> {
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
        let sought = self.equal.iter().chain(&self.lower).chain(&self.upper);
        sought.for_each(|x| visit(Expression::Value(x)));
        visit(Expression::Test(&self.predicate));
    }

    fn slots_read(&self) -> Vec<Slot> {
        self.carried.clone()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::Many
    }

    fn flow(&self) -> Flow {
        Flow::Blocks
    }

    fn runs_in_workers(&self) -> bool {
        false
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexSpool by ")?;
        list(f, &self.keys, |f, k| write!(f, "{k}"))?;
        write!(f, " where {}", self.predicate)
    }

    fn display(&self) -> Display<'_> {
        // What is sought in a spool stands with what is tested of its rows.
        Display::new("Index Spool", "Eager Spool", "Spool")
            .item(Item::Seek {
                columns: self.keys.iter().map(|k| k.slot).collect(),
                equal: &self.equal,
                lower: self.lower.as_ref(),
                upper: self.upper.as_ref(),
            })
            .inputs()
            .clause("SEEK:(", Phrase::Condition(&self.predicate))
    }
}
