//! Rows that several workers make, each with a copy of the operators below, change hands.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase, slots_of};
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{Slot, SortKey};
use std::fmt;
use types::Collation;

/// Rows of several workers, given to one or several others. A statement that runs with one worker
/// passes its rows on as if the operator were not there.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange<I> {
    /// What each worker runs.
    pub input: I,
    /// Who gets a row.
    pub kind: ExchangeKind,
    /// What a row takes along.
    pub columns: Vec<Slot>,
}

/// Who gets the rows of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub enum ExchangeKind {
    /// The one operator above, in any order.
    Gather,
    /// The same in an order in which each worker gives its own.
    GatherOrdered(Vec<SortKey>),
    /// Of the workers above the one of its hash: rows that are equal in these come together.
    Repartition(Vec<(Slot, Collation)>),
}

operator_fields! { Exchange: input, kind, columns; }

impl<I: HeldBytes> Operator<I> for Exchange<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.clone())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        let mut read = self.columns.clone();
        match &self.kind {
            ExchangeKind::Gather => {}
            ExchangeKind::GatherOrdered(keys) => read.extend(keys.iter().map(|k| k.slot)),
            ExchangeKind::Repartition(keys) => read.extend(keys.iter().map(|k| k.0)),
        }
        read
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
        match &self.kind {
            ExchangeKind::Gather => f.write_str("Gather"),
            ExchangeKind::GatherOrdered(keys) => {
                f.write_str("Gather ordered ")?;
                list(f, keys, |f, k| write!(f, "{k}"))
            }
            ExchangeKind::Repartition(keys) => {
                f.write_str("Repartition ")?;
                list(f, keys, |f, (slot, _)| write!(f, "{slot}"))
            }
        }
    }

    fn display(&self) -> Display<'_> {
        let logical = match &self.kind {
            ExchangeKind::Gather | ExchangeKind::GatherOrdered(_) => "Gather Streams",
            ExchangeKind::Repartition(_) => "Repartition Streams",
        };
        let display = Display::new("Parallelism", logical, "Parallelism");
        let display = match &self.kind {
            ExchangeKind::Gather => display,
            ExchangeKind::GatherOrdered(keys) => {
                display.item(Item::Order(keys)).clause("ORDER BY:(", Phrase::Order(keys))
            }
            ExchangeKind::Repartition(keys) => display
                .item(Item::Word("PartitioningType", "Hash"))
                .item(Item::Columns("PartitionColumns", slots_of(keys)))
                .text("Hash Partitioning, ")
                .clause("PARTITION COLUMNS:(", Phrase::Slots(slots_of(keys))),
        };
        display.inputs()
    }
}

impl HeldBytes for ExchangeKind {
    fn held(&self) -> usize {
        match self {
            ExchangeKind::Gather => 0,
            ExchangeKind::GatherOrdered(keys) => keys.held(),
            ExchangeKind::Repartition(keys) => keys.held(),
        }
    }
}
