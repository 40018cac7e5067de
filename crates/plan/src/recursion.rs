//! Recursive common table expressions, logical and physical.
//!
//! A member of the recursion reads the slots of `work` as if they were of a row outside it: it is
//! run once for each row found before, and what it finds is rows to run it for in turn.

use crate::Slot;

/// An anchor and what follows from its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Recursion<T> {
    /// The name of the expression.
    pub name: Box<str>,
    /// The rows to begin with.
    pub anchor: T,
    /// The slots of the anchor that go into `columns`, in order.
    pub anchor_slots: Vec<Slot>,
    /// What follows from one row, each with the slots that go into `columns`.
    pub members: Vec<(T, Vec<Slot>)>,
    /// Where rows go.
    pub columns: Vec<Slot>,
    /// Where the row stands for which the members run, in the order of `columns`.
    pub work: Vec<Slot>,
    /// MAXRECURSION: steps from the anchor that end the statement when exceeded; `None`: any.
    pub limit: Option<u32>,
}

impl<T> Recursion<T> {
    /// The anchor and the members.
    pub fn inputs(&self) -> impl Iterator<Item = (&T, &[Slot])> {
        let members = self.members.iter().map(|(member, slots)| (member, slots.as_slice()));
        std::iter::once((&self.anchor, self.anchor_slots.as_slice())).chain(members)
    }
}
