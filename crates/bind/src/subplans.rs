//! The plans beside a statement's own: its subqueries, and what follows its changes.

use plan::{FollowUp, FollowUpId, Logical, Subquery, SubqueryId};

/// Subqueries and follow-ups by their numbers.
#[derive(Default)]
pub(crate) struct Subplans {
    subqueries: Vec<Subquery<Logical>>,
    /// None while what it is to be is still bound.
    follow_ups: Vec<Option<FollowUp<Logical>>>,
}

impl Subplans {
    /// Adds a subquery: its number is greater than those of the subqueries within it.
    pub(crate) fn add_subquery(&mut self, subquery: Subquery<Logical>) -> SubqueryId {
        self.subqueries.push(subquery);
        SubqueryId(self.subqueries.len() as u32 - 1)
    }

    /// A number for a follow-up, less than those of the follow-ups it leads to.
    pub(crate) fn reserve_follow_up(&mut self) -> FollowUpId {
        self.follow_ups.push(None);
        FollowUpId(self.follow_ups.len() as u32 - 1)
    }

    /// The follow-up of a number.
    pub(crate) fn set_follow_up(&mut self, id: FollowUpId, follow_up: FollowUp<Logical>) {
        self.follow_ups[id.0 as usize] = Some(follow_up);
    }

    /// The trees of subqueries.
    pub(crate) fn trees(&mut self) -> impl Iterator<Item = &mut Logical> {
        self.subqueries.iter_mut().map(|s| &mut s.source)
    }

    /// All of them, at the end.
    pub(crate) fn into_parts(self) -> (Vec<Subquery<Logical>>, Vec<FollowUp<Logical>>) {
        (self.subqueries, self.follow_ups.into_iter().flatten().collect())
    }
}
