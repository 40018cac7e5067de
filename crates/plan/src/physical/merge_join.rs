//! Two inputs in the order of their keys, read side by side.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase, join_name};
use crate::held::{HeldBytes, nothing, operator_fields};
use crate::show::list;
use crate::{JoinKind, Predicate, Slot};
use std::fmt;
use types::Collation;

/// A merge join. Both inputs are ordered by their keys; it keeps the order of its left one, but a
/// row that only the right one has stands among them with its left slots NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeJoin<I> {
    /// What is kept; Semi and Anti keep rows of `left`.
    pub kind: JoinKind,
    /// The side whose rows are read once, one by one.
    pub left: I,
    /// The side of which equal rows are read again for each equal row of the left.
    pub right: I,
    /// Equal pairs, in the order of both inputs; of one family each, NULL matching nothing.
    pub keys: Vec<MergeKey>,
    /// Several left rows may have the same keys. Otherwise no right row is kept.
    pub many_to_many: bool,
    /// What else must be true of a pair.
    pub residual: Option<Predicate>,
    /// Slots of the left side that are read above; NULL where there is no left row.
    pub left_slots: Vec<Slot>,
    /// Slots of the right side that are read above; NULL where there is no right row.
    pub right_slots: Vec<Slot>,
}

/// A pair of columns by which a merge join's inputs are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeKey {
    /// Of the left input.
    pub left: Slot,
    /// Of the right input.
    pub right: Slot,
    /// How characters compare.
    pub collation: Collation,
    /// Both inputs descend by it.
    pub descending: bool,
}

nothing!(MergeKey);
operator_fields! { MergeJoin: left, right, keys, residual, left_slots, right_slots; }

impl<I: HeldBytes> Operator<I> for MergeJoin<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.left, &self.right]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.left, &mut self.right]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.left_slots.iter().chain(&self.right_slots).copied().collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.residual.iter().for_each(|p| visit(Expression::Condition(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        let keys = self.keys.iter().flat_map(|k| [k.left, k.right]);
        keys.chain(self.left_slots.iter().chain(&self.right_slots).copied()).collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        if self.many_to_many { Memory::Many } else { Memory::None }
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
        let many = if self.many_to_many { " many-to-many" } else { "" };
        write!(f, "MergeJoin {:?}{many} ", self.kind)?;
        list(f, &self.keys, |f, k| {
            write!(f, "{} = {}{}", k.left, k.right, if k.descending { " desc" } else { "" })
        })?;
        match &self.residual {
            Some(p) => write!(f, " and {p}"),
            None => Ok(()),
        }
    }

    fn display(&self) -> Display<'_> {
        let left: Vec<Slot> = self.keys.iter().map(|k| k.left).collect();
        let right: Vec<Slot> = self.keys.iter().map(|k| k.right).collect();
        let residual = self.residual.as_ref();
        let word = if self.many_to_many { "MANY-TO-MANY MERGE:(" } else { "MERGE:(" };
        // The inner side stands first, as in the schema.
        Display::new("Merge Join", join_name(self.kind), "Merge")
            .item(Item::Flag("ManyToMany", self.many_to_many))
            .item(Item::Columns("InnerSideJoinColumns", right.clone()))
            .item(Item::Columns("OuterSideJoinColumns", left.clone()))
            .condition("Residual", residual)
            .inputs()
            .clause(word, Phrase::Slots(left))
            .clause("=(", Phrase::Slots(right))
            .tested(", RESIDUAL:(", residual)
    }
}
